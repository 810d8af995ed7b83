//! Which requests arrived at the server, as text; and the cells of the tables, which the page shows, too.

use busyhour_analysis::arrivals::Observed;
use busyhour_analysis::server_log::{OutsideTime, ServerArrivals, ServerLog};
use busyhour_serverlog::{ClockDrift, ServerClock, StatusChange};
use busyhour_stats::Decision;

use crate::log_tables::aligned;
use crate::marks::{Quality, marked};
use crate::numbers::{counted, ms, percent, rate, thousands};
use crate::terminal_text::{Look, printable, wrap};

/// The heads of the table of arrivals.
pub(crate) const ARRIVAL_HEADS: [&str; 4] = ["arrivals", "planned", "sent", "at the server"];

/// The heads of the table of times outside of the server.
pub(crate) const OUTSIDE_HEADS: [&str; 8] = [
    "label",
    "requests",
    "median, ms",
    "in the server",
    "outside",
    "p99, ms",
    "p99 in the server",
    "p99 outside",
];

/// Missing requests that are listed.
pub(crate) const MISSING_SHOWN: usize = 10;

/// The section on the log of the server for terminals.
#[must_use]
pub fn server_log_text(log: &ServerLog, look: Look) -> String {
    let mut text = format!("\n{}\n", look.bold("At the server"));
    let mut lines = marked(server_log_quality(log), &format!("{}.", log.line), look);
    for fact in server_log_facts(log) {
        lines.extend(wrap(&fact, look.width, "  "));
    }
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let (arrivals, note) = arrival_rows(&log.arrivals);
    if !arrivals.is_empty() {
        text.push('\n');
        text.push_str(&aligned(&ARRIVAL_HEADS, &arrivals, false, look));
    }
    for line in note.iter().flat_map(|note| wrap(note, look.width, "")) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if !log.outside.is_empty() {
        text.push('\n');
        let rows: Vec<Vec<String>> = log.outside.iter().map(outside_cells).collect();
        text.push_str(&aligned(&OUTSIDE_HEADS, &rows, false, look));
    }
    for note in outside_notes(log).iter().chain(&log.limits) {
        for line in wrap(&printable(&format!("{note}.")), look.width, "") {
            text.push_str(&look.dim(line.trim_end()));
            text.push('\n');
        }
    }
    text
}

/// The quality of the result.
pub(crate) fn server_log_quality(log: &ServerLog) -> Quality {
    match log.is_complete {
        Some(true) => Quality::Good,
        Some(false) => Quality::Warn,
        None => Quality::Open,
    }
}

/// Facts about the log, its lines and its clock, one per line.
pub(crate) fn server_log_facts(log: &ServerLog) -> Vec<String> {
    let counts = log.counts;
    let mut facts = vec![format!(
        "log: {} ({}); {}, of which {} belong to requests of this run, {} were written before or after it, and {} are of other \
         clients",
        printable(&log.files.join(", ")),
        printable(&log.format),
        counted(log.lines, "line"),
        thousands(counts.arrived + counts.repeated),
        thousands(counts.outside),
        thousands(counts.foreign),
    )];
    facts.extend(log.first_unreadable.as_ref().map(|first| {
        format!("{} cannot be read, the first of them: {}", counted(log.unreadable, "line"), printable(first))
    }));
    facts.extend(log.offset.as_ref().map(offset_words));
    if counts.arrived_without_response > 0 {
        let requests = counted(counts.arrived_without_response, "request");
        facts.push(format!("{requests} without a response arrived at the server"));
    }
    if counts.other_status > 0 {
        let change = |change: &StatusChange| {
            format!("{} instead of {} ({})", change.received, change.logged, thousands(change.requests))
        };
        let changes: Vec<String> = log.status_changes.iter().take(5).map(change).collect();
        let requests = counted(counts.other_status, "request");
        facts.push(format!(
            "{requests} received another status than the server logged: {}",
            changes.join(", ")
        ));
    }
    for other in &log.other_servers {
        facts.push(format!(
            "{} to {} are not compared: none of them is in the log",
            counted(other.requests, "request"),
            printable(&other.server)
        ));
    }
    for missing in log.missing.iter().take(MISSING_SHOWN) {
        let response = if missing.has_response { "with a response" } else { "without a response" };
        facts.push(format!(
            "not in the log: {} at {:.3} s, {response}",
            printable(&missing.label),
            missing.at_s
        ));
    }
    let missing = counts.lost + counts.answered_elsewhere;
    if missing > log.missing.len().min(MISSING_SHOWN) as u64 {
        let others = missing - log.missing.len().min(MISSING_SHOWN) as u64;
        facts.push(format!("not in the log: {} more", thousands(others)));
    }
    facts
}

