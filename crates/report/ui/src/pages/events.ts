// The pages of logs: events over time, and of garbage-collection logs also pauses by percentile.

import { showDefinitions } from "../definitions";
import type { EventsModel } from "../model";
import { EventPlot } from "../plots/points";
import { PercentilePlot } from "../plots/percentiles";
import { RowTable } from "../tables/row_table";

/** The styles of the curves for one log, and for two. */
const ALONE = [{ colour: "blue", dash: [], filled: true }] as const;
const COMPARED = [{ colour: "orange", dash: [6, 4] }, { colour: "blue", dash: [] }] as const;

/** Makes the page of a log interactive. */
export function eventsPage(root: HTMLElement, model: EventsModel): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sortable")) new RowTable(table);
  showDefinitions(root);
  const find = (name: string): HTMLElement | null => root.querySelector<HTMLElement>(`figure[data-plot="${name}"]`);
  for (const plot of model.plots) {
    const figure = find(plot.plot);
    if (figure) new EventPlot(figure).update(plot, model);
  }
  const curves = find("percentiles");
  if (!curves || !model.curves) return;
  const looks = model.curves.length > 1 ? COMPARED : ALONE;
  new PercentilePlot(curves).update(
    model.curves.map((curve, at) => ({ ...curve, ...(looks[at] ?? looks[0]) })),
    "Pauses by percentile",
  );
}
