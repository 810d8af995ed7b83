//! The number of runs needed for a comparison, for the terminal.

use busyhour_analysis::comparison::{CAUTION, POWERS, PowerNeed, PowerRow, RunsNeeded};

use crate::comparison_table::doubts;
use crate::numbers::{counted, duration};
use crate::terminal_text::{Look, cut, printable};

/// The plan as a table: for each measure its variation, and the number of runs per side that detects the difference.
#[must_use]
pub fn power_table(plan: &RunsNeeded, look: Look) -> String {
    let percent = |share: f64| format!("{} %", (share * 1e4).round() / 1e2);
    let mut out = format!(
        "Runs needed on each side to detect a difference of {}, estimated from {} of {}\n\n",
        percent(plan.difference),
        counted(plan.runs.len() as u64, "run"),
        duration(plan.length_s),
    );
    let lengths: Vec<f64> = plan.rows.iter().flat_map(|row| &row.needs).map(|need| need.length_s).fold(
        Vec::new(),
        |mut seen, length| {
            if !seen.contains(&length) {
                seen.push(length);
            }
            seen
        },
    );
    let mut lines: Vec<Vec<String>> = vec![vec![String::new(), "between".into(), "within".into()]];
    for length in &lengths {
        lines[0].push(format!("of {}", duration(*length)));
    }
    let mut label = "";
    for row in &plan.rows {
        if row.label != label {
            label = &row.label;
            lines.push(vec![cut(&printable(label), 40)]);
        }
        let share =
            |value: Option<f64>| value.map_or_else(|| "unknown".into(), |v| format!("{:.1} %", v * 100.0));
        let mut line = vec![format!("  {}", row.measure.name()), share(row.between), share(row.within)];
        for length in &lengths {
            line.push(runs(row, *length));
        }
        lines.push(line);
    }
    let columns = lines[0].len();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (at, line) in lines.iter().enumerate() {
        let mut text = format!("{:<1$}", line[0], widths[0]);
        for (cell, width) in line[1..].iter().zip(&widths[1..]) {
            text += &format!("  {cell:>width$}");
        }
        let text = text.trim_end();
        out += &(if at == 0 || line.len() == 1 { look.bold(text) } else { text.to_owned() });
        out.push('\n');
    }
    if plan.rows.is_empty() {
        out += "  no plan is possible: the runs have too few samples\n";
    }
    out += &format!(
        "\n{}\n{}\n{}\n",
        look.dim(
            "for a difference in that measure only, tested together with all others as in compare; if more measures differ, fewer runs suffice"
        ),
        look.dim(
            "between, within: standard deviation between runs, and within a run of this length, relative to the value"
        ),
        look.dim(&format!(
            "5/7 (9/12): 5 runs on each side detect it with {}, 7 with {}; with an upper bound of the variance (confidence {}) \
             9 and 12 are needed. ≥: at least, because a single run gives no variation between runs",
            percent(POWERS[0]),
            percent(POWERS[1]),
            percent(CAUTION)
        )),
    );
    out + &doubts(&plan.caveats, look)
}

/// The number of runs for each of [`POWERS`], with the cautious number in brackets.
fn runs(row: &PowerRow, length_s: f64) -> String {
    let needs: Vec<&PowerNeed> = row.needs.iter().filter(|need| need.length_s == length_s).collect();
    if needs.is_empty() {
        return "–".into();
    }
    let all = |of: fn(&PowerNeed) -> Option<u64>| {
        let runs = |need: &&PowerNeed| of(need).map_or_else(|| "too many".into(), |runs| runs.to_string());
        needs.iter().map(runs).collect::<Vec<String>>().join("/")
    };
    let found = all(|need| need.runs);
    if row.between.is_none() {
        return format!("≥ {found}");
    }
    format!("{found} ({})", all(|need| need.runs_cautious))
}
