// A curve over the number of users, with its interval, its bound, and the measurements.

import uPlot from "uplot";
import { tick } from "../format";
import type { LoadCurve } from "../model";
import { axis, PlotFigure, yAxis } from "./figure";
import type { Colour } from "./theme";
import { colour, faded } from "./theme";
import { fromZero } from "./time";

/** A measurement. */
export interface LoadPoint {
  readonly users: number;
  readonly value: number;
  /** Whether the curve was fitted to it. */
  readonly fitted: boolean;
}

/** The data of a plot over users. */
export interface LoadData {
  readonly name: string;
  readonly users: readonly number[];
  readonly curve: LoadCurve;
  readonly points: readonly LoadPoint[];
  /** The number of users at which the bounds intersect, or that of the peak. */
  readonly knee?: number | undefined;
  readonly colour: Colour;
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
}

/** The value of a line at `at`, between its points; null outside. */
export function between(x: readonly number[], y: readonly number[], at: number): number | null {
  const after = x.findIndex((value) => value >= at);
  const [x1, y1] = [x[after], y[after]];
  if (after < 0 || x1 === undefined || y1 === undefined) return null;
  if (x1 === at) return y1;
  const [x0, y0] = [x[after - 1], y[after - 1]];
  if (x0 === undefined || y0 === undefined) return null;
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}

/** A common x axis for the curve and the measurements. At a measurement, the value of the curve is added. */
export function aligned(data: LoadData): { x: number[]; columns: (number | null)[][] } {
  const own = [...data.points].sort((a, b) => a.users - b.users);
  const rest = data.users.filter((users) => !own.some((point) => point.users === users));
  const rows = [...own.map((point) => ({ users: point.users, point })), ...rest.map((users) => ({ users, point: undefined }))];
  rows.sort((a, b) => a.users - b.users);
  const line = (values: readonly number[] | undefined): (number | null)[] =>
    rows.map(({ users }) => (values ? between(data.users, values, users) : null));
  const measured = (fitted: boolean): (number | null)[] =>
    rows.map(({ point }) => (point && point.fitted === fitted ? point.value : null));
  const { value, low, high, bound } = data.curve;
  return {
    x: rows.map(({ users }) => users),
    columns: [line(value), line(low), line(high), line(bound), measured(true), measured(false)],
  };
}

/** A curve over users in a figure. */
export class LoadPlot {
  private readonly place: PlotFigure;
  private data: LoadData | undefined;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
  }

  update(data: LoadData): void {
    this.data = data;
    const { x, columns } = aligned(data);
    const [value = [], low = [], high = [], bound = [], fitted = [], left = []] = columns;
    const has = (values: readonly (number | null)[]): boolean => values.some((each) => each !== null);
    const shown = (name: string, swatch: string, values: (number | null)[]) => ({ name, swatch, values, format: data.format });
    const edge = { stroke: "transparent", width: 0, points: { show: false } };
    const dots = (name: Colour, size: number, filled: boolean): uPlot.Series => ({
      stroke: () => colour(name),
      width: 0,
      points: { show: true, size, width: 2, stroke: () => colour(name), fill: () => colour(filled ? name : "page") },
    });
    this.place.draw(
      {
        name: data.name,
        shown: [
          shown("model", data.colour, value),
          ...(has(low) ? [shown("interval from", "cells", low), shown("to", "cells", high)] : []),
          ...(has(bound) ? [shown("bound", "soft dash6", bound)] : []),
          shown("measured", "orange dots", fitted),
          ...(has(left) ? [shown("left out", "red dots", left)] : []),
        ],
        place: (index) => `${tick(x[index] ?? 0)} users`,
      },
      {
        padding: [10, 26, 0, 0],
        scales: {
          x: { time: false, range: (_plot, _min, max) => [0, max] },
          y: { range: fromZero },
        },
        axes: [axis({ space: 72, size: 30, gap: 6, values: (_, splits) => splits.map((users) => `${tick(users)} ${users === 1 ? "user" : "users"}`), grid: { show: false } }), yAxis(data.tick)],
        cursor: { points: { size: 7, width: 1.5 }, y: false, drag: { x: false, y: false } },
        // The types do not allow a function here, but uPlot does. The colour follows the theme.
        bands: [{ series: [3, 2], fill: () => faded(data.colour, 16) } as unknown as uPlot.Band],
        series: [
          {},
          { stroke: () => colour(data.colour), width: 1.75, points: { show: false } },
          { ...edge },
          { ...edge },
          { stroke: () => colour("soft"), width: 1.25, dash: [6, 4], points: { show: false } },
          dots("orange", 8, true),
          dots("red", 8, false),
        ],
        hooks: { drawClear: [(plot) => this.drawKnee(plot)] },
      },
      [x, ...columns] as uPlot.AlignedData,
    );
  }

  /** Draws a line where the bounds intersect. */
  private drawKnee(plot: uPlot): void {
    const knee = this.data?.knee;
    const last = plot.scales.x?.max;
    if (knee === undefined || last === undefined || last === null || knee > last) return;
    const { left, top, height } = plot.bbox;
    const at = Math.max(plot.valToPos(knee, "x", true), left);
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = colour("rule");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(at, top);
    ctx.lineTo(at, top + height);
    ctx.stroke();
    ctx.restore();
  }
}
