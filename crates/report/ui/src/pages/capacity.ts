// The page of a capacity model: throughput and response time over users.

import { showDefinitions } from "../definitions";
import { ms, rate, tick, timeTick } from "../format";
import type { CapacityModel } from "../model";
import { LoadPlot } from "../plots/load";
import { RowTable } from "../tables/row_table";

/** Makes the page of a capacity model interactive. */
export function capacityPage(root: HTMLElement, model: CapacityModel): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sortable")) new RowTable(table);
  showDefinitions(root);
  const find = (name: string): HTMLElement | null => root.querySelector<HTMLElement>(`figure[data-plot="${name}"]`);
  const { users, throughput, response } = model.curve;
  const base = { users, knee: model.knee_users };
  const [rates, times] = [find("throughput"), find("response")];
  if (rates) {
    new LoadPlot(rates).update({
      ...base, name: "Requests per second over users", colour: "blue", curve: throughput,
      points: model.points.map(({ users, throughput: value, fitted }) => ({ users, value, fitted })),
      format: (value) => `${rate(value)}/s`, tick,
    });
  }
  if (times) {
    new LoadPlot(times).update({
      ...base, name: "Response time over users", colour: "blue", curve: response,
      points: model.points.flatMap(({ users, response_ms, fitted }) =>
        response_ms === undefined ? [] : [{ users, value: response_ms, fitted }],
      ),
      format: (value) => `${ms(value)} ms`, tick: timeTick,
    });
  }
}
