import { expect, test } from "vitest";
import { held, joined } from "../src/plots/points";

test("lines with times of their own share one axis", () => {
  const line = { name: "", look: "line", colour: "blue" } as const;
  const { x, columns } = joined([
    { ...line, x: [1, 3], y: [10, 30] },
    { ...line, x: [2, 3], y: [5, 6] },
  ]);
  expect(x).toEqual([1, 2, 3]);
  expect(columns).toEqual([[10, null, 30], [null, 5, 6]]);
});

test("between its points a line has its last value", () => {
  expect(held([null, 1, null, 2, null])).toEqual([null, 1, 1, 2, null]);
  expect(held([null])).toEqual([null]);
});
