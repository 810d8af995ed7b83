//! The agents of a run on several machines.

use busyhour_analysis::{AgentRow, Summary};
use maud::{Markup, html};

use super::columns::{TableColumn, sortable_table};
use super::markup::{Section, scrolling};
use crate::agent_lines::{agent_cells, agreement, odd_texts};
use crate::terminal_text::printable;

/// Agents that are unusual; nothing if there are none.
pub(super) fn agents_opening(summary: &Summary) -> Markup {
    let agents = summary.agents.iter().flat_map(|agents| &agents.rows);
    let odd: Vec<String> = agents
        .flat_map(|row| {
            odd_texts(row).into_iter().map(|text| format!("Agent {}: {text}", printable(&row.name)))
        })
        .collect();
    html! {
        @if !odd.is_empty() {
            div.caveats.why { ul { @for text in odd.iter().take(ODD_SHOWN) { li { (text) } } } a href="#agents" { "All agents" } }
        }
    }
}

/// Maximum number of unusual agents on the first screen.
const ODD_SHOWN: usize = 5;

/// The section of agents; `None` for a run on one machine.
pub(super) fn agents(summary: &Summary) -> Option<Section> {
    let agents = summary.agents.as_ref()?;
    type Cells<'a> = TableColumn<'a, AgentRow>;
    let columns = [
        Cells::text("agent", |row| {
            let name = printable(&row.name);
            html! { @if let Some(report) = &row.report { a href=(report) { (name) } } @else { (name) } }
        }),
        Cells::text("share", |row| row.share.clone()),
        Cells::number("samples", |row| agent_cells(row)[2].clone()),
        Cells::number("errors %", |row| agent_cells(row)[3].clone()),
        Cells::number("p50 ms", |row| agent_cells(row)[4].clone()),
        Cells::number("p95 ms", |row| agent_cells(row)[5].clone()),
        Cells::number("lateness p99 ms", |row| agent_cells(row)[6].clone()),
        Cells::number("busiest core", |row| agent_cells(row)[7].clone()),
        Cells::number("clock ± ms", |row| agent_cells(row)[8].clone()),
        Cells::text("unusual", |row| odd_texts(row).join("; ")),
    ];
    let table = sortable_table("Agents", &columns, agents.rows.iter());
    let has_odd = agents.rows.iter().any(|row| !odd_texts(row).is_empty());
    let body = html! {
        @if !has_odd { p { (agreement(agents)) "." } }
        (scrolling("Agents", table))
        p.note {
            "Each agent is linked to the report of its own part. Agents are compared in blocks of 10 s; in at most 1 % of runs without a difference, one is \
             named. \"?\" means that the value is unknown, because the record of the agent is missing."
        }
    };
    Some(Section { id: "agents", title: "Agents", body })
}
