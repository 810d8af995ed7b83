// Events of the server of a live run, as in `crates/live/src/events.rs`.

import type { Curve, HeatMap, Mark, OverTime, ReportModel } from "./model";

/** The status of the run, without the plots. */
export interface Status {
  /** Text of single elements by their id. */
  readonly words: Readonly<Record<string, string>>;
  /** The busiest labels, a row each, as in the table. */
  readonly labels: readonly (readonly string[])[];
  /** `running`, `paused`, `stopping` or `ended`. */
  readonly state: string;
  /** Factor of the requested arrival rate. */
  readonly factor: number;
  readonly changes: readonly string[];
  readonly caveats: readonly string[];
  readonly thresholds: readonly (readonly [string, string, string])[];
  readonly marks: readonly Mark[];
  /** The observed system under test; absent if nothing was observed. */
  readonly system?: LiveSystem;
}

/** The most telling series of the observed system; their names and last values are among the words. */
export interface LiveSystem {
  readonly series: readonly {
    /** The end of the scale of values. */
    readonly top: number;
    /** Times in s, and values. */
    readonly points: readonly (readonly [number, number])[];
  }[];
  /** Times of the latest marks in s. */
  readonly marks_s: readonly number[];
  readonly marks: readonly string[];
}

/** Everything: what a page that has just been opened, or has missed something, needs. */
export interface WholeModel {
  readonly model: ReportModel;
  readonly status: Status;
}

type Columns = { readonly [Name in keyof Omit<OverTime, "from_s" | "step_s">]: number | null };

/** One second: the current state of its slice. */
export interface Second {
  /** Number of the slice. */
  readonly at: number;
  readonly over_time: Columns;
  readonly heat: readonly (readonly [number, number])[];
  readonly curve?: Curve;
  readonly status: Status;
}

type Rewrite<T> = { -readonly [Key in keyof T]: T[Key] };

/** The model with one slice set. Says so when it does not fit: then something was missed. */
export function withSecond(model: ReportModel, second: Second): ReportModel | undefined {
  const { over_time, heat } = model;
  const { at } = second;
  if (!over_time || at > over_time.ended.length) return undefined;
  const columns: Rewrite<OverTime> = { ...over_time };
  for (const [name, value] of Object.entries(second.over_time)) {
    const key = name as keyof Columns;
    // A column that begins late was empty before.
    const known = over_time[key] ?? Array.from({ length: at }, () => 0);
    columns[key] = set(known, at, value);
  }
  const map: HeatMap | undefined = heat && { ...heat, columns: set(heat.columns, at, second.heat) };
  const next: Rewrite<ReportModel> = { ...model, over_time: columns, marks: second.status.marks };
  if (map) next.heat = map;
  if (second.curve) next.curve = second.curve;
  return next;
}

/** The list with one place set, or lengthened by one. */
function set<T>(list: readonly T[], at: number, value: T): T[] {
  const next = [...list];
  next[at] = value;
  return next;
}
