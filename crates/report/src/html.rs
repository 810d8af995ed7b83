//! `report.html`: one static page that needs nothing else.

use std::fmt::Write as _;

use busyhour_analysis::{Series, Summary};
use busyhour_record::{RunEnd, SampleKind};

use crate::chart::{Axis, Chart, Line};
use crate::delivery::{delivery, who};
use crate::numbers::{duration, ms, percent, rate, thousands};

/// Most points of a plot over time; longer runs have several seconds to a point.
const POINTS_MAX: usize = 460;

/// Most kinds of error that are listed.
const ERRORS_SHOWN: usize = 30;

/// The page of a run.
#[must_use]
pub fn html_report(summary: &Summary) -> String {
    let name = title(summary);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{name} – Busyhour</title><style>{}</style></head><body><main>\n<h1>{name}</h1>\n<p class=\"sub\">{}</p>\n",
        include_str!("style.css"),
        escape(&subtitle(summary)),
    );
    tiles(summary, &mut out);
    caveats(summary, &mut out);
    arrivals(summary, &mut out);
    over_time(summary, &mut out);
    distribution(summary, &mut out);
    labels(summary, &mut out);
    errors(summary, &mut out);
    details(summary, &mut out);
    out.push_str("</main></body></html>\n");
    out
}

fn title(summary: &Summary) -> String {
    let run = &summary.run;
    let name = [&run.plan_name, &run.source].into_iter().find(|name| !name.is_empty());
    name.map_or_else(|| "Test run".into(), |name| escape(name))
}

fn subtitle(summary: &Summary) -> String {
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
        parts.push(format!("up to {} users", summary.users_max));
    }
    parts.extend(who);
    if !run.hostname.is_empty() {
        parts.push(format!("from {}", run.hostname));
    }
    parts.push(
        match run.end {
            Some(RunEnd::Completed) => "completed",
            Some(RunEnd::StoppedByPlan) => "stopped by the plan",
            Some(RunEnd::Interrupted) => "stopped from outside",
            Some(RunEnd::Aborted) => "aborted",
            Some(RunEnd::StoppedByThreshold) => "stopped by a threshold",
            Some(RunEnd::Failed) => "failed",
            None if run.has_manifest => "unfinished",
            None => return parts.join(" · "),
        }
        .into(),
    );
    parts.join(" · ")
}

fn tiles(summary: &Summary, out: &mut String) {
    let total = &summary.total;
    let errors = format!("errors ({})", thousands(total.errors));
    let class = if total.errors > 0 { "bad" } else { "good" };
    // Of no request nothing is known.
    let known = |text: String| if total.samples == 0 { "–".to_owned() } else { text };
    let time = |value: f64| known(ms(value));
    let tiles = [
        ("", thousands(total.samples), "", "requests"),
        ("", rate(total.rate_per_s), "/s", "request rate"),
        (class, known(percent(total.error_percent)), "%", &errors),
        ("", time(total.response.mean), "ms", "mean response"),
        ("", time(total.response.p50), "ms", "median"),
        ("", time(total.response.p95), "ms", "95th percentile"),
        ("", time(total.response.p99), "ms", "99th percentile"),
        ("", time(total.response.max), "ms", "largest"),
    ];
    out.push_str("<div class=\"tiles\">");
    for (class, value, unit, name) in tiles {
        let _ = write!(
            out,
            "<div class=\"tile {class}\"><b>{}<small>{unit}</small></b><span>{name}</span></div>",
            escape(&value)
        );
    }
    out.push_str("</div>\n");
}

fn caveats(summary: &Summary, out: &mut String) {
    if summary.caveats.is_empty() {
        return;
    }
    out.push_str("<section class=\"caveats\"><h2>Before you rely on these numbers</h2><ul>");
    for told in &summary.caveats {
        let _ = write!(
            out,
            "<li>{}<span>{}.</span></li>",
            escape(&capital(&told.message)),
            escape(&capital(&told.advice))
        );
    }
    out.push_str("</ul></section>\n");
}

