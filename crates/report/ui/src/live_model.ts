// Events from the server of a live run, as declared in `crates/live/src/events.rs`.

import type { Curve, HeatMap, Mark, OverTime, ReportModel } from "./model";

/** The status of the run, without the plots. */
export interface Status {
  /** Texts of single elements by their ids. */
  readonly words: Readonly<Record<string, string>>;
  /** The busiest labels. Each has a row, as in the table. */
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

/** The most important series of the observed system. Their names and last values are among the texts. */
export interface LiveSystem {
  readonly series: readonly {
    /** The largest value of the scale. */
    readonly top: number;
    /** Times in s, and values. */
    readonly points: readonly (readonly [number, number])[];
  }[];
  /** Times of the latest marks in s. */
  readonly marks_s: readonly number[];
  readonly marks: readonly string[];
}

/** All data that a page needs when it is opened, or when it has missed events. */
export interface WholeModel {
  readonly model: ReportModel;
  readonly status: Status;
}

type Columns = { readonly [Name in keyof Omit<OverTime, "from_s" | "step_s">]: number | null };

/** The current state of the slice of one second. */
export interface Second {
  /** Number of the slice. */
  readonly at: number;
  readonly over_time: Columns;
  readonly heat: readonly (readonly [number, number])[];
  readonly curve?: Curve;
  readonly status: Status;
}

type Rewrite<T> = { -readonly [Key in keyof T]: T[Key] };

/** The model with one slice replaced or added; `undefined` if the slice does not fit because events were missed. */
export function withSecond(model: ReportModel, second: Second): ReportModel | undefined {
  const { over_time, heat } = model;
  const { at } = second;
  if (!over_time || at > over_time.ended.length) return undefined;
  const columns: Rewrite<OverTime> = { ...over_time };
  for (const [name, value] of Object.entries(second.over_time)) {
    const key = name as keyof Columns;
    // A column that begins late had no values before.
    const known = over_time[key] ?? Array.from({ length: at }, () => 0);
    columns[key] = set(known, at, value);
  }
  const map: HeatMap | undefined = heat && { ...heat, columns: set(heat.columns, at, second.heat) };
  const next: Rewrite<ReportModel> = { ...model, over_time: columns, marks: second.status.marks };
  if (map) next.heat = map;
  if (second.curve) next.curve = second.curve;
  return next;
}

/** A copy of the list with the element at one index replaced or added. */
function set<T>(list: readonly T[], at: number, value: T): T[] {
  const next = [...list];
  next[at] = value;
  return next;
}
