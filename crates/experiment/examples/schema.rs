//! Prints the JSON schema of experiment files.

use std::io::Write as _;

use busyhour_experiment::Experiment;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{:#}", Experiment::schema())
}
