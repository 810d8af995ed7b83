//! The tables of processes and Java virtual machines, from the key figures of the summary.

use busyhour_analysis::Summary;
use busyhour_analysis::system::{FigureKind, SubjectKind, SystemFigures, SystemSubject};
use busyhour_results::{ProcessRates, SystemRecord, Unit};
use maud::{Markup, html};

use super::scale::{quantity, short};
use crate::numbers::counted;
use crate::page::columns::{TableColumn, sortable_table};
use crate::page::markup::scrolling;
use crate::system_values::{unavailable_figures, value_text};
use crate::terminal_text::{capital, printable, shown_text};

/// Maximum number of rows of a table. The processes with the most CPU time come first.
const ROWS_MAX: usize = 30;

type Cells<'a> = TableColumn<'a, &'a SystemSubject>;

/// The table of processes.
pub(super) fn processes(summary: &Summary, record: &SystemRecord) -> Markup {
    let rates =
        |subject: &SystemSubject| record.processes.iter().find(|rates| rates.source == subject.source);
    let rate = move |subject: &SystemSubject, unit: Unit, of: fn(&ProcessRates) -> Option<f64>| {
        rates(subject).and_then(of).map_or_else(|| "–".to_owned(), |value| quantity(unit, value))
    };
    let cores = record.cpus.map(f64::from);
    let share = move |subject: &SystemSubject| match (subject.value(FigureKind::CoresMean), cores) {
        (Some(used), Some(cores)) => format!("{} %", short((used * 1_000.0 / cores).round() / 10.0)),
        _ => "–".to_owned(),
    };
    let name = |subject: &&SystemSubject| name(subject, record);
    let columns = [
        Cells::text("process", name),
        figure("CPUs used", FigureKind::CoresMean),
        Cells::number("of the machine", move |subject| share(subject)),
        figure("CPU time", FigureKind::CpuSeconds),
        figure("CPU per request", FigureKind::CpuPerRequest),
        figure("CPU wait per request", FigureKind::CpuWaitPerRequest),
        figure("memory, max", FigureKind::ResidentMax),
        figure("threads, max", FigureKind::ThreadsMax),
        figure("open files, max", FigureKind::OpenFilesMax),
        Cells::number("reads", move |subject| rate(subject, Unit::BytesPerSecond, |rates| rates.read_per_s)),
        Cells::number("writes", move |subject| {
            rate(subject, Unit::BytesPerSecond, |rates| rates.written_per_s)
        }),
        figure("disk reads", FigureKind::StorageReadBytes),
        figure("disk writes", FigureKind::StorageWrittenBytes),
        Cells::number("switches, voluntary", move |subject| {
            rate(subject, Unit::PerSecond, |rates| rates.voluntary_per_s)
        }),
        Cells::number("involuntary", move |subject| {
            rate(subject, Unit::PerSecond, |rates| rates.involuntary_per_s)
        }),
    ];
    let note = "Each process with its descendants. Reads and writes are those of system calls, of files, sockets and pipes.";
    table(summary, SubjectKind::Process, "Processes", note, &columns)
}

/// The table of Java virtual machines.
pub(super) fn virtual_machines(summary: &Summary) -> Markup {
    let columns = [
        Cells::text("virtual machine", |subject| shown_text(&subject.title(), 80)),
        figure("heap, max", FigureKind::HeapUsedMax),
        figure("limit", FigureKind::HeapLimit),
        figure("time in GC pauses", FigureKind::GcShare),
        figure("pauses", FigureKind::GcPauses),
        figure("in total", FigureKind::GcPauseSeconds),
        figure("longest", FigureKind::GcPauseMax),
        figure("stopped", FigureKind::StoppedShare),
        figure("allocation, at least", FigureKind::AllocationRate),
        figure("per request", FigureKind::AllocatedPerRequest),
        figure("threads, max", FigureKind::JvmThreadsMax),
    ];
    table(summary, SubjectKind::Jvm, "Java virtual machines", "", &columns)
}

fn figure<'a>(name: &'static str, kind: FigureKind) -> Cells<'a> {
    Cells::number(name, move |subject| {
        subject.value(kind).map_or_else(|| "–".to_owned(), |value| value_text(kind.unit(), value))
    })
}

fn table<'s>(
    summary: &'s Summary,
    kind: SubjectKind,
    title: &str,
    note: &str,
    columns: &[Cells<'s>],
) -> Markup {
    let Some(system) = &summary.system else { return html! {} };
    let all: Vec<&SystemSubject> = system.of_kind(kind).collect();
    let shown = &all[..all.len().min(ROWS_MAX)];
    html! {
        @if !all.is_empty() {
            h3 { (title) }
            (scrolling(title, sortable_table(title, columns, shown)))
            @if all.len() > shown.len() { p.note { (omitted_note(system, kind, all.len() - shown.len())) } }
            @if !note.is_empty() { p.note { (note) } }
            (missing_figures(shown))
        }
    }
}

/// The number of subjects that the table omits, with the CPU time of processes.
fn omitted_note(system: &SystemFigures, kind: SubjectKind, count: usize) -> String {
    let rest = system.of_kind(kind).skip(ROWS_MAX);
    let cpu: Vec<f64> = rest.filter_map(|subject| subject.value(FigureKind::CpuSeconds)).collect();
    let noun = format!("more {}", kind.noun());
    match cpu.is_empty() {
        // `process` has another plural.
        _ if kind == SubjectKind::Process && count > 1 => {
            let seconds = quantity(Unit::Seconds, cpu.iter().sum());
            format!("{} more processes used {seconds} of CPU time.", crate::numbers::thousands(count as u64))
        }
        _ => format!("{}.", counted(count as u64, &noun)),
    }
}

/// The reasons for missing figures, each once.
fn missing_figures(subjects: &[&SystemSubject]) -> Markup {
    let mut reasons: Vec<String> = subjects.iter().flat_map(|subject| unavailable_figures(subject)).collect();
    reasons.sort_unstable();
    reasons.dedup();
    html! {
        @if !reasons.is_empty() {
            details {
                summary { "Why figures are missing" }
                ul { @for reason in reasons.iter().take(ROWS_MAX) { li { (capital(&printable(reason))) "." } } }
            }
        }
    }
}

fn name(subject: &SystemSubject, record: &SystemRecord) -> String {
    let name = record.names.get(&subject.source).cloned().unwrap_or_else(|| subject.title());
    shown_text(&name, 80)
}
