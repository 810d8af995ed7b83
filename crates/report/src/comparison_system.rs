//! The system under test in a comparison, for terminals, pages and CSV. It is compared without a test.

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{ComparedFigure, ComparedSubject, FigureRuns, SystemComparison};
use maud::{Markup, html};

use crate::comparison_change::{change, points};
use crate::log_tables::cell;
use crate::system_values::value_text;
use crate::terminal_text::{Look, capital, cut, printable, shown_label, wrap};

/// Maximum number of parts of the system that the terminal shows without details. Also the maximum number of listed
/// parts that occur only on one side.
const SUBJECTS_SHOWN: usize = 8;
const ONE_SIDED_NAMED: usize = 5;

/// A mean with its unit; a dash if it is unknown.
fn mean_text(figure: &ComparedFigure, side: &FigureRuns) -> String {
    side.mean.map_or_else(|| "–".to_owned(), |mean| value_text(figure.figure.unit(), mean))
}

/// The range of several runs; empty for a single one.
fn range_text(figure: &ComparedFigure, side: &FigureRuns) -> String {
    let several = side.runs.iter().flatten().count() > 1;
    match side.min.zip(side.max) {
        Some((min, max)) if several => {
            let [min, max] = [min, max].map(|value| value_text(figure.figure.unit(), value));
            // The unit is not repeated.
            let unit = max.find(' ').map_or("", |at| &max[at..]);
            format!("{} to {max}", min.strip_suffix(unit).unwrap_or(&min))
        }
        _ => String::new(),
    }
}

/// The change in percent; for shares in percentage points.
fn change_text(figure: &ComparedFigure) -> String {
    let text = if figure.is_share() { figure.difference.map(points) } else { figure.ratio.map(change) };
    text.unwrap_or_else(|| "–".to_owned())
}

/// Notes that describe the numbers and the missing runs.
fn notes(comparison: &Comparison, system: &SystemComparison) -> Vec<String> {
    let (base, new) = (comparison.base.runs.len(), comparison.new.runs.len());
    let mut notes = vec![
        match (base, new) {
            (1, 1) => {
                "Single runs: differences without a test. How much these figures vary between runs is unknown."
            }
            _ => "Means and ranges of runs: differences without a test.",
        }
        .to_owned(),
    ];
    for (side, observed, runs) in
        [("before", system.base_observed, base), ("after", system.new_observed, new)]
    {
        if observed < runs {
            notes.push(match runs {
                1 => format!("The run {side} was not observed."),
                _ => format!("Observed: {observed} of {runs} runs {side}."),
            });
        }
    }
    for (side, subjects) in [("before", &system.only_base), ("after", &system.only_new)] {
        // If a whole side was not observed, everything is missing there.
        if system.base_observed > 0 && system.new_observed > 0 && !subjects.is_empty() {
            let named: Vec<String> =
                subjects.iter().take(ONE_SIDED_NAMED).map(|name| shown_label(name)).collect();
            let more = subjects.len().saturating_sub(ONE_SIDED_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("Observed only {side}: {}{more}.", named.join(", ")));
        }
    }
    notes.extend(unavailable_on_one_side(system));
    notes
}

/// Maximum number of reasons that are listed.
const REASONS_SHOWN: usize = 6;

/// The figures of one side without a counterpart, grouped by reason.
fn unavailable_on_one_side(system: &SystemComparison) -> Vec<String> {
    let mut by_reason: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    let figures = system.subjects.iter().flat_map(|subject| &subject.figures);
    for figure in figures {
        for (side, runs) in [("before", &figure.base), ("after", &figure.new)] {
            let (None, Some(reason)) = (runs.mean, &runs.unavailable) else { continue };
            let (key, words) = ((side, reason.as_str()), figure.figure.words());
            match by_reason.iter_mut().find(|(known, _)| *known == key) {
                Some((_, figures)) => figures.push(words),
                None => by_reason.push((key, vec![words])),
            }
        }
    }
    let note = |((side, reason), figures): ((&str, &str), Vec<&str>)| {
        format!("Unavailable {side}: {} ({}).", figures.join("; "), printable(reason))
    };
    by_reason.into_iter().take(REASONS_SHOWN).map(note).collect()
}

/// The text if no run was observed.
const NOT_OBSERVED: &str = "System under test: not observed.";

