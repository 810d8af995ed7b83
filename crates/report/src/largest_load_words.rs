//! The sentences and the table of a search for the largest load, for terminal and page.

use busyhour_search::{
    CurveShape, EstimateBasis, Evidence, Knee, LargestLoad, LargestLoadReport, LoadInterval, LoadKind,
    SearchReport, TrialOutcome, TrialPurpose, TrialRecord, TrialThreshold, VoidCause,
};

use crate::experiment_tables::ExperimentTable;
use crate::numbers::{counted, duration, percent, rate};

/// From this share on, a resource counts as busy.
const BUSY: f64 = 0.85;

/// A load with its unit.
#[must_use]
pub fn load_text(kind: LoadKind, load: f64) -> String {
    match kind {
        LoadKind::Users => format!("{} users", load.round()),
        LoadKind::Rate => format!("{}/s", rate(load)),
    }
}

fn interval_text(kind: LoadKind, interval: LoadInterval) -> String {
    let end = |end: Option<f64>| end.map(|load| load_text(kind, load));
    match (end(interval.low), end(interval.high)) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, Some(high)) => format!("{high} or less"),
        (None, None) => "unknown".to_owned(),
    }
}

/// The answer in a sentence.
#[must_use]
pub fn largest_load_sentence(report: &LargestLoadReport) -> String {
    let Some(search) = &report.search else {
        return "The largest load is not known yet: the light trials before the search have not ended."
            .to_owned();
    };
    let so_far = if search.end.is_none() { "So far: the" } else { "The" };
    let load = |load: f64| load_text(report.kind, load);
    match search.largest_load {
        LargestLoad::Found { load: found } => {
            let full_s = report.settings.map(|settings| settings.length.full_seconds_at(found));
            let length = full_s.map_or_else(String::new, |seconds| format!(" of {}", duration(seconds)));
            format!(
                "{so_far} largest load is {}: by the estimate, at least 95 % of the trials{length} pass there (95 % interval {}).",
                load(found),
                interval_text(report.kind, search.interval)
            )
        }
        LargestLoad::Between { low, high, estimate } => {
            format!(
                "{so_far} largest load is between {} and {} (95 % interval; estimate {}), which is wider than the requested precision: \
                 more time would narrow it.",
                load(low),
                load(high),
                load(estimate)
            )
        }
        LargestLoad::AtLeast { load: found } => {
            format!("{so_far} largest load is {} or more: no trial failed.", load(found))
        }
        LargestLoad::Unavailable { reason } => {
            format!("{so_far} largest load is unavailable: {}.", reason.reason())
        }
    }
}

/// Further results, in a sentence or two each.
pub(crate) fn detail_lines(report: &LargestLoadReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(search) = &report.search {
        lines.extend(curve_line(report.kind, search));
        lines.push(basis_line(search));
        lines.extend(threshold_line(report.kind, search));
        lines.extend(confirmation_line(report.kind, search));
        lines.push(hysteresis_line(search));
    }
    lines.push(resource_line(report));
    lines.push(knee_line("fitted capacity model", &report.model_knee));
    lines.push(knee_line("Universal Scalability Law", &report.usl_knee));
    lines.push(match &report.guess {
        Evidence::Found(facts) => {
            format!(
                "The search started at {}, from {}.",
                load_text(report.kind, facts.guess.load),
                facts.sentence
            )
        }
        Evidence::Unavailable(reason) => format!("The search started without a guess: {reason}."),
    });
    lines.extend(report.search.as_ref().map(|search| end_line(report.kind, search)));
    lines
}

fn curve_line(kind: LoadKind, search: &SearchReport) -> Option<String> {
    let median = search.half_pass.median?;
    let half = format!(
        "Half of the trials pass at {} ({}).",
        load_text(kind, median),
        interval_text(kind, search.half_pass)
    );
    let width = search.width?;
    let percent = |width: f64| format!("{:.1} %", 100.0 * width);
    let shape = match width.shape {
        CurveShape::Cliff => "The limit is a cliff".to_owned(),
        CurveShape::Gradual => "The limit is gradual".to_owned(),
        CurveShape::Undetermined => {
            "The trials do not show whether the limit is a cliff or gradual".to_owned()
        }
    };
    Some(format!(
        "{half} {shape}: the loads with 90 % and 10 % passes differ by ± {} from it ({} to {}).",
        percent(width.median),
        percent(width.low),
        percent(width.high)
    ))
}

