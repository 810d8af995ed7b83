//! The environment of a run, and the command that repeats it.

use busyhour_analysis::{RunFacts, Summary};
use maud::html;

use super::markup::Section;
use crate::terminal_text::printable;

/// Shown for values that the system does not provide.
const UNAVAILABLE: &str = "unavailable";

/// The name of the plan's hash. The hash is shown as code.
const SHA_256: &str = "SHA-256 of the plan";

/// The section on the environment of the run.
pub(super) fn environment(summary: &Summary) -> Section {
    let run = &summary.run;
    let body = html! {
        @if let Some(command) = repeat_command(run) {
            p { "Command to repeat the run:" }
            code.again { (printable(&command)) }
            @if let Some(seed) = run.seed && !contains_seed(run) && !accepts_seed(run) {
                p.note {
                    "The seed was " (seed) "; " code { "busyhour run PLAN --seed " (seed) } " makes the same random choices."
                }
            }
        } @else {
            p { "The record does not describe how it was made." }
        }
        dl.pairs {
            @for (name, value) in pairs(run) {
                dt { (name) }
                dd { @if name == SHA_256 { code { (value) } } @else { (value) } }
            }
        }
    };
    Section { id: "environment", title: "Environment", body }
}

fn pairs(run: &RunFacts) -> Vec<(&'static str, String)> {
    let mut pairs: Vec<(&str, String)> = vec![
        // If only a result file is given, the plan is unknown.
        (if run.has_manifest { "Plan" } else { "Results" }, printable(&run.source)),
        (SHA_256, run.plan_sha256.clone()),
        ("Seed", run.seed.map(|seed| seed.to_string()).unwrap_or_default()),
        ("Share of the load", run.share.clone().unwrap_or_default()),
        ("Request deadline", request_deadline(run)),
        ("Generator", printable(&run.hostname)),
        ("Processors", if run.cpus > 0 { run.cpus.to_string() } else { String::new() }),
        ("Busyhour", printable(&run.busyhour)),
    ];
    if !run.generator.cores.is_empty() {
        let percent = |share: f64| format!("{:.0} % busy", share * 100.0);
        let cores =
            run.generator.cores.iter().map(|core| core.busy.map_or_else(|| UNAVAILABLE.into(), percent));
        pairs.push(("Generator's cores", cores.collect::<Vec<_>>().join(", ")));
        let mebibytes = |bytes: u64| format!("{:.1} MiB at most", bytes as f64 / f64::from(1 << 20));
        let memory = run.generator.memory_bytes_max.map_or_else(|| UNAVAILABLE.into(), mebibytes);
        pairs.push(("Generator's memory", memory));
        let stolen = |share: f64| format!("{:.1} %", share * 100.0);
        let stolen = run.generator.cpu_stolen.map_or_else(|| UNAVAILABLE.into(), stolen);
        pairs.push(("CPU time stolen by the hypervisor", stolen));
        let throttled =
            run.generator.cpu_throttled.map(|share| format!("{:.1} % of its periods", share * 100.0));
        pairs.extend(throttled.map(|share| ("CPU quota used up", share)));
    }
    pairs.retain(|(_, value)| !value.is_empty());
    pairs
}

/// The request deadline as text; empty for results without a run directory, whose settings are unknown.
fn request_deadline(run: &RunFacts) -> String {
    match run.request_deadline {
        Some(deadline) => deadline.to_string(),
        None if run.has_manifest => UNAVAILABLE.into(),
        None => String::new(),
    }
}

fn contains_seed(run: &RunFacts) -> bool {
    run.command_line.iter().any(|argument| argument == "--seed" || argument.starts_with("--seed="))
}

/// Whether the command accepts a seed; JMeter's own command line does not.
fn accepts_seed(run: &RunFacts) -> bool {
    matches!(run.command_line.get(1).map(String::as_str), Some("run" | "demo"))
}

/// The command that repeats the run: the original command, with the seed that was used.
fn repeat_command(run: &RunFacts) -> Option<String> {
    let (program, arguments) = run.command_line.split_first()?;
    // The path of the program is specific to this machine.
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let mut words: Vec<String> =
        std::iter::once(program).chain(arguments.iter().map(String::as_str)).map(quoted).collect();
    if let Some(seed) = run.seed.filter(|_| accepts_seed(run) && !contains_seed(run)) {
        words.push(format!("--seed {seed}"));
    }
    Some(words.join(" "))
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use busyhour_record::RequestDeadline;

    use super::*;

    fn run(command: &[&str]) -> RunFacts {
        let command_line = command.iter().map(|word| (*word).to_owned()).collect();
        RunFacts { seed: Some(7), command_line, ..RunFacts::default() }
    }

    #[test]
    fn the_deadline_of_requests_is_shown() {
        let shown = |request_deadline, has_manifest| {
            let run =
                RunFacts { request_deadline, has_manifest, source: "a.jmx".into(), ..RunFacts::default() };
            let pairs = pairs(&run).into_iter().map(|(name, value)| format!("{name}: {value}"));
            pairs.collect::<Vec<_>>().join("\n")
        };
        let second = Some(RequestDeadline::Ns(1_000_000_000));
        let of_each = [
            shown(second, true),
            shown(Some(RequestDeadline::None), true),
            shown(None, true),
            shown(None, false),
        ];
        insta::assert_snapshot!(of_each.join("\n\n"), @r"
        Plan: a.jmx
        Request deadline: 1s

        Plan: a.jmx
        Request deadline: none

        Plan: a.jmx
        Request deadline: unavailable

        Results: a.jmx
        ");
    }

    #[test]
    fn the_command_can_be_pasted_into_a_shell() {
        let reported =
            repeat_command(&run(&["/opt/bin/busyhour", "run", "my plan.jmx", "-J", "it's"])).unwrap();
        assert_eq!(reported, r"busyhour run 'my plan.jmx' -J 'it'\''s' --seed 7");
        assert_eq!(
            repeat_command(&run(&["busyhour", "run", "a.jmx", "--seed", "9"])).unwrap(),
            "busyhour run a.jmx --seed 9"
        );
        assert_eq!(repeat_command(&run(&["busyhour", "-n", "-t", "a.jmx"])).unwrap(), "busyhour -n -t a.jmx");
        assert_eq!(repeat_command(&RunFacts::default()), None);
    }
}
