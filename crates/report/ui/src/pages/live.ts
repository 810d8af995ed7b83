// The page of a run that goes on: the same figures, drawn again with each model that the server sends.
//
// The server sends two kinds of events: `model` with a whole model as JSON, and `words` with the text of single elements
// by their id, for what is written rather than drawn.

import { showDefinitions } from "../definitions";
import { parseModel } from "../model";
import { RunPlots } from "./run";

/** Follows the events at `url` until the server says `end`. */
export function livePage(root: HTMLElement, url: string): EventSource {
  const plots = new RunPlots(root);
  const events = new EventSource(url);
  showDefinitions(root);
  events.addEventListener("model", (event: MessageEvent<string>) => plots.update(parseModel(event.data)));
  events.addEventListener("words", (event: MessageEvent<string>) => {
    for (const [id, text] of Object.entries(JSON.parse(event.data) as Record<string, string>)) {
      const element = document.getElementById(id);
      if (element) element.textContent = text;
    }
  });
  events.addEventListener("end", () => events.close());
  return events;
}
