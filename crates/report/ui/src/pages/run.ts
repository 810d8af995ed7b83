// The page of a run: its plots and its tables.

import { showDefinitions } from "../definitions";
import { ms, rate, tick, timeTick } from "../format";
import type { ReportModel } from "../model";
import { HeatPlot } from "../plots/heat";
import { bothClocks, PercentilePlot } from "../plots/percentiles";
import { PanelPlot } from "../plots/panel";
import type { TimeData } from "../plots/time";
import { slices, TimePlot } from "../plots/time";
import { labelTable } from "../tables/label_details";
import { RowTable } from "../tables/row_table";

const SYNC = "run";

/** The plots of a page. Each is drawn in the figure with its name, if the page has one. */
export class RunPlots {
  private readonly heat: HeatPlot | undefined;
  private readonly curve: PercentilePlot | undefined;
  private readonly lines: readonly { readonly name: LineFigure; readonly plot: TimePlot }[];

  constructor(root: HTMLElement) {
    const find = (name: string): HTMLElement | null => root.querySelector<HTMLElement>(`figure[data-plot="${name}"]`);
    const [heat, curve] = [find("heat"), find("percentiles")];
    this.heat = heat ? new HeatPlot(heat) : undefined;
    this.curve = curve ? new PercentilePlot(curve) : undefined;
    this.lines = LINE_FIGURES.flatMap((name) => {
      const figure = find(name);
      return figure ? [{ name, plot: new TimePlot(figure) }] : [];
    });
  }

  /** Draws a model; may be called again with a newer one. */
  update(model: ReportModel): void {
    const { over_time, heat, curve, window, marks, events } = model;
    if (heat) this.heat?.update({ heat, over_time, window, marks, events, sync: SYNC });
    if (curve) this.curve?.update(bothClocks(curve));
    for (const { name, plot } of this.lines) {
      const data = lineData(name, model);
      if (data) plot.update(data);
    }
  }
}

const LINE_FIGURES = ["rate", "errors", "times", "users", "traffic"] as const;
type LineFigure = (typeof LINE_FIGURES)[number];

/** The lines that each figure shows. */
function lineData(name: LineFigure, model: ReportModel): TimeData | undefined {
  const over = model.over_time;
  if (!over) return undefined;
  const { from_s, step_s } = over;
  const base = { from_s, step_s, window: model.window, marks: model.marks, events: model.events, sync: SYNC, format: rate, tick };
  switch (name) {
    case "rate":
      return {
        ...base,
        name: over.sessions ? "Arrivals, sessions and requests per second" : "Requests per second",
        lines: [
          ...(over.offered ? [{ name: "arrivals offered/s", colour: "soft", values: over.offered, dash: [2, 3] } as const] : []),
          ...(over.sessions ? [{ name: "sessions started/s", colour: "orange", values: over.sessions, dash: [6, 4] } as const] : []),
          ...(over.started ? [{ name: "requests started/s", colour: "orange", values: over.started, dash: [6, 4] } as const] : []),
          { name: "requests completed/s", colour: "blue", values: over.ended, filled: true },
        ],
      };
    case "errors":
      return { ...base, name: "Errors per second", lines: [{ name: "failed/s", colour: "red", values: over.errors, filled: true }] };
    // Used if there is no heat map.
    case "times":
      return {
        ...base,
        name: "Response time over time",
        format: (value) => `${ms(value)} ms`,
        tick: timeTick,
        lines: [
          { name: "p50", colour: "red", values: over.p50 },
          { name: "p95", colour: "red", values: over.p95, dash: [6, 4] },
          { name: "p99", colour: "red", values: over.p99, dash: [2, 3] },
        ],
      };
    case "users":
      return {
        ...base,
        name: "Active users",
        format: (value) => tick(value),
        lines: [{ name: "active users", colour: "green", values: over.users, filled: true }],
      };
    case "traffic":
      return {
        ...base,
        name: "KiB per second",
        lines: [
          { name: "received KiB/s", colour: "blue", values: over.received_kib, filled: true },
          { name: "sent KiB/s", colour: "orange", values: over.sent_kib, dash: [6, 4] },
        ],
      };
  }
}

/** Draws the small plots of the observed system, over the same time as the other plots. */
function systemPlots(root: HTMLElement, model: ReportModel): void {
  const { system, over_time, window, events } = model;
  if (!system) return;
  const { from_s, step_s, panels } = system;
  const count = Math.max(...panels.flatMap((panel) => panel.lines.map((line) => line.values.length)), 1);
  const whole = over_time ? slices(over_time.from_s, over_time.step_s, over_time.ended.length) : slices(from_s, step_s, count);
  for (const figure of root.querySelectorAll<HTMLElement>("figure[data-panel]")) {
    const panel = panels[Number(figure.dataset["panel"])];
    if (panel) new PanelPlot(figure).update({ panel, from_s, step_s, whole, window, events, sync: SYNC });
  }
}

/** Makes the page of a run interactive. */
export function runPage(root: HTMLElement, model: ReportModel): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sortable")) {
    if (table.id === "label-table") labelTable(table, model);
    else new RowTable(table);
  }
  showDefinitions(root);
  new RunPlots(root).update(model);
  systemPlots(root, model);
}
