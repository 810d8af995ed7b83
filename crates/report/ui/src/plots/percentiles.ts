// The quantile function: how long the slowest part of the requests took. Each decade of that part has the same width.

import uPlot from "uplot";
import { ms, percentileName, timeTick } from "../format";
import type { Curve } from "../model";
import { axis, PlotFigure, yAxis } from "./figure";
import { LOG_TICKS } from "./heat";
import type { Colour } from "./theme";
import { colour, faded } from "./theme";

/** A curve with its name. */
export interface NamedCurve {
  readonly name: string;
  readonly colour: Colour;
  readonly percentile: readonly number[];
  readonly values_ms: readonly number[];
  readonly dash?: readonly number[];
  readonly filled?: boolean;
}

/** Percentiles that an axis may name. */
const TICKS = [0, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999];

/** Names of ticks get space on the axis in this order. */
const RANKS = ["max", "p50", "p99", "p95", "p99.9", "p90", "p99.99", "p0", "p75"];

/** Width of a name in CSS pixels. */
const NAME_WIDTH = 44;

/** Distance between the maximum and the last known percentile, in decades. */
const MAX_BEHIND = 0.5;

/** Position of a percentile on the axis: the number of decades beyond it. */
export function position(percentile: number, last: number): number {
  return percentile >= 100 ? decades(last) + MAX_BEHIND : decades(percentile);
}

function decades(percentile: number): number {
  return 2 - Math.log10(100 - percentile);
}

/** The last percentile before the maximum. */
export function lastBelowMax(curves: readonly { readonly percentile: readonly number[] }[]): number {
  return curves.flatMap((curve) => curve.percentile).reduce((last, at) => (at < 100 ? Math.max(last, at) : last), 0);
}

/** Both clocks of one curve. */
export function bothClocks(curve: Curve): NamedCurve[] {
  const response: NamedCurve = {
    name: "response time", colour: "blue", percentile: curve.percentile, values_ms: curve.response_ms, filled: true,
  };
  if (!curve.service_ms) return [response];
  const service: NamedCurve = {
    name: "service time", colour: "orange", percentile: curve.percentile, values_ms: curve.service_ms, dash: [6, 4],
  };
  return [response, service];
}

/** Whether times differ so much that only a logarithmic axis shows all of them. */
export function wantsLogarithm(curves: readonly NamedCurve[]): boolean {
  const values = curves.flatMap((curve) => curve.values_ms).filter((value) => value > 0);
  if (values.length === 0) return false;
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[sorted.length - 1] ?? 1) > 20 * (sorted[Math.floor(sorted.length / 4)] ?? 1);
}

/** The data that the axes of a plot depend on. A live plot is redrawn with new values. */
export interface Axes {
  readonly x: readonly number[];
  readonly least: number;
  readonly most: number;
  readonly ticks: readonly number[];
  readonly named: ReadonlyMap<number, string>;
}

/** The range of the positions; never empty, because an axis of length 0 has no distance between ticks. */
export function xRange(x: readonly number[]): [number, number] {
  const [first, last] = [x[0] ?? 0, x[x.length - 1] ?? 1];
  return first < last ? [first, last] : [Math.min(first, 0), Math.max(last, 1)];
}

/** The scales of a plot whose data may change: they read `axes` each time it is drawn. */
export function curveScales(axes: () => Axes, logarithm: boolean): { x: uPlot.Scale; y: uPlot.Scale } {
  return {
    x: { time: false, range: () => xRange(axes().x) },
    y: logarithm
      ? { distr: 3, log: 10, range: () => [axes().least * 0.8, axes().most * 1.2] }
      : { range: () => [0, axes().most * 1.05] },
  };
}

/** Curves in a figure. */
export class PercentilePlot {
  private readonly place: PlotFigure;
  private axes: Axes = { x: [], least: 1, most: 2, ticks: [], named: new Map() };

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(curves: readonly NamedCurve[], name = "Response time by percentile"): void {
    const percentiles = [...new Set(curves.flatMap((curve) => curve.percentile))].sort((a, b) => a - b);
    const last = lastBelowMax(curves);
    const x = percentiles.map((percentile) => position(percentile, last));
    const columns = curves.map((curve) => {
      const known = new Map(curve.percentile.map((percentile, at) => [percentile, curve.values_ms[at] ?? null]));
      return percentiles.map((percentile) => known.get(percentile));
    });
    const logarithm = wantsLogarithm(curves);
    const least = Math.min(...curves.flatMap((curve) => curve.values_ms).filter((value) => value > 0), 1);
    const most = Math.max(...curves.flatMap((curve) => curve.values_ms), least * 2);
    const ticks = TICKS.filter((percentile) => percentile <= last).map((percentile) => position(percentile, last));
    const named = new Map(TICKS.map((percentile) => [position(percentile, last), percentileName(percentile)]));
    if (percentiles[percentiles.length - 1] === 100) {
      ticks.push(position(100, last));
      named.set(position(100, last), "max");
    }
    this.axes = { x, least, most, ticks, named };
    this.place.draw(
      {
        name,
        shown: curves.map((curve, at) => ({
          name: curve.name,
          swatch: curve.colour + (curve.dash?.length ? " dashed" : ""),
          values: columns[at] ?? [],
          format: (value: number) => `${ms(value)} ms`,
        })),
        place: (index) => percentileName(percentiles[index] ?? 0),
      },
      {
        padding: [10, 16, 0, 0],
        scales: curveScales(() => this.axes, logarithm),
        axes: [
          axis({
            splits: () => [...this.axes.ticks],
            values: (plot, splits) => spaced(plot, splits, this.axes.named),
            size: 30,
            gap: 6,
          }),
          yAxis(timeTick, logarithm ? LOG_TICKS : {}),
        ],
        cursor: { points: { size: 7, width: 1.5 }, y: false, drag: { x: false, y: false } },
        series: [
          {},
          ...curves.map((curve): uPlot.Series => ({
            label: curve.name,
            stroke: () => colour(curve.colour),
            width: 1.75,
            spanGaps: true,
            ...(curve.dash?.length ? { dash: [...curve.dash] } : {}),
            ...(curve.filled ? { fill: () => faded(curve.colour, 10) } : {}),
            points: { show: false },
          })),
        ],
      },
      [x, ...columns] as uPlot.AlignedData,
      logarithm ? "logarithm" : "linear",
    );
  }
}

/** Names of ticks, in the order of `RANKS`. A name that would touch an earlier one is omitted. */
function spaced(plot: uPlot, splits: readonly number[], named: ReadonlyMap<number, string>): string[] {
  const places = splits.map((split) => plot.valToPos(split, "x"));
  const kept = new Set<number>();
  const rank = (at: number): number => {
    const found = RANKS.indexOf(named.get(splits[at] ?? Number.NaN) ?? "");
    return found < 0 ? RANKS.length : found;
  };
  const order = splits.map((_, at) => at).sort((a, b) => rank(a) - rank(b));
  for (const at of order) {
    if ([...kept].every((other) => Math.abs((places[other] ?? 0) - (places[at] ?? 0)) >= NAME_WIDTH)) kept.add(at);
  }
  return splits.map((split, at) => (kept.has(at) ? named.get(split) ?? "" : ""));
}
