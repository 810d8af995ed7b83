// Marks of the observed system: a strip at the top of plots over time, and lines at permanent changes.

import type uPlot from "uplot";
import type { SystemEvent } from "../model";
import type { Colour } from "./theme";
import { colour, faded } from "./theme";

/** The colour of each kind, as in the classes of the key in the page. */
const COLOURS: Readonly<Record<string, Colour>> = {
  "user": "green", "restart": "red", "end": "red", "out-of-memory": "red", "stall": "orange", "gc-pause": "purple",
  "log-burst": "blue", "other": "soft",
};

/** Kinds that divide the run. They have a line through the whole plot. */
const DIVIDING: ReadonlySet<string> = new Set(["user", "restart", "end", "out-of-memory"]);

/** Kinds whose duration is shaded. The duration of other kinds is only the interval between two readings. */
const SHADED: ReadonlySet<string> = new Set(["gc-pause", "stall", "log-burst"]);

/** Height of the strip in CSS pixels. */
const STRIP = 6;

export function eventColour(kind: string): Colour {
  return COLOURS[kind] ?? "soft";
}

/** The text about the events in a slice: the first two events, and the number of the others. */
export function eventWords(events: readonly SystemEvent[] | undefined, from_s: number, to_s: number): string {
  const here = (events ?? []).filter((event) => event.from_s < to_s && (event.to_s ?? event.from_s) >= from_s);
  const words = here.slice(0, 2).map((event) => event.words);
  if (here.length > 2) words.push(`${here.length - 2} more`);
  return words.length > 0 ? ` · ${words.join(" · ")}` : "";
}

/** Draws the events over a plot. */
export function drawEvents(events: () => readonly SystemEvent[] | undefined): (plot: uPlot) => void {
  return (plot) => {
    const all = events() ?? [];
    if (all.length === 0) return;
    const { left, top, width, height } = plot.bbox;
    const { ctx } = plot;
    const strip = STRIP * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.lineWidth = devicePixelRatio;
    // The longest events are drawn first, so that short ones are visible on top of them.
    const ordered = [...all].sort((a, b) => (b.to_s ?? b.from_s) - b.from_s - ((a.to_s ?? a.from_s) - a.from_s));
    for (const { kind, from_s, to_s } of ordered) {
      const from = plot.valToPos(from_s, "x", true);
      const length = plot.valToPos(to_s ?? from_s, "x", true) - from;
      if (from + length < left || from > left + width) continue;
      const name = eventColour(kind);
      ctx.fillStyle = colour(name);
      ctx.fillRect(Math.round(from), top, Math.max(length, 1.5 * devicePixelRatio), strip);
      if (SHADED.has(kind) && length > 2 * devicePixelRatio) {
        ctx.fillStyle = faded(name, 10);
        ctx.fillRect(from, top, length, height);
      }
      if (DIVIDING.has(kind)) {
        ctx.strokeStyle = colour(name);
        ctx.setLineDash([4, 3].map((part) => part * devicePixelRatio));
        ctx.beginPath();
        ctx.moveTo(Math.round(from) + 0.5, top);
        ctx.lineTo(Math.round(from) + 0.5, top + height);
        ctx.stroke();
      }
    }
    ctx.restore();
  };
}
