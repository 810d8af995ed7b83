import { expect, test } from "vitest";
import { inOrder, matches, next, sortedBy } from "../src/tables/order";

const rows = [
  { at: 0, cells: ["item 10", "1,200"] },
  { at: 1, cells: ["Item 9", "35.0"] },
  { at: 2, cells: ["item 10", "–"] },
  { at: 3, cells: ["zoo", "35.0"] },
];
const order = (column: number, direction: "ascending" | "descending", isText: boolean): number[] =>
  inOrder(rows, column, direction, isText).map((row) => row.at);

test("texts are in natural order: numbers inside them count", () => {
  expect(order(0, "ascending", true)).toEqual([1, 0, 2, 3]);
});

test("numbers are ordered by value, equal ones as they stood", () => {
  expect(order(1, "descending", false)).toEqual([0, 1, 3, 2]);
  expect(order(1, "ascending", false)).toEqual([2, 1, 3, 0]);
});

test("the first press shows what one looks for", () => {
  expect(next(null, false)).toBe("descending");
  expect(next(null, true)).toBe("ascending");
  expect(next("descending", false)).toBe("ascending");
});

test("a filter's words may be anywhere", () => {
  expect(matches("GET /api/Items/7", "items get")).toBe(true);
  expect(matches("GET /api/Items/7", "items post")).toBe(false);
  expect(matches("anything", "")).toBe(true);
});

test("the order of rows is described", () => {
  expect(sortedBy("p99", "descending", false)).toBe("Sorted by p99, largest first.");
  expect(sortedBy("label", "ascending", true)).toBe("Sorted by label, A to Z.");
});
