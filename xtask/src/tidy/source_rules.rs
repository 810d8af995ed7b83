//! Rules for Rust sources: the length of files, and the places where certain calls are allowed.

use super::finding::Finding;
use super::text;
use super::tree::File;

/// The maximum number of lines of a file; longer files usually have more than one purpose.
const LINES_MAX: usize = 600;

/// File names that do not describe the purpose of the file.
const VAGUE_NAMES: [&str; 4] = ["utils.rs", "util.rs", "helpers.rs", "misc.rs"];

/// The part of a source to which a rule applies.
#[derive(PartialEq)]
enum Layer {
    Code,
    Comments,
}

/// A pattern that is only allowed in the listed places.
struct Rule {
    /// The patterns; a match is not part of a longer word.
    patterns: &'static [&'static str],
    layer: Layer,
    /// Prefixes of the paths to which the rule applies; if empty, it applies to all paths.
    within: &'static [&'static str],
    /// The reason for the rule, and the alternative.
    why: &'static str,
    /// Prefixes of the paths where it is allowed, each with its reason.
    allowed: &'static [(&'static str, &'static str)],
}

const RULES: &[Rule] = &[
    Rule {
        patterns: &["Instant::now", "SystemTime::now", "Zoned::now", "Timestamp::now"],
        layer: Layer::Code,
        within: &[],
        why: "only program::clock may read the time, so that a run has one clock and tests can control it",
        allowed: &[
            ("crates/program/src/clock.rs", "the clock itself"),
            (
                "crates/cluster/src/hub/end_with_parent.rs",
                "a system call between fork and exec, so that no server outlives a killed hub",
            ),
            ("crates/engine/src/timers.rs", "platforms without timerfd sleep on the runtime's own instants"),
            ("crates/demo/", "a system under test has its own clock"),
            ("crates/observation/examples/", "a separate program"),
            ("crates/neighbour/", "generates load next to a run, with its own time limit"),
            ("crates/standin/", "a server for tests; it stops waiting for a client that does not connect"),
            ("crates/terminal/src/console.rs", "limits the time for writing the last messages of a process"),
            ("crates/trials/", "limits the time of processes next to a run, outside the measured path"),
            ("crates/verb-capacity/src/simulate.rs", "shows the progress of a simulation, which has no run"),
            ("crates/verb-inputs/src/reading.rs", "shows the progress of reading, after a run"),
            (
                "crates/verb-observe/src/leak.rs",
                "limits the time between rounds of load, which other processes make",
            ),
            ("crates/cli/", "stamps manifests and progress, outside the measured path"),
            ("xtask/", "the bench measures from outside"),
        ],
    },
    Rule {
        patterns: &["println!", "eprintln!", "print!", "eprint!", "process::exit"],
        layer: Layer::Code,
        within: &[],
        why: "only the cli and the crates of its verbs may print and exit; return a value or a diagnostic",
        allowed: &[
            ("crates/cli/", "the crate that prints"),
            ("crates/terminal/src/signals.rs", "a second signal ends the process"),
            ("crates/demo/examples/", "a separate program"),
            ("crates/simulation/examples/", "a separate program"),
            ("crates/cluster/examples/", "a separate program"),
            ("crates/launch/examples/", "a separate program"),
            ("crates/logs/examples/", "a separate program"),
            ("crates/http/tests/exchanges/local_ports.rs", "a test that is skipped prints why"),
            ("crates/observation/examples/", "a separate program"),
            ("crates/observe/examples/", "a separate program"),
            ("crates/observation/examples/", "a separate program"),
            ("crates/observe/tests/", "a test that is skipped prints why"),
            ("crates/controls/tests/controls/real.rs", "a test that is skipped prints why"),
            ("crates/report/tests/browser/main.rs", "a test that is skipped prints why"),
            ("xtask/", "a tool prints its results"),
        ],
    },
    Rule {
        patterns: &["env::var", "env::var_os", "env::args", "env::args_os"],
        layer: Layer::Code,
        within: &[],
        why: "only the cli and the crates of its verbs may read arguments and the environment; pass the value as a parameter",
        allowed: &[
            ("crates/cli/", "the crate that reads them"),
            ("crates/terminal/src/output.rs", "NO_COLOR and TERM describe the terminal"),
            ("crates/verb-experiment/src/run.rs", "the options of the JVM that trials extend"),
            ("crates/verb-observe/src/serve.rs", "the token of its clients, which command lines would show"),
            (
                "crates/verb-observe/src/source_options.rs",
                "the token for metrics, which command lines would show",
            ),
            ("crates/verb-inputs/src/thresholds.rs", "GITHUB_STEP_SUMMARY names the file of a summary"),
            ("crates/cluster/examples/", "a separate program"),
            ("crates/demo/examples/", "a separate program"),
            ("crates/observation/examples/", "a separate program"),
            ("crates/observe/examples/", "a separate program"),
            ("crates/observation/examples/", "a separate program"),
            ("crates/simulation/examples/", "a separate program"),
            ("crates/report/tests/", "retains its report if a variable is set"),
            ("crates/controls/tests/controls/real.rs", "a test starts itself as a program to be killed"),
            ("crates/observe/tests/jvm_live/", "a variable lists the JDKs to test with"),
            ("crates/launch/examples/", "a separate program"),
            ("crates/logs/examples/", "a separate program"),
            ("crates/functions/src/", "functions of plans read the environment: __env, __machineName"),
            ("xtask/", "a tool is a separate program"),
        ],
    },
    Rule {
        patterns: &["thread::sleep"],
        layer: Layer::Code,
        within: &[],
        why: "a sleep blocks an executor and makes tests unreliable; wait for the event itself",
        allowed: &[
            ("crates/standin/src/", "responds slowly on purpose, on a separate thread"),
            (
                "crates/cli/tests/end_to_end/",
                "servers that are slow on purpose; polling another process, up to a limit",
            ),
            ("crates/cli/tests/cluster/", "polls other processes, up to a limit"),
            ("crates/cli/tests/shipped_experiments.rs", "polls another process, up to a limit"),
            ("crates/observation/examples/", "writes lines at a rate"),
            ("crates/trials/src/", "polls processes and ready checks, up to a limit"),
            ("xtask/", "polls other processes while they run"),
        ],
    },
    Rule {
        patterns: &["time::sleep", "time::sleep_until", "time::interval"],
        layer: Layer::Code,
        within: &[
            "crates/engine/",
            "crates/http/",
            "crates/processors/",
            "crates/functions/",
            "crates/compile/",
        ],
        why: "the runtime's timers round to a millisecond, which distorts Poisson arrivals; use engine::timers",
        allowed: &[
            (
                "crates/cluster/src/hub/end_with_parent.rs",
                "a system call between fork and exec, so that no server outlives a killed hub",
            ),
            ("crates/engine/src/timers.rs", "platforms without timerfd have no alternative"),
            ("crates/engine/src/timers/idle.rs", "a sleep that ends when the runtime of a test is idle"),
        ],
    },
    Rule {
        patterns: &["std::fs", "std::io", "std::net", "std::env", "std::thread", "tokio", "rand"],
        layer: Layer::Code,
        within: &["crates/analysis/src/"],
        why: "analysis has no side effects: pass all inputs as parameters, including a random number generator",
        allowed: &[],
    },
    Rule {
        patterns: &["todo!", "unimplemented!", "dbg!", "#[ignore"],
        layer: Layer::Code,
        within: &[],
        why: "the program must reject unfinished features, or an issue must list them",
        allowed: &[],
    },
    Rule {
        patterns: &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")],
        layer: Layer::Comments,
        within: &[],
        why: "create an issue for unfinished work instead of a comment",
        allowed: &[],
    },
    Rule {
        patterns: &["unsafe"],
        layer: Layer::Code,
        within: &[],
        why: "unsafe code requires a measured reason and a small module in this list",
        allowed: &[
            (
                "crates/cluster/src/hub/end_with_parent.rs",
                "a system call between fork and exec, so that no server outlives a killed hub",
            ),
            ("crates/engine/src/timers.rs", "registers a timerfd that the struct owns"),
            ("crates/engine/src/turns.rs", "a system call that no crate wraps"),
            (
                "crates/observe/src/process/cpu_clock.rs",
                "reads the CPU clock of another process, which no crate wraps",
            ),
            ("crates/slices/src/coroutine.rs", "polls a future on a separate stack"),
            ("crates/slices/src/handle.rs", "names a function that polls through a pointer"),
            ("crates/slices/src/away.rs", "another thread works for a stack that waits for it"),
            ("crates/slices/src/slice.rs", "borrows the coroutine and the waker of the current poll"),
            ("crates/results/src/jtl_scan/marks.rs", "processes sixteen bytes of a result file at once"),
        ],
    },
];

