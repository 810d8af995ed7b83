// Small plots of the observed system. The table below each plot is its key and shows the values at the cursor.

import uPlot from "uplot";
import { moment, short, tick } from "../format";
import type { Part, SystemEvent, SystemPanel, Values } from "../model";
import { middles } from "../model";
import { drawEvents, eventWords } from "./events";
import { PlotFigure, yAxis } from "./figure";
import type { Colour } from "./theme";
import { colour, faded } from "./theme";
import { isLonely, shadeOutside, sharedCursor, timeAxis, wholeRun } from "./time";

/** The data of a panel. */
export interface PanelData {
  readonly panel: SystemPanel;
  readonly from_s: number;
  readonly step_s: number;
  /** The time range that all plots of the page show. */
  readonly whole: Part;
  readonly window?: Part | undefined;
  readonly events?: readonly SystemEvent[] | undefined;
  readonly sync: string;
}

/** The same colours as in `crates/report/src/page/system/colours.rs`. */
const COLOURS: readonly Colour[] = ["blue", "orange", "green", "purple", "red"];

/** The heading of the column of values at the cursor if there is no cursor. */
const AT_CURSOR = "cursor";

/** A limit is drawn if it is at most this many times the largest value. */
const LIMIT_SEEN = 4;

/** A line in the form in which it is drawn. */
export interface DrawnLine {
  /** Number of the line in the panel. */
  readonly line: number;
  readonly values: Values;
}

/**
 * The lines in the order of drawing: limits that are not too large, then the other lines. Stacked lines are drawn from
 * the top to the bottom.
 */
export function drawnLines(panel: SystemPanel): { lines: DrawnLine[]; top: number } {
  const most = (values: Values): number => values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const lines: DrawnLine[] = [];
  const limits: DrawnLine[] = [];
  let sums: number[] = [];
  panel.lines.forEach(({ limit, values }, line) => {
    if (limit) {
      limits.push({ line, values });
    } else if (panel.stacked) {
      sums = values.map((value, at) => (sums[at] ?? 0) + (value ?? 0));
      const upper = sums;
      lines.unshift({ line, values: values.map((value, at) => (value === null ? null : (upper[at] ?? null))) });
    } else {
      lines.push({ line, values });
    }
  });
  const top = Math.max(...lines.map(({ values }) => most(values)), 0);
  const seen = limits.filter(({ values }) => most(values) <= top * LIMIT_SEEN);
  return { lines: [...seen, ...lines], top: Math.max(top, ...seen.map(({ values }) => most(values))) };
}

/** A small plot in its figure. */
export class PanelPlot {
  private readonly place: PlotFigure;
  private readonly cells: readonly HTMLElement[];
  private readonly head: HTMLElement | null;
  private data: PanelData | undefined;

  constructor(figure: HTMLElement) {
    this.place = new PlotFigure(figure);
    this.cells = [...figure.querySelectorAll<HTMLElement>("td.now")];
    this.head = figure.querySelector<HTMLElement>("th.now");
  }

  update(data: PanelData): void {
    this.data = data;
    const { panel, from_s, step_s } = data;
    const { lines, top } = drawnLines(panel);
    const count = Math.max(...panel.lines.map((line) => line.values.length), 0);
    const x = middles(from_s, step_s, count);
    const unit = panel.unit ? ` ${panel.unit}` : "";
    this.place.draw(
      {
        name: panel.title,
        shown: panel.lines.map(({ name, values }, at) => ({
          name, swatch: COLOURS[at % COLOURS.length] ?? "ink", values, format: (value) => `${short(value)}${unit}`,
        })),
        place: (index) => {
          const begin = from_s + index * step_s;
          return `at ${moment(Number(begin.toFixed(3)))}${eventWords(this.data?.events, begin, begin + step_s)}`;
        },
        readout: (index) => this.show(index),
      },
      {
        padding: [8, 14, 0, 0],
        scales: {
          x: { time: false, range: wholeRun(() => this.data?.whole ?? { from_s, to_s: from_s + step_s * count }) },
          y: { range: () => [0, top > 0 ? top * 1.08 : 1] },
        },
        axes: [{ ...timeAxis(), space: 56, size: 26 }, yAxis(tick, { size: 48, space: 26 })],
        cursor: sharedCursor(data.sync),
        series: [
          {},
          ...lines.map(({ line, values }): uPlot.Series => {
            const isLimit = panel.lines[line]?.limit === true;
            const name: Colour = isLimit ? "soft" : (COLOURS[line % COLOURS.length] ?? "ink");
            const dash = isLimit ? [2, 3] : line >= COLOURS.length ? [6, 4] : [];
            return {
              label: panel.lines[line]?.name ?? "",
              stroke: () => colour(name),
              width: panel.stacked && !isLimit ? 1 : 1.5,
              ...(dash.length > 0 ? { dash } : {}),
              ...(isLimit ? {} : panel.stacked ? { fill: () => solid(name) } : lines.length === 1 ? { fill: () => faded(name, 14) } : {}),
              spanGaps: false,
              points: { show: isLonely(values), size: 4 },
            };
          }),
        ],
        hooks: { drawClear: [shadeOutside(() => this.data?.window)], draw: [drawEvents(() => this.data?.events)] },
      },
      [x, ...lines.map(({ values }) => [...values])] as uPlot.AlignedData,
    );
  }

  /** Shows the values at the cursor in the table. */
  private show(index: number | null): void {
    const { panel, from_s, step_s } = this.data ?? {};
    if (!panel || from_s === undefined || step_s === undefined) return;
    if (this.head) this.head.textContent = index === null ? AT_CURSOR : moment(Number((from_s + index * step_s).toFixed(3)));
    this.cells.forEach((cell, at) => {
      const value = index === null ? undefined : panel.lines[at]?.values[index];
      cell.textContent = index === null ? "" : typeof value === "number" ? short(value) : "–";
    });
  }
}

/** An opaque tint, so that lines stacked below are not visible through it. */
function solid(name: Colour): string {
  return `color-mix(in srgb, ${colour(name)} 38%, ${colour("page")})`;
}