/// The system for a terminal: the key figures, or all of them. Lines end with `\n`.
pub(crate) fn system_comparison_table(comparison: &Comparison, details: bool, look: Look) -> String {
    let Some(system) = &comparison.system else {
        return format!("{}\n", look.dim(NOT_OBSERVED));
    };
    let has_several = comparison.base.runs.len().max(comparison.new.runs.len()) > 1;
    let shown = if details { system.subjects.len() } else { SUBJECTS_SHOWN };
    let lines = |has_ranges| {
        let mut lines: Vec<Vec<String>> = Vec::new();
        for subject in system.subjects.iter().take(shown) {
            lines.push(vec![capital(&subject_title(subject))]);
            let figures = subject.figures.iter().filter(|figure| details || figure.figure.is_key());
            lines.extend(figures.map(|figure| cells(figure, has_ranges)));
        }
        table(&lines, has_ranges, look)
    };
    let mut text = lines(has_several);
    let is_too_wide = look.width.is_some_and(|width| text.lines().any(|line| line.chars().count() > width));
    if has_several && is_too_wide {
        text = lines(false) + &format!("{}\n", look.dim("Ranges need a wider terminal."));
    }
    let mut out = format!("\n{}\n{text}", look.bold("System under test"));
    let more = system.subjects.len().saturating_sub(shown);
    if more > 0 {
        out += &format!("and {more} more: --details\n");
    }
    for note in notes(comparison, system) {
        for line in wrap(&note, look.width, "") {
            out += &format!("{}\n", look.dim(&line));
        }
    }
    out
}

fn subject_title(subject: &ComparedSubject) -> String {
    format!("{} {}", subject.kind.noun(), printable(&subject.name))
}

/// The cells of a figure in the order of the heads.
fn cells(figure: &ComparedFigure, has_ranges: bool) -> Vec<String> {
    let mut cells = vec![format!("  {}", figure.figure.words())];
    for side in [&figure.base, &figure.new] {
        cells.push(mean_text(figure, side));
        cells.extend(has_ranges.then(|| range_text(figure, side)));
    }
    cells.push(change_text(figure));
    cells
}

fn heads(has_ranges: bool) -> Vec<&'static str> {
    match has_ranges {
        true => vec!["", "before", "range", "after", "range", "change"],
        false => vec!["", "before", "after", "change"],
    }
}

/// Aligned lines. A line with a single cell is a heading.
fn table(lines: &[Vec<String>], has_ranges: bool, look: Look) -> String {
    let heads = heads(has_ranges);
    let width = |column: usize| {
        let cells = lines.iter().filter(|line| line.len() > 1).map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(heads[column].len())
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let aligned = |cells: &[&str]| {
        let mut text = format!("{:<1$}", cells[0], widths[0]);
        for (cell, width) in cells[1..].iter().zip(&widths[1..]) {
            text += &format!("  {cell:>width$}");
        }
        text.trim_end().to_owned()
    };
    let mut out = format!("{}\n", look.dim(&aligned(&heads)));
    for line in lines {
        match &line[..] {
            [heading] => out += &format!("{}\n", cut(heading, look.width.unwrap_or(usize::MAX))),
            cells => {
                let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
                out += &format!("{}\n", aligned(&cells));
            }
        }
    }
    out
}

/// The system on the page: a table per part with all figures.
pub(crate) fn system_comparison_html(comparison: &Comparison, system: &SystemComparison) -> Markup {
    let has_ranges = comparison.base.runs.len().max(comparison.new.runs.len()) > 1;
    html! {
        @for note in notes(comparison, system) { p { (note) } }
        @for (at, subject) in system.subjects.iter().enumerate() {
            h3 { (shown_label(&capital(&subject_title(subject)))) }
            table.wide {
                caption.skip { (shown_label(&subject_title(subject))) }
                thead {
                    tr {
                        th.text scope="col" { "figure" }
                        @for head in &heads(has_ranges)[1..] { th scope="col" { (head) } }
                    }
                }
                tbody {
                    @for (row, figure) in subject.figures.iter().enumerate() {
                        tr {
                            th scope="row" { (figure.figure.words()) }
                            @for (name, side) in [("base", &figure.base), ("new", &figure.new)] {
                                td data-quantity={ "system.subjects." (at) ".figures." (row) "." (name) ".mean" }
                                    { (mean_text(figure, side)) }
                                @if has_ranges { td.soft { (range_text(figure, side)) } }
                            }
                            td { (change_text(figure)) }
                        }
                    }
                }
            }
        }
    }
}

/// The lines of the CSV table: values in base units, without tests. `columns` is the number of all columns.
pub(crate) fn system_csv(system: &SystemComparison, columns: usize) -> String {
    // Six significant digits, as in figures of a single run.
    let number = |value: Option<f64>| {
        let rounded = value.and_then(|value| busyhour_analysis::system::Figure::known(value).value());
        rounded.map_or_else(String::new, |value| value.to_string())
    };
    let runs = |side: &FigureRuns| side.runs.iter().map(|run| number(*run)).collect::<Vec<_>>().join(";");
    let mut out = String::new();
    for subject in &system.subjects {
        for figure in &subject.figures {
            let mut cells = vec![
                cell(&subject.name),
                subject.kind.noun().to_owned(),
                figure.figure.name().to_owned(),
                number(figure.base.mean),
                number(figure.new.mean),
                number(figure.ratio),
                String::new(),
                String::new(),
                number(figure.difference),
            ];
            cells.resize(columns - 2, String::new());
            cells.extend([runs(&figure.base), runs(&figure.new)]);
            out += &cells.join(",");
            out.push('\n');
        }
    }
    out
}