fn basis_line(search: &SearchReport) -> String {
    match search.basis {
        EstimateBasis::MeasuredValues => {
            "These loads are estimated from the distance of the measured values from the limits of the thresholds.".to_owned()
        }
        EstimateBasis::Outcomes => {
            "These loads are estimated from passes and failures alone, which is less precise: few trials near the limit have a \
             measured value, or the values jump at the limit."
                .to_owned()
        }
    }
}

fn threshold_line(kind: LoadKind, search: &SearchReport) -> Option<String> {
    let (first, others) = search.failed_thresholds.split_first()?;
    let mut line = format!(
        "The threshold that binds is `{}`: it failed {} by the most, from {} on.",
        first.threshold,
        counted(u64::from(first.trials), "trial"),
        load_text(kind, first.smallest_load)
    );
    for other in others {
        line += &format!(" `{}` did so from {} on.", other.threshold, load_text(kind, other.smallest_load));
    }
    Some(line)
}

fn confirmation_line(kind: LoadKind, search: &SearchReport) -> Option<String> {
    let confirmation = search.confirmation?;
    let mut line = format!(
        "{} of {} confirmation runs at {} passed",
        confirmation.passed,
        confirmation.wanted,
        load_text(kind, confirmation.load)
    );
    if confirmation.failed > 0 {
        line += &format!("; {} before failed", confirmation.failed);
    }
    if let Some(bound) = confirmation.pass_probability_at_least {
        line += &format!(
            ": without a model, the load passes with a probability of at least {bound:.2} (95 % confidence)"
        );
    }
    Some(line + ".")
}

fn hysteresis_line(search: &SearchReport) -> String {
    let Some(found) = search.hysteresis else {
        return "Hysteresis is unavailable: no trial followed an overload.".to_owned();
    };
    let percent = |share: f64| format!("{:+.1} %", 100.0 * share).replace('-', "−");
    let verdict = if found.high < 0.0 {
        "the system does not recover from an overload at loads that it otherwise serves"
    } else if found.low > 0.0 {
        "the system serves more after an overload"
    } else {
        "no hysteresis is visible"
    };
    format!(
        "After an overload, the half-pass load differs by {} ({} to {}; {}): {verdict}.",
        percent(found.difference),
        percent(found.low),
        percent(found.high),
        counted(u64::from(found.trials), "trial")
    )
}

fn resource_line(report: &LargestLoadReport) -> String {
    match &report.resource {
        Evidence::Unavailable(reason) => format!("The resource that binds is unavailable: {reason}."),
        Evidence::Found(found) => {
            let at = format!("trial {} at {}", found.trial, load_text(report.kind, found.load));
            let mut line = match (&found.resource, found.utilization) {
                (Some(resource), Some(share)) if share >= BUSY => {
                    format!(
                        "The resource that binds is {resource}, {:.0} % of which was in use in {at}.",
                        100.0 * share
                    )
                }
                (Some(resource), Some(share)) => format!(
                    "No observed resource was busy near the limit: the busiest, {resource}, was in use for {:.0} % in {at}. \
                     The limit is elsewhere, for example a pool or a system that was not observed.",
                    100.0 * share
                ),
                _ => format!("No resource was observed in {at}."),
            };
            if let Some(explanation) = &found.explanation {
                line += &format!(" {explanation}");
            }
            line
        }
    }
}

fn knee_line(name: &str, knee: &Evidence<Knee>) -> String {
    let knee = match knee {
        Evidence::Unavailable(reason) => return format!("Knee by the {name}: unavailable: {reason}."),
        Evidence::Found(knee) => knee,
    };
    let at = match (knee.users, knee.per_s) {
        (Some(users), Some(per_s)) => {
            format!("{} requests/s with {} requests or users in the system", rate(per_s), rate(users))
        }
        _ => "none".to_owned(),
    };
    let largest = knee.capacity_per_s.map_or_else(String::new, |capacity| {
        let interval = match (knee.capacity_low_per_s, knee.capacity_high_per_s) {
            (Some(low), Some(high)) => format!(" ({} to {})", rate(low), rate(high)),
            (Some(low), None) => format!(" ({} or more)", rate(low)),
            (None, _) => String::new(),
        };
        format!("; largest throughput {}/s{interval}", rate(capacity))
    });
    format!("Knee by the {name}: {at}{largest} ({}, {} loads).", knee.model, knee.loads)
}

