// Lines over a parameter of a model, with intervals where values were simulated.

import uPlot from "uplot";
import { tick } from "../format";
import type { SweepLine } from "../model";
import { axis, PlotFigure, yAxis } from "./figure";
import type { Colour } from "./theme";
import { colour } from "./theme";

/** The data of a plot over a parameter. */
export interface SweepData {
  readonly name: string;
  readonly parameter: string;
  readonly labels: readonly string[];
  /** Absent for names, which are placed at equal distances in their order. */
  readonly numbers?: readonly number[] | undefined;
  /** The unit of the numbers. */
  readonly unit: string;
  readonly lines: readonly SweepLine[];
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
}

const COLOURS: readonly Colour[] = ["blue", "orange", "green", "purple", "red"];
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3]];

/** The style of a line: lines first differ by colour, then by dashes. */
export function look(at: number): { colour: Colour; dash: readonly number[] } {
  const dash = DASHES[Math.floor(at / COLOURS.length) % DASHES.length] ?? [];
  return { colour: COLOURS[at % COLOURS.length] ?? "ink", dash };
}

/** Positions on the x axis: the numbers, or 0, 1, 2, … for names. Rows are in ascending order. */
export function places(labels: readonly string[], numbers?: readonly number[]): { x: number[]; rows: number[] } {
  const rows = labels.map((_, at) => at);
  if (numbers) rows.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  return { x: rows.map((row) => (numbers ? (numbers[row] ?? 0) : row)), rows };
}

/** A name, truncated to a number of letters. */
export function shortened(name: string, letters: number): string {
  return name.length <= letters ? name : `${name.slice(0, Math.max(letters - 1, 1))}…`;
}

/** Lines over a parameter in a figure. */
export class SweepPlot {
  private readonly place: PlotFigure;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(data: SweepData): void {
    const { x, rows } = places(data.labels, data.numbers);
    const columns = data.lines.map((line) => rows.map((row) => line.values[row] ?? null));
    const halves = data.lines.map((line) => rows.map((row) => line.half?.[row] ?? null));
    let drawn = 0;
    const looks = data.lines.map((line) => (line.is_bound ? { colour: "soft" as Colour, dash: [6, 4] } : look(drawn++)));
    const top = Math.max(
      ...columns.flatMap((values, line) => values.map((value, at) => (value ?? 0) + (halves[line]?.[at] ?? 0))), 0,
    );
    const isNumber = data.numbers !== undefined;
    const { length } = x;
    this.place.draw(
      {
        name: data.name,
        shown: data.lines.map((line, at) => ({
          name: line.name,
          swatch: (looks[at]?.colour ?? "") + (looks[at]?.dash.length ? ` dash${looks[at].dash[0]}` : ""),
          values: columns[at] ?? [],
          format: (value, index) => {
            const half = halves[at]?.[index];
            return typeof half === "number" ? `${data.format(value)} ±${data.format(half)}` : data.format(value);
          },
        })),
        place: (index) => `${data.parameter} = ${data.labels[rows[index] ?? 0] ?? ""}`,
      },
      {
        padding: [10, 26, 0, 0],
        scales: {
          // Leaves margins at the ends of names and around a single number.
          x: {
            time: false,
            range: (_plot, min, max) => (isNumber && length > 1 ? [min, max] : [min - 0.5, max + 0.5]),
          },
          y: { range: () => [0, top > 0 ? top * 1.06 : 1] },
        },
        axes: [
          axis({
            space: 56, size: 30, gap: 6, grid: { show: false },
            ...(isNumber
              ? { values: (_, splits) => splits.map((value) => tick(value) + data.unit) }
              : {
                  splits: () => x,
                  values: (plot, splits) => {
                    const letters = Math.floor(plot.bbox.width / devicePixelRatio / Math.max(length, 1) / 7);
                    return splits.map((value) => shortened(data.labels[value] ?? "", letters));
                  },
                }),
          }),
          yAxis(data.tick),
        ],
        cursor: { points: { size: 7, width: 1.5 }, y: false, drag: { x: false, y: false } },
        series: [
          {},
          ...data.lines.map((line, at): uPlot.Series => ({
            label: line.name,
            stroke: () => colour(looks[at]?.colour ?? "ink"),
            width: line.is_bound ? 1.25 : 1.75,
            ...(looks[at]?.dash.length ? { dash: [...looks[at].dash] } : {}),
            // Names are not connected by lines.
            ...(isNumber ? {} : { paths: () => null }),
            points: {
              show: !line.is_bound && (length <= 40 || !isNumber),
              // If lines have equal values, the rings of all of them are visible.
              size: isNumber ? 6 : 7 + 3 * Math.min(data.lines.length - 1 - at, 4),
              stroke: () => colour(looks[at]?.colour ?? "ink"), fill: () => colour("page"),
            },
          })),
        ],
        hooks: { draw: [(plot) => this.drawIntervals(plot, columns, halves, looks)] },
      },
      [x, ...columns] as uPlot.AlignedData,
    );
  }

  /** Draws a bar between the ends of each interval. */
  private drawIntervals(
    plot: uPlot, columns: (number | null)[][], halves: (number | null)[][], looks: { colour: Colour }[],
  ): void {
    const { ctx } = plot;
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    columns.forEach((values, line) => {
      ctx.strokeStyle = colour(looks[line]?.colour ?? "ink");
      values.forEach((value, at) => {
        const half = halves[line]?.[at];
        const place = plot.data[0][at];
        if (value === null || typeof half !== "number" || place === undefined) return;
        const x = Math.round(plot.valToPos(place, "x", true));
        const [low, high] = [plot.valToPos(Math.max(value - half, 0), "y", true), plot.valToPos(value + half, "y", true)];
        const wide = 4 * devicePixelRatio;
        ctx.beginPath();
        ctx.moveTo(x, low);
        ctx.lineTo(x, high);
        for (const end of [low, high]) {
          ctx.moveTo(x - wide, end);
          ctx.lineTo(x + wide, end);
        }
        ctx.stroke();
      });
    });
    ctx.restore();
  }
}
