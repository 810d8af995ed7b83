//! The first screen: the result in a sentence, key figures, verdicts and caveats. Also the tables of load and times.

use busyhour_analysis::{Caveat, ReportedCaveat, Summary, Times};
use busyhour_sample::ArrivalCounts;
use maud::{Markup, Render, html};

use super::agents::agents_opening;
use super::closed_load::Cycle;
use super::explanation::explanation;
use super::markup::{Section, capital, def, quantity};
use super::server_log::server_log_opening;
use super::stacks::stacks_opening;
use super::steps::Steps;
use super::thresholds::thresholds;
use super::tiles::tiles;
use crate::caveat_rank::rank;
use crate::delivery::{delivery, who};
use crate::headline::headline_parts;
use crate::incident_lines::{not_searched, what, when};
use crate::load_changes::changes;
use crate::marks::{arrival_mark, generator_mark};
use crate::numbers::{counted, duration, ms, percent, rate, thousands};
use crate::run_title::end_words;
use crate::terminal_text::printable;

/// Maximum number of caveats that are shown; the others are collapsed.
const CAVEATS_SHOWN: usize = 2;

/// The start, duration, users, generator and end of the run.
pub(super) fn subtitle(summary: &Summary) -> String {
    let run = &summary.run;
    let mut parts = Vec::new();
    if let Ok(at) = jiff::Timestamp::from_millisecond(run.wall_anchor_ms)
        && run.wall_anchor_ms > 0
    {
        parts.push(at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    }
    match run.duration_s {
        Some(seconds) => parts.push(format!("ran {}", duration(seconds))),
        None => parts.push(duration(summary.span_s)),
    }
    let who = who(run);
    if who.is_empty() && summary.users_max > 0 {
        parts.push(format!("up to {}", counted(u64::from(summary.users_max), "user")));
    }
    parts.extend(who);
    if !run.hostname.is_empty() {
        parts.push(format!("from {}", run.hostname));
    }
    parts.extend(end_words(run));
    parts.join(" · ")
}

/// The first screen: the result in a sentence, tiles, verdicts, incidents, thresholds and the most important caveats.
pub(super) fn opening(summary: &Summary, steps: Option<&Steps>) -> Markup {
    html! {
        section.first aria-label="Result" {
            @if let Some(doubt) = &summary.doubt { p.headline { (printable(doubt)) } }
            p.headline { (headline(summary)) }
            @if summary.total.samples > 0 { (tiles(summary, steps)) }
            div.chips {
                @if !summary.mostly_failed() { (arrivals(summary)) }
                (generator(summary))
            }
            (incidents(summary))
            @if let Some(found) = &summary.explanation { (explanation(found, summary.saturation.as_ref())) }
            (neighbours(summary))
            (agents_opening(summary))
            (stacks_opening(summary))
            (server_log_opening(summary))
            (thresholds(summary))
            (caveats(summary))
        }
        "\n"
    }
}

/// The neighbours of the observed system.
pub(super) fn neighbours(summary: &Summary) -> Markup {
    let line = summary.neighbours.as_ref().and_then(|neighbours| neighbours.line());
    html! { @if let Some(line) = line { div.caveats.why { p { (printable(&line)) } } } }
}

/// The result in a sentence or two.
fn headline(summary: &Summary) -> Markup {
    html! {
        @for part in headline_parts(summary) {
            @match part.path {
                Some(path) => { (quantity(path, part.text)) }
                None => { (printable(&part.text)) }
            }
        }
    }
}

/// The two most important caveats; the others are collapsed.
fn caveats(summary: &Summary) -> Markup {
    let mut all: Vec<&ReportedCaveat> = summary
        .caveats
        .iter()
        .filter(|reported| !(summary.mostly_failed() && matches!(reported.caveat, Caveat::Arrivals(_))))
        .collect();
    all.sort_by_key(|reported| rank(&reported.caveat));
    let (shown, folded) = all.split_at(all.len().min(CAVEATS_SHOWN));
    let texts = |part: &[&ReportedCaveat]| {
        html! {
            @for reported in part {
                li {
                    (capital(&printable(&reported.message))) "."
                    span { (capital(&printable(&reported.advice))) "." }
                }
            }
        }
    };
    html! {
        @if !all.is_empty() {
            div.caveats role="group" aria-labelledby="caveats-title" {
                h2 #caveats-title { "Before you rely on these numbers" }
                ul { (texts(shown)) }
                @if !folded.is_empty() {
                    details { summary { (counted(folded.len() as u64, "more note")) } ul { (texts(folded)) } }
                }
            }
        }
    }
}

/// The section with the requested and the achieved load, and the times of all requests.
pub(super) fn key_section(summary: &Summary) -> Section {
    let body = html! {
        div.opening {
            div { (requested_and_achieved(summary)) }
            (key_figures(summary))
        }
    };
    Section { id: "load", title: "Requested and achieved", body }
}

/// One row of the table of the requested and achieved load.
fn row(name: &str, term: &str, value: impl Render) -> Markup {
    html! { tr { th scope="row" { (def(term, name)) } td { (value) } } }
}

fn large_number(amount: impl Render) -> Markup {
    html! { span.much { (amount) } }
}

fn requested_and_achieved(summary: &Summary) -> Markup {
    let (run, total) = (&summary.run, &summary.total);
    let changed = changes(run);
    html! {
        table.facts {
            tbody {
                (row("requested", "requested", requested(summary)))
                @if !changed.is_empty() {
                    (row("changed", "changed", html! {
                        ul.changes { @for line in &changed { li { (printable(line)) } } }
                    }))
                }
                @if let Some(counts) = &run.arrivals {
                    (row("offered", "offered", html! {
                        (large_number(counted(counts.scheduled, "arrival")))
                        @if counts.not_offered > 0 {
                            br; (thousands(counts.not_offered)) " more were not offered because the run was paused"
                        }
                    }))
                    (row("started", "started", sessions(summary, counts)))
                } @else {
                    @let started: u64 = summary.series.started.iter().sum();
                    (row("started", "started", html! {
                        @if started == 0 { "not recorded" } @else { (large_number(counted(started, "request"))) }
                    }))
                }
                (row("completed", "completed", html! {
                    (large_number(quantity("total.samples", thousands(total.samples))))
                    @if total.samples == 1 { " request" } @else { " requests" }
                    @if total.samples > 0 {
                        ", " (quantity("total.rate_per_s", rate(total.rate_per_s))) " per second over the "
                        (quantity("span_s", duration(summary.span_s))) " from the first start to the last end"
                    }
                }))
                (row("failed", "failed", html! {
                    @if total.samples == 0 {
                        "–"
                    } @else if total.errors == 0 {
                        "none"
                    } @else {
                        (large_number(quantity("total.errors", thousands(total.errors))))
                        @if total.errors == 1 { " request, " } @else { " requests, " }
                        a href="#errors" {
                            (quantity("total.error_percent", percent(total.error_percent))) " %"
                        }
                        " of those completed"
                    }
                }))
                @if let Some(window) = &summary.window {
                    (row("measured part", "window", html! {
                        (printable(&capital(&window.reason)))
                        br;
                        (counted(window.before, "request")) " before and " (counted(window.after, "request"))
                        " after it are excluded from tables and verdicts"
                    }))
                }
            }
        }
    }
}

/// The table of the sessions of open workloads.
fn sessions(summary: &Summary, counts: &ArrivalCounts) -> Markup {
    // The rate refers to the same time as that of completed requests; the verdict on arrivals states the part of the run that it
    // covers.
    let per_s =
        (summary.window.is_none() && summary.span_s > 0.0).then(|| counts.begun as f64 / summary.span_s);
    let mut lost = vec![match counts.dropped {
        0 => "none dropped".to_owned(),
        dropped => format!("{} dropped", thousands(dropped)),
    }];
    lost.push(match counts.waited {
        0 => "none waited for a user".to_owned(),
        waited => format!("{} waited for a user", thousands(waited)),
    });
    if counts.left_waiting > 0 {
        lost.push(format!("{} still waiting at the end", thousands(counts.left_waiting)));
    }
    html! {
        (large_number(counted(counts.begun, "session")))
        @if let Some(per_s) = per_s { ", " (rate(per_s)) " per second" }
        br; (lost.join(", "))
    }
}

/// The requested load: the arrival processes of open workloads, and the users of closed ones.
fn requested(summary: &Summary) -> Markup {
    let run = &summary.run;
    let mut parts: Vec<Markup> =
        run.open.iter().map(|open| html! { code { (printable(&open.process)) } }).collect();
    match run.load_users() {
        Some(0) => {}
        Some(users) => parts.push(html! {
            (large_number(counted(users, "user")))
            @if run.open.is_empty() { (cycle(summary)) }
        }),
        None if summary.users_max > 0 => parts.push(html! {
            "not recorded; at most " (quantity("users_max", thousands(u64::from(summary.users_max))))
            " users were active at the same time"
        }),
        None => {}
    }
    html! {
        @if parts.is_empty() { "not recorded" }
        @for (at, part) in parts.iter().enumerate() {
            @if at > 0 { br; }
            (part)
        }
    }
}

/// The cycle of a user of a closed workload: the time in responses, and the think time.
fn cycle(summary: &Summary) -> Markup {
    let think = def("think", "thinking");
    html! {
        @if let Some(Cycle { think_s, .. }) = Cycle::of(summary) {
            @if think_s < 0.0005 {
                ", almost without pauses between requests (" (think) ")"
            } @else {
                ", each " (think) " " (ms(think_s * 1e3)) " ms on average between a response and the next request"
            }
        }
    }
}

/// The incidents of the run, and the parts that were not searched.
fn incidents(summary: &Summary) -> Markup {
    let not_searched = not_searched(summary);
    html! {
        @if !summary.incidents.is_empty() {
            h2 { (def("incident", "What happened")) }
            ul.incidents {
                @for incident in &summary.incidents { li { b { (when(incident)) } ": " (what(incident)) } }
            }
        }
        @if !not_searched.is_empty() {
            p.note { (def("incident", "Incidents")) ": " (not_searched) "." }
        }
    }
}

/// A verdict in a few words; its reasons are collapsed.
fn chip(class: &str, words: &str, reasons: impl Render) -> Markup {
    html! { details class={ "chip " (class) } { summary { (words) } div { (reasons) } } }
}

/// The verdicts on the arrivals; their measures are collapsed.
fn arrivals(summary: &Summary) -> Markup {
    html! {
        @if summary.arrivals.is_empty() {
            (chip("open", "Arrivals: not judged", html! { p { "There are too few arrivals, or they were not recorded." } }))
        }
        @for verdict in &summary.arrivals {
            @let mark = arrival_mark(verdict);
            (chip(mark.quality.class(), &printable(&mark.words), html! {
                p {
                    (printable(&mark.reason)) "."
                    @if let Some(line) = delivery(verdict, &summary.run) { " " (printable(&capital(&line))) "." }
                    @if let Some(advice) = &verdict.advice { " " (printable(&capital(advice))) "." }
                    " What the terms mean: " (def("arrivals", "arrivals")) ", " (def("cov", "CoV")) "."
                }
                ul { @for line in verdict.details() { li { (printable(&line)) } } }
            }))
        }
    }
}

/// The verdict on whether the generator itself was the bottleneck.
fn generator(summary: &Summary) -> Markup {
    let mark = generator_mark(summary);
    let reasons = html! {
        p { (printable(&capital(&mark.reason))) ". " (def("generator", "What is the generator?")) }
    };
    chip(mark.quality.class(), &printable(&mark.words), reasons)
}

/// The key figures of both clocks, from the shortest to the longest time.
fn key_figures(summary: &Summary) -> Markup {
    let total = &summary.total;
    let both = total.response != total.service;
    let figures: [(&str, &str, &str, fn(&Times) -> f64); 10] = [
        ("min", "min", "shortest", |times| times.min),
        ("mean", "mean", "mean", |times| times.mean),
        ("p25", "p25", "25th percentile", |times| times.p25),
        ("p50", "p50", "median", |times| times.p50),
        ("p75", "p75", "75th percentile", |times| times.p75),
        ("p90", "p90", "90th percentile", |times| times.p90),
        ("p95", "p95", "95th percentile", |times| times.p95),
        ("p99", "p99", "99th percentile", |times| times.p99),
        ("p999", "p99_9", "99.9th percentile", |times| times.p99_9),
        ("max", "max", "longest", |times| times.max),
    ];
    let table = html! {
        table.key {
            caption { "in ms" (percentile_accuracy(summary.percentile_error)) }
            thead {
                tr {
                    td {}
                    th scope="col" { (def("response", "response")) }
                    @if both { th scope="col" { (def("service", "service")) } }
                }
            }
            tbody {
                @for (term, field, name, of) in figures {
                    tr {
                        th scope="row" { (def(term, name)) }
                        td data-quantity={ "total.response." (field) } { (ms(of(&total.response))) }
                        @if both { td data-quantity={ "total.service." (field) } { (ms(of(&total.service))) } }
                    }
                }
            }
        }
    };
    html! {
        div {
            h3 { "Times of all requests" }
            @if total.samples == 0 {
                p { "No request ended." }
            } @else {
                (table)
                @if let Some(apdex) = &total.apdex {
                    p.note {
                        (def("apdex", "APDEX")) " " b { (format!("{:.2}", apdex.score)) } ", satisfied up to "
                        (ms(apdex.satisfied_ms)) " ms, tolerated up to " (ms(apdex.tolerating_ms)) " ms."
                    }
                }
            }
        }
        "\n"
    }
}

/// A clause on the precision: `; percentiles within 0.1 %`.
fn percentile_accuracy(error: f64) -> String {
    if error > 0.0 { format!("; percentiles accurate to {} %", error * 100.0) } else { String::new() }
}
