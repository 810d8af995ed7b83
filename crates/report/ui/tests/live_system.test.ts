import { expect, test } from "vitest";
import { systemPaths } from "../src/plots/live_system";

test("all plots have the same times, and only marks within them", () => {
  const paths = systemPaths({
    series: [
      { top: 1, points: [[10, 0], [20, 1]] },
      { top: 2, points: [[15, 1]] },
    ],
    marks_s: [5, 15, 25],
    marks: [],
  });
  expect(paths[0]).toEqual({ line: "M0.0 58.0L300.0 2.0", marks: "M150.0 0V60" });
  expect(paths[1]?.line).toBe("M150.0 30.0");
});

test("nothing observed is nothing drawn, and one point is a place", () => {
  expect(systemPaths({ series: [], marks_s: [1], marks: [] })).toEqual([]);
  expect(systemPaths({ series: [{ top: 1, points: [[3, 0.5]] }], marks_s: [], marks: [] })[0]?.line).toBe("M0.0 30.0");
});
