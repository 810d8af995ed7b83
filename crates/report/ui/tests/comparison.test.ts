import { expect, test } from "vitest";
import { commonGrid, mean, onGrid } from "../src/pages/comparison";

const fine = { from_s: 0, step_s: 1, rate_per_s: [1, 3, 5, 7, 9], p95_ms: [] };
const coarse = { from_s: 2, step_s: 2, rate_per_s: [10, 20], p95_ms: [] };

test("runs with slices of different lengths share a grid from their starts on", () => {
  const grid = commonGrid([fine, coarse]);
  expect(grid).toEqual({ step_s: 2, count: 3 });
  expect(onGrid(fine, fine.rate_per_s, grid, mean)).toEqual([2, 6, 9]);
  expect(onGrid(coarse, coarse.rate_per_s, grid, mean)).toEqual([null, 10, 20]);
});
