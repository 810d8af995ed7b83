// A table of the page with sorting, a filter and a limited number of rows until all rows are requested.

import { thousands } from "../format";
import type { Direction } from "./order";
import { inOrder, matches, next, sortedBy } from "./order";

interface Row {
  readonly element: HTMLTableRowElement;
  readonly cells: readonly string[];
  readonly at: number;
  /** Rows that are placed below the row and move with it. */
  readonly below: HTMLTableRowElement[];
}

/** Optional behaviour of a table. */
export interface RowTableOptions {
  /** Called with rows that became visible. */
  readonly onShow?: (row: HTMLTableRowElement) => void;
}

export class RowTable {
  private readonly body: HTMLTableSectionElement;
  private readonly rows: Row[];
  private readonly limit: number;
  private readonly count: HTMLElement | null;
  private readonly more: HTMLButtonElement | null;
  /** Shows the order of the rows, if the page has an element for it. */
  private readonly sorted: HTMLElement | null;
  private shown: Row[];
  private filter = "";
  private all = false;

  constructor(readonly table: HTMLTableElement, private readonly options: RowTableOptions = {}) {
    const body = table.tBodies[0];
    if (!body) throw new Error("a table without a body");
    this.body = body;
    this.rows = [...body.rows].map((element, at) => ({
      element, at, cells: [...element.cells].map((cell) => cell.dataset["sort"] ?? cell.textContent ?? ""), below: [],
    }));
    this.shown = this.rows;
    this.limit = Number(table.dataset["limit"] ?? Number.POSITIVE_INFINITY);
    const section = table.closest("section") ?? document.body;
    this.count = section.querySelector<HTMLElement>(".row-count");
    this.more = section.querySelector<HTMLButtonElement>("button.more");
    this.more?.addEventListener("click", () => {
      this.all = true;
      this.show();
    });
    this.sorted = section.querySelector<HTMLElement>(".sorted");
    const field = section.querySelector<HTMLInputElement>("input[type=search]");
    field?.addEventListener("input", () => {
      this.filter = field.value.trim();
      this.show();
    });
    this.makeHeadersSort();
    this.hideFurtherColumns(section.querySelector<HTMLButtonElement>("button.columns"));
    this.show();
  }

  /** Hides the columns that are shown only on request. */
  private hideFurtherColumns(button: HTMLButtonElement | null): void {
    const further = (this.table.dataset["further"] ?? "").split(" ").filter((at) => at !== "").map(Number);
    if (!button || further.length === 0) return;
    for (const at of further) this.table.tHead?.rows[0]?.cells[at - 1]?.classList.add("further");
    const label = button.textContent;
    button.addEventListener("click", () => {
      const all = this.table.classList.toggle("all-columns");
      button.setAttribute("aria-expanded", String(all));
      button.textContent = all ? "Show fewer columns" : label;
    });
  }

  /** Places a row below another row. Both rows then move together. */
  attach(row: HTMLTableRowElement, below: HTMLTableRowElement): void {
    this.rows.find((known) => known.element === row)?.below.push(below);
    row.after(below);
  }

  /** Removes a row that was placed below another. */
  detach(row: HTMLTableRowElement, below: HTMLTableRowElement): void {
    const known = this.rows.find((known) => known.element === row);
    known?.below.splice(known.below.indexOf(below), 1);
    below.remove();
  }

  private makeHeadersSort(): void {
    const headers = [...(this.table.tHead?.rows[0]?.cells ?? [])];
    headers.forEach((header, column) => {
      if (header.dataset["sort"] === undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      const term = header.querySelector<HTMLAnchorElement>("a.def");
      if (term) button.dataset["def"] = term.hash.slice(1);
      button.textContent = header.textContent;
      header.replaceChildren(button);
      const isText = header.dataset["sort"] === "text";
      button.addEventListener("click", () => {
        const known = header.getAttribute("aria-sort") as Direction | null;
        const direction = next(known, isText);
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", direction);
        this.shown = inOrder(this.rows, column, direction, isText);
        if (this.sorted) this.sorted.textContent = sortedBy(button.textContent ?? "", direction, isText);
        this.body.replaceChildren(...this.shown.flatMap((row) => [row.element, ...row.below]));
        this.show();
      });
    });
  }

  private show(): void {
    this.table.classList.remove("cut");
    const found = this.shown.filter((row) => this.filter === "" || matches(row.cells[0] ?? "", this.filter));
    const cut = !this.all && this.filter === "" && found.length > this.limit;
    const visible = new Set(cut ? found.slice(0, this.limit) : found);
    for (const row of this.rows) {
      const hidden = !visible.has(row);
      row.element.hidden = hidden;
      for (const below of row.below) below.hidden = hidden;
      if (!hidden) this.options.onShow?.(row.element);
    }
    if (this.more) this.more.hidden = !cut;
    if (this.count) {
      const [some, whole] = [thousands(visible.size), thousands(this.rows.length)];
      this.count.textContent = visible.size === this.rows.length ? `${whole} in all` : `${some} of ${whole}`;
    }
  }
}
