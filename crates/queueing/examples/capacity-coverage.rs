//! Prints how often the intervals of `busyhour model fit` contain the truth: the table in docs/capacity-models.md.
//!
//! `cargo run -p busyhour-queueing --example capacity-coverage -- 400` fits 400 data sets of each system.

#![allow(clippy::print_stdout)] // It prints a table.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{scenarios, study};

fn main() {
    let seeds = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    println!("| system | capacity | width | no upper end | knee | curve | warned |");
    println!("|---|---|---|---|---|---|---|");
    for scenario in scenarios() {
        let found = study(&scenario, seeds);
        let percent = |count: u64| format!("{:.1} %", 100.0 * count as f64 / found.seeds as f64);
        println!(
            "| {} | {} | {:.1} % | {} | {} | {} | {} |",
            scenario.name,
            percent(found.capacity),
            100.0 * found.width,
            percent(found.seeds - found.bounded),
            percent(found.knee),
            percent(found.curve),
            percent(found.warned),
        );
    }
}
