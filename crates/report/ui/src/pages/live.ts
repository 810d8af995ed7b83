// The page of a live run: the figures of a run, redrawn each second, and buttons that change the run.
//
// The server sends these events: `model` when the page is opened, when events were missed, and when the slices or
// bands changed; `second` with one slice each second; `status` after the user changed the run; `end` when the run is
// over.

import { showDefinitions } from "../definitions";
import type { Second, Status, WholeModel } from "../live_model";
import { withSecond } from "../live_model";
import type { ReportModel } from "../model";
import { parseModel } from "../model";
import { drawSystem } from "../plots/live_system";
import { RunPlots } from "./run";

/** Header that carries the page's token: another site cannot set it without a preflight request. */
const TOKEN_HEADER = "X-Busyhour-Token";

/** Follows the events at `url` until the event `end`. */
export function livePage(root: HTMLElement, url: string): EventSource {
  const page = new LivePage(root, new URLSearchParams(location.search).get("token") ?? "");
  const events = new EventSource(`${url}?token=${encodeURIComponent(page.token)}`);
  const on = <T>(name: string, then: (data: T) => void): void =>
    events.addEventListener(name, (event: MessageEvent<string>) => then(JSON.parse(event.data) as T));
  on<WholeModel>("model", ({ model, status }) => page.showModel(parseModel(JSON.stringify(model)), status));
  on<Second>("second", (second) => page.second(second));
  on<Status>("status", (status) => page.status(status));
  on<Status>("end", (status) => {
    events.close();
    page.status(status);
  });
  events.addEventListener("error", () => page.lost(events.readyState === EventSource.CLOSED));
  events.addEventListener("open", () => page.connected());
  showDefinitions(root);
  return events;
}

class LivePage {
  private readonly plots: RunPlots;
  private model: ReportModel | undefined;
  private state = "running";
  private factor = 1;
  private readonly field: HTMLInputElement | null;
  private readonly confirm: HTMLDialogElement | null;

  constructor(root: HTMLElement, readonly token: string) {
    this.plots = new RunPlots(root);
    this.field = root.querySelector<HTMLInputElement>("#rate-factor");
    this.confirm = root.querySelector<HTMLDialogElement>("#confirm-stop");
    const press = (id: string, then: () => void): void =>
      document.getElementById(id)?.addEventListener("click", then);
    press("pause", () => this.order(this.state === "paused" ? { order: "resume" } : { order: "pause" }));
    press("stop", () => this.confirm?.showModal());
    press("stop-now", () => {
      this.confirm?.close();
      this.order({ order: "stop" });
    });
    press("stop-not", () => this.confirm?.close());
    press("slower", () => this.rate(this.factor / 1.25));
    press("faster", () => this.rate(this.factor * 1.25));
    press("as-requested", () => this.rate(1));
    document.getElementById("rate-form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.rate(this.field?.valueAsNumber ?? Number.NaN);
    });
  }

  showModel(model: ReportModel, status: Status): void {
    this.model = { ...model, marks: status.marks };
    this.plots.update(this.model);
    this.status(status);
  }

  second(second: Second): void {
    const next = this.model && withSecond(this.model, second);
    if (next) {
      this.model = next;
      this.plots.update(next);
    }
    this.status(second.status);
  }

  status(status: Status): void {
    for (const [id, text] of Object.entries(status.words)) write(id, text);
    this.state = status.state;
    this.factor = status.factor;
    document.body.dataset["state"] = status.state;
    const over = status.state === "stopping" || status.state === "ended";
    for (const id of ["pause", "stop", "slower", "faster", "as-requested", "rate-factor", "set-rate"]) {
      const control = document.getElementById(id) as HTMLButtonElement | HTMLInputElement | null;
      if (control) control.disabled = over;
    }
    // After the end, there is nothing to confirm.
    if (over && this.confirm?.open) this.confirm.close();
    write("pause", status.state === "paused" ? "Resume" : "Pause");
    if (this.field && document.activeElement !== this.field) this.field.value = String(status.factor);
    list("live-changes", status.changes);
    list("live-caveats", status.caveats);
    drawSystem(status.system);
    list("system-marks", status.system?.marks ?? []);
    rows("live-labels", status.labels);
    rows("live-thresholds", status.thresholds);
    // The first cell contains the mark of the result.
    for (const row of document.querySelectorAll("#live-thresholds tr")) {
      row.classList.toggle("failed", row.textContent?.startsWith("✗") ?? false);
    }
  }

  /** The connection was lost. The browser connects again by itself unless the server has refused. */
  lost(isOver: boolean): void {
    if (this.state === "ended") return;
    document.body.dataset["connection"] = "lost";
    write("live-connection", isOver ? "No connection: the run has ended, or the server rejected the address of this page" : "Connecting again …");
  }

  connected(): void {
    delete document.body.dataset["connection"];
    write("live-connection", "");
  }

  private rate(factor: number): void {
    // Two decimals. The server refuses values out of range.
    this.order({ order: "rate", factor: Math.round(factor * 100) / 100 });
  }

  private order(body: object): void {
    const showAnswer = (text: string): void => write("live-answer", text);
    fetch("/order", {
      method: "POST",
      headers: { "Content-Type": "application/json", [TOKEN_HEADER]: this.token },
      body: JSON.stringify(body),
    }).then(
      async (answer) => showAnswer(answer.ok ? "" : await answer.text()),
      () => showAnswer("The run cannot be reached"),
    );
  }
}

function write(id: string, text: string): void {
  const element = document.getElementById(id);
  if (element && element.textContent !== text) element.textContent = text;
}

/** Sets the items of a list. Changes only the items that differ. */
function list(id: string, items: readonly string[]): void {
  const element = document.getElementById(id);
  if (!element) return;
  while (element.children.length > items.length) element.lastElementChild?.remove();
  items.forEach((text, at) => {
    const item = element.children[at] ?? element.appendChild(document.createElement("li"));
    if (item.textContent !== text) item.textContent = text;
  });
  element.dataset["empty"] = String(items.length === 0);
}

/** Sets the rows of a table's body. The first cell of each row is its heading. */
function rows(id: string, cells: readonly (readonly string[])[]): void {
  const body = document.getElementById(id) as HTMLTableSectionElement | null;
  if (!body) return;
  while (body.rows.length > cells.length) body.deleteRow(-1);
  cells.forEach((texts, at) => {
    const row = body.rows[at] ?? body.insertRow();
    texts.forEach((text, column) => {
      const cell = row.cells[column] ?? row.appendChild(document.createElement(column === 0 ? "th" : "td"));
      if (column === 0) cell.setAttribute("scope", "row");
      if (cell.textContent !== text) cell.textContent = text;
    });
  });
}
