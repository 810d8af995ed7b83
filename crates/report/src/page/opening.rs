//! The first screen: the requested and the achieved load, the verdicts, and the key figures.

use std::fmt::Write as _;

use busyhour_analysis::arrivals::{ArrivalVerdict, RequestedProcess, Scope};
use busyhour_analysis::{Caveat, Summary, Times};
use busyhour_record::{CoreFacts, RunEnd};
use busyhour_stats::Decision;

use super::closed_load::Cycle;
use super::markup::{capital, def, escape, mark};
use super::thresholds::thresholds;
use crate::changes_told::changes;
use crate::delivery::{delivery, who};
use crate::numbers::{counted, duration, ms, percent, rate, thousands};

/// The run's name.
pub(super) fn title(summary: &Summary) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| "Test run".into())
}

/// When, how long, who, from where, and how it ended.
pub(super) fn subtitle(summary: &Summary) -> String {
    let run = &summary.run;
    let mut parts = Vec::new();
    if let Ok(at) = jiff::Timestamp::from_millisecond(run.wall_anchor_ms)
        && run.wall_anchor_ms > 0
    {
        parts.push(at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    }
    parts.push(duration(run.duration_s.unwrap_or(summary.span_s)));
    let who = who(run);
    if who.is_empty() && summary.users_max > 0 {
        parts.push(format!("up to {}", counted(u64::from(summary.users_max), "user")));
    }
    parts.extend(who);
    if !run.hostname.is_empty() {
        parts.push(format!("from {}", run.hostname));
    }
    let end = match run.end {
        Some(RunEnd::Completed) => Some("completed".to_owned()),
        Some(RunEnd::StoppedByPlan) => Some("stopped by the plan".to_owned()),
        Some(RunEnd::StoppedByError) => Some("stopped by an error".to_owned()),
        Some(RunEnd::Interrupted) => Some(match run.stopped_from() {
            Some(from) => format!("stopped from the {}", from.place()),
            None => "stopped by a request".to_owned(),
        }),
        Some(RunEnd::Aborted) => Some("aborted".to_owned()),
        Some(RunEnd::StoppedByThreshold) => Some("stopped by a threshold".to_owned()),
        Some(RunEnd::Failed) => Some("failed".to_owned()),
        None => run.has_manifest.then(|| "unfinished".to_owned()),
    };
    parts.extend(end);
    parts.join(" · ")
}

/// The first screen, as HTML.
pub(super) fn opening(summary: &Summary) -> String {
    let mut out = String::from(
        "<div class=\"opening\"><section aria-labelledby=\"load-title\"><h2 id=\"load-title\">Requested and achieved</h2>",
    );
    requested_and_achieved(summary, &mut out);
    out.push_str("<dl class=\"verdicts\">");
    arrivals(summary, &mut out);
    generator(summary, &mut out);
    thresholds(summary, &mut out);
    out.push_str("</dl></section>\n");
    key_figures(summary, &mut out);
    caveats(summary, &mut out);
    out.push_str("</div>");
    out
}

/// One row of the table of the requested and achieved load.
fn row(out: &mut String, name: &str, term: &str, value: &str) {
    let _ = write!(out, "<tr><th scope=\"row\">{}</th><td>{value}</td></tr>", def(term, name));
}

fn much(amount: &str, rest: &str) -> String {
    format!("<span class=\"much\">{amount}</span>{rest}")
}

fn requested_and_achieved(summary: &Summary, out: &mut String) {
    let (run, total) = (&summary.run, &summary.total);
    out.push_str("<table class=\"facts\"><tbody>");
    row(out, "requested", "requested", &requested(summary));
    let changed = changes(run);
    if !changed.is_empty() {
        let items: Vec<String> = changed.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
        row(out, "changed", "changed", &format!("<ul class=\"changes\">{}</ul>", items.concat()));
    }
    if let Some(counts) = &run.arrivals {
        let left_out = match counts.not_offered {
            0 => String::new(),
            left_out => {
                format!("<br>{} more were not offered because the run was paused", thousands(left_out))
            }
        };
        row(out, "offered", "offered", &much(&counted(counts.scheduled, "arrival"), &left_out));
        let sessions = summary.arrivals.iter().filter(|verdict| verdict.scope == Scope::SessionStarts);
        let mut rates = sessions.filter_map(|verdict| verdict.observed.rate_per_s);
        let rest = match (rates.next(), rates.next()) {
            (Some(only), None) => format!(", {} per second", rate(only.value)),
            _ => String::new(),
        };
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
        row(
            out,
            "started",
            "started",
            &much(&counted(counts.begun, "session"), &format!("{rest}<br>{}", lost.join(", "))),
        );
    } else {
        let started: u64 = summary.series.started.iter().sum();
        let text = match started {
            0 => "not recorded".to_owned(),
            _ => much(&counted(started, "request"), ""),
        };
        row(out, "started", "started", &text);
    }
    let per_s =
        if total.samples == 0 { String::new() } else { format!(", {} per second", rate(total.rate_per_s)) };
    row(out, "completed", "completed", &much(&counted(total.samples, "request"), &per_s));
    let failed = match (total.samples, total.errors) {
        (0, _) => "–".to_owned(),
        (_, 0) => "none".to_owned(),
        (_, errors) => much(
            &counted(errors, "request"),
            &format!(", <a href=\"#errors\">{} %</a> of those completed", percent(total.error_percent)),
        ),
    };
    row(out, "failed", "failed", &failed);
    if let Some(window) = &summary.window {
        let words = format!(
            "{}<br>{} before and {} after it are excluded from tables and verdicts",
            escape(&capital(&window.reason)),
            counted(window.before, "request"),
            counted(window.after, "request")
        );
        row(out, "measured part", "window", &words);
    }
    out.push_str("</tbody></table>");
}

/// The requested load: the processes of open workloads, and users who wait for responses.
fn requested(summary: &Summary) -> String {
    let run = &summary.run;
    let mut parts: Vec<String> =
        run.open.iter().map(|open| format!("<code>{}</code>", escape(&open.process))).collect();
    match run.load_users() {
        Some(0) => {}
        Some(users) => {
            let cycle = if run.open.is_empty() { cycle(summary) } else { String::new() };
            parts.push(format!("{}{cycle}", much(&counted(users, "user"), "")));
        }
        None if summary.users_max > 0 => parts.push(format!(
            "not recorded; at most {} were active at the same time",
            counted(u64::from(summary.users_max), "user")
        )),
        None => {}
    }
    if parts.is_empty() { "not recorded".to_owned() } else { parts.join("<br>") }
}

/// How a user of a closed workload spends a cycle: in responses, and thinking.
fn cycle(summary: &Summary) -> String {
    let Some(Cycle { think_s, .. }) = Cycle::of(summary) else { return String::new() };
    let think = def("think", "thinking");
    if think_s < 0.0005 {
        return format!(", almost without pauses between requests ({think})");
    }
    format!(", each {think} {} ms on average between a response and the next request", ms(think_s * 1e3))
}

/// The verdicts on the arrivals, what they rest on folded away.
fn arrivals(summary: &Summary, out: &mut String) {
    let _ = write!(out, "<div><dt>{}</dt>", def("arrivals", "Arrivals"));
    if summary.arrivals.is_empty() {
        out.push_str("<dd><span class=\"mark open\">not judged</span></dd>");
    }
    for verdict in &summary.arrivals {
        // A closed load has no requested process: it is compared with independent users.
        let is_asked =
            !matches!(verdict.requested, RequestedProcess::Closed { .. } | RequestedProcess::Unknown);
        let word = match (verdict.decision, is_asked) {
            (Decision::Inside, true) => mark("good", "as requested"),
            (Decision::Inside, false) => mark("good", "like independent users"),
            (Decision::Outside, true) => mark("bad", "not as requested"),
            (Decision::Outside, false) => mark("bad", "unlike independent users"),
            (Decision::Inconclusive, _) => mark("open", "undecided"),
        };
        let of = verdict.of.as_ref().map(|of| format!("{of}: ")).unwrap_or_default();
        let _ = write!(out, "<dd>{word} {}", escape(&format!("{of}{}", plain_line(verdict))));
        if let Some(line) = delivery(verdict, &summary.run) {
            let _ = write!(out, ". {}.", escape(&capital(&line)));
        }
        let details = verdict.details();
        if !details.is_empty() {
            out.push_str("<details><summary>Measures</summary><ul>");
            for line in details {
                let _ = write!(out, "<li>{}</li>", escape(&line));
            }
            out.push_str("</ul></details>");
        }
        out.push_str("</dd>");
    }
    out.push_str("</div>");
}

/// The verdict's line without its first word, which is in the label here.
fn plain_line(verdict: &ArrivalVerdict) -> &str {
    verdict.line.strip_prefix("Arrivals: ").unwrap_or(&verdict.line)
}

/// Whether the generator itself was the bottleneck.
fn generator(summary: &Summary, out: &mut String) {
    let generator = &summary.run.generator;
    let share = |of: fn(&CoreFacts) -> Option<f64>| generator.cores.iter().filter_map(of).reduce(f64::max);
    let doubts: Vec<String> = summary
        .caveats
        .iter()
        .filter(|told| {
            matches!(
                told.caveat,
                Caveat::GeneratorBusy { .. }
                    | Caveat::GeneratorStalled { .. }
                    | Caveat::CoresAbandoned { .. }
                    | Caveat::CpuStolen { .. }
                    | Caveat::RecorderStalled { .. }
                    | Caveat::SamplesLost { .. }
            )
        })
        .map(|told| told.message.clone())
        .collect();
    let _ = write!(out, "<div><dt>{}</dt><dd>", def("generator", "Generator"));
    let busy = share(|core| core.busy).map(|share| {
        let second = busiest_second(&generator.cores);
        format!("{:.0} % of its busiest core{second}", share * 100.0)
    });
    let _ = match (doubts.is_empty(), busy) {
        (false, _) => {
            write!(out, "{} {}", mark("bad", "may have been the bottleneck"), escape(&doubts.join("; ")))
        }
        (true, Some(busy)) => write!(out, "{} {busy}", mark("good", "not the bottleneck")),
        (true, None) => write!(out, "{} its utilization is not recorded", mark("open", "unknown")),
    };
    out.push_str("</dd></div>");
}

/// `, 52 % in its busiest second`
fn busiest_second(cores: &[CoreFacts]) -> String {
    let share = cores.iter().filter_map(|core| core.busy_second_max).reduce(f64::max);
    share.map(|share| format!(", {:.0} % in its busiest second", share * 100.0)).unwrap_or_default()
}

/// The key figures: both clocks, from the shortest to the longest.
fn key_figures(summary: &Summary, out: &mut String) {
    let total = &summary.total;
    out.push_str("<section aria-labelledby=\"key-title\"><h2 id=\"key-title\">Times of all requests</h2>");
    if total.samples == 0 {
        out.push_str("<p>No request ended.</p></section>\n");
        return;
    }
    let both = total.response != total.service;
    let _ = write!(
        out,
        "<table class=\"key\"><caption>in ms{}</caption><thead><tr><td></td><th scope=\"col\">{}</th>",
        exactness(summary.percentile_error),
        def("response", "response")
    );
    if both {
        let _ = write!(out, "<th scope=\"col\">{}</th>", def("service", "service"));
    }
    out.push_str("</tr></thead><tbody>");
    let figures: [(&str, &str, fn(&Times) -> f64); 10] = [
        ("min", "shortest", |times| times.min),
        ("mean", "mean", |times| times.mean),
        ("p25", "25th percentile", |times| times.p25),
        ("p50", "median", |times| times.p50),
        ("p75", "75th percentile", |times| times.p75),
        ("p90", "90th percentile", |times| times.p90),
        ("p95", "95th percentile", |times| times.p95),
        ("p99", "99th percentile", |times| times.p99),
        ("p999", "99.9th percentile", |times| times.p99_9),
        ("max", "longest", |times| times.max),
    ];
    for (term, name, of) in figures {
        let _ =
            write!(out, "<tr><th scope=\"row\">{}</th><td>{}</td>", def(term, name), ms(of(&total.response)));
        if both {
            let _ = write!(out, "<td>{}</td>", ms(of(&total.service)));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
    if let Some(apdex) = &total.apdex {
        let _ = write!(
            out,
            "<p class=\"note\">{} <b>{:.2}</b>, satisfied up to {} ms, tolerated up to {} ms.</p>",
            def("apdex", "APDEX"),
            apdex.score,
            ms(apdex.satisfied_ms),
            ms(apdex.tolerating_ms)
        );
    }
    out.push_str("</section>\n");
}

/// `; percentiles within 0.1 %`
fn exactness(error: f64) -> String {
    if error > 0.0 { format!("; percentiles accurate to {} %", error * 100.0) } else { String::new() }
}

fn caveats(summary: &Summary, out: &mut String) {
    if summary.caveats.is_empty() {
        return;
    }
    out.push_str(
        "<section class=\"caveats\" aria-labelledby=\"caveats-title\"><h2 id=\"caveats-title\">Before you rely on these \
         numbers</h2><ul>",
    );
    for told in &summary.caveats {
        let _ = write!(
            out,
            "<li>{}.<span>{}.</span></li>",
            escape(&capital(&told.message)),
            escape(&capital(&told.advice))
        );
    }
    out.push_str("</ul></section>\n");
}
