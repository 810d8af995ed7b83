//! `busyhour cluster list`.

use std::fmt::Write as _;

use busyhour_cluster::{Invitation, ListedAgent, list_agents};
use busyhour_terminal::exit::{Exit, complain, print, say};

use super::args::ListArgs;
use crate::agents::failure::failure;

/// The list without agents.
const NO_AGENT: &str = "No agent answered. Start one on each machine that generates load, with the invitation for agents:\n  \
                        busyhour cluster agent --join busyhour-hub/agent.json\n";

/// Runs the verb.
pub(super) fn main(args: &ListArgs) -> Exit {
    let listed = Invitation::for_controller(&args.on).and_then(|invitation| list_agents(&invitation, say));
    match listed {
        Ok(agents) if args.json => {
            match serde_json::to_string_pretty(&agents) {
                Ok(json) => print(&format!("{json}\n")),
                Err(error) => return complain(Exit::Internal, &error),
            };
            Exit::Completed
        }
        Ok(agents) => {
            print(&table(&agents));
            Exit::Completed
        }
        Err(error) => {
            let (exit, message) = failure(&error);
            complain(exit, &message)
        }
    }
}

/// The difference between the clocks, with its largest error.
fn clock(agent: &ListedAgent) -> String {
    match (agent.clock_offset_ms, agent.clock_bound_ms) {
        (Some(offset), Some(bound)) => format!("{offset:+.1} ± {bound:.1} ms"),
        _ => "unknown".to_owned(),
    }
}

/// The agents as a table.
fn table(agents: &[ListedAgent]) -> String {
    if agents.is_empty() {
        return NO_AGENT.to_owned();
    }
    let head =
        ["Agent", "Version", "Cores", "CPU idle", "Answer", "Clock", "State", "Labels"].map(str::to_owned);
    let rows = agents.iter().map(|agent| {
        let info = &agent.info;
        let labels: Vec<String> = info.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        [
            info.name.clone(),
            info.version.clone(),
            info.cores.to_string(),
            info.idle_percent.map_or("unknown".into(), |percent| format!("{percent} %")),
            format!("{:.1} ms", agent.answered_ms),
            clock(agent),
            info.run.as_ref().map_or("free".into(), |run| format!("works for {run}")),
            labels.join(" "),
        ]
    });
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(rows).collect();
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            let is_number = (2..6).contains(&at);
            let _ =
                if is_number { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:<width$}  ") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use busyhour_cluster::AgentInfo;

    use super::*;

    #[test]
    fn the_table_is_aligned_and_unknown_values_are_named() {
        let agent = |name: &str, run: Option<&str>, idle_percent: Option<u32>| ListedAgent {
            info: AgentInfo {
                name: name.into(),
                version: "0.1.0".into(),
                cores: 8,
                idle_percent,
                run: run.map(str::to_owned),
                labels: [("zone".to_owned(), "eu".to_owned())].into(),
                ..AgentInfo::default()
            },
            answered_ms: 1.25,
            clock_offset_ms: idle_percent.map(|_| -12.34),
            clock_bound_ms: idle_percent.map(|_| 0.4),
        };
        let text = table(&[agent("load1", None, Some(97)), agent("a", Some("shop-1"), None)]);
        assert_eq!(
            text,
            "Agent  Version  Cores  CPU idle  Answer           Clock  State             Labels\n\
             load1  0.1.0        8      97 %  1.2 ms  -12.3 ± 0.4 ms  free              zone=eu\n\
             a      0.1.0        8   unknown  1.2 ms         unknown  works for shop-1  zone=eu\n"
        );
        assert!(table(&[]).contains("busyhour cluster agent --join"));
    }
}
