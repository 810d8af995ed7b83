import { expect, test } from "vitest";
import { wholeSlices } from "../src/tables/label_details";
import { axisRange, logTicks, mostOf, quantile, resample, step } from "../src/plots/heat";
import { bothClocks, curveScales, lastBelowMax, position, wantsLogarithm, xRange } from "../src/plots/percentiles";
import { sparkPath } from "../src/plots/spark";
import { isLonely } from "../src/plots/time";

test("the tint of a cell goes by the logarithm, and one request is seen", () => {
  expect(step(1, 1000, 8)).toBe(0);
  expect(step(1000, 1000, 8)).toBe(7);
  expect(step(32, 1000, 8)).toBe(4);
  expect(step(1, 1, 8)).toBe(7);
  expect(mostOf({ from_s: 0, step_s: 1, edges_ms: [1, 2], columns: [[], [[0, 3]], [[0, 7]]] })).toBe(7);
});

test("a quantile of a slice is read from its bands", () => {
  const heat = { from_s: 0, step_s: 2, edges_ms: [1, 10, 100], columns: [] };
  expect(quantile(heat, [], 0.5)).toBeNull();
  expect(quantile(heat, [[0, 1], [1, 2]], 0)).toBeCloseTo(10 ** 0.5);
  expect(quantile(heat, [[0, 1], [1, 2]], 0.34)).toBeCloseTo(10 ** 1.25);
  expect(quantile(heat, [[0, 1], [1, 2]], 1)).toBeCloseTo(10 ** 1.75);
});

test("an axis has ticks, also without a power of ten", () => {
  const [low, high] = axisRange(100, 135);
  expect(logTicks(low, high)).toEqual([60, 70, 80, 90, 100, 200]);
  expect(logTicks(110, 190).length).toBe(0);
  expect(logTicks(...axisRange(110, 130)).length).toBeGreaterThan(2);
  expect(logTicks(0.3, 9)).toEqual([0.5, 1, 2, 5]);
  expect(logTicks(1, 100)).toEqual([1, 3, 10, 30, 100]);
  expect(logTicks(0.001, 1000)).toEqual([0.001, 0.01, 0.1, 1, 10, 100, 1000]);
});

test("a line is laid over coarser slices by its largest value, over finer ones as it is", () => {
  expect(resample([1, 5, null, 2], 0, 1, { from_s: 0, step_s: 2, count: 2 })).toEqual([5, 2]);
  expect(resample([4, null], 0, 2, { from_s: 0, step_s: 1, count: 4 })).toEqual([4, 4, null, null]);
  expect(resample([1, 2], 3, 1, { from_s: 2, step_s: 1, count: 2 })).toEqual([null, 1]);
});

test("each decade of the tail is as wide as the other", () => {
  expect(position(90, 99.9) - position(0, 99.9)).toBeCloseTo(1);
  expect(position(99, 99.9) - position(90, 99.9)).toBeCloseTo(1);
  expect(position(100, 99.9)).toBeCloseTo(position(99.9, 99.9) + 0.5);
  expect(lastBelowMax([{ percentile: [0, 50, 99, 100] }])).toBe(99);
});

test("service time has its own line if it differs", () => {
  const curve = { percentile: [0, 100], response_ms: [1, 2] };
  expect(bothClocks(curve).map((line) => line.name)).toEqual(["response time"]);
  expect(bothClocks({ ...curve, service_ms: [1, 1] }).map((line) => line.name)).toEqual(["response time", "service time"]);
});

test("only times that lie far apart need a logarithmic axis", () => {
  const curve = (values_ms: number[]) => [{ name: "", colour: "blue", percentile: [], values_ms } as const];
  expect(wantsLogarithm(curve([1, 2, 3, 10]))).toBe(false);
  expect(wantsLogarithm(curve([1, 2, 3, 100]))).toBe(true);
  expect(wantsLogarithm(curve([0, 0]))).toBe(false);
});

test("a spark has gaps where nothing is known", () => {
  expect(sparkPath([1, null, 2, 4], 11, 10).match(/M/g)).toHaveLength(2);
  expect(sparkPath([null])).toBe("");
  expect(sparkPath([0, 0])).not.toContain("NaN");
});

test("a value without neighbours is a dot", () => {
  expect(isLonely([1, null, 2, 3])).toBe(true);
  expect(isLonely([1, 2, null])).toBe(false);
});

test("a slice that the run did not fill is not drawn", () => {
  const series = { from_s: 0, step_s: 2, requests: [4, 4, 1], errors: [], response_mean: [], response_p95: [] };
  const over = (count: number) => ({ from_s: 0, step_s: 1, ended: Array.from({ length: count }, () => 2) });
  const others = { errors: [], users: [], p50: [], p95: [], p99: [], received_kib: [], sent_kib: [] };
  expect(wholeSlices(series, { ...over(5), ...others })).toBe(2);
  expect(wholeSlices(series, { ...over(6), ...others })).toBe(3);
  expect(wholeSlices(series, undefined)).toBe(3);
});

test("a growing curve of a live run has space", () => {
  const named = new Map<number, string>();
  let axes = { x: [0, 1], least: 1, most: 100, ticks: [], named };
  const range = (scale: { range?: unknown }): unknown => (scale.range as () => unknown)();
  const [linear, logarithm] = [curveScales(() => axes, false), curveScales(() => axes, true)];
  axes = { x: [0, 1, 3], least: 0.5, most: 200, ticks: [], named };
  expect([range(linear.x), range(linear.y)]).toEqual([[0, 3], [0, 210]]);
  expect(range(logarithm.y)).toEqual([0.4, 240]);
});

test("the axis of a few times names some of them", () => {
  const [low, high] = axisRange(1.15, 1.33);
  expect(low).toBeLessThan(1);
  expect(high).toBeGreaterThan(2);
  expect(axisRange(1, 1000)).toEqual([1, 1000]);
});

test("an axis with one position has a range", () => {
  expect(xRange([0.3, 2])).toEqual([0.3, 2]);
  expect(xRange([2])).toEqual([0, 2]);
  expect(xRange([0])).toEqual([0, 1]);
  expect(xRange([])).toEqual([0, 1]);
});
