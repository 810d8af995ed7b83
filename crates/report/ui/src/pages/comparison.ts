// The page of a comparison: the runs of both sides in the same plots.

import { showDefinitions } from "../definitions";
import { ms, rate, tick, timeTick } from "../format";
import type { ComparedSide, ComparisonModel, RunCourse, Values } from "../model";
import { PercentilePlot } from "../plots/percentiles";
import type { TimeData, TimeLine } from "../plots/time";
import { TimePlot } from "../plots/time";
import { RowTable } from "../tables/row_table";

const SIDES = [
  { side: "base", colour: "orange", dash: [6, 4] },
  { side: "new", colour: "blue", dash: [] },
] as const;

/** A common grid of slices for all runs. */
export interface Grid {
  readonly step_s: number;
  readonly count: number;
}

/** A grid from the start of every run, in the longest slices of any run. */
export function commonGrid(courses: readonly RunCourse[]): Grid {
  const step_s = Math.max(...courses.map((course) => course.step_s), Number.MIN_VALUE);
  const last_s = Math.max(...courses.map((course) => course.from_s + course.step_s * course.rate_per_s.length), 0);
  return { step_s, count: Math.ceil(last_s / step_s - 1e-9) };
}

/** Values of a run on the grid. `join` combines the values of slices whose middles are in the same slice of the grid. */
export function onGrid(
  course: RunCourse, values: Values, grid: Grid, join: (values: readonly number[]) => number,
): (number | null)[] {
  const slots: number[][] = Array.from({ length: grid.count }, () => []);
  values.forEach((value, at) => {
    const slot = Math.floor((course.from_s + (at + 0.5) * course.step_s) / grid.step_s);
    if (value !== null) slots[slot]?.push(value);
  });
  return slots.map((slot) => (slot.length === 0 ? null : join(slot)));
}

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const largest = (values: readonly number[]): number => Math.max(...values);

/** Makes the page of a comparison interactive. */
export function comparisonPage(root: HTMLElement, model: ComparisonModel): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sortable")) new RowTable(table);
  showDefinitions(root);
  const find = (name: string): HTMLElement | null => root.querySelector<HTMLElement>(`figure[data-plot="${name}"]`);
  const curves = find("curves");
  if (curves) {
    new PercentilePlot(curves).update(
      SIDES.map(({ side, colour, dash }) => ({ name: model[side].name, colour, dash, ...model[side].curve })),
      "Times by percentile, before and after",
    );
  }
  const grid = commonGrid([...model.base.runs, ...model.new.runs]);
  const lines = (values: (course: RunCourse) => Values, join: typeof mean): TimeLine[] =>
    SIDES.flatMap(({ side, colour, dash }) => {
      const { name, runs }: ComparedSide = model[side];
      return runs.map((course, at) => ({
        name: runs.length > 1 ? `${name} ${at + 1}` : name,
        colour, dash, width: runs.length > 1 ? 1 : 1.5,
        values: onGrid(course, values(course), grid, join),
      }));
    });
  const base = { from_s: 0, step_s: grid.step_s, sync: "comparison" };
  const draw = (name: string, data: TimeData): void => {
    const figure = find(name);
    if (figure) new TimePlot(figure).update(data);
  };
  draw("rates", {
    ...base, name: "Requests per second, before and after", format: rate, tick,
    lines: lines((course) => course.rate_per_s, mean),
  });
  draw("p95s", {
    ...base, name: "95th percentile over time, before and after", format: (value) => `${ms(value)} ms`, tick: timeTick,
    lines: lines((course) => course.p95_ms, largest),
  });
}
