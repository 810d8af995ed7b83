//! The arrival statistics of logs as tables, CSV and JSON.

use std::fmt::Write as _;

use busyhour_analysis::arrivals::ArrivalVerdict;
use busyhour_analysis::{CellHistogram, LogTableRow, LogWindow, QuantileRule, WebLogTables};
use busyhour_results::LogReport;
use serde::Serialize;

use crate::numbers::{counted, thousands};
use crate::terminal_text::capital;
use crate::terminal_text::{LABEL_MIN, Look, cut, printable};

/// Version of the JSON format.
const VERSION: u32 = 1;

/// The optional parts of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogTablesShow {
    /// Whether the labels of every log are shown if there are several logs.
    pub by_label: bool,
    /// Whether the histograms are shown.
    pub histograms: bool,
    /// Whether the data behind the verdicts are shown.
    pub details: bool,
}

/// One of the four tables.
struct Table<'t> {
    title: &'static str,
    /// Name of the table in CSV.
    key: &'static str,
    rows: Option<&'t [LogTableRow]>,
    /// Resolution of the values: 1, or a fraction of 1.
    tick: f64,
    /// Whether the spread is shown as coefficient of variation (cv) or as variance-to-mean ratio (vmr).
    cv: bool,
}

fn four(tables: &WebLogTables) -> [Table<'_>; 4] {
    let tick = tables.tick_ms;
    let table = |title, key, rows, tick, cv| Table { title, key, rows, tick, cv };
    [
        table("Inter-arrival time, ms", "inter-arrival-ms", Some(&tables.inter_arrival[..]), tick, true),
        table(
            "Response time from the actual start (elapsed), ms",
            "response-time-ms",
            Some(&tables.response_time[..]),
            tick,
            false,
        ),
        table("Size, bytes", "size-bytes", tables.size.as_deref(), 1.0, false),
        table("Time to first byte, ms", "first-byte-ms", tables.first_byte.as_deref(), tick, false),
    ]
}

/// The tables of all logs as text. For a single log, all its labels are shown; for several logs, one line each.
#[must_use]
pub fn log_tables(logs: &[LogReport], show: LogTablesShow, look: Look) -> String {
    let mut out = String::new();
    for log in logs {
        out += &heading(log, show, look);
    }
    let lone = logs.len() == 1;
    for log in logs.iter().filter(|_| lone || show.by_label) {
        if !lone {
            let _ = write!(out, "\n{}\n", look.bold(&printable(&log.name)));
        }
        for table in four(&log.tables) {
            let rows = table.rows.map(|rows| rows.iter().map(|row| (row.label.clone(), row)).collect());
            out += &text(&table, rows, true, look);
        }
        more(log, &mut out, look);
    }
    if !lone {
        for at in 0..4 {
            let mut rows = Vec::new();
            let mut tick = 1.0f64;
            for log in logs {
                let table = &four(&log.tables)[at];
                tick = tick.min(table.tick);
                // A log without this table has no line.
                rows.extend(table.rows.and_then(<[_]>::last).map(|row| (log.name.clone(), row)));
            }
            let Some(first) = logs.first() else { break };
            let table = Table { tick, ..four_at(&first.tables, at) };
            out += &text(&table, (!rows.is_empty()).then_some(rows), false, look);
        }
        for log in logs.iter().filter(|_| !show.by_label) {
            if !log.tables.by_threads.is_empty() {
                let _ = write!(out, "\n{}", look.bold(&printable(&log.name)));
                by_threads(&log.tables, &mut out, look);
            }
        }
    }
    if show.histograms {
        for log in logs {
            histograms(log, !lone, &mut out, look);
        }
    }
    if let Some(log) = logs.first() {
        let rule = match log.tables.quantiles {
            QuantileRule::Type7 => "quantiles: linear interpolation (type 7 of Hyndman and Fan)",
            QuantileRule::Toolkit => "quantiles: the web-generator-toolkit's rule",
        };
        let _ = write!(out, "\n{}\n", look.dim(rule));
    }
    out
}

fn four_at(tables: &WebLogTables, at: usize) -> Table<'_> {
    let [a, b, c, d] = four(tables);
    match at {
        0 => a,
        1 => b,
        2 => c,
        _ => d,
    }
}

