//! Measures the cost of reading the counters of a JVM:
//! `cargo run --release -p busyhour-observe --example jvm_cost -- PID [READINGS]`.
#![expect(clippy::print_stdout, reason = "a program that prints its results")]

use std::error::Error;

/// Reads the JVM and prints the CPU time per reading.
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn Error>> {
    use busyhour_observe::jvm::JvmProbe;
    use busyhour_observe::{ProbeRunner, ProcRoot, SeriesStore};
    use busyhour_program::clock::Clock;

    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("the number of the process is missing")?.parse()?;
    let readings: u64 = arguments.next().unwrap_or_else(|| "10000".to_owned()).parse()?;
    let probe = JvmProbe::open(&ProcRoot::live(), pid)?;
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(probe));
    let clock = Clock::start();
    runner.read(&clock);
    let before = runner.cpu_ns();
    for _ in 0..readings {
        runner.read(&clock);
    }
    #[expect(clippy::cast_precision_loss, reason = "printed")]
    let us = (runner.cpu_ns() - before) as f64 / readings.max(1) as f64 / 1e3;
    println!("{us:.1} us of CPU per reading, {} series", store.latest().len());
    println!("{:.4} % of a core at 1 s, {:.4} % at 100 ms", us / 1e4, us / 1e3);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() -> Result<(), Box<dyn Error>> {
    Err("the counters of JVMs are read on Linux only".into())
}
