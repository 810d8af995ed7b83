// The data of a page, as `crates/report/src/page/model.rs` writes it into `<script id="model">`. It contains only
// what plots need, because tables and texts are already in the page.

/** The version of the model that this script can read. */
export const MODEL_VERSION = 1;

/** A column with gaps. */
export type Values = readonly (number | null)[];

/** The run in slices of equal length. */
export interface OverTime {
  /** Start of the first slice, in s from the start of the run. */
  readonly from_s: number;
  /** Length of a slice in s. */
  readonly step_s: number;
  /** Scheduled arrivals of open workloads, per s; absent if there are none. */
  readonly offered?: Values;
  /** Requests that started, per s; absent if they were not counted. */
  readonly started?: Values;
  /** Sessions of open workloads that started, per s; only in a live run. */
  readonly sessions?: Values;
  /** Requests that ended, per s. */
  readonly ended: Values;
  /** Failed requests among them, per s. */
  readonly errors: Values;
  /** Maximum number of active users. */
  readonly users: Values;
  /** Percentiles of the response times in ms: of one second, or the worst of the slice's seconds. */
  readonly p50: Values;
  readonly p95: Values;
  readonly p99: Values;
  /** KiB per s. */
  readonly received_kib: Values;
  readonly sent_kib: Values;
}

/** How many requests ended in each slice with a response time in each band. */
export interface HeatMap {
  readonly from_s: number;
  readonly step_s: number;
  /** Edges of the bands, one more than there are bands. */
  readonly edges_ms: readonly number[];
  /** For each slice: band and count. */
  readonly columns: readonly (readonly (readonly [number, number])[])[];
}

/** A quantile function of both clocks. */
export interface Curve {
  /** 0 to 100, ascending. */
  readonly percentile: readonly number[];
  readonly response_ms: readonly number[];
  /** Absent if it is the same as the response time. */
  readonly service_ms?: readonly number[];
}

/** One label over time, in slices. */
export interface LabelSeries {
  readonly from_s: number;
  readonly step_s: number;
  readonly requests: readonly number[];
  readonly errors: readonly number[];
  readonly response_mean: Values;
  readonly response_p95: Values;
}

/** Data of a label in addition to its row in the table. */
export interface LabelModel {
  readonly label: string;
  readonly series?: LabelSeries;
  readonly curve?: Curve;
}

/** A part of the run. */
export interface Part {
  readonly from_s: number;
  readonly to_s: number;
}

/** A time at which the user changed the run. */
export interface Mark {
  readonly at_s: number;
  /** End of an incident, which is shaded; absent for a line. */
  readonly to_s?: number;
  /** Whether it is a stall of the generator, whose line is dotted. */
  readonly stall?: boolean;
  readonly words: string;
}

/** The data of a run's page. */
export interface ReportModel {
  readonly version: number;
  readonly over_time?: OverTime;
  readonly heat?: HeatMap;
  readonly curve?: Curve;
  /** The part that the tables cover, if it is not the whole run. */
  readonly window?: Part;
  readonly marks?: readonly Mark[];
  /** In the initial order of the table. */
  readonly labels: readonly LabelModel[];
  /** Marks of the observed system, in order of time. */
  readonly events?: readonly SystemEvent[];
  readonly system?: SystemModel;
}

/** A mark of the observed system. */
export interface SystemEvent {
  /** `gc-pause`, `stall`, `user`, …: the kinds in `docs/series-file.md`. */
  readonly kind: string;
  readonly from_s: number;
  /** Absent for an instant. */
  readonly to_s?: number;
  readonly words: string;
}

/** The small plots of the observed system. */
export interface SystemModel {
  readonly from_s: number;
  readonly step_s: number;
  /** In the order of their figures. */
  readonly panels: readonly SystemPanel[];
}

/** A small plot. */
export interface SystemPanel {
  readonly title: string;
  /** Empty for counts. */
  readonly unit: string;
  /** Whether lines are shares of a whole, drawn on top of each other. */
  readonly stacked?: boolean;
  readonly lines: readonly SystemLine[];
}

/** A line of a small plot. */
export interface SystemLine {
  readonly name: string;
  /** Whether it is the limit of the others. */
  readonly limit?: boolean;
  readonly values: Values;
}

/** Parses a model; throws an error that describes what is wrong. */
export function parseModel(text: string): ReportModel {
  const model = JSON.parse(text) as ReportModel;
  if (model.version !== MODEL_VERSION) {
    throw new Error(`the page's data is of version ${model.version}; this script reads version ${MODEL_VERSION}`);
  }
  return model;
}

/** The middle of each slice, in s. */
export function middles(from_s: number, step_s: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from_s + (at + 0.5) * step_s);
}

