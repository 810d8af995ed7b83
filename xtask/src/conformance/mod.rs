//! `cargo xtask conformance`: the plans under `conformance/cases` and their recordings by Apache JMeter.
//!
//! `new-case` creates a case, `record` runs cases in JMeter against the stand-in server and writes the recordings, `verify`
//! runs them again and compares. `ticket` runs the ticket workload in JMeter and in Busyhour and compares, `peer` runs
//! JMeter's own batch tests, `corpus` checks plans of public repositories.

mod corpus;
mod launch;
mod new_case;
mod peer;
mod record;
mod ticket;
mod workers;

use anyhow::{Result, bail};
use record::{Purpose, Selection};

/// Runs the subcommand in `args`.
///
/// # Errors
/// Fails when a file cannot be written or JMeter cannot be had or run.
pub fn run(args: &[String]) -> Result<()> {
    let cases = crate::workspace_root().join("conformance/cases");
    let Some((verb, names)) = args.split_first() else {
        bail!(
            "conformance new-case NAME [OPTION…], conformance record|verify [OPTION…] [NAME…], conformance ticket|corpus [OPTION…], conformance differences, conformance peer [PLAN…]"
        )
    };
    match verb.as_str() {
        "new-case" => new_case::run(&cases, &parse(args)?),
        "record" => record::run(parse::<Selection>(args)?.cases(&cases)?, Purpose::Record),
        "verify" => record::run(parse::<Selection>(args)?.cases(&cases)?, Purpose::Verify),
        "corpus" => corpus::run(names),
        "differences" => write_differences(),
        "ticket" => ticket::run(names),
        "peer" => peer::run(names),
        other => bail!("unknown: conformance {other}"),
    }
}

/// Reads the options of the verb that `args` begins with; `--help` prints them.
fn parse<T: clap::Args>(args: &[String]) -> Result<T> {
    let command = T::augment_args(clap::Command::new("cargo xtask conformance VERB"));
    match command.try_get_matches_from(args) {
        Ok(matches) => Ok(T::from_arg_matches(&matches)?),
        Err(error) => error.exit(),
    }
}

/// Writes the list of cases that are known to differ into the page of differences.
fn write_differences() -> Result<()> {
    use crate::tidy::differences::{KNOWN, MARK, PAGE, list};
    let root = crate::workspace_root();
    let list = list(&std::fs::read_to_string(root.join(KNOWN))?)?;
    let page = std::fs::read_to_string(root.join(PAGE))?;
    std::fs::write(root.join(PAGE), corpus::put(&page, MARK, &list)?)?;
    println!("{PAGE} is written");
    Ok(())
}
