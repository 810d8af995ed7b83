//! `cargo xtask conformance`: the plans under `conformance/cases` and their recordings by Apache JMeter.
//!
//! `plans` writes the plans from their description in this crate, `record` runs them in JMeter against the
//! stand-in server and writes down what came, `verify` runs them again and compares. Names (or parts of names)
//! choose among the cases. `ticket` runs the ticket workload in both and compares; `peer` runs JMeter's own batch tests.
//! `corpus` looks at real plans of others.

mod corpus;
mod elements;
mod jmx;
mod launch;
mod peer;
mod plans;
mod record;
mod ticket;
mod workers;

use anyhow::{Result, bail};

/// Runs the subcommand in `args`.
///
/// # Errors
/// Fails when a file cannot be written or JMeter cannot be had or run.
pub fn run(args: &[String]) -> Result<()> {
    let cases = crate::workspace_root().join("conformance/cases");
    let Some((verb, names)) = args.split_first() else {
        bail!(
            "conformance plans|record|verify [NAME…], conformance ticket|corpus [OPTION…], conformance differences, conformance peer [PLAN…]"
        )
    };
    match verb.as_str() {
        "plans" => plans::write(&cases, names),
        "record" => record::run(&cases, names, record::Purpose::Record),
        "verify" => record::run(&cases, names, record::Purpose::Verify),
        "corpus" => corpus::run(names),
        "differences" => write_differences(),
        "ticket" => ticket::run(names),
        "peer" => peer::run(names),
        other => bail!("unknown: conformance {other}"),
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
