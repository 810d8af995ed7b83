import { expect, test } from "vitest";
import type { Second, Status } from "../src/live_model";
import { withSecond } from "../src/live_model";
import type { ReportModel } from "../src/model";

const status: Status = {
  words: {}, labels: [], state: "running", factor: 1, changes: [], caveats: [], thresholds: [], marks: [{ at_s: 1, words: "paused" }],
};
const model: ReportModel = {
  version: 1,
  over_time: {
    from_s: 0, step_s: 1, ended: [10, 20], errors: [0, 1], users: [1, 2], p50: [1, null], p95: [2, 3], p99: [3, 4],
    received_kib: [1, 1], sent_kib: [1, 1],
  },
  heat: { from_s: 0, step_s: 1, edges_ms: [1, 2, 3], columns: [[[0, 10]], [[1, 20]]] },
  labels: [],
};
const second = (at: number): Second => ({
  at,
  over_time: { offered: 31, ended: 30, errors: 2, users: 3, p50: null, p95: 5, p99: 6, received_kib: 2, sent_kib: 2 },
  heat: [[0, 29], [1, 1]],
  curve: { percentile: [50, 100], response_ms: [1, 2] },
  status,
});

test("a second is added, or set again while its slice grows", () => {
  const longer = withSecond(model, second(2));
  expect(longer?.over_time?.ended).toEqual([10, 20, 30]);
  // Before, nothing was offered.
  expect(longer?.over_time?.offered).toEqual([0, 0, 31]);
  expect(longer?.heat?.columns[2]).toEqual([[0, 29], [1, 1]]);
  expect(longer?.marks).toEqual(status.marks);
  expect(longer?.curve?.percentile).toEqual([50, 100]);
  const again = longer && withSecond(longer, { ...second(2), heat: [] });
  expect(again?.over_time?.ended).toEqual([10, 20, 30]);
  expect(again?.heat?.columns[2]).toEqual([]);
  expect(model.over_time?.ended).toEqual([10, 20]);
});

test("a second after one that was missed does not fit", () => {
  expect(withSecond(model, second(3))).toBeUndefined();
});
