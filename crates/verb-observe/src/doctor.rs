//! `busyhour doctor`: the sources that can be watched on this machine.

use busyhour_terminal::exit::Exit;
use clap::Args;

/// The form of the result.
#[derive(Debug, Args)]
#[command(after_help = "Reads a few files; starts nothing and changes nothing.\n\n\
    Examples:\n  busyhour doctor\n  busyhour doctor --json\n\n\
    Exit codes: 0 success (also if something is missing), 1 this system is not supported")]
pub struct DoctorArgs {
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
#[cfg(target_os = "linux")]
pub fn main(args: &DoctorArgs) -> Exit {
    let found = busyhour_observe::capabilities(&busyhour_observe::ProcRoot::live());
    busyhour_terminal::exit::print(&if args.json { linux::json_text(&found) } else { linux::text(&found) });
    Exit::Completed
}

/// Runs the verb.
#[cfg(not(target_os = "linux"))]
pub fn main(_args: &DoctorArgs) -> Exit {
    busyhour_terminal::exit::complain(Exit::Internal, "watching a system is supported only on Linux")
}

#[cfg(target_os = "linux")]
mod linux {
    use busyhour_observe::{Capability, CapabilityState};
    use busyhour_terminal::columns::Columns;
    use serde_json::json;

    /// A table of the sources, followed by the reasons and advice for sources that are unavailable.
    pub(super) fn text(found: &[Capability]) -> String {
        let mut table = Columns::new(3, &["Source", "State", "What it shows"]);
        for Capability { name, purpose, state } in found {
            table.row(vec![(*name).into(), word(state).into(), (*purpose).into()]);
        }
        let mut out = table.render();
        for Capability { name, state, .. } in found {
            if let Some((reason, advice)) = missing(state) {
                out += &format!("\n{name}: {reason}\n  {advice}\n");
            }
        }
        out
    }

    pub(super) fn json_text(found: &[Capability]) -> String {
        let sources: Vec<_> = found
            .iter()
            .map(|Capability { name, purpose, state }| {
                let missing = missing(state);
                let detail = match state {
                    CapabilityState::Available { detail } => Some(detail),
                    CapabilityState::Limited { .. } | CapabilityState::Unavailable { .. } => None,
                };
                json!({
                    "name": name,
                    "purpose": purpose,
                    "state": word(state),
                    "detail": detail,
                    "reason": missing.map(|(reason, _)| reason),
                    "advice": missing.map(|(_, advice)| advice),
                })
            })
            .collect();
        format!("{:#}\n", json!({ "sources": sources }))
    }

    fn word(state: &CapabilityState) -> &'static str {
        match state {
            CapabilityState::Available { .. } => "available",
            CapabilityState::Limited { .. } => "limited",
            CapabilityState::Unavailable { .. } => "unavailable",
        }
    }

    fn missing(state: &CapabilityState) -> Option<(&str, &str)> {
        match state {
            CapabilityState::Available { .. } => None,
            CapabilityState::Limited { reason, advice } | CapabilityState::Unavailable { reason, advice } => {
                Some((reason, advice))
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn unavailable_sources_have_a_reason_and_advice() {
            let found = [
                Capability {
                    name: "pressure",
                    purpose: "how long work waited",
                    state: CapabilityState::Available { detail: "/proc/pressure".into() },
                },
                Capability {
                    name: "perf",
                    purpose: "cache misses",
                    state: CapabilityState::Unavailable {
                        reason: "the machine has no counters".into(),
                        advice: "use a machine with counters".into(),
                    },
                },
            ];
            assert_eq!(
                text(&found),
                "Source    State        What it shows\n\
                 pressure  available    how long work waited\n\
                 perf      unavailable  cache misses\n\
                 \nperf: the machine has no counters\n  use a machine with counters\n"
            );
            let json: serde_json::Value = serde_json::from_str(&json_text(&found)).unwrap();
            assert_eq!(json["sources"][0]["detail"], "/proc/pressure");
            assert_eq!(json["sources"][1]["reason"], "the machine has no counters");
        }
    }
}