/// The lines above a log's tables: the verdicts on its arrivals, their caveats, and the input.
fn heading(log: &LogReport, show: LogTablesShow, look: Look) -> String {
    let mut out = String::new();
    for verdict in &log.verdicts {
        let of = verdict.of.as_ref().map(|of| format!("{}: ", printable(of))).unwrap_or_default();
        let _ = writeln!(out, "{}: {of}{}", look.bold(&printable(&log.name)), verdict.line);
        if let Some(advice) = &verdict.advice {
            let _ = writeln!(out, "  {}", printable(advice));
        }
        for reported in &verdict.caveats {
            let _ = writeln!(out, "  - {}", printable(&reported.message));
            let _ = writeln!(out, "    {}", look.dim(&format!("{}.", capital(&printable(&reported.advice)))));
        }
        for line in verdict.details().iter().filter(|_| show.details) {
            let _ = writeln!(out, "  {line}");
        }
    }
    if log.verdicts.is_empty() {
        let _ = writeln!(out, "{}", look.bold(&printable(&log.name)));
    }
    out + &look.dim(selection(log).trim_end()) + "\n"
}

/// Which parts of a log were read, and which were excluded.
fn selection(log: &LogReport) -> String {
    let tables = &log.tables;
    let mut out = format!("  {}, ", log.facts.form);
    let rows = counted(tables.rows, "sample");
    match tables.window {
        Some(LogWindow { before_s, duration_s }) => {
            let _ = writeln!(
                out,
                "{} of {rows}, from {before_s} s to {} s after the first start",
                thousands(tables.selected),
                before_s + duration_s
            );
        }
        None if tables.selected < tables.rows => {
            let _ = writeln!(out, "{} of {rows}", thousands(tables.selected));
        }
        None => {
            let _ = writeln!(out, "{rows}");
        }
    }
    let left_out = [
        (log.facts.transactions, "row of a transaction", "rows of transactions"),
        (log.facts.sub_results, "result inside another one", "results inside other ones"),
        (log.facts.warmup, "sample before the measured part", "samples before the measured part"),
        (log.facts.bad_rows, "row that cannot be read", "rows that cannot be read"),
    ];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{} {}", thousands(count), if count == 1 { one } else { many }))
        .collect();
    if !left_out.is_empty() {
        let _ = writeln!(out, "  excluded: {}", left_out.join(", "));
    }
    out
}

