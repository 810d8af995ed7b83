import { expect, test } from "vitest";
import { short } from "../src/format";
import { eventColour, eventWords } from "../src/plots/events";
import { drawnLines } from "../src/plots/panel";

test("stacked lines are drawn on top of each other, the topmost first", () => {
  const panel = {
    title: "Heap", unit: "MiB", stacked: true,
    lines: [{ name: "old", values: [3, 4, null] }, { name: "eden", values: [1, null, null] }, { name: "limit", limit: true, values: [8, 8, 8] }],
  };
  const { lines, top } = drawnLines(panel);
  expect(lines.map(({ line }) => line)).toEqual([2, 1, 0]);
  expect(lines[1]?.values).toEqual([4, null, null]);
  expect(lines[2]?.values).toEqual([3, 4, null]);
  expect(top).toBe(8);
});

test("a limit that is far away is not drawn", () => {
  const panel = { title: "Sessions", unit: "", lines: [{ name: "all", values: [3, 20] }, { name: "limit", limit: true, values: [100, 100] }] };
  expect(drawnLines(panel)).toEqual({ lines: [{ line: 0, values: [3, 20] }], top: 20 });
  expect(drawnLines({ title: "", unit: "", lines: [{ name: "", values: [null] }] }).top).toBe(0);
});

test("the readout names the events of a slice, and counts those beyond two", () => {
  const events = [
    { kind: "gc-pause", from_s: 1.2, to_s: 1.4, words: "GC pause of 200 ms" },
    { kind: "user", from_s: 5, words: "deployed 1.4" },
    { kind: "stall", from_s: 5.1, words: "stall of 20 ms" },
    { kind: "other", from_s: 5.2, words: "third" },
  ];
  expect(eventWords(events, 0, 1)).toBe("");
  expect(eventWords(events, 1, 2)).toBe(" · GC pause of 200 ms");
  expect(eventWords(events, 5, 6)).toBe(" · deployed 1.4 · stall of 20 ms · 1 more");
  expect(eventWords(undefined, 0, 1)).toBe("");
  expect(eventColour("of a later version")).toBe("soft");
});

test("numbers have about three digits", () => {
  expect([0, 12, 1234, 0.0001, 0.04, 1.5, 12.34, 456.7].map(short)).toEqual(["0", "12", "1,234", "<0.001", "0.040", "1.50", "12.3", "457"]);
});
