//! The columns of tables of labels and thread groups, declared once for terminals and pages.

use busyhour_analysis::{Row, Times};

use crate::numbers::{ms, percent, rate, thousands};

/// A column with a number of each row.
#[derive(Clone, Copy)]
pub(crate) struct RowColumn {
    /// Heading in terminals; `None`: not shown there.
    pub(crate) terminal: Option<&'static str>,
    /// Heading and glossary term on pages; `None`: not shown there.
    pub(crate) page: Option<(&'static str, &'static str)>,
    /// The text of a row.
    pub(crate) cell: fn(&Row) -> String,
    /// In narrow terminals the column with the highest number is left out first; one with 0 always stays.
    pub(crate) leaves: u8,
    /// Whether the column is about failures, which are highlighted.
    pub(crate) is_of_failures: bool,
    /// Whether pages show the column for these rows.
    pub(crate) applies: fn(&[&Row]) -> bool,
}

const fn column(
    terminal: Option<&'static str>,
    page: Option<(&'static str, &'static str)>,
    cell: fn(&Row) -> String,
) -> RowColumn {
    RowColumn { terminal, page, cell, leaves: 0, is_of_failures: false, applies: |_| true }
}

impl RowColumn {
    const fn leaving(mut self, leaves: u8) -> Self {
        self.leaves = leaves;
        self
    }

    const fn of_failures(mut self) -> Self {
        self.is_of_failures = true;
        self
    }

    const fn if_any(mut self, applies: fn(&[&Row]) -> bool) -> Self {
        self.applies = applies;
        self
    }
}

/// A time of a row in ms; `None` without samples.
fn time(row: &Row, value: f64) -> String {
    if row.samples == 0 { "–".into() } else { ms(value) }
}

/// Counts and rates.
pub(crate) const COUNTS: &[RowColumn] = &[
    column(Some("samples"), Some(("requests", "completed")), |row| thousands(row.samples)),
    column(None, Some(("failed", "failed")), |row| thousands(row.errors)).of_failures(),
    column(Some("err %"), Some(("failed %", "failed")), |row| {
        if row.samples == 0 { "–".into() } else { percent(row.error_percent) }
    })
    .of_failures(),
    column(Some("rate/s"), Some(("per s", "rate")), |row| rate(row.rate_per_s)),
    column(Some("KiB/s in"), None, |row| rate(row.received_kib_per_s)),
    column(Some("KiB/s out"), None, |row| rate(row.sent_kib_per_s)),
];

/// A column of a clock: its name, its glossary term, its rank in narrow terminals, and its value.
macro_rules! times {
    ($clock:ident, $page:expr) => {
        &[
            times!($clock, $page, "mean", "mean", 0, |times: &Times| times.mean),
            times!($clock, $page, "p25", "p25", 0, |times: &Times| times.p25),
            times!($clock, $page, "p50", "p50", 0, |times: &Times| times.p50),
            times!($clock, $page, "p75", "p75", 0, |times: &Times| times.p75),
            times!($clock, $page, "p90", "p90", 2, |times: &Times| times.p90),
            times!($clock, $page, "p95", "p95", 1, |times: &Times| times.p95),
            times!($clock, $page, "p99", "p99", 0, |times: &Times| times.p99),
            times!($clock, $page, "p99.9", "p999", 3, |times: &Times| times.p99_9),
            times!($clock, $page, "max", "max", 0, |times: &Times| times.max),
        ]
    };
    ($clock:ident, $page:expr, $name:literal, $term:literal, $leaves:literal, $value:expr) => {
        column(Some($name), if $page { Some(($name, $term)) } else { None }, |row| {
            let value: fn(&Times) -> f64 = $value;
            time(row, value(&row.$clock))
        })
        .leaving($leaves)
    };
}

/// Response times.
pub(crate) const RESPONSE: &[RowColumn] = times!(response, true);

/// Service times, in terminals only.
pub(crate) const SERVICE: &[RowColumn] = times!(service, false);

/// Columns of pages that depend on the rows.
const FURTHER: &[RowColumn] = &[
    column(None, Some(("service mean", "service")), |row| time(row, row.service.mean))
        .if_any(|rows| rows.iter().any(|row| row.service.mean != row.response.mean)),
    column(None, Some(("APDEX", "apdex")), |row| {
        row.apdex.map_or_else(|| "–".into(), |apdex| format!("{:.2}", apdex.score))
    })
    .if_any(|rows| rows.iter().any(|row| row.apdex.is_some())),
];

/// The columns of a page for these rows.
pub(crate) fn page_columns(rows: &[&Row]) -> Vec<RowColumn> {
    let all = COUNTS.iter().chain(RESPONSE).chain(FURTHER);
    all.filter(|column| column.page.is_some() && (column.applies)(rows)).copied().collect()
}
