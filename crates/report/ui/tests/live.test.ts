import { afterEach, expect, test, vi } from "vitest";
import type { Second, Status } from "../src/live_model";
import { withSecond } from "../src/live_model";
import type { ReportModel } from "../src/model";
import { livePage } from "../src/pages/live";

vi.mock("../src/definitions", () => ({ showDefinitions: () => undefined }));
afterEach(() => vi.unstubAllGlobals());

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

test("a failed threshold is marked", () => {
  const thresholds = [["✓", "errors = 0", "0"], ["✗", "p95 < 1s", "2 s"], ["·", "p95 of a < 1s", ""]] as const;
  const marked = new Map<string, boolean>();
  const rows = thresholds.map((cells) => ({
    textContent: cells.join(""),
    classList: { toggle: (name: string, on: boolean) => marked.set(`${name}: ${cells[1]}`, on) },
  }));
  const followers = new Map<string, (event: { data: string }) => void>();
  vi.stubGlobal("location", { search: "?token=t" });
  vi.stubGlobal("document", {
    body: { dataset: {} },
    getElementById: () => null,
    querySelectorAll: (selector: string) => (selector === "#live-thresholds tr" ? rows : []),
  });
  vi.stubGlobal("EventSource", class {
    addEventListener(name: string, then: (event: { data: string }) => void): void {
      followers.set(name, then);
    }
  });
  livePage({ querySelector: () => null } as unknown as HTMLElement, "/events");
  followers.get("status")?.({ data: JSON.stringify({ ...status, thresholds }) });
  expect([...marked]).toEqual([["failed: errors = 0", false], ["failed: p95 < 1s", true], ["failed: p95 of a < 1s", false]]);
});
