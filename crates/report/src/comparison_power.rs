//! How many runs are needed, as people read it in a terminal.

use busyhour_analysis::comparison::{CAUTION, POWERS, PowerNeed, PowerPlan, PowerRow, TEST_CONFIDENCE};

use crate::comparison_table::doubts;
use crate::numbers::{counted, duration};
use crate::table::{Look, cut, printable};

/// The plan: for each measure what varies, and the runs on each side that show the difference.
#[must_use]
pub fn power_table(plan: &PowerPlan, look: Look) -> String {
    let percent = |share: f64| format!("{} %", (share * 1e4).round() / 1e2);
    let mut out = format!(
        "Runs needed on each side to see a difference of {} with a test at {}, from {} of {}\n\n",
        percent(plan.difference),
        percent(TEST_CONFIDENCE),
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
        for power in POWERS {
            lines[0].push(format!("{} at {}", duration(*length), percent(power)));
        }
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
            for power in POWERS {
                line.push(runs(row, *length, power));
            }
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
        out += "  nothing can be planned: the runs have too few samples\n";
    }
    out += &format!(
        "\n{}\n{}\n",
        look.dim(
            "between, within: standard deviation from run to run, and within a run of this length, relative to the value"
        ),
        look.dim(&format!(
            "5 (9): 5 runs by the variance that was found, 9 by one that the true variance is below with {}; ≥: at least, \
             as one run tells nothing about others",
            percent(CAUTION)
        )),
    );
    out + &doubts(&plan.caveats, look)
}

fn runs(row: &PowerRow, length_s: f64, power: f64) -> String {
    let at = |need: &&PowerNeed| need.length_s == length_s && need.power == power;
    let Some(need) = row.needs.iter().find(at) else { return "–".into() };
    let text = |runs: Option<u64>| runs.map_or_else(|| "too many".into(), |runs| runs.to_string());
    let found = text(need.runs);
    match (row.between, need.runs_cautious) {
        (None, _) => format!("≥ {found}"),
        (Some(_), cautious) => format!("{found} ({})", text(cautious)),
    }
}
