//! `cargo xtask bench http`: Busyhour compared with wrk and JMeter on one machine, the server on one core and the generator on
//! another.

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

/// Measures and prints the sections that the options choose.
///
/// # Errors
/// Fails when the bench cannot start or a section could not be measured; the other sections are measured nevertheless.
pub fn run(options: Options) -> Result<()> {
    let bench = Bench::prepare(options)?;
    let mut failed = Vec::new();
    for &section in Section::value_variants() {
        if !bench.options.wants(section) {
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
