import type uPlot from "uplot";
import { expect, test, vi } from "vitest";
import { aligned, between, LoadPlot } from "../src/plots/load";

/** The options of the plots that were drawn. */
const drawn = vi.hoisted((): Pick<uPlot.Options, "axes">[] => []);
vi.mock("../src/plots/figure", () => ({
  PlotFigure: class {
    draw(_text: unknown, options: Pick<uPlot.Options, "axes">): void {
      drawn.push(options);
    }
  },
  axis: (options: unknown) => options,
  yAxis: () => ({}),
}));

const curve = { value: [10, 20, 30], low: [9, 18, 27], high: [11, 22, 33] };
const base = { name: "X", users: [1, 3, 5], curve, colour: "blue", format: String, tick: String } as const;

test("a line has values between its points and none outside", () => {
  expect(between([1, 3, 5], [10, 20, 40], 4)).toBe(30);
  expect(between([1, 3, 5], [10, 20, 40], 3)).toBe(20);
  expect(between([1, 3, 5], [10, 20, 40], 1)).toBe(10);
  expect(between([1, 3, 5], [10, 20, 40], 6)).toBeNull();
  expect(between([1, 3, 5], [10, 20, 40], 0)).toBeNull();
});

test("measurements are shown with the curve, repeated ones too", () => {
  const points = [
    { users: 4, value: 26, fitted: true },
    { users: 3, value: 19, fitted: false },
    { users: 4, value: 24, fitted: true },
  ];
  const { x, columns } = aligned({ ...base, points });
  expect(x).toEqual([1, 3, 4, 4, 5]);
  const [value, low, , bound, fitted, left] = columns;
  expect(value).toEqual([10, 20, 25, 25, 30]);
  expect(low).toEqual([9, 18, 22.5, 22.5, 27]);
  expect(bound).toEqual([null, null, null, null, null]);
  expect(fitted).toEqual([null, null, 26, 24, null]);
  expect(left).toEqual([null, 19, null, null, null]);
});

test("the ticks of the x axis name users", () => {
  new LoadPlot({} as HTMLElement).update({ ...base, points: [] });
  const values = drawn[0]?.axes?.[0]?.values as (plot: unknown, splits: readonly number[]) => string[];
  expect(values(undefined, [0, 1, 100, 2000])).toEqual(["0 users", "1 user", "100 users", "2,000 users"]);
});
