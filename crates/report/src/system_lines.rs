//! The figures of the system under test, for terminals and as Markdown.

use busyhour_analysis::system::{FigureKind, SubjectKind, SystemFigures, SystemSubject};

use crate::numbers::{counted, duration};
use crate::system_values::{figure_text, figure_words, subject_heading, unavailable_figures, value_text};
use crate::terminal_text::{Look, capital, printable, shown_label, wrap};

/// Maximum number of subjects of one kind in the details. Each subject has a table.
const SUBJECTS_MAX: usize = 20;

/// A few lines on the system: its machines, the process with the most CPU time, and its JVM or database.
pub(crate) fn system_lines(system: &SystemFigures, look: Look) -> Vec<String> {
    const NAME: &str = "System   ";
    let mut texts: Vec<String> = [
        (SubjectKind::Machine, machine_clauses as fn(&SystemSubject) -> Vec<String>),
        (SubjectKind::Process, process_clauses),
        (SubjectKind::Jvm, jvm_clauses),
        (SubjectKind::Cgroup, cgroup_clauses),
        (SubjectKind::Database, database_clauses),
    ]
    .into_iter()
    .filter_map(|(kind, clauses)| {
        let (subject, clauses) = system
            .of_kind(kind)
            .map(|subject| (subject, clauses(subject)))
            .find(|(_, all)| !all.is_empty())?;
        Some(format!("{}: {}", shown_label(&subject.title()), clauses.join(", ")))
    })
    .collect();
    texts.extend(system.incomplete.as_ref().map(|reason| format!("incomplete: {reason}")));
    if texts.is_empty() {
        texts.push("observed, but without any figure in the measured part".to_owned());
    }
    let room = look.width.map(|width| width.saturating_sub(NAME.len()));
    let lines = texts.iter().flat_map(|text| wrap(&printable(text), room, "  "));
    let lines = lines.enumerate().map(|(at, line)| match at {
        0 => format!("{}{line}", look.dim(NAME)),
        _ => format!("{}{line}", " ".repeat(NAME.len())),
    });
    lines.collect()
}

/// A known figure, formatted as a clause.
fn known(subject: &SystemSubject, kind: FigureKind, words: impl Fn(&str) -> String) -> Option<String> {
    subject.value(kind).map(|value| words(&value_text(kind.unit(), value)))
}

/// A count as a clause; omitted if the count is 0.
fn nonzero(subject: &SystemSubject, kind: FigureKind) -> Option<String> {
    let value = subject.value(kind).filter(|value| *value > 0.0)?;
    Some(format!("{} {}", value_text(kind.unit(), value), kind.words()))
}