/// Parts of names that belong to a protocol or to the plan format, in lower case.
const PROTOCOL_NAMES: [&str; 5] = ["http", "cookie", "websocket", "xml", "jmx"];

/// The crates that know neither a protocol nor the plan format.
const NEUTRAL_CRATES: [&str; 2] = ["crates/program/", "crates/engine/"];

/// Checks all Rust sources.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines = file.text.lines().count();
        if lines > LINES_MAX {
            findings.push(Finding::new(
                &file.path,
                format!(
                    "has {lines} lines, more than {LINES_MAX}; split it into files with one purpose each"
                ),
            ));
        }
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if VAGUE_NAMES.contains(&name) {
            findings.push(Finding::new(&file.path, "its name does not describe its purpose"));
        }
        findings.extend(check_rules(file));
        if NEUTRAL_CRATES.iter().any(|place| file.path.starts_with(place)) {
            findings.extend(check_protocol_names(file));
        }
    }
    findings
}

/// Finds names of a protocol in the code of a file.
fn check_protocol_names(file: &File) -> Vec<Finding> {
    let code = text::separate(&file.text).code.to_ascii_lowercase();
    let found = (1..).zip(code.lines()).filter_map(|(number, line)| {
        let name = PROTOCOL_NAMES.iter().find(|name| line.contains(**name))?;
        let what = format!(
            "a name with `{name}` is not allowed here: the crates program and engine do not depend on protocols; \
             store the value without its type and let the protocol's crate downcast it"
        );
        Some(Finding::new(format!("{}:{number}", file.path), what))
    });
    found.collect()
}

