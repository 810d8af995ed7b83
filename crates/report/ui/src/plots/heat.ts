// Response time over time: the number of requests in each cell of time and response time, and percentiles as lines.

import uPlot from "uplot";
import { ms, thousands, timeTick, moment } from "../format";
import type { HeatMap, Mark, OverTime, Part, SystemEvent, Values } from "../model";
import { middles } from "../model";
import { drawEvents, eventWords } from "./events";
import { PlotFigure, yAxis } from "./figure";
import { colour, ramp } from "./theme";
import { drawMarks, sharedCursor, shadeOutside, slices, timeAxis, wholeRun } from "./time";

/** A heat map with the run's series. */
export interface HeatData {
  readonly heat: HeatMap;
  readonly over_time?: OverTime | undefined;
  readonly window?: Part | undefined;
  readonly marks?: readonly Mark[] | undefined;
  readonly events?: readonly SystemEvent[] | undefined;
  readonly sync?: string;
}

const LINES = [
  { name: "p50", of: "p50", share: 0.5, dash: [] },
  { name: "p95", of: "p95", share: 0.95, dash: [6, 4] },
  { name: "p99", of: "p99", share: 0.99, dash: [2, 3] },
] as const;

/**
 * The step of the ramp for a count. Counts are placed by their logarithm, because single slow requests matter as much
 * as the bulk.
 */
export function step(count: number, most: number, steps: number): number {
  if (most <= 1) return steps - 1;
  return Math.round((Math.log(count) / Math.log(most)) * (steps - 1));
}

/** The largest count of a cell. */
export function mostOf(heat: HeatMap): number {
  return heat.columns.reduce((most, column) => column.reduce((most, [, count]) => Math.max(most, count), most), 0);
}

/**
 * A quantile of the times in a column, computed like `HeatMap::quantile_ms`: the time of its rank, interpolated within
 * its band on a logarithmic scale.
 */
export function quantile(heat: HeatMap, column: HeatMap["columns"][number], share: number): number | null {
  const times = column.reduce((sum, [, count]) => sum + count, 0);
  const rank = Math.max(Math.ceil(times * share), 1);
  let before = 0;
  for (const [band, count] of column) {
    const [low, high] = [heat.edges_ms[band], heat.edges_ms[band + 1]];
    if (before + count >= rank && low !== undefined && high !== undefined) {
      return low * (high / low) ** ((rank - before - 0.5) / count);
    }
    before += count;
  }
  return null;
}

/**
 * Converts values from one grid of slices to another. The result is the largest of the values whose slices begin
 * within a slice of the other grid.
 */
export function resample(
  values: Values, from_s: number, step_s: number, to: { from_s: number; step_s: number; count: number },
): (number | null)[] {
  const out: (number | null)[] = Array.from({ length: to.count }, () => null);
  if (step_s > to.step_s) {
    return out.map((_, at) => values[Math.floor((to.from_s + (at + 0.5) * to.step_s - from_s) / step_s)] ?? null);
  }
  values.forEach((value, at) => {
    const slot = Math.floor((from_s + (at + 0.5) * step_s - to.from_s) / to.step_s);
    if (value === null || slot < 0 || slot >= to.count) return;
    out[slot] = Math.max(out[slot] ?? value, value);
  });
  return out;
}

/** Minimum factor between the ends of an axis. A shorter axis might fit between two ticks and have no labels. */
const RANGE_MIN = 5;

/** The range of a logarithmic axis that includes `low` and `high` and is long enough for ticks. */
export function axisRange(low: number, high: number): [number, number] {
  const [from, to] = [Math.max(low, 1e-4), Math.max(high, low, 1e-3)];
  const wider = Math.max(Math.sqrt(RANGE_MIN / (to / from)), 1);
  return [from / wider, to * wider];
}

