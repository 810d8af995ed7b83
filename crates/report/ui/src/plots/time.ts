// Lines over the time of the run.

import uPlot from "uplot";
import { moment } from "../format";
import type { Mark, Part, SystemEvent, Values } from "../model";
import { middles } from "../model";
import { drawEvents, eventWords } from "./events";
import { axis, PlotFigure, yAxis } from "./figure";
import type { Colour } from "./theme";
import { colour, faded } from "./theme";

/** A line of a plot over time. */
export interface TimeLine {
  readonly name: string;
  readonly colour: Colour;
  readonly values: Values;
  /** Whether the area below it is tinted. */
  readonly filled?: boolean;
  /** Dashes, so that lines can be distinguished without colours. */
  readonly dash?: readonly number[];
  readonly width?: number;
}

/** Slices of the run, and lines over them. */
export interface TimeData {
  readonly name: string;
  readonly from_s: number;
  readonly step_s: number;
  readonly lines: readonly TimeLine[];
  /** Formats values in readouts and on the y axis. */
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
  /** The part that the tables cover; the rest is shaded. */
  readonly window?: Part | undefined;
  /** Changes of the run by the user. */
  readonly marks?: readonly Mark[] | undefined;
  /** Marks of the observed system. */
  readonly events?: readonly SystemEvent[] | undefined;
  /** Plots with the same key share the cursor and the selected part. */
  readonly sync?: string;
}

/** Gaps between the ticks of a time axis, in s. */
const TIME_STEPS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400,
];

/** The x axis of a plot over time. */
export function timeAxis(): uPlot.Axis {
  return axis({
    incrs: TIME_STEPS,
    space: 64,
    size: 30,
    gap: 6,
    values: (_, splits) => splits.map(moment),
    grid: { show: false },
  });
}

/** The range of an x axis that shows all of `whole`, unless the user has selected a part of it. */
export function wholeRun(whole: () => Part): uPlot.Range.Function {
  return (plot, min, max) => {
    const x = plot.data[0];
    const [first, last] = [x[0], x[x.length - 1]];
    const { from_s, to_s } = whole();
    if (first === undefined || last === undefined || min === null || max === null) return [from_s, to_s];
    return [min <= first ? from_s : min, max >= last ? to_s : max];
  };
}

/** From the start of the first slice to the end of the last one. */
export function slices(from_s: number, step_s: number, count: number): Part {
  return { from_s, to_s: from_s + step_s * Math.max(count, 1) };
}

/** Shades the time that the tables exclude. */
export function shadeOutside(part: () => Part | undefined): (plot: uPlot) => void {
  return (plot) => {
    const kept = part();
    if (!kept) return;
    const { left, top, width, height } = plot.bbox;
    const at = (seconds: number): number => Math.min(Math.max(plot.valToPos(seconds, "x", true), left), left + width);
    const { ctx } = plot;
    ctx.save();
    ctx.fillStyle = colour("shade");
    ctx.fillRect(left, top, at(kept.from_s) - left, height);
    ctx.fillRect(at(kept.to_s), top, left + width - at(kept.to_s), height);
    ctx.restore();
  };
}

/**
 * Shades incidents. Draws a line where the user changed the run (dashed) or the generator stalled (dotted). The first
 * part of the page describes them.
 */
export function drawMarks(marks: () => readonly Mark[] | undefined): (plot: uPlot) => void {
  return (plot) => {
    const { left, top, width, height } = plot.bbox;
    const { ctx } = plot;
    const at = (seconds: number): number => plot.valToPos(seconds, "x", true);
    const inside = (x: number): number => Math.min(Math.max(x, left), left + width);
    ctx.save();
    ctx.strokeStyle = colour("ink");
    ctx.fillStyle = faded("red", 12);
    ctx.lineWidth = devicePixelRatio;
    for (const { at_s, to_s, stall } of marks() ?? []) {
      if (to_s !== undefined) {
        const from = inside(at(at_s));
        ctx.fillRect(from, top, Math.max(inside(at(to_s)) - from, devicePixelRatio), height);
        continue;
      }
      const x = Math.round(at(at_s)) + 0.5;
      if (x < left || x > left + width) continue;
      const dash = stall ? [1, 4] : [2, 2];
      ctx.setLineDash(dash.map((part) => part * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

/** The cursor settings that plots with the same key share. */
export function sharedCursor(sync: string | undefined): uPlot.Cursor {
  const points = { size: 7, width: 1.5 };
  if (sync === undefined) return { points, y: false };
  return { points, y: false, sync: { key: sync, scales: ["x", null], setSeries: false } };
}

/** From 0 to a little above the largest value. */
export const fromZero: uPlot.Range.Function = (_plot, _min, max) => [0, max > 0 ? max * 1.06 : 1];

/** Lines over time in a figure. */
export class TimePlot {
  private readonly place: PlotFigure;
  private data: TimeData | undefined;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(data: TimeData): void {
    this.data = data;
    const { lines, from_s, step_s } = data;
    const count = Math.max(...lines.map((line) => line.values.length), 0);
    const x = middles(from_s, step_s, count);
    const single = lines.length === 1;
    const series = lines.map((line): uPlot.Series => ({
      label: line.name,
      stroke: () => colour(line.colour),
      width: line.width ?? 1.5,
      ...(line.dash?.length ? { dash: [...line.dash] } : {}),
      ...(line.filled ? { fill: () => faded(line.colour, single ? 14 : 10) } : {}),
      spanGaps: false,
      // A value with gaps on both sides would be invisible as a line.
      points: { show: (_, at) => isLonely(this.data?.lines[at - 1]?.values ?? []), size: 4 },
    }));
    const half = step_s / 2;
    this.place.draw(
      {
        name: data.name,
        shown: lines.map((line) => ({
          name: line.name, swatch: line.colour + (line.dash?.length ? ` dash${line.dash[0]}` : ""), values: line.values, format: data.format,
        })),
        place: (index) => {
          const middle = x[index] ?? from_s;
          const words = eventWords(this.data?.events, middle - half, middle + half);
          return (step_s === 1 ? `at ${moment(middle - half)}` : `${moment(middle - half)} to ${moment(middle + half)}`) + words;
        },
      },
      {
        padding: [10, 26, 0, 0],
        scales: {
          x: { time: false, range: wholeRun(() => this.whole()) },
          y: { range: fromZero },
        },
        axes: [timeAxis(), yAxis(data.tick)],
        cursor: sharedCursor(data.sync),
        series: [{}, ...series],
        hooks: { drawClear: [shadeOutside(() => this.data?.window)], draw: [drawMarks(() => this.data?.marks), drawEvents(() => this.data?.events)] },
      },
      [x, ...lines.map((line) => [...line.values])] as uPlot.AlignedData,
    );
  }

  private whole(): Part {
    const { from_s, step_s, lines } = this.data ?? { from_s: 0, step_s: 1, lines: [] };
    return slices(from_s, step_s, Math.max(...lines.map((line) => line.values.length), 0));
  }
}

/** Whether a value has no neighbour on either side. */
export function isLonely(values: Values): boolean {
  return values.some(
    (value, at) => value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null,
  );
}
