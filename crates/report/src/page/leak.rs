//! The pages of searches for memory leaks: in rounds of load, and in the recorded memory of processes. They need no script.

use busyhour_leak::{LeakReport, LeakRounds, MemoryOutcome, RisingClass};
use maud::{Markup, html};

use super::experiment::table;
use super::line_plot::{LINES_MAX, Line, LinePlot, Point};
use super::markup::mark;
use super::plain::plain_page;
use crate::experiment_tables::{ExperimentTable, columns};
use crate::leak_words::{
    JudgedMemory, LEAK_COLUMNS, java_name, leak_groups, leak_row, leak_sentence, memory_words,
};
use crate::numbers::size;
use crate::terminal_text::printable;

/// Classes of a table.
const CLASSES_MAX: usize = 100;

/// Points of a line.
const POINTS_MAX: usize = 400;

/// Processes with plots; of more processes, those with a leak come first.
const PLOTS_MAX: usize = 50;

const MIB: f64 = 1024.0 * 1024.0;

/// The page of a search in rounds of load. The title names the JVM and the plan.
#[must_use]
pub fn leak_html(title: &str, rounds: &LeakRounds, report: &LeakReport) -> String {
    let title = printable(title);
    let live = rounds.live_bytes().last().map_or(0, |bytes| bytes.max(0.0) as u64);
    let subtitle = html! { (rounds.len()) " rounds of load, " (size(live)) " live after the last one" };
    let sections = html! {
        section.first aria-label="Result" { p.headline { (printable(&leak_sentence(report))) } }
        "\n"
        section aria-labelledby="live" {
            h2 id="live" { "Live memory" }
            (live_plot(rounds).figure())
        }
        "\n"
        @if let Some(plot) = class_plot(rounds, report) {
            section aria-labelledby="growing" {
                h2 id="growing" { "Growing classes" }
                (plot.figure())
            }
            "\n"
        }
        section aria-labelledby="classes" {
            h2 id="classes" { "Classes" }
            @for (title, list) in leak_groups(report) {
                @if !list.is_empty() { (table(&class_table(title, list), |_| None)) }
            }
            @if leak_groups(report).iter().all(|(_, list)| list.is_empty()) {
                p { "No class grows significantly." }
            }
        }
        "\n"
        (rounds_glossary())
    };
    plain_page(&title, &subtitle, &sections)
}

/// The page of the recorded memory of processes. The title names the run.
#[must_use]
pub fn memory_html(title: &str, processes: &[JudgedMemory]) -> String {
    let title = printable(title);
    let leaks = processes.iter().filter(|process| is_leak(process)).count();
    let subtitle = html! { (observed(processes.len())) };
    let mut order: Vec<&JudgedMemory> = processes.iter().collect();
    order.sort_by_key(|process| !is_leak(process));
    let headline = match leaks {
        0 if processes.iter().all(|process| matches!(process.outcome, MemoryOutcome::NoLeak(_))) => {
            "No leak found: the memory of no process grows materially.".to_owned()
        }
        0 => "No leak found, but not every process could be judged.".to_owned(),
        1 => "Leak: the memory of a process grows until the end.".to_owned(),
        several => format!("Leak: the memory of {several} processes grows until the end."),
    };
    let sections = html! {
        section.first aria-label="Result" { p.headline { (headline) } }
        "\n"
        @for (at, process) in order.iter().enumerate() {
            section aria-labelledby={ "process-" (at) } {
                h2 id={ "process-" (at) } { (printable(&process_name(process))) }
                (verdict(&process.outcome))
                @if at < PLOTS_MAX { (memory_plot(process).figure()) }
            }
            "\n"
        }
        (memory_glossary())
    };
    plain_page(&title, &subtitle, &sections)
}

fn observed(processes: usize) -> String {
    match processes {
        1 => "An observed process with its descendants".to_owned(),
        several => format!("{several} observed processes with their descendants"),
    }
}

fn is_leak(process: &JudgedMemory) -> bool {
    matches!(process.outcome, MemoryOutcome::Leak(_))
}

fn process_name(process: &JudgedMemory) -> String {
    match process.name.as_str() {
        "" => process.source.clone(),
        name => format!("{name} ({})", process.source),
    }
}

fn verdict(outcome: &MemoryOutcome) -> Markup {
    let class = match outcome {
        MemoryOutcome::Leak(_) => "bad",
        MemoryOutcome::NoLeak(_) => "good",
        MemoryOutcome::CannotTell { .. } => "open",
    };
    let (words, detail) = memory_words(outcome);
    html! { p { (mark(class, words)) ": " (detail) "." } }
}

fn live_plot(rounds: &LeakRounds) -> LinePlot {
    let all = Line { name: "all classes".to_owned(), points: points(rounds, &rounds.live_bytes()) };
    round_plot(rounds, vec![all], ". The first round is the warm-up and is not judged.")
}

/// The growing classes with the fastest growth; suspects first.
fn class_plot(rounds: &LeakRounds, report: &LeakReport) -> Option<LinePlot> {
    let classes = leak_groups(report).into_iter().flat_map(|(_, list)| list);
    let lines: Vec<Line> = classes
        .filter_map(|class| {
            let bytes = rounds.class_bytes(&class.class)?;
            Some(Line { name: java_name(&class.class), points: points(rounds, bytes) })
        })
        .take(LINES_MAX)
        .collect();
    let note = format!(". At most {LINES_MAX} classes are drawn, suspects first; the tables list more.");
    (!lines.is_empty()).then(|| round_plot(rounds, lines, &note))
}

