// Small plots of the observed system on the live page.

import type { LiveSystem } from "../live_model";

/** The size of a plot in units of its view box. */
const WIDTH = 300;
const HEIGHT = 60;
const EDGE = 2;

/** The paths of a plot: its line, and a vertical line for each mark. */
export interface SystemPaths {
  readonly line: string;
  readonly marks: string;
}

/** The paths of each series. All series have the same time axis, so that they can be compared. */
export function systemPaths(system: LiveSystem): SystemPaths[] {
  const times = system.series.flatMap(({ points }) => points.map(([at]) => at));
  const from = Math.min(...times);
  const span = Math.max(Math.max(...times) - from, 1);
  const x = (at: number): string => (((at - from) / span) * WIDTH).toFixed(1);
  const inside = system.marks_s.filter((at) => at >= from && at <= from + span);
  const marks = inside.map((at) => `M${x(at)} 0V${HEIGHT}`).join("");
  return system.series.map(({ top, points }) => {
    const y = (value: number): string => (HEIGHT - EDGE - (value / top) * (HEIGHT - 2 * EDGE)).toFixed(1);
    const line = points.map(([at, value], index) => `${index === 0 ? "M" : "L"}${x(at)} ${y(value)}`).join("");
    return { line, marks };
  });
}

/** Draws the series into the figures `system-0`, `system-1`, …; figures without a series are hidden. */
export function drawSystem(system: LiveSystem | undefined): void {
  const paths = system ? systemPaths(system) : [];
  for (let at = 0; ; at += 1) {
    const figure = document.getElementById(`system-${at}`);
    if (!figure) return;
    const found = paths[at];
    figure.hidden = !found;
    figure.querySelector("path.line")?.setAttribute("d", found?.line ?? "");
    figure.querySelector("path.marks")?.setAttribute("d", found?.marks ?? "");
  }
}