/// A table as aligned lines. The first column is left-aligned, and is cut if the terminal is too narrow.
pub(crate) fn aligned(heads: &[&str], rows: &[Vec<String>], last_is_total: bool, look: Look) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain([heads[at].chars().count()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    let room = look.width.map_or(usize::MAX, |columns| columns.saturating_sub(others).max(LABEL_MIN));
    widths[0] = widths[0].min(room);
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (at, (cell, width)) in cells.zip(&widths).enumerate() {
            if at == 0 {
                let _ = write!(line, "{:<width$}", cut(cell, *width));
            } else {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        line.trim_end().to_owned()
    };
    let mut out = look.dim(&line(&mut heads.iter().copied())) + "\n";
    for (at, row) in rows.iter().enumerate() {
        let text = line(&mut row.iter().map(String::as_str));
        out += &if last_is_total && at + 1 == rows.len() { look.bold(&text) } else { text };
        out.push('\n');
    }
    out
}

fn text(table: &Table<'_>, rows: Option<Vec<(String, &LogTableRow)>>, total: bool, look: Look) -> String {
    let mut out = format!("\n{}\n", look.bold(table.title));
    let Some(rows) = rows else {
        out.push_str("unavailable: not in the log\n");
        return out;
    };
    let order = |row: &LogTableRow| [row.median, row.p90, row.p95, row.p99];
    let is_whole = |value: f64| value.fract() == 0.0;
    let all_whole = rows.iter().flat_map(|(_, row)| order(row)).flatten().all(is_whole);
    // Measured values have the resolution of the log's clock; quantiles between them have one more digit.
    let (measured_digits, quantile_digits, digits) = match (table.tick < 1.0, all_whole) {
        (true, _) => (3, 3, 3),
        (false, true) => (0, 0, 2),
        (false, false) => (0, 1, 2),
    };
    let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    let times = rows.iter().any(|(_, row)| row.error_percent.is_some());
    let mut heads =
        vec!["label", "n", "tps", "median", "mean", "sdev", if table.cv { "cv" } else { "vmr" }, "p90"];
    heads.extend(["p95", "p99", "min", "max"]);
    if times {
        heads.extend(["%error", "KB/sec"]);
    }
    if !total {
        heads[0] = "log";
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(label, row)| {
            let mut cells = vec![printable(label), row.n.to_string(), number(row.per_s, 2)];
            cells.push(number(row.median, quantile_digits));
            cells.extend([row.mean, row.sdev].map(|value| number(value, digits)));
            cells.push(number(if table.cv { row.cv } else { row.vmr }, 2));
            cells.extend([row.p90, row.p95, row.p99].map(|value| number(value, quantile_digits)));
            cells.extend([row.min, row.max].map(|value| number(value, measured_digits)));
            if times {
                cells.extend([row.error_percent, row.kb_per_s].map(|value| number(value, 2)));
            }
            cells
        })
        .collect();
    out += &aligned(&heads, &cells, total, look);
    if rows.iter().any(|(_, row)| row.rounded) {
        out +=
            &look.dim("median and percentiles are accurate to 0.1 % because there are many distinct values");
        out.push('\n');
    }
    out
}

/// Writes the parts of a log's report that follow the four tables.
fn more(log: &LogReport, out: &mut String, look: Look) {
    let tables = &log.tables;
    if !tables.counts.is_empty() {
        let _ =
            write!(out, "\n{}\n", look.bold("Arrivals per cell of time: mean count and index of dispersion"));
        let rows: Vec<Vec<String>> = tables
            .counts
            .iter()
            .map(|counts| {
                let dispersion = counts.dispersion.map_or("-".into(), |value| format!("{value:.2}"));
                let (low, high) = counts.dispersion_of_poisson;
                let mean = if counts.mean < 1.0 {
                    format!("{:.4}", counts.mean)
                } else {
                    format!("{:.2}", counts.mean)
                };
                let poisson = format!("{low:.2} to {high:.2}");
                vec![format!("{} s", counts.width_s), counts.cells.to_string(), mean, dispersion, poisson]
            })
            .collect();
        *out += &aligned(&["cell", "cells", "mean", "dispersion", "95 % of Poisson"], &rows, false, look);
    }
    by_threads(tables, out, look);
}

/// Writes both histograms of a log next to each other.
fn histograms(log: &LogReport, named: bool, out: &mut String, look: Look) {
    let both = [&log.tables.gap_histogram, &log.tables.response_histogram].map(Option::as_ref);
    let Some(cell_ms) = both.iter().flatten().map(|histogram| histogram.cell_ms).next() else { return };
    let title = format!(
        "Histogram in cells of {cell_ms} ms: number of values up to this one and above the previous row"
    );
    let name = if named { format!("{}: ", printable(&log.name)) } else { String::new() };
    let _ = write!(out, "\n{}\n", look.bold(&(name + &title)));
    let count = |histogram: Option<&CellHistogram>, at: usize| {
        histogram.and_then(|histogram| histogram.cells.get(at)).copied().unwrap_or(0)
    };
    let most = both.iter().flatten().map(|histogram| histogram.cells.len()).max().unwrap_or(0);
    let mut rows: Vec<Vec<String>> = (0..most)
        .map(|at| (at, both.map(|histogram| count(histogram, at))))
        .filter(|(_, counts)| counts.iter().any(|count| *count > 0))
        .map(|(at, [gaps, times])| vec![upper_edge(cell_ms, at), gaps.to_string(), times.to_string()])
        .collect();
    let [gaps, times] = both.map(|histogram| histogram.map_or(0, |histogram| histogram.beyond));
    if gaps + times > 0 {
        rows.push(vec!["more".into(), gaps.to_string(), times.to_string()]);
    }
    *out += &aligned(&["ms", "gaps", "response times"], &rows, false, look);
}

/// The upper edge of cell `at`, without floating-point noise.
fn upper_edge(cell_ms: f64, at: usize) -> String {
    ((cell_ms * at as f64 * 1e9).round() / 1e9).to_string()
}

fn by_threads(tables: &WebLogTables, out: &mut String, look: Look) {
    if tables.by_threads.is_empty() {
        return;
    }
    let _ = write!(out, "\n{}\n", look.bold("Inter-arrival time by thread-group size, ms"));
    let digits = if tables.tick_ms < 1.0 { 3 } else { 2 };
    let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    let rows: Vec<Vec<String>> = tables
        .by_threads
        .iter()
        .map(|row| {
            let mut cells = vec![row.threads.to_string(), row.n.to_string(), number(row.per_s, 2)];
            cells.extend([row.mean, row.sdev].map(|value| number(value, digits)));
            cells.push(number(row.cov, 2));
            cells
        })
        .collect();
    *out += &aligned(&["threads", "n", "tps", "mean", "sdev", "cov"], &rows, false, look);
    if tables.threads_unknown > 0 {
        let _ = writeln!(out, "{} have no thread number", counted(tables.threads_unknown, "sample"));
    }
}

/// All tables as one CSV table, with a line per log, table and label. In `by-threads`, the label is the size of the thread
/// group. In `cells`, the label is the width of a cell in s, n is the number of cells, and vmr is the index of dispersion. In
/// the histograms, if they are shown, the label is the upper edge of a cell in ms.
#[must_use]
pub fn log_tables_csv(logs: &[LogReport], show: LogTablesShow) -> String {
    let mut out = String::from(
        "log,table,label,n,tps,median,mean,sdev,cv,vmr,p90,p95,p99,min,max,error_percent,kb_per_s\n",
    );
    let mut line = |log: &str, table: &str, label: &str, n: u64, values: &[Option<f64>]| {
        let _ = write!(out, "{},{table},{},{n}", cell(log), cell(label));
        for value in values.iter().copied().chain(std::iter::repeat(None)).take(13) {
            match value {
                // Six decimals preserve the nanoseconds of a time in ms.
                Some(value) => out += &format!(",{}", (value * 1e6).round() / 1e6),
                None => out.push(','),
            }
        }
        out.push('\n');
    };
    for log in logs {
        for table in four(&log.tables) {
            for row in table.rows.unwrap_or_default() {
                let spread = [row.per_s, row.median, row.mean, row.sdev, row.cv, row.vmr];
                let order = [row.p90, row.p95, row.p99, row.min, row.max, row.error_percent, row.kb_per_s];
                line(&log.name, table.key, &row.label, row.n, &[&spread[..], &order[..]].concat());
            }
        }
        for row in &log.tables.by_threads {
            let values = [row.per_s, None, row.mean, row.sdev, row.cov];
            line(&log.name, "by-threads", &row.threads.to_string(), row.n, &values);
        }
        for counts in &log.tables.counts {
            let values = [None, None, Some(counts.mean), None, None, counts.dispersion];
            line(&log.name, "cells", &counts.width_s.to_string(), counts.cells, &values);
        }
        let both = [
            ("gap-histogram", &log.tables.gap_histogram),
            ("response-time-histogram", &log.tables.response_histogram),
        ];
        for (key, histogram) in both.into_iter().filter(|_| show.histograms) {
            let Some(histogram) = histogram else { continue };
            for (at, count) in histogram.cells.iter().enumerate().filter(|(_, count)| **count > 0) {
                line(&log.name, key, &upper_edge(histogram.cell_ms, at), *count, &[]);
            }
            if histogram.beyond > 0 {
                line(&log.name, key, "more", histogram.beyond, &[]);
            }
        }
    }
    out
}

pub(crate) fn cell(text: &str) -> String {
    let text = printable(text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// All tables as JSON. Unknown values are `null`.
#[must_use]
pub fn log_tables_json(logs: &[LogReport]) -> String {
    #[derive(Serialize)]
    struct Log<'l> {
        log: &'l str,
        form: String,
        transactions_left_out: u64,
        sub_results_left_out: u64,
        warmup_left_out: u64,
        rows_of_several_samples: u64,
        bad_rows: u64,
        first_bad_row: Option<String>,
        cut_off: bool,
        arrivals: &'l [ArrivalVerdict],
        #[serde(flatten)]
        tables: &'l WebLogTables,
    }
    #[derive(Serialize)]
    struct Logs<'l> {
        version: u32,
        logs: Vec<Log<'l>>,
    }
    let logs = logs
        .iter()
        .map(|log| Log {
            log: &log.name,
            form: log.facts.form.to_string(),
            transactions_left_out: log.facts.transactions,
            sub_results_left_out: log.facts.sub_results,
            warmup_left_out: log.facts.warmup,
            rows_of_several_samples: log.facts.of_several,
            bad_rows: log.facts.bad_rows,
            first_bad_row: log.facts.first_bad.as_ref().map(ToString::to_string),
            cut_off: log.facts.cut_off,
            arrivals: &log.verdicts,
            tables: &log.tables,
        })
        .collect();
    // Strings and finite numbers can always be serialized.
    serde_json::to_string_pretty(&Logs { version: VERSION, logs }).unwrap_or_default() + "\n"
}
