//! `cargo xtask bench http`: compares Busyhour with wrk and JMeter on one machine, with the server on one core and the
//! generator on another.

mod floor;
mod launch;
mod nginx;
mod peers;
mod setup;
mod throughput;
mod ticket;
mod users;

use anyhow::{Result, ensure};
use clap::ValueEnum as _;

pub use floor::{CLIENT as FLOOR_CLIENT, Client as FloorClient};
pub use setup::Options;
use setup::{Bench, Section};

/// Runs the sections that the options select, and prints the results.
///
/// # Errors
/// The bench cannot start, or a section could not be measured; the other sections are measured nevertheless.
pub fn run(options: Options) -> Result<()> {
    let bench = Bench::prepare(options)?;
    let mut failed = Vec::new();
    for &section in Section::value_variants() {
        if !bench.options.includes(section) {
            continue;
        }
        let measured = match section {
            Section::Throughput => throughput::run(&bench),
            Section::Users => users::run(&bench),
            Section::Launch => launch::run(&bench),
            Section::Ticket => ticket::run(&bench),
        };
        if let Err(error) = measured {
            println!("\n{section:?} failed: {error:#}");
            failed.push(format!("{section:?}"));
        }
    }
    ensure!(failed.is_empty(), "not measured: {}", failed.join(", "));
    Ok(())
}