fn round_plot(rounds: &LeakRounds, lines: Vec<Line>, note: &str) -> LinePlot {
    let label = |(at, requests): (usize, &f64)| (*requests, format!("{} ({:.0})", at + 1, requests));
    LinePlot {
        x_title: "round (requests so far)".to_owned(),
        x_labels: rounds.requests().iter().enumerate().map(label).collect(),
        y_title: "MiB".to_owned(),
        is_logarithmic: false,
        starts_at_zero: true,
        lines,
        note: note.to_owned(),
    }
}

fn points(rounds: &LeakRounds, bytes: &[f64]) -> Vec<Point> {
    let point = |(requests, bytes): (&f64, &f64)| Point { x: *requests, value: bytes / MIB, interval: None };
    rounds.requests().iter().zip(bytes).map(point).collect()
}

fn class_table(title: &str, list: &[RisingClass]) -> ExperimentTable {
    let names: Vec<(&str, bool)> =
        LEAK_COLUMNS.iter().enumerate().map(|(at, name)| (*name, at > 0)).collect();
    let beyond = list.len().saturating_sub(CLASSES_MAX);
    ExperimentTable {
        title: title.to_owned(),
        columns: columns(&names),
        rows: list.iter().take(CLASSES_MAX).map(|class| leak_row(class).to_vec()).collect(),
        note: if beyond > 0 { format!("and {beyond} more") } else { String::new() },
    }
}

/// The memory over time, thinned out to a number of points that can be seen.
fn memory_plot(process: &JudgedMemory) -> LinePlot {
    let every = process.sizes.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<Point> = process
        .sizes
        .iter()
        .step_by(every)
        .map(|size| Point { x: size.at, value: size.bytes / MIB, interval: None })
        .collect();
    let ends = || [points.first(), points.get(points.len() / 2), points.last()].into_iter().flatten();
    LinePlot {
        x_title: "seconds of the run".to_owned(),
        x_labels: ends().map(|point| (point.x, format!("{:.0}", point.x))).collect(),
        y_title: "MiB".to_owned(),
        is_logarithmic: false,
        starts_at_zero: true,
        lines: vec![Line { name: "resident".to_owned(), points: points.clone() }],
        note: ". The first quarter counts as warm-up and is not judged.".to_owned(),
    }
}

fn rounds_glossary() -> Markup {
    glossary(&[
        (
            "round",
            "A run of the plan, a pause in which sessions end and caches expire, and a forced collection with a histogram of the live classes.",
        ),
        (
            "suspect",
            "A class whose live bytes rise significantly (Mann–Kendall test, Holm's correction over the tested classes), in the last half of the rounds, too, and by an amount that matters.",
        ),
        (
            "bytes/request",
            "The median of the slopes between all pairs of rounds (Theil and Sen), with its exact interval.",
        ),
        ("live", "Bytes of the instances after the last round, without the objects that they refer to."),
    ])
}

fn memory_glossary() -> Markup {
    glossary(&[
        (
            "resident",
            "Memory of a process and its descendants that is in RAM. It contains the garbage of a JVM, and memory that an allocator keeps.",
        ),
        (
            "leak",
            "A significant and material rise in both halves of the time after the warm-up (Mann–Kendall test with correction for serial correlation).",
        ),
        ("cannot tell yet", "The values neither show nor rule out a material growth. A longer run can."),
    ])
}

fn glossary(entries: &[(&str, &str)]) -> Markup {
    html! {
        section aria-labelledby="glossary" {
            h2 id="glossary" { "How to read this" }
            dl.pairs { @for (term, words) in entries { dt { (term) } dd { (words) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use busyhour_leak::{ClassSize, LeakSettings, MemorySize, memory_outcome};

    use super::*;

    fn rounds(leaked: u64) -> LeakRounds {
        let mut rounds = LeakRounds::new();
        for round in 1..=10 {
            let class =
                |class, instances: u64| ClassSize { class, module: None, instances, bytes: instances * 40 };
            rounds.push(100, [class("shop.Cart<x>", round * leaked), class("[B", 500_000)]).unwrap();
        }
        rounds
    }

    #[test]
    fn the_page_of_rounds_has_the_result_plots_and_tables() {
        let leaking = rounds(200);
        let page = leak_html("JVM 4711", &leaking, &leaking.search(&LeakSettings::default()));
        assert!(page.contains("Leak: a class grows until the last round"));
        assert!(page.contains("<h3>Suspects</h3>") && page.contains("shop.Cart&lt;x&gt;"));
        assert_eq!(page.matches("<polyline").count(), 2, "live memory and the class");
        let clean = rounds(0);
        let page = leak_html("JVM 4711", &clean, &clean.search(&LeakSettings::default()));
        assert!(page.contains("No leak found") && page.contains("No class grows significantly."));
        assert_eq!(page.matches("<polyline").count(), 1);
        let none = LeakRounds::new();
        assert!(leak_html("", &none, &none.search(&LeakSettings::default())).contains("Cannot tell yet"));
    }

    #[test]
    fn the_page_of_processes_shows_leaks_first() {
        let process = |source: &str, per_s: f64| {
            let sizes: Vec<MemorySize> = (0..2_000)
                .map(|at| MemorySize {
                    at: f64::from(at),
                    bytes: 1e8 + per_s * f64::from(at) + f64::from(at * 7 % 5) * 1e4,
                })
                .collect();
            let outcome = memory_outcome(&sizes);
            JudgedMemory { source: source.to_owned(), name: "java".to_owned(), sizes, outcome }
        };
        let page = memory_html("run", &[process("process:1", 0.0), process("process:2", 1e6)]);
        assert!(page.contains("Leak: the memory of a process grows until the end."));
        assert!(page.find("java (process:2)") < page.find("java (process:1)"));
        assert_eq!(page.matches("<circle").count(), 2 * POINTS_MAX);
        assert!(
            memory_html("run", &[process("process:1", 0.0)])
                .contains("No leak found: the memory of no process")
        );
    }
}
