// The common parts of all plots: their place in the page, the readout of values, keys, touch, size and theme.

import uPlot from "uplot";
import { colour, onThemeChange } from "./theme";

/** A drawn item, as the readout names it. */
export interface Shown {
  readonly name: string;
  /** The class of its swatch, which determines the colour. */
  readonly swatch: string;
  readonly values: readonly (number | null | undefined)[];
  readonly format: (value: number, index: number) => string;
}

/** Title and description of a plot. */
export interface FigureText {
  /** The description of the plot for screen readers. */
  readonly name: string;
  readonly shown: readonly Shown[];
  /** Describes the position of an index on the x axis. */
  readonly place: (index: number) => string;
  /** Shows the values at an index elsewhere than in the readout above the plot; `null` hides them. */
  readonly readout?: (index: number | null) => void;
}

/** Width of the y axis. It is the same in all plots, so that times are aligned. */
export const AXIS_WIDTH = 58;

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** An axis in the colours of the page. */
export function axis(options: uPlot.Axis): uPlot.Axis {
  const line = (): string => colour("rule");
  return {
    stroke: () => colour("soft"),
    font: FONT,
    ...options,
    grid: { stroke: line, width: 1, ...options.grid },
    ticks: { stroke: line, width: 1, size: 4, ...options.ticks },
  };
}

/** The y axis of a plot. */
export function yAxis(format: (value: number) => string, options: uPlot.Axis = {}): uPlot.Axis {
  return axis({
    size: AXIS_WIDTH,
    gap: 6,
    space: 36,
    values: (_, splits) => splits.map((value) => (value === null || value === undefined ? "" : format(value))),
    ticks: { show: false },
    ...options,
  });
}

/** A `<figure class="plot">` that contains a plot. */
export class PlotFigure {
  private readonly canvas: HTMLElement;
  private readonly readout: HTMLElement;
  private plot: uPlot | undefined;
  private text: FigureText = { name: "", shown: [], place: () => "" };
  private index: number | null = null;
  private kind = "";

  constructor(readonly figure: HTMLElement) {
    this.readout = part(figure, "readout", "p");
    this.canvas = part(figure, "canvas", "div");
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    onThemeChange(() => this.plot?.redraw(false));
    this.listen();
  }

  /**
   * Replaces the drawing. A plot with the same number of series and the same `kind` keeps its options. Functions in the
   * options must therefore read changing data from the caller each time.
   */
  draw(text: FigureText, options: Omit<uPlot.Options, "width" | "height">, data: uPlot.AlignedData, kind = ""): void {
    this.text = text;
    const known = this.plot;
    if (known && known.series.length === options.series.length && kind === this.kind) {
      known.setData(data);
    } else {
      known?.destroy();
      this.kind = kind;
      const hooks = { ...options.hooks, setCursor: [(plot: uPlot) => this.moved(plot.cursor.idx ?? null)] };
      const size = { width: this.width(), height: this.canvas.clientHeight };
      this.plot = new uPlot({ legend: { show: false }, ...size, ...options, hooks }, data, this.canvas);
    }
    this.describe();
    // If the user reads a value, it remains visible when the plot is redrawn.
    const last = (this.plot?.data[0].length ?? 0) - 1;
    this.show(this.index !== null && this.index <= last ? this.index : null);
  }

  private width(): number {
    return Math.max(this.canvas.clientWidth, 120);
  }

  private resize(): void {
    const size = { width: this.width(), height: this.canvas.clientHeight };
    if (this.plot && (this.plot.width !== size.width || this.plot.height !== size.height)) this.plot.setSize(size);
  }

  /** A plot is a slider over its x axis, so that screen readers can read single values. */
  private describe(): void {
    const { canvas, text } = this;
    const last = Math.max((this.plot?.data[0].length ?? 1) - 1, 0);
    const caption = this.figure.querySelector("figcaption");
    if (caption) {
      caption.id ||= `${this.figure.id}-caption`;
      canvas.setAttribute("aria-describedby", caption.id);
    }
    const state = { role: "slider", tabindex: "0", "aria-label": `${text.name}; arrow keys read values` };
    const range = { "aria-valuemin": "0", "aria-valuemax": String(last), "aria-valuenow": "0" };
    for (const [name, value] of Object.entries({ ...state, ...range })) canvas.setAttribute(name, value);
    canvas.setAttribute("aria-valuetext", text.place(0));
  }