fn check_rules(file: &File) -> Vec<Finding> {
    let layers = text::separate(&file.text);
    let mut findings = Vec::new();
    for rule in RULES {
        let applies = rule.within.is_empty() || rule.within.iter().any(|place| file.path.starts_with(place));
        if !applies || rule.allowed.iter().any(|(place, _)| file.path.starts_with(place)) {
            continue;
        }
        let layer = if rule.layer == Layer::Code { &layers.code } else { &layers.comments };
        for (number, line) in (1..).zip(layer.lines()) {
            if let Some(pattern) = rule.patterns.iter().find(|pattern| contains_word(line, pattern)) {
                findings.push(Finding::new(
                    format!("{}:{number}", file.path),
                    format!("{pattern} is not allowed here: {}", rule.why),
                ));
            }
        }
    }
    findings
}

/// Whether the line contains the pattern as a whole word.
fn contains_word(line: &str, pattern: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(pattern).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + pattern.len()..].chars().next();
        let starts = !(before.is_some_and(of_word) && pattern.starts_with(of_word));
        let ends = !(after.is_some_and(of_word) && pattern.ends_with(of_word));
        starts && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).iter().map(|finding| format!("{}: {}", finding.place, finding.what)).collect()
    }

    #[test]
    fn only_the_clock_may_read_the_time() {
        let text = "fn f() {\n    let now = Instant::now();\n}\n";
        assert_eq!(findings("crates/program/src/clock.rs", text), [""; 0]);
        let found = findings("crates/http/src/lib.rs", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/http/src/lib.rs:2: Instant::now is not allowed here"),
            "{found:?}"
        );
    }

    #[test]
    fn longer_words_and_string_literals_do_not_match() {
        for text in
            ["my_println!(x)", "let s = \"println! unsafe\";", "// println!", "unsafe_op_in_unsafe_fn"]
        {
            assert_eq!(findings("crates/http/src/lib.rs", text), [""; 0], "{text}");
        }
        for text in ["std::println!(x)", "unsafe { f() }", "    #[ignore = \"slow\"]", "std::env::var(x)"] {
            assert_eq!(findings("crates/http/src/lib.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn rules_for_some_crates_do_not_apply_to_others() {
        let text = "use std::fs::File;";
        assert_eq!(findings("crates/analysis/src/lib.rs", text).len(), 1);
        assert_eq!(findings("crates/record/src/lib.rs", text), [""; 0]);
    }

    #[test]
    fn the_program_and_the_engine_name_no_protocol() {
        for text in ["fn f(detail: HttpDetail) {}", "user.http_answered = true;", "jar.set_cookies(x)"] {
            assert_eq!(findings("crates/program/src/user.rs", text).len(), 1, "{text}");
            assert_eq!(findings("crates/engine/src/core.rs", text).len(), 1, "{text}");
            assert_eq!(findings("crates/http/src/lib.rs", text), [""; 0]);
        }
        for text in ["/// Cookies, for example.", "let code = \"Non HTTP response code: \";"] {
            assert_eq!(findings("crates/program/src/user.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn unfinished_work_is_only_found_in_comments() {
        let word = concat!("TO", "DO");
        assert_eq!(findings("crates/http/src/lib.rs", &format!("// {word}: later")).len(), 1);
        assert_eq!(findings("crates/http/src/lib.rs", &format!("let s = \"{word}\";")), [""; 0]);
    }

    #[test]
    fn long_files_and_vague_names_are_found() {
        assert_eq!(findings("crates/http/src/lib.rs", &"\n".repeat(600)), [""; 0]);
        assert_eq!(findings("crates/http/src/lib.rs", &"\n".repeat(601)).len(), 1);
        assert_eq!(findings("crates/http/src/utils.rs", "").len(), 1);
    }

    #[test]
    fn all_exceptions_have_reasons() {
        assert!(RULES.iter().flat_map(|rule| rule.allowed).all(|(_, reason)| !reason.is_empty()));
    }
}
