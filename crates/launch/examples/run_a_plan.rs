//! Runs a plan from another Rust program and prints a line each second:
//! `cargo run -p busyhour-launch --example run_a_plan -- plan.jmx`
#![allow(clippy::print_stdout, reason = "an example that prints")]

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_launch::{Launch, RunObserver, RunRequest};
use busyhour_sample::Snapshot;

struct EachSecond;

impl RunObserver for EachSecond {
    fn second(&mut self, snapshot: &Snapshot, _thresholds: &[ThresholdResult]) {
        println!("second {}: {} requests", snapshot.second, snapshot.total().samples);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = std::env::args_os().nth(1).ok_or("give the name of a plan")?;
    let mut launch = Launch::new(RunRequest { plan: plan.into(), ..RunRequest::default() });
    launch.observe("the lines", Box::new(EachSecond))?;
    let run = launch.prepare()?.start()?.wait();
    println!("{} requests, {}", run.summary.total.samples, run.dir.report_path().display());
    Ok(())
}