/// The verdicts on the arrivals, what they rest on folded away.
fn arrivals(summary: &Summary, out: &mut String) {
    if summary.arrivals.is_empty() {
        return;
    }
    out.push_str("<section><h2>Arrivals</h2>");
    for verdict in &summary.arrivals {
        let of = verdict.of.as_ref().map(|of| format!("{of}: ")).unwrap_or_default();
        let _ = write!(out, "<p>{}{}</p>", escape(&of), escape(&verdict.line));
        if let Some(line) = delivery(verdict, &summary.run) {
            let _ = write!(out, "<p>{}.</p>", escape(&capital(&line)));
        }
        out.push_str("<details><summary>What this rests on</summary><ul>");
        for line in verdict.details() {
            let _ = write!(out, "<li>{}</li>", escape(&line));
        }
        out.push_str("</ul></details>");
    }
    out.push_str("</section>\n");
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The series in steps of `step` seconds, without gaps on the x axis.
struct Steps {
    step: u64,
    x: Vec<f64>,
    requests: Vec<f64>,
    errors: Vec<f64>,
    users: Vec<f64>,
    p50: Vec<f64>,
    p95: Vec<f64>,
    p99: Vec<f64>,
    /// Whether a last, incomplete second was left out.
    cut: bool,
}

impl Steps {
    fn of(series: &Series, last_end_s: f64) -> Option<Steps> {
        let first = *series.second.first()?;
        let mut last = *series.second.last()?;
        // A second that the run did not fill shows a rate that never was.
        let cut = last > first + 3 && last_end_s < last as f64 + 0.95;
        last -= u64::from(cut);
        let length = last - first + 1;
        let step = length.div_ceil(POINTS_MAX as u64);
        let count = length.div_ceil(step) as usize;
        let none = || vec![f64::NAN; count];
        let mut steps = Steps {
            step,
            x: (0..count).map(|at| (first + at as u64 * step) as f64).collect(),
            requests: vec![0.0; count],
            errors: vec![0.0; count],
            users: none(),
            p50: none(),
            p95: none(),
            p99: none(),
            cut,
        };
        for at in 0..series.len() {
            if series.second[at] > last {
                continue;
            }
            let to = ((series.second[at] - first) / step) as usize;
            let seconds = (length - to as u64 * step).min(step) as f64;
            steps.requests[to] += series.requests[at] as f64 / seconds;
            steps.errors[to] += series.errors[at] as f64 / seconds;
            for (values, value) in [
                (&mut steps.users, series.users[at].map(f64::from)),
                (&mut steps.p50, series.response_p50[at]),
                (&mut steps.p95, series.response_p95[at]),
                (&mut steps.p99, series.response_p99[at]),
            ] {
                values[to] = values[to].max(value.unwrap_or(f64::NAN));
            }
        }
        Some(steps)
    }
}

fn over_time(summary: &Summary, out: &mut String) {
    let Some(steps) = Steps::of(&summary.series, summary.total.last_end_s) else { return };
    let mut plot = |title: &str, unit: &'static str, lines: Vec<Line<'_>>, note: &str| {
        let svg = Chart { unit, axis: Axis::Seconds, x: &steps.x, lines }.svg();
        let _ = write!(out, "<section><h2>{title}</h2>{svg}");
        if !note.is_empty() {
            let _ = write!(out, "<p class=\"note\">{note}</p>");
        }
        out.push_str("</section>\n");
    };
    let line = |name, class, values, filled| Line { name, class, values, filled };
    let mut note = match steps.step {
        1 => String::new(),
        step => format!("Each point is the mean of {step} seconds. "),
    };
    if steps.cut {
        note += "The last, incomplete second is not drawn.";
    }
    let mut lines = vec![line("requests", "a", &steps.requests, true)];
    if summary.total.errors > 0 {
        lines.push(line("errors", "e", &steps.errors, true));
    }
    plot("Requests per second", "per second", lines, note.trim());
    let note = match steps.step {
        1 => String::new(),
        step => format!("Each point is the worst of {step} seconds."),
    };
    let lines = vec![
        line("p50", "a", &steps.p50, false),
        line("p95", "b", &steps.p95, false),
        line("p99", "c", &steps.p99, false),
    ];
    plot("Response time", "ms, of the requests that ended in each second", lines, &note);
    if steps.users.iter().any(|users| *users > 0.0) {
        plot("Active users", "users", vec![line("users", "d", &steps.users, true)], "");
    }
}

fn distribution(summary: &Summary, out: &mut String) {
    if summary.distribution.len() < 2 {
        return;
    }
    let column = |of: fn(&busyhour_analysis::DistributionPoint) -> f64| -> Vec<f64> {
        summary.distribution.iter().map(of).collect()
    };
    let x = column(|point| point.percentile);
    let (response, service) = (column(|point| point.response_ms), column(|point| point.service_ms));
    let mut lines = vec![Line { name: "response time", class: "a", values: &response, filled: true }];
    if response != service {
        lines.push(Line { name: "service time", class: "b", values: &service, filled: false });
    }
    let svg = Chart { unit: "ms", axis: Axis::Percentiles, x: &x, lines }.svg();
    let _ = writeln!(
        out,
        "<section><h2>Response time by percentile</h2>{svg}<p class=\"note\">Response time counts from when a request \
         was meant to start, service time from when it did.</p></section>"
    );
}

fn labels(summary: &Summary, out: &mut String) {
    out.push_str(
        "<section><h2>Labels</h2><div class=\"scroll\"><table><thead><tr><th>label</th><th>samples</th>\
         <th>errors</th><th>err %</th><th>rate/s</th><th>KiB/s in</th><th>KiB/s out</th><th>mean</th><th>min</th>\
         <th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>p99.9</th><th>max</th><th>service mean</th>\
         </tr></thead><tbody>",
    );
    for row in summary.labels.iter().chain([&summary.total]) {
        let class = if std::ptr::eq(row, &summary.total) { " class=\"total\"" } else { "" };
        let tag = match row.kind {
            SampleKind::Transaction => "<span class=\"tag\">transaction</span>",
            _ => "",
        };
        let bad = if row.errors > 0 { " class=\"bad\"" } else { "" };
        let _ = write!(
            out,
            "<tr{class}><td>{}{tag}</td><td>{}</td><td{bad}>{}</td><td{bad}>{}</td>",
            escape(&row.label),
            thousands(row.samples),
            thousands(row.errors),
            percent(row.error_percent)
        );
        let t = &row.response;
        let rates = [row.rate_per_s, row.received_kib_per_s, row.sent_kib_per_s].map(rate);
        let times = [t.mean, t.min, t.p50, t.p90, t.p95, t.p99, t.p99_9, t.max, row.service.mean].map(ms);
        for cell in rates.iter().chain(&times) {
            let _ = write!(out, "<td>{cell}</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str(
        "</tbody></table></div><p class=\"note\">Response times in ms, over good and failed samples alike; rates over \
         the run from its first start to its last end. Samples of transactions are not in the total.</p></section>\n",
    );
}

fn errors(summary: &Summary, out: &mut String) {
    if summary.errors.is_empty() {
        return;
    }
    out.push_str(
        "<section><h2>Errors</h2><div class=\"scroll\"><table><thead><tr><th>code</th><th class=\"text\">message</th>\
         <th class=\"text\">first seen at</th><th>count</th><th>% of errors</th><th>first</th><th>last</th>\
         </tr></thead><tbody>",
    );
    for error in summary.errors.iter().take(ERRORS_SHOWN) {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td><td>{:.1}</td>\
             <td>{:.1} s</td><td>{:.1} s</td></tr>",
            escape(&error.code),
            escape(&error.message),
            escape(&error.example_label),
            thousands(error.count),
            error.percent_of_errors,
            error.first_s,
            error.last_s
        );
    }
    out.push_str("</tbody></table></div>");
    let shown: u64 = summary.errors.iter().take(ERRORS_SHOWN).map(|error| error.count).sum();
    let all: u64 = summary.errors.iter().map(|error| error.count).sum::<u64>() + summary.errors_other;
    if all > shown {
        let _ = write!(out, "<p class=\"note\">{} errors of other kinds.</p>", thousands(all - shown));
    }
    out.push_str("</section>\n");
}

fn details(summary: &Summary, out: &mut String) {
    let run = &summary.run;
    let mut rows: Vec<(&str, String)> = Vec::new();
    let mut add = |name, value: String| {
        if !value.is_empty() {
            rows.push((name, value));
        }
    };
    add("Plan", escape(&run.source));
    add(
        "SHA-256",
        if run.plan_sha256.is_empty() {
            String::new()
        } else {
            format!("<code>{}</code>", escape(&run.plan_sha256))
        },
    );
    add("Seed", run.seed.map(|seed| seed.to_string()).unwrap_or_default());
    if !run.command_line.is_empty() {
        add("Command", format!("<code>{}</code>", escape(&run.command_line.join(" "))));
    }
    if run.cpus > 0 {
        add("Generator", format!("{} with {} processors", escape(&run.hostname), run.cpus));
    }
    if !run.generator.cores.is_empty() {
        let percent = |share: f64| format!("{:.0} % busy", share * 100.0);
        let cores = run.generator.cores.iter().map(|core| core.busy.map_or_else(unavailable, percent));
        add("Generator's cores", cores.collect::<Vec<_>>().join(", "));
        let mebibytes = |bytes: u64| format!("{:.1} MiB at most", bytes as f64 / f64::from(1 << 20));
        add("Generator's memory", run.generator.memory_bytes_max.map_or_else(unavailable, mebibytes));
    }
    add("Busyhour", escape(&run.busyhour));
    out.push_str("<section><h2>Run</h2><dl>");
    for (name, value) in rows {
        let _ = write!(out, "<dt>{name}</dt><dd>{value}</dd>");
    }
    out.push_str("</dl></section>\n");
}

/// What stands where the system did not tell.
fn unavailable() -> String {
    "unavailable".to_owned()
}

/// `text` as HTML has it; control characters become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
