//! `cargo xtask bench pacing`: when requests arrive at the server, and what generators report about a server that stalls.
//!
//! The server is the probe (`busyhour demo-server probe`) on one core, which stamps each request in nanoseconds; the
//! generator is on the other core.

mod arrivals;
mod bare;
mod generators;
mod options;
mod probe;
mod reported;
mod setup;
mod stall;
mod stamps;

use anyhow::Result;
use clap::ValueEnum as _;

pub use bare::{CLIENT as BARE_CLIENT, Client as BareClient};
use generators::Load;
pub use options::Options;
use options::Section;
use setup::Bench;

/// Measures and prints the sections that the options choose.
///
/// # Errors
/// Fails when the bench cannot start.
pub fn run(options: Options) -> Result<()> {
    let bench = Bench::prepare(options)?;
    for &section in Section::value_variants() {
        if !bench.options.wants(section) {
            continue;
        }
        match section {
            Section::Poisson => arrivals::run(&bench, Load::Poisson),
            Section::Even => arrivals::run(&bench, Load::Even),
            Section::Stall => stall::run(&bench),
        }
    }
    Ok(())
}