/** One run of a comparison over time. */
export interface RunCourse {
  readonly from_s: number;
  readonly step_s: number;
  readonly rate_per_s: readonly number[];
  readonly p95_ms: Values;
}

/** One of the two groups of runs. */
export interface ComparedSide {
  readonly name: string;
  readonly runs: readonly RunCourse[];
  readonly curve: { readonly percentile: readonly number[]; readonly values_ms: readonly number[] };
}

/** The data of a comparison's page. */
export interface ComparisonModel {
  readonly version: number;
  readonly base: ComparedSide;
  readonly new: ComparedSide;
}

/** Reads the model of a comparison. */
export function parseComparison(text: string): ComparisonModel {
  const model = JSON.parse(text) as ComparisonModel;
  if (model.version !== MODEL_VERSION) {
    throw new Error(`the page's data is of version ${model.version}; this script reads version ${MODEL_VERSION}`);
  }
  return model;
}

/** A curve over users, with its interval and its asymptotic bound if they are known. */
export interface LoadCurve {
  readonly value: readonly number[];
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  readonly bound?: readonly number[];
}

/** The data of a capacity model's page. */
export interface CapacityModel {
  readonly version: number;
  readonly curve: {
    readonly users: readonly number[];
    /** Requests per s. */
    readonly throughput: LoadCurve;
    /** In ms. */
    readonly response: LoadCurve;
  };
  readonly points: readonly {
    readonly users: number;
    readonly throughput: number;
    readonly response_ms?: number;
    /** Whether the model was fitted to it. */
    readonly fitted: boolean;
  }[];
  readonly knee_users?: number;
}

/** Reads the model of a capacity model's page. */
export function parseCapacity(text: string): CapacityModel {
  const model = JSON.parse(text) as CapacityModel;
  if (model.version !== MODEL_VERSION) {
    throw new Error(`the page's data is of version ${model.version}; this script reads version ${MODEL_VERSION}`);
  }
  return model;
}

/** A line of a model whose parameters vary. There is one line per combination of the other parameters, model and part. */
export interface SweepLine {
  readonly name: string;
  readonly values: Values;
  /** Half the interval of each value; absent if nothing was simulated. */
  readonly half?: Values;
  /** Whether it is a bound, and not a value of the model. */
  readonly is_bound?: boolean;
}

/** A plot over the first parameter that varies. */
export interface SweepModel {
  /** The name of the figure. */
  readonly plot: string;
  readonly name: string;
  readonly unit: "/s" | "ms" | "%" | "";
  readonly lines: readonly SweepLine[];
}

/** The data of a what-if's page. */
export interface WhatIfModel {
  readonly version: number;
  /** The first parameter that varies. */
  readonly parameter: string;
  /** Its values, as given by the user. */
  readonly labels: readonly string[];
  /** The same values as numbers with one unit; absent if they are not numbers. */
  readonly numbers?: readonly number[];
  /** The unit of the numbers; may be empty. */
  readonly unit: string;
  readonly plots: readonly SweepModel[];
}

/** Reads the model of a what-if's page. */
export function parseWhatIf(text: string): WhatIfModel {
  const model = JSON.parse(text) as WhatIfModel;
  if (model.version !== MODEL_VERSION) {
    throw new Error(`the page's data is of version ${model.version}; this script reads version ${MODEL_VERSION}`);
  }
  return model;
}

/** Points in order of time. Each line has its own times. */
export interface EventLine {
  readonly name: string;
  readonly look: "line" | "dashed" | "area" | "dots";
  readonly colour: "blue" | "orange" | "green" | "purple" | "red" | "soft";
  /** Times in s. */
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/** A plot of events over time. */
export interface EventPlotModel {
  /** The name of the figure. */
  readonly plot: string;
  readonly name: string;
  readonly unit: string;
  /** Whether the values need a logarithmic axis. */
  readonly logarithm?: boolean;
  /** The part of the time that a result covers; the rest is shaded. */
  readonly window?: Part;
  readonly lines: readonly EventLine[];
}

/** The data of the page of a log. */
export interface EventsModel {
  readonly version: number;
  /** The time that all plots show, in s. */
  readonly from_s: number;
  readonly to_s: number;
  readonly plots: readonly EventPlotModel[];
  /** Durations of pauses by percentile, for one log or two; absent if there are no pauses. */
  readonly curves?: readonly {
    readonly name: string;
    readonly percentile: readonly number[];
    readonly values_ms: readonly number[];
  }[];
}

/** Reads the model of the page of a log. */
export function parseEvents(text: string): EventsModel {
  const model = JSON.parse(text) as EventsModel;
  if (model.version !== MODEL_VERSION) {
    throw new Error(`the page's data is of version ${model.version}; this script reads version ${MODEL_VERSION}`);
  }
  return model;
}