  private moved(index: number | null): void {
    if (index !== this.index) this.show(index);
  }

  private show(index: number | null): void {
    this.index = index;
    const { place, shown, readout } = this.text;
    if (readout) {
      readout(index);
      if (index !== null) this.announce(index);
      return;
    }
    this.readout.replaceChildren();
    const add = (className: string, text: string): void => {
      const span = document.createElement("span");
      span.className = className;
      span.textContent = text;
      this.readout.append(span);
    };
    for (const { name, swatch, values, format } of shown) {
      // Series without a line are listed only once they have a value.
      if (index === null && swatch === "cells") continue;
      const value = index === null ? null : values[index];
      const shown = index === null ? "" : ` ${typeof value === "number" ? format(value, index) : "–"}`;
      add(`key ${swatch}`, `${name}${shown}`);
    }
    if (index !== null) {
      add("at", place(index));
      this.announce(index);
    }
  }

  private announce(index: number): void {
    this.canvas.setAttribute("aria-valuenow", String(index));
    this.canvas.setAttribute("aria-valuetext", [this.text.place(index), ...this.words(index)].join(", "));
  }

  private words(index: number): string[] {
    return this.text.shown.map(({ name, values, format }) => {
      const value = values[index];
      return `${name} ${typeof value === "number" ? format(value, index) : "none"}`;
    });
  }

  private listen(): void {
    this.canvas.addEventListener("keydown", (event) => {
      const plot = this.plot;
      if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
      const last = plot.data[0].length - 1;
      const at = this.index ?? -1;
      const far = Math.max(Math.round(last / 20), 1);
      const to: Record<string, number> = {
        ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1,
        PageUp: at + far, PageDown: at - far, Home: 0, End: last,
      };
      if (event.key === "Escape") {
        this.point(null);
        zoomOut(plot);
        return;
      }
      const wanted = to[event.key];
      if (wanted === undefined) return;
      event.preventDefault();
      this.point(Math.min(Math.max(wanted, 0), last));
    });
    this.canvas.addEventListener("blur", () => this.point(null));
    const touched = (event: TouchEvent): void => {
      const [touch] = event.touches;
      const plot = this.plot;
      if (!touch || !plot) return;
      const box = plot.over.getBoundingClientRect();
      publishCursor(plot, touch.clientX - box.left, touch.clientY - box.top);
    };
    this.canvas.addEventListener("touchstart", touched, { passive: true });
    this.canvas.addEventListener("touchmove", touched, { passive: true });
  }

  private point(index: number | null): void {
    const plot = this.plot;
    if (!plot) return;
    const x = index === null ? undefined : plot.data[0][index];
    const left = x === undefined ? -10 : plot.valToPos(x, "x");
    publishCursor(plot, left, x === undefined ? -10 : 10);
    if (index !== null) this.show(index);
  }
}

/** Moves the cursor in all plots with the same key. The types of uPlot lack the third parameter. */
function publishCursor(plot: uPlot, left: number, top: number): void {
  const setCursor = plot.setCursor as (at: { left: number; top: number }, fire: boolean, publish: boolean) => void;
  setCursor({ left, top }, true, true);
}

/** Shows the whole x axis again, in this plot and in those with the same key. */
function zoomOut(plot: uPlot): void {
  const x = plot.data[0];
  const [first, last] = [x[0], x[x.length - 1]];
  if (first !== undefined && last !== undefined) plot.setScale("x", { min: first, max: last });
}

/** The child with this class, which is created if it is missing. */
function part(figure: HTMLElement, className: string, tag: string): HTMLElement {
  const known = figure.querySelector<HTMLElement>(`:scope > .${className}`);
  if (known) return known;
  const made = document.createElement(tag);
  made.className = className;
  figure.append(made);
  return made;
}
