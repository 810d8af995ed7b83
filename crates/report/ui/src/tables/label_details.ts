// The details of a label, shown below its row when it is pressed: its rate, times and percentile curve.

import { ms, rate, tick, timeTick } from "../format";
import type { LabelModel, LabelSeries, OverTime, ReportModel } from "../model";
import { bothClocks, PercentilePlot } from "../plots/percentiles";
import { spark } from "../plots/spark";
import { TimePlot } from "../plots/time";
import { RowTable } from "./row_table";

let figures = 0;

/** Makes the table of labels interactive. */
export function labelTable(table: HTMLTableElement, page: ReportModel): void {
  const modelOf = (row: HTMLTableRowElement): LabelModel | undefined => page.labels[Number(row.dataset["label"])];
  const rows = new RowTable(table, {
    onShow: (row) => {
      const cell = row.querySelector("td.spark");
      const values = modelOf(row)?.series?.response_p95;
      if (cell && cell.childElementCount === 0 && values) cell.append(spark(values));
    },
  });
  for (const row of table.tBodies[0]?.rows ?? []) {
    const model = modelOf(row);
    const name = row.querySelector<HTMLElement>("th .name");
    if (!model || !name || (!model.series && !model.curve)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "open";
    button.textContent = name.textContent;
    button.setAttribute("aria-expanded", "false");
    name.replaceChildren(button);
    let details: HTMLTableRowElement | undefined;
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(details === undefined));
      if (details) {
        rows.detach(row, details);
        details = undefined;
        return;
      }
      details = detailsRow(row.cells.length);
      rows.attach(row, details);
      fill(details, model, page);
    });
  }
}

function detailsRow(columns: number): HTMLTableRowElement {
  const row = document.createElement("tr");
  row.className = "details";
  const cell = row.insertCell();
  cell.colSpan = columns;
  return row;
}

function fill(row: HTMLTableRowElement, model: LabelModel, { over_time, window }: ReportModel): void {
  const inside = document.createElement("div");
  inside.className = "inside";
  row.cells[0]?.append(inside);
  // The details are as wide as the visible part of the table, regardless of its scroll position.
  const scroll = row.closest<HTMLElement>(".scroll");
  const fit = (): void => {
    if (!scroll) return;
    const { paddingLeft, paddingRight } = getComputedStyle(scroll);
    const seen = scroll.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    inside.style.setProperty("width", `${seen}px`);
  };
  fit();
  if (scroll) new ResizeObserver(fit).observe(scroll);
  const { label, series, curve } = model;
  if (series) {
    const { from_s, step_s } = series;
    const count = wholeSlices(series, over_time);
    const perSecond = (values: readonly number[]): number[] => values.slice(0, count).map((value) => value / step_s);
    new TimePlot(figure(inside, "Requests per second")).update({
      name: `${label}: requests per second`,
      from_s, step_s, window, format: rate, tick,
      lines: [
        { name: "completed/s", colour: "blue", values: perSecond(series.requests), filled: true },
        { name: "failed/s", colour: "red", values: perSecond(series.errors), dash: [6, 4] },
      ],
    });
    new TimePlot(figure(inside, "Response time")).update({
      name: `${label}: response time`,
      from_s, step_s, window, format: (value) => `${ms(value)} ms`, tick: timeTick,
      lines: [
        { name: "mean", colour: "blue", values: series.response_mean.slice(0, count) },
        { name: "p95", colour: "red", values: series.response_p95.slice(0, count), dash: [6, 4] },
      ],
    });
  }
  if (curve) {
    new PercentilePlot(figure(inside, "By percentile")).update(bothClocks(curve), `${label}: time by percentile`);
  }
}

/** Number of slices that the run filled completely. The rate of an incomplete last slice would be wrong. */
export function wholeSlices(series: LabelSeries, over_time: OverTime | undefined): number {
  const all = series.requests.length;
  if (!over_time) return all;
  const end_s = over_time.from_s + over_time.step_s * over_time.ended.length;
  return Math.max(Math.min(all, Math.floor((end_s - series.from_s) / series.step_s + 1e-9)), 1);
}

function figure(parent: HTMLElement, title: string): HTMLElement {
  const figure = document.createElement("figure");
  figure.className = "plot small";
  figure.id = `detail-${++figures}`;
  const heading = document.createElement("h3");
  heading.textContent = title;
  figure.append(heading);
  parent.append(figure);
  return figure;
}