fn end_line(kind: LoadKind, search: &SearchReport) -> String {
    let end = search.end.map_or("the search has not ended".to_owned(), |end| {
        format!("the search ended because {}", end.reason())
    });
    let mut line = format!(
        "{} in {} under load; {end}.",
        counted(u64::from(search.trials), "trial"),
        duration(search.load_seconds)
    );
    let voids = [
        (search.void_not_delivered, "the load was not delivered"),
        (search.void_host_spoiled, "disturbed on the host"),
    ];
    for (count, why) in voids.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!(" Void: {} ({why}).", counted(u64::from(count), "trial"));
    }
    if let Some(limit) = search.generator_limit {
        line += &format!(" The generator may not deliver more than {}.", load_text(kind, limit));
    }
    line
}

fn purpose_text(purpose: Option<TrialPurpose>) -> &'static str {
    match purpose {
        None => "light",
        Some(TrialPurpose::Search) => "search",
        Some(TrialPurpose::Check) => "check",
        Some(TrialPurpose::Confirm) => "confirmation",
        Some(TrialPurpose::FromAbove) => "from above",
    }
}

/// The outcome in a word.
pub(crate) fn outcome_word(outcome: &TrialOutcome) -> &'static str {
    match outcome {
        TrialOutcome::Passed => "passed",
        TrialOutcome::Failed { .. } => "failed",
        TrialOutcome::Void(VoidCause::LoadNotDelivered) => "void: load",
        TrialOutcome::Void(VoidCause::HostSpoiled) => "void: host",
    }
}

/// The trials in the order of their execution.
pub(crate) fn search_trials_table(report: &LargestLoadReport) -> ExperimentTable {
    let unit = match report.kind {
        LoadKind::Users => "users",
        LoadKind::Rate => "load per s",
    };
    let columns = [
        ("trial", true),
        ("purpose", false),
        (unit, true),
        ("seconds", true),
        ("outcome", false),
        ("requests", true),
        ("errors %", true),
        ("per s", true),
        ("mean ms", true),
        ("thresholds, or why void", false),
    ];
    ExperimentTable {
        title: "Trials".to_owned(),
        columns: columns.iter().map(|(name, is_number)| ((*name).to_owned(), *is_number)).collect(),
        rows: report.trials.iter().map(|record| row(report.kind, record)).collect(),
        note: String::new(),
    }
}

fn row(kind: LoadKind, record: &TrialRecord) -> Vec<String> {
    let load = match kind {
        LoadKind::Users => format!("{}", record.load.round()),
        LoadKind::Rate => rate(record.load),
    };
    let measured = |of: fn(&busyhour_search::TrialMeasures) -> String| {
        record.measures.as_ref().map_or_else(|| "–".to_owned(), of)
    };
    vec![
        record.number.to_string(),
        purpose_text(record.purpose).to_owned(),
        load,
        rate(record.seconds),
        outcome_word(&record.outcome).to_owned(),
        measured(|measures| measures.requests.to_string()),
        measured(|measures| percent(100.0 * measures.error_share)),
        measured(|measures| rate(measures.throughput_per_s)),
        measured(|measures| rate(1e3 * measures.response_s)),
        record
            .void_reason
            .clone()
            .unwrap_or_else(|| measured(|measures| threshold_texts(&measures.thresholds))),
    ]
}

fn threshold_texts(thresholds: &[TrialThreshold]) -> String {
    let text = |threshold: &TrialThreshold| {
        let observed = threshold.observed.as_deref().unwrap_or("nothing measured");
        let failed = if threshold.failed { " (failed)" } else { "" };
        format!("{}: {observed}{failed}", threshold.text)
    };
    thresholds.iter().map(text).collect::<Vec<_>>().join("; ")
}
