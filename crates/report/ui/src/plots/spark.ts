// A small line inside a text.

import type { Values } from "../model";

const WIDTH = 96;
const HEIGHT = 20;
const SVG = "http://www.w3.org/2000/svg";

/** The path of a line that fills the box. It has gaps where there are no values. */
export function sparkPath(values: Values, width = WIDTH, height = HEIGHT): string {
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0) return "";
  const top = Math.max(...known, Number.MIN_VALUE);
  const across = values.length > 1 ? (width - 2) / (values.length - 1) : 0;
  let path = "";
  let drawing = false;
  values.forEach((value, at) => {
    if (value === null) {
      drawing = false;
      return;
    }
    const point = `${(1 + at * across).toFixed(1)} ${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`;
    path += drawing ? `L${point}` : `M${point}h.1`;
    drawing = true;
  });
  return path;
}

/** The line as a decorative image; its numbers are in the text next to it. */
export function spark(values: Values): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("width", String(WIDTH));
  svg.setAttribute("height", String(HEIGHT));
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", sparkPath(values));
  svg.append(path);
  return svg;
}
