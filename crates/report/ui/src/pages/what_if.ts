// The page of a model whose parameters vary: its results over the first parameter.

import { showDefinitions } from "../definitions";
import { ms, rate, tick, timeTick } from "../format";
import type { SweepModel, WhatIfModel } from "../model";
import { SweepPlot } from "../plots/sweep";
import { RowTable } from "../tables/row_table";

/** A number with up to about four significant digits. */
function count(value: number): string {
  return Math.abs(value) < 99.95 ? String(Number(value.toPrecision(3))) : rate(value);
}

const UNITS: Record<SweepModel["unit"], { format: (value: number) => string; tick: (value: number) => string }> = {
  "/s": { format: (value) => `${count(value)}/s`, tick },
  ms: { format: (value) => `${ms(value)} ms`, tick: timeTick },
  "%": { format: (value) => `${count(value)} %`, tick: (value) => `${tick(value)} %` },
  "": { format: count, tick },
};

/** Makes the page of a what-if analysis interactive. */
export function whatIfPage(root: HTMLElement, model: WhatIfModel): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sortable")) new RowTable(table);
  showDefinitions(root);
  const { parameter, labels, numbers, unit } = model;
  for (const { plot, name, unit: of, lines } of model.plots) {
    const figure = root.querySelector<HTMLElement>(`figure[data-plot="${plot}"]`);
    if (figure) new SweepPlot(figure).update({ name, parameter, labels, numbers, unit, lines, ...UNITS[of] });
  }
}
