// Lines and dots at the times of events. Each line has its own times.

import uPlot from "uplot";
import { moment, ms, rate, tick, timeTick } from "../format";
import type { EventLine, EventPlotModel, Part, Values } from "../model";
import { PlotFigure, yAxis } from "./figure";
import { axisRange, LOG_TICKS } from "./heat";
import { colour, faded } from "./theme";
import { fromZero, shadeOutside, sharedCursor, timeAxis, wholeRun } from "./time";

/** All times in ascending order, and the values of each line at them; null where a line has no point. */
export function joined(lines: readonly EventLine[]): { x: number[]; columns: (number | null)[][] } {
  const x = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const rows = new Map(x.map((time, row) => [time, row]));
  const columns = lines.map((line) => {
    const column = new Array<number | null>(x.length).fill(null);
    line.x.forEach((time, at) => {
      const row = rows.get(time);
      if (row !== undefined) column[row] = line.y[at] ?? null;
    });
    return column;
  });
  return { x, columns };
}

/** The value of a line at each time: its last value, from its first point to its last one. */
export function held(values: Values): (number | null)[] {
  const last = values.reduce<number>((found, value, at) => (value === null ? found : at), -1);
  let known: number | null = null;
  return values.map((value, at) => {
    known = value ?? known;
    return at <= last ? known : null;
  });
}

/** Events over time in a figure. */
export class EventPlot {
  private readonly place: PlotFigure;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(data: EventPlotModel, whole: Part): void {
    const { lines, unit } = data;
    const { x, columns } = joined(lines);
    const values = lines.flatMap((line) => line.y);
    const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, 0]);
    const format = unit === "ms" ? (value: number) => (value < 0.0995 ? `${rate(value * 1000)} µs` : `${ms(value)} ms`) : (value: number) => `${rate(value)} ${unit}`;
    const isAlone = lines.length === 1;
    this.place.draw(
      {
        name: data.name,
        shown: lines.map((line, at) => ({
          name: line.name,
          swatch: line.colour + (line.look === "dots" ? " dots" : line.look === "dashed" ? " dash6" : ""),
          values: line.look === "dots" ? columns[at] ?? [] : held(columns[at] ?? []),
          format,
        })),
        place: (index) => `at ${moment(x[index] ?? 0)}`,
      },
      {
        padding: [10, 26, 0, 0],
        scales: {
          x: { time: false, range: wholeRun(() => whole) },
          y: data.logarithm ? { distr: 3, log: 10, range: () => axisRange(least * 0.9, most * 1.1) } : { range: fromZero },
        },
        axes: [
          timeAxis(),
          yAxis(unit === "ms" ? timeTick : (value) => (/^per |\/s$/.test(unit) ? tick(value) : `${tick(value)} ${unit}`), data.logarithm ? LOG_TICKS : {}),
        ],
        cursor: sharedCursor("events"),
        series: [
          {},
          ...lines.map((line): uPlot.Series => ({
            label: line.name,
            stroke: () => colour(line.colour),
            width: line.look === "dashed" ? 1.25 : 1.5,
            spanGaps: true,
            ...(line.look === "dashed" ? { dash: [6, 4] } : {}),
            ...(line.look === "area" ? { fill: () => faded(line.colour, isAlone ? 14 : 10) } : {}),
            ...(line.look === "dots" ? { paths: () => null } : {}),
            points: {
              show: line.look === "dots",
              // If there are few events, they have larger dots.
              size: line.x.length > 1000 ? 4 : 6,
              width: 0,
              stroke: () => colour(line.colour),
              fill: () => faded(line.colour, 75),
            },
          })),
        ],
        hooks: { drawClear: [shadeOutside(() => data.window)] },
      },
      [x, ...columns] as uPlot.AlignedData,
      data.logarithm ? "logarithm" : "linear",
    );
  }
}
