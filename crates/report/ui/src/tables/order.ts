// The order of rows, independent of the page.

import { numberOf } from "../format";

/** The direction in which a column is sorted. */
export type Direction = "ascending" | "descending";

/** The data of a row for sorting: the texts of its cells, and its initial position. */
export interface Sortable {
  readonly cells: readonly string[];
  readonly at: number;
}

/** Sorts rows by a column: texts in natural order, numbers by value. The sort is stable. */
export function inOrder<Row extends Sortable>(
  rows: readonly Row[], column: number, direction: Direction, isText: boolean,
): Row[] {
  const sign = direction === "ascending" ? 1 : -1;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [a.cells[column] ?? "", b.cells[column] ?? ""];
    if (isText) return collator.compare(left, right) * sign;
    const [x, y] = [numberOf(left), numberOf(right)];
    return x === y ? 0 : (x < y ? -1 : 1) * sign;
  };
  return [...rows].sort((a, b) => compare(a, b) || a.at - b.at);
}

/** The direction after a click on a header: numbers begin with the largest, texts with the first. */
export function next(current: Direction | null, isText: boolean): Direction {
  if (current === null) return isText ? "ascending" : "descending";
  return current === "ascending" ? "descending" : "ascending";
}

/** The order of rows in words: `Sorted by p99, largest first.` */
export function sortedBy(column: string, direction: Direction, isText: boolean): string {
  const first = isText ? (direction === "ascending" ? "A to Z" : "Z to A") : direction === "ascending" ? "smallest first" : "largest first";
  return `Sorted by ${column}, ${first}.`;
}

/** Whether a label contains all words of the filter, in any order and regardless of case. */
export function matches(label: string, filter: string): boolean {
  const text = label.toLocaleLowerCase();
  return filter.toLocaleLowerCase().split(/\s+/).every((word) => text.includes(word));
}