/// The offset of the clocks: `clock of the server: 12.35 ms ahead (between 11.69 and 13.00 ms, from 3,000 requests)`.
fn offset_words(offset: &ServerClock) -> String {
    let middle = offset.middle_ms();
    let direction = if middle < 0.0 { "behind" } else { "ahead" };
    let drift = match offset.drift {
        None => String::new(),
        Some(ClockDrift::Steady { low_ms_per_min, high_ms_per_min }) => format!(
            "; at the beginning of the run. It changes by {} to {} ms per minute",
            ms(low_ms_per_min),
            ms(high_ms_per_min)
        ),
        Some(ClockDrift::Irregular) => "; at the beginning of the run. It changes irregularly".to_owned(),
    };
    format!(
        "clock of the server: {} ms {direction} (offset between {} and {} ms, from {}){drift}",
        ms(middle.abs()),
        ms(offset.low_ms),
        ms(offset.high_ms),
        counted(offset.requests, "request"),
    )
}

/// The rows of the table of arrivals, and a note.
pub(crate) fn arrival_rows(arrivals: &ServerArrivals) -> (Vec<Vec<String>>, Option<String>) {
    match arrivals {
        ServerArrivals::Unavailable { reason } => {
            (Vec::new(), Some(format!("Arrivals: unavailable, because {reason}.")))
        }
        ServerArrivals::Counted { counts, reason } => {
            let rows = counts
                .iter()
                .map(|row| {
                    let index = |value: f64| format!("{value:.2}");
                    vec![
                        dispersion_name(row.scale_s),
                        index(row.planned),
                        index(row.sent),
                        index(row.arrived),
                    ]
                })
                .collect();
            (rows, Some(format!("Only counts are compared, because {reason}.")))
        }
        ServerArrivals::Judged(judged) => {
            let all = [&judged.planned, &judged.sent, &judged.arrived];
            let mut rows = vec![
                row("rate, per s", all, |one| one.rate_per_s.map(|found| rate(found.value))),
                row("CoV of the gaps", all, |one| one.cov.map(|found| format!("{:.3}", found.value))),
            ];
            for scale in &judged.sent.dispersion {
                let scale_s = scale.scale_s;
                rows.push(row(&dispersion_name(scale_s), all, |one| {
                    let found = one.dispersion.iter().find(|found| (found.scale_s - scale_s).abs() < 1e-9)?;
                    Some(format!("{:.2}", found.index.value))
                }));
            }
            if let Some(short) = judged.sent.short_gaps {
                let name = format!("gaps below {} ms, %", ms(short.shorter_than_s * 1e3));
                rows.push(row(&name, all, |one| {
                    let found =
                        one.short_gaps.filter(|found| found.shorter_than_s == short.shorter_than_s)?;
                    Some(percent(found.share.value * 100.0))
                }));
            }
            let note = match judged.decision {
                Decision::Inside => {
                    "The arrivals at the server are as sent: every measure is inside its band. The verdict on arrivals above \
                                     is therefore true of the server, too."
                }
                Decision::Outside => {
                    "The arrivals at the server differ from those that were sent: the network, a proxy or a queue before \
                                      the server changed them. The verdict on arrivals above is true only of the generator."
                }
                Decision::Inconclusive => {
                    "Whether the arrivals at the server are as sent is undecided: the run is too short."
                }
            };
            (rows, Some(note.to_owned()))
        }
    }
}

fn dispersion_name(scale_s: f64) -> String {
    if scale_s < 1.0 {
        format!("dispersion per {} ms", scale_s * 1e3)
    } else {
        format!("dispersion per {scale_s} s")
    }
}

fn row(name: &str, all: [&Observed; 3], cell: impl Fn(&Observed) -> Option<String>) -> Vec<String> {
    let cells = all.map(|one| cell(one).unwrap_or_else(|| "–".to_owned()));
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// The cells of a row of times.
pub(crate) fn outside_cells(time: &OutsideTime) -> Vec<String> {
    let mut cells =
        vec![time.label.as_deref().map_or_else(|| "all".to_owned(), printable), thousands(time.requests)];
    for at in [0, 2] {
        cells.extend([time.service_ms[at], time.server_ms[at], time.outside_ms[at]].map(ms));
    }
    cells
}

/// Notes on the times, as sentences without a full stop.
pub(crate) fn outside_notes(log: &ServerLog) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = &log.outside_unavailable {
        notes.push(format!("Time outside of the server: unavailable, because {reason}"));
    }
    if let Some(mean) = &log.outside_mean {
        notes.push(format!(
            "The mean service time of {} is {} ms: {} ms in the server, {} ms outside",
            counted(mean.requests, "request"),
            ms(mean.service_ms),
            ms(mean.server_ms),
            ms(mean.outside_ms)
        ));
    }
    if let Some(all) = log.outside.first() {
        notes.push(format!(
            "The table has service times from the actual start, of the {} whose line in the log is known with certainty. \
             Requests that overlap with others of the same URL are left out, so that quantiles of slow ones can be too low. \
             Outside of the server are the network, connections, proxies, and queues before the server measures time",
            counted(all.requests, "request")
        ));
        if let (Some(before_ms), Some(offset)) = (all.before_ms, &log.offset) {
            notes.push(format!(
                "Before the server, the median is {} ms (accurate to {} ms: bounds of the clock offset and resolution of the log)",
                ms(before_ms),
                ms(offset.half_width_ms() + all.before_tick_ms / 2.0)
            ));
        }
    }
    notes
}
