//! The agents of a run on several machines, for terminals.

use busyhour_analysis::{AgentRow, Agents, Summary};

use crate::marks::{Quality, marked};
use crate::numbers::{counted, ms, percent, thousands};
use crate::terminal_text::{Look, printable};

/// Agents that differ or are incomplete, one line each; one line if there are none. Empty for a run on one machine.
pub(crate) fn agent_lines(summary: &Summary, look: Look) -> Vec<String> {
    let Some(agents) = &summary.agents else { return Vec::new() };
    let odd = agents.rows.iter().flat_map(|row| odd_texts(row).into_iter().map(move |text| (row, text)));
    let lines: Vec<String> = odd
        .flat_map(|(row, text)| {
            marked(Quality::Warn, &format!("Agent {}: {text}", printable(&row.name)), look)
        })
        .collect();
    if lines.is_empty() { marked(quality(agents), &agreement(agents), look) } else { lines }
}

/// The unusual facts about an agent.
pub(crate) fn odd_texts(row: &AgentRow) -> Vec<String> {
    let problem = (!row.problem.is_empty()).then(|| printable(&row.problem));
    row.differs.iter().cloned().chain(problem).collect()
}

fn quality(agents: &Agents) -> Quality {
    if agents.not_compared.is_some() { Quality::Open } else { Quality::Good }
}

/// The sentence that is shown if no agent is unusual.
pub(crate) fn agreement(agents: &Agents) -> String {
    let count = counted(agents.rows.len() as u64, "agent");
    match &agents.not_compared {
        Some(reason) => format!("Agents: {count}, not compared with one another: {reason}"),
        None => format!("Agents: {count}; none differs from the others"),
    }
}

/// The table of agents, with a heading; lines end with `\n`.
pub(crate) fn agent_table(agents: &Agents, look: Look) -> String {
    let head = ["agent", "share", "samples", "err %", "p50 ms", "p95 ms", "late p99", "core", "clock ± ms"];
    let head = head.map(str::to_owned);
    let rows = agents.rows.iter().map(agent_cells);
    let rows: Vec<[String; 9]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..9).map(width).collect();
    let mut out = String::from("\n");
    for (at, row) in rows.iter().enumerate() {
        let mut line = format!("{:<width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        out += &if at == 0 { look.dim(&line) } else { line };
        out.push('\n');
    }
    out
}

/// The cells of an agent. Unknown values are shown as `?`.
pub(crate) fn agent_cells(row: &AgentRow) -> [String; 9] {
    let known = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "?".to_owned(), text);
    [
        printable(&row.name),
        row.share.clone(),
        thousands(row.samples),
        known(row.error_percent, percent),
        known(row.response_p50_ms, ms),
        known(row.response_p95_ms, ms),
        known(row.lateness_p99_ms, ms),
        known(row.busiest_core, |busy| format!("{:.0} %", busy * 100.0)),
        known(row.clock_bound_ms, |bound| format!("{bound:.2}")),
    ]
}
