//! Chores of the project: `cargo xtask tidy`, `cargo xtask bench`, `cargo xtask conformance`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

mod bench;
mod conformance;
mod jmeter;
mod jmeter_plugins;
mod options;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  bench http [OPTION…]              compare with wrk and JMeter on this machine; --help names the options
  bench capacity [OPTION…]          whether a fitted capacity model foresees a load that was not measured
  bench pacing [OPTION…]            what loads are as a server sees them, beside JMeter, k6, vegeta and wrk2
  bench simulate [OPTION…]          how fast queueing networks are simulated
  conformance new-case NAME [OPTION…]  create a conformance case and record it with JMeter
  conformance record|verify [NAME…]    record conformance cases with JMeter; run them again and compare
  conformance ticket [OPTION…]      run the ticket workload in JMeter and in Busyhour and compare; --help names the options
  conformance peer [PLAN…]          run JMeter's own batch tests and compare the files they write
  conformance corpus [OPTION…]      look at real plans of others: which are supported, what the rest miss; --help names the options
  conformance differences           write the list of cases that are known to differ into docs/jmeter-differences.md
  tidy                              check layering, file lengths, banned calls, licences of dependencies";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((chore, rest)) = words.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let outcome = match chore.as_str() {
        "bench" => bench::run(rest),
        "conformance" => conformance::run(rest),
        "tidy" => tidy::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => {
            eprintln!("there is no chore called {other:?}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace, wherever the chore was started.
fn workspace_root() -> std::path::PathBuf {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}