/** The heat map in a figure. */
export class HeatPlot {
  private readonly place: PlotFigure;
  private data: HeatData | undefined;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(data: HeatData): void {
    this.data = data;
    const { heat, over_time } = data;
    const { from_s, step_s, columns } = heat;
    const count = columns.length;
    const x = middles(from_s, step_s, count);
    const lines = LINES.map(({ name, of, share, dash }) => {
      // For slices of one second, percentiles are exact. For longer slices, they are computed from the cells.
      const isExact = step_s === 1 && over_time?.step_s === 1;
      const values = isExact
        ? resample(over_time[of], over_time.from_s, over_time.step_s, { from_s, step_s, count })
        : columns.map((column, at) => (from_s + at * step_s < this.whole().to_s ? quantile(heat, column, share) : null));
      return { name, dash, values };
    }).filter(({ values }) => values.length > 0);
    const counts = columns.map((column) => column.reduce((sum, [, count]) => sum + count, 0));
    const shown = lines.map(({ name, values, dash }) => ({
      name, swatch: `red${dash.length > 0 ? ` dash${dash[0]}` : ""}`, values, format: (value: number) => `${ms(value)} ms`,
    }));
    this.place.draw(
      {
        name: "Response time over time",
        shown: [...shown, { name: "requests", swatch: "cells", values: counts, format: thousands }],
        place: (index) => {
          const begin = (x[index] ?? 0) - step_s / 2;
          return `at ${moment(begin)}${eventWords(this.data?.events, begin, begin + step_s)}`;
        },
      },
      {
        padding: [10, 26, 0, 0],
        scales: {
          x: { time: false, range: wholeRun(() => this.whole()) },
          y: { distr: 3, log: 10, range: () => this.edges() },
        },
        axes: [timeAxis(), yAxis(timeTick, { ...LOG_TICKS, grid: { show: false } })],
        cursor: sharedCursor(data.sync),
        series: [
          {},
          // Each line is drawn over a wider one in the background colour, so that it is visible on cells of every
          // tint.
          ...lines.flatMap((line): uPlot.Series[] =>
            ([["page", 4.5], ["red", 2]] as const).map(([name, width]) => ({
              label: line.name,
              stroke: () => colour(name),
              width,
              dash: [...line.dash],
              points: { show: false },
            })),
          ),
        ],
        hooks: {
          drawClear: [shadeOutside(() => this.data?.window), (plot) => this.cells(plot)],
          draw: [drawMarks(() => this.data?.marks), drawEvents(() => this.data?.events)],
        },
      },
      [x, ...lines.flatMap((line) => [line.values, line.values])] as uPlot.AlignedData,
    );
    this.legend(mostOf(heat));
  }

  /** The same width as in the other plots, so that times are aligned. */
  private whole(): Part {
    const { over_time, heat } = this.data ?? {};
    if (over_time) return slices(over_time.from_s, over_time.step_s, over_time.ended.length);
    return slices(heat?.from_s ?? 0, heat?.step_s ?? 1, heat?.columns.length ?? 0);
  }

  private edges(): [number, number] {
    const edges = this.data?.heat.edges_ms ?? [];
    return axisRange(edges[0] ?? 0.1, edges[edges.length - 1] ?? 1);
  }

  private cells(plot: uPlot): void {
    const heat = this.data?.heat;
    if (!heat) return;
    const { ctx, bbox } = plot;
    const colours = ramp();
    const most = mostOf(heat);
    const rows = heat.edges_ms.map((edge) => Math.round(plot.valToPos(Math.max(edge, 1e-4), "y", true)));
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    heat.columns.forEach((column, at) => {
      const from = Math.round(plot.valToPos(heat.from_s + at * heat.step_s, "x", true));
      const to = Math.round(plot.valToPos(heat.from_s + (at + 1) * heat.step_s, "x", true));
      for (const [band, count] of column) {
        const [below, above] = [rows[band], rows[band + 1]];
        if (below === undefined || above === undefined) continue;
        ctx.fillStyle = colours[step(count, most, colours.length)] ?? "";
        ctx.fillRect(from, above, Math.max(to - from, 1), Math.max(below - above, 1));
      }
    });
    ctx.restore();
  }

  /** Draws the key of the tints below the plot. */
  private legend(most: number): void {
    const legend = this.place.figure.querySelector<HTMLElement>(".ramp");
    if (!legend) return;
    const words = (text: string): HTMLElement => Object.assign(document.createElement("span"), { textContent: text });
    const steps = ramp().map((_, at) => Object.assign(document.createElement("i"), { className: `r${at}` }));
    legend.replaceChildren(words("requests per cell: 1"), ...steps, words(thousands(most)));
  }
}

/** Ticks of a logarithmic axis: powers of ten, or steps of 1, 2 and 5 or finer ones if there are too few powers of ten. */
export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const digits = decades > 3 ? [1] : decades > 1.6 ? [1, 3] : decades > 0.7 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const ticks: number[] = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
    for (const digit of digits) {
      const tick = Number((digit * 10 ** decade).toPrecision(1));
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** The filter of ticks for an axis of a plot. uPlot's own filter omits all ticks except powers of ten. */
export const LOG_TICKS: uPlot.Axis = {
  splits: (_plot, _axis, low, high) => logTicks(low, high),
  filter: (_plot, splits) => splits,
};
