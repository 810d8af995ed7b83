//! The columns of tables of labels and thread groups, declared once for terminals and pages.

use busyhour_analysis::Row;

use crate::numbers::{ms, percent, rate, thousands};

/// A column with one number for each row.
#[derive(Clone, Copy)]
pub(crate) struct RowColumn {
    /// Heading in terminals; `None` if terminals do not show the column.
    pub(crate) terminal: Option<&'static str>,
    /// Heading and glossary term on pages; `None` if pages do not show the column.
    pub(crate) page: Option<(&'static str, &'static str)>,
    /// The path of the number in a row of `summary.json`.
    pub(crate) path: &'static str,
    /// Returns the text for a row.
    pub(crate) cell: fn(&Row) -> String,
    /// Whether pages show the column at first, and not only on request.
    pub(crate) is_main: bool,
    /// In narrow terminals, the column with the highest number is omitted first; columns with 0 are never omitted.
    pub(crate) leaves: u8,
    /// Whether the column is about failures, which are highlighted.
    pub(crate) is_of_failures: bool,
    /// Whether pages show the column for these rows.
    pub(crate) applies: fn(&[&Row]) -> bool,
}

const fn column(
    path: &'static str,
    terminal: Option<&'static str>,
    page: Option<(&'static str, &'static str)>,
    cell: fn(&Row) -> String,
) -> RowColumn {
    RowColumn {
        terminal,
        page,
        path,
        cell,
        is_main: false,
        leaves: 0,
        is_of_failures: false,
        applies: |_| true,
    }
}

impl RowColumn {
    const fn leaving(mut self, leaves: u8) -> Self {
        self.leaves = leaves;
        self
    }

    const fn main(mut self, is_main: bool) -> Self {
        self.is_main = is_main;
        self
    }

    const fn of_failures(mut self) -> Self {
        self.is_of_failures = true;
        self
    }

    const fn passes_without_data(mut self, applies: fn(&[&Row]) -> bool) -> Self {
        self.applies = applies;
        self
    }
}

/// A time of a row in ms; `–` if the row has no samples.
fn time(row: &Row, value: f64) -> String {
    if row.samples == 0 { "–".into() } else { ms(value) }
}

/// Columns with counts and rates.
pub(crate) const COUNTS: &[RowColumn] = &[
    column("samples", Some("samples"), Some(("requests", "completed")), |row| thousands(row.samples))
        .main(true),
    column("errors", None, Some(("failed", "failed")), |row| thousands(row.errors)).of_failures().main(true),
    column("error_percent", Some("err %"), Some(("failed %", "failed")), |row| {
        if row.samples == 0 { "–".into() } else { percent(row.error_percent) }
    })
    .of_failures(),
    column("rate_per_s", Some("rate/s"), Some(("per s", "rate")), |row| rate(row.rate_per_s)).main(true),
    column("received_kib_per_s", Some("KiB/s in"), None, |row| rate(row.received_kib_per_s)).leaving(4),
    column("sent_kib_per_s", Some("KiB/s out"), None, |row| rate(row.sent_kib_per_s)).leaving(5),
];

/// A column with times of one clock: its name, its glossary term, its rank in narrow terminals, its field, and whether pages
/// show it at first.
macro_rules! times {
    ($clock:ident, $page:expr) => {
        &[
            times!($clock, $page, "mean", "mean", 0, mean, true),
            times!($clock, $page, "p25", "p25", 0, p25, false),
            times!($clock, $page, "p50", "p50", 0, p50, true),
            times!($clock, $page, "p75", "p75", 0, p75, false),
            times!($clock, $page, "p90", "p90", 2, p90, false),
            times!($clock, $page, "p95", "p95", 1, p95, true),
            times!($clock, $page, "p99", "p99", 0, p99, true),
            times!($clock, $page, "p99.9", "p999", 3, p99_9, false),
            times!($clock, $page, "max", "max", 0, max, true),
        ]
    };
    ($clock:ident, $page:expr, $name:literal, $term:literal, $leaves:literal, $field:ident, $main:literal) => {
        column(
            concat!(stringify!($clock), ".", stringify!($field)),
            Some($name),
            if $page { Some(($name, $term)) } else { None },
            |row| time(row, row.$clock.$field),
        )
        .leaving($leaves)
        .main($main)
    };
}

/// The columns of the output that fits on one screen.
pub(crate) fn screen_columns() -> Vec<RowColumn> {
    let names = ["samples", "err %", "p50", "p95", "p99", "max"];
    let all = COUNTS.iter().chain(RESPONSE);
    all.filter(|column| column.terminal.is_some_and(|name| names.contains(&name))).copied().collect()
}

/// Columns with response times.
pub(crate) const RESPONSE: &[RowColumn] = times!(response, true);

/// Columns with service times, in terminals only.
pub(crate) const SERVICE: &[RowColumn] = times!(service, false);

/// Columns of pages that are shown only if they apply to the rows.
const FURTHER: &[RowColumn] = &[
    column("service.mean", None, Some(("service mean", "service")), |row| time(row, row.service.mean))
        .passes_without_data(|rows| rows.iter().any(|row| row.service.mean != row.response.mean)),
    column("apdex.score", None, Some(("APDEX", "apdex")), |row| {
        row.apdex.map_or_else(|| "–".into(), |apdex| format!("{:.2}", apdex.score))
    })
    .passes_without_data(|rows| rows.iter().any(|row| row.apdex.is_some())),
];

/// All columns of tables of labels and thread groups.
#[cfg(test)]
pub(crate) fn all_columns() -> impl Iterator<Item = &'static RowColumn> {
    COUNTS.iter().chain(RESPONSE).chain(SERVICE).chain(FURTHER)
}

/// The columns of a page for these rows.
pub(crate) fn page_columns(rows: &[&Row]) -> Vec<RowColumn> {
    let all = COUNTS.iter().chain(RESPONSE).chain(FURTHER);
    all.filter(|column| column.page.is_some() && (column.applies)(rows)).copied().collect()
}
