import { expect, test } from "vitest";
import { moment, ms, numberOf, percentileName, rate, thousands, tick, timeTick } from "../src/format";

test("numbers are written as the terminal writes them", () => {
  expect([0.123, 12.34, 123.4, 9.999].map(ms)).toEqual(["0.12", "12.3", "123", "10.0"]);
  expect([0, 999.9, 1234.5].map(rate)).toEqual(["0.0", "999.9", "1,235"]);
  expect([0.0001, 0.0083, 0.042, 0.0999].map(rate)).toEqual(["<0.001", "0.008", "0.04", "0.1"]);
  expect(thousands(1_234_567)).toBe("1,234,567");
});

test("moments of a run have the unit that fits", () => {
  expect([0, 1.5, 60, 75.5, 125, 3725].map(moment)).toEqual(["0 s", "1.5 s", "1:00", "75.5 s", "2:05", "1:02:05"]);
});

test("percentiles have no noise in their last digits", () => {
  expect([50, 99.9, 99.99000001, 100].map(percentileName)).toEqual(["p50", "p99.9", "p99.99", "max"]);
});

test("ticks are short", () => {
  expect([0.5, 20, 1500, 20_000, 3_000_000].map(tick)).toEqual(["0.5", "20", "1,500", "20k", "3M"]);
  expect([0.5, 20, 3000].map(timeTick)).toEqual(["0.5 ms", "20 ms", "3 s"]);
});

test("cells are read back, and what is not known is the least", () => {
  expect(numberOf(" 1,234.5 ")).toBe(1234.5);
  expect(numberOf("<0.01")).toBeGreaterThan(0);
  expect(numberOf("<0.01")).toBeLessThan(0.01);
  expect(numberOf("–")).toBe(Number.NEGATIVE_INFINITY);
});
