//! Files of other tools that contain percentiles and no samples: as text and JSON.

use busyhour_imports::{AggregateDoubt, AggregateResult, AggregateRow};
use serde::Serialize;

use crate::log_tables::aligned;
use crate::numbers::{counted, ms, thousands};
use crate::terminal_text::{Look, capital, printable, shown_label, wrap};

/// Maximum number of rows in the text and on the page; JSON has all of them.
pub(crate) const ROWS_SHOWN: usize = 100;

/// The columns of percentiles.
pub(crate) const SHOWN: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// The first sentence: the reasons to doubt the percentiles. Each file of this kind gives at least one reason.
pub(crate) fn doubt(doubts: &[AggregateDoubt]) -> String {
    let messages: Vec<String> = doubts.iter().take(2).map(ToString::to_string).collect();
    format!("Doubt these numbers: {}.", messages.join("; "))
}

/// A value, or a dash if the file does not contain it.
pub(crate) fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), ms)
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(|| "–".into(), thousands)
}

/// The cells of a row, as [`heads`] names them.
pub(crate) fn cells(row: &AggregateRow) -> Vec<String> {
    let mut cells = vec![shown_label(&printable(&row.name)), count(row.requests), count(row.failures)];
    cells.push(cell(row.mean_ms));
    cells.extend(SHOWN.iter().map(|percentile| cell(row.percentile(*percentile))));
    cells.push(cell(row.max_ms));
    cells
}

/// The headings of the table.
pub(crate) const HEADS: [&str; 10] =
    ["requests", "number", "failed", "mean ms", "p50", "p90", "p95", "p99", "p99.9", "max"];

/// The note about rows that are not shown; `None` if all of them are.
pub(crate) fn more_rows(result: &AggregateResult) -> Option<String> {
    let more = result.more_rows + result.rows.len().saturating_sub(ROWS_SHOWN) as u64;
    (more > 0).then(|| format!("{} not shown", counted(more, "more row")))
}

/// The percentiles of the file `name`, and the reasons to doubt them, for the terminal. Lines end with `\n`.
#[must_use]
pub fn percentiles_text(name: &str, result: &AggregateResult, look: Look) -> String {
    let doubts = result.doubts();
    let mut lines = wrap(&doubt(&doubts), look.width, "");
    let title = format!("{}: {}", printable(name), result.format);
    lines.extend(wrap(&title, look.width, "").iter().map(|line| look.dim(line)));
    lines.push(String::new());
    let rows: Vec<Vec<String>> = result.rows.iter().take(ROWS_SHOWN).map(cells).collect();
    let mut out: String = lines.iter().map(|line| format!("{line}\n")).collect();
    out += &aligned(&HEADS, &rows, false, look);
    out.extend(more_rows(result).map(|line| format!("{line}\n")));
    out.push('\n');
    for doubt in &doubts {
        let text = format!("- {}: {}", capital(&printable(&doubt.to_string())), doubt.advice());
        wrap(&text, look.width, "  ").iter().for_each(|line| out += &format!("{line}\n"));
    }
    out
}

/// A doubt with its texts.
#[derive(Serialize)]
struct ShownDoubt<'d> {
    #[serde(flatten)]
    doubt: &'d AggregateDoubt,
    message: String,
    advice: &'static str,
}

#[derive(Serialize)]
struct Percentiles<'d> {
    version: u32,
    kind: &'static str,
    file: &'d str,
    doubt: String,
    #[serde(flatten)]
    result: &'d AggregateResult,
    doubts: Vec<ShownDoubt<'d>>,
}

/// The percentiles of the file `name`, and the reasons to doubt them, as JSON.
#[must_use]
pub fn percentiles_json(name: &str, result: &AggregateResult) -> String {
    let doubts = result.doubts();
    let shown = Percentiles {
        version: 1,
        kind: "percentiles",
        file: name,
        doubt: doubt(&doubts),
        result,
        doubts: doubts
            .iter()
            .map(|doubt| ShownDoubt { doubt, message: doubt.to_string(), advice: doubt.advice() })
            .collect(),
    };
    // Cannot fail: the value consists of texts, numbers and lists.
    serde_json::to_string(&shown).unwrap_or_default() + "\n"
}
