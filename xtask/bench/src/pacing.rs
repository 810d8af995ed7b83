//! `cargo xtask bench pacing`: measures the arrival times of requests at the server, and the figures that generators
//! report about a server that stalls.
//!
//! The server is the probe (`busyhour lab server probe`) on one core, which records the arrival time of each request
//! in nanoseconds; the generator runs on the other core.

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

/// Runs the sections that the options select, and prints the results.
///
/// # Errors
/// The bench cannot start.
pub fn run(options: Options) -> Result<()> {
    let bench = Bench::prepare(options)?;
    for &section in Section::value_variants() {
        if !bench.options.includes(section) {
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
