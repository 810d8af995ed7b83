//! The interquartile ranges of a comparison, which are shown but not tested.

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{ComparedRow, Quartiles};
use maud::{Markup, html};

use crate::log_tables::cell;
use crate::numbers::ms;
use crate::terminal_text::shown_label;

/// The explanation of the ranges.
const ABOUT: &str = "The middle half of the times of all runs of a side combined; not part of the tests.";

/// Formats a range: `12.3 to 45.6`.
fn range(quartiles: Option<Quartiles>) -> String {
    quartiles.map_or_else(|| "–".to_owned(), |found| format!("{} to {}", ms(found.p25_ms), ms(found.p75_ms)))
}

/// The line below the measures of a row in the terminal.
pub(crate) fn quartiles_line(row: &ComparedRow) -> String {
    let (before, after) = (range(row.base_quartiles), range(row.new_quartiles));
    format!("  p25 to p75 ms: {before} before, {after} after (not tested)\n")
}

/// Two lines of the CSV table for a row, which contain only label, kind, measure, before and after. `columns` is the number of
/// all columns.
pub(crate) fn quartiles_csv(row: &ComparedRow, kind: &str, columns: usize) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |ms| ms.to_string());
    let sides =
        |of: fn(Quartiles) -> f64| [row.base_quartiles.map(of), row.new_quartiles.map(of)].map(number);
    let lines = [("p25", sides(|found| found.p25_ms)), ("p75", sides(|found| found.p75_ms))];
    let line = |(name, [before, after]): (&str, [String; 2])| {
        let empty = ",".repeat(columns - 5);
        format!("{},{kind},{name},{before},{after}{empty}\n", cell(&row.label))
    };
    lines.map(line).concat()
}

/// The ranges of all rows as a table of the page.
pub(crate) fn quartiles_html(comparison: &Comparison) -> Markup {
    let ends = |side: Option<Quartiles>| match side {
        Some(found) => [ms(found.p25_ms), ms(found.p75_ms)],
        None => ["–".to_owned(), "–".to_owned()],
    };
    html! {
        p { (ABOUT) }
        table.wide {
            caption.skip { "Interquartile ranges in ms" }
            thead {
                tr {
                    th.text scope="col" { "label" }
                    @for name in ["before p25", "before p75", "after p25", "after p75"] { th scope="col" { (name) } }
                }
            }
            tbody {
                @for row in comparison.rows() {
                    tr {
                        th scope="row" { (shown_label(&row.label)) }
                        @for side in [row.base_quartiles, row.new_quartiles] {
                            @for end in ends(side) { td { (end) } }
                        }
                    }
                }
            }
        }
    }
}