fn machine_clauses(subject: &SystemSubject) -> Vec<String> {
    /// Minimum share of steal that is mentioned.
    const STEAL_MIN: f64 = 0.01;
    let limit = known(subject, FigureKind::MemoryTotal, |text| format!(" of {text}")).unwrap_or_default();
    let most = known(subject, FigureKind::CpuUtilizationMax, |text| format!(" (at most {text})"));
    let most = most.unwrap_or_default();
    let steal = subject.value(FigureKind::CpuSteal).is_some_and(|steal| steal >= STEAL_MIN);
    [
        known(subject, FigureKind::CpuUtilizationMean, |text| format!("CPU {text}{most}")),
        known(subject, FigureKind::CpuSteal, |text| format!("steal {text}")).filter(|_| steal),
        known(subject, FigureKind::MemoryUsedMax, |text| format!("memory at most {text}{limit}")),
        nonzero(subject, FigureKind::SwapInPages),
        nonzero(subject, FigureKind::SwapOutPages),
        nonzero(subject, FigureKind::ListenOverflows),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn process_clauses(subject: &SystemSubject) -> Vec<String> {
    let restarts = (subject.restarts > 0).then(|| counted(subject.restarts, "restart"));
    [
        known(subject, FigureKind::CpuPerRequest, |text| format!("{text} CPU per request")),
        known(subject, FigureKind::CoresMean, str::to_owned),
        known(subject, FigureKind::ResidentMax, |text| format!("memory at most {text}")),
        restarts,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn jvm_clauses(subject: &SystemSubject) -> Vec<String> {
    let at_least = if subject.pauses_at_least { "at least " } else { "" };
    [
        known(subject, FigureKind::AllocatedPerRequest, |text| {
            format!("at least {text} allocated per request")
        }),
        known(subject, FigureKind::GcShare, |text| format!("GC pauses {at_least}{text} of the time")),
        known(subject, FigureKind::GcPauseMax, |text| format!("longest {at_least}{text}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cgroup_clauses(subject: &SystemSubject) -> Vec<String> {
    [
        known(subject, FigureKind::CgroupCpuPerRequest, |text| format!("{text} CPU per request")),
        known(subject, FigureKind::ThrottledShare, |text| format!("throttled in {text} of the periods")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn database_clauses(subject: &SystemSubject) -> Vec<String> {
    [
        known(subject, FigureKind::TransactionsPerRequest, |text| format!("{text} transactions per request")),
        known(subject, FigureKind::SessionsMax, |text| format!("at most {text} sessions")),
        nonzero(subject, FigureKind::BlockedSessionsMax),
        nonzero(subject, FigureKind::Deadlocks),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All figures of all subjects; lines end with `\n`.
pub(crate) fn system_table(system: &SystemFigures, look: Look) -> String {
    let mut out =
        format!("\n{}{}\n", look.bold("System under test"), look.dim(&format!(", {}", of_part(system))));
    if let Some(reason) = &system.incomplete {
        out += &format!("{} incomplete: {}\n", look.warn("!"), printable(reason));
    }
    for kind in SubjectKind::ALL {
        for subject in system.of_kind(kind).take(SUBJECTS_MAX) {
            out += &subject_table(system, subject, look);
        }
        let more = system.of_kind(kind).count().saturating_sub(SUBJECTS_MAX);
        if more > 0 {
            out += &format!("and {more} more of the kind {}; summary.json contains all\n", kind.noun());
        }
    }
    out
}

fn of_part(system: &SystemFigures) -> String {
    format!(
        "measured part of {} with {}",
        duration(system.window_s()),
        counted(system.requests, "completed request")
    )
}

fn subject_table(system: &SystemFigures, subject: &SystemSubject, look: Look) -> String {
    let mut heading = printable(&capital(&subject_heading(subject)));
    heading += &remarks(system, subject).iter().map(|remark| format!(", {remark}")).collect::<String>();
    let mut out = format!("{heading}\n");
    let rows: Vec<(String, String)> = subject
        .figures
        .iter()
        .filter(|(_, figure)| figure.value().is_some())
        .map(|(kind, figure)| (printable(&figure_words(subject, *kind)), figure_text(*kind, figure)))
        .collect();
    let width = rows.iter().map(|(words, _)| words.chars().count()).max().unwrap_or(0);
    for (words, value) in rows {
        out += &format!("  {words:width$}  {value}\n");
    }
    for text in unavailable_figures(subject) {
        for line in wrap(&printable(&format!("  unavailable: {text}")), look.width, "    ") {
            out += &format!("{}\n", look.dim(&line));
        }
    }
    out
}

/// The limitations of the figures of a subject: the time that it was watched, and restarts.
fn remarks(system: &SystemFigures, subject: &SystemSubject) -> Vec<String> {
    /// Minimum share of the measured part for which a subject counts as watched all the time. Readings are up to an
    /// interval apart.
    const WHOLE: f64 = 0.95;
    let is_short =
        subject.observed_s < system.window_s() * WHOLE && subject.observed_s + 2.0 < system.window_s();
    let watched = is_short.then(|| format!("read for {}", duration(subject.observed_s)));
    let restarts = (subject.restarts > 0).then(|| counted(subject.restarts, "restart"));
    watched.into_iter().chain(restarts).collect()
}

/// Maximum number of subjects in the Markdown table.
const MARKDOWN_SUBJECTS_MAX: usize = 20;

/// The key figures as a Markdown table; `cell` escapes a text.
pub(crate) fn system_markdown(system: &SystemFigures, cell: fn(&str) -> String) -> String {
    let mut out = format!("\nSystem under test, {}:\n\n", of_part(system));
    if let Some(reason) = &system.incomplete {
        out += &format!("Incomplete: {}\n\n", cell(reason));
    }
    out += "| part | figure | value |\n|---|---|--:|\n";
    for subject in system.subjects.iter().take(MARKDOWN_SUBJECTS_MAX) {
        let key = subject.figures.iter().filter(|(kind, _)| kind.is_key());
        for (at, (kind, figure)) in key.enumerate() {
            let part = if at == 0 { cell(&shown_label(&subject_heading(subject))) } else { String::new() };
            let value = match figure.reason() {
                Some(reason) => format!("unavailable: {}", cell(&shown_label(reason))),
                None => figure_text(*kind, figure),
            };
            out += &format!("| {part} | {} | {value} |\n", cell(&figure_words(subject, *kind)));
        }
    }
    let more = system.subjects.len().saturating_sub(MARKDOWN_SUBJECTS_MAX);
    if more > 0 {
        out += &format!("\n{} are in the report.\n", counted(more as u64, "more part"));
    }
    out
}
