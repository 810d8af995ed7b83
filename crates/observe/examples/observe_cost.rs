//! Measures the cost of watching: runs all probes of the operating system for a while and prints the CPU time per
//! source and in total.
//!
//! ```text
//! cargo run --release -p busyhour-observe --example observe_cost -- [SECONDS [INTERVAL_MS [PID [DIRECTORY]]]]
//! ```
//!
//! The series file remains if a directory is given. Times are those that the watch records itself
//! (`busyhour_observe_cpu_seconds_total`, thread CPU time). The CPU time of the whole process, which includes the overhead of
//! waiting threads, is printed after their sum.

#![allow(clippy::print_stdout, reason = "a program that prints what it measured")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use busyhour_observe::{
        CgroupProbe, OsProbe, Probe, ProcRoot, ProcessProbe, SeriesStore, StallProbe, Watch, WatchOptions,
        discover,
    };
    use busyhour_program::clock::{Clock, monotonic_ns};
    use busyhour_series::{FileStart, SeriesQuery, read_series};

    let argument = |number: usize| std::env::args().nth(number).map(|text| text.parse::<u64>()).transpose();
    let seconds = argument(1)?.unwrap_or(10);
    let interval = Duration::from_millis(argument(2)?.unwrap_or(1_000));
    let pid = u32::try_from(argument(3)?.unwrap_or(u64::from(std::process::id())))?;
    let root = ProcRoot::live();

    let before = monotonic_ns();
    let found = discover(&root, &[("127.0.0.1", 1)]);
    let processes = root.pids(usize::MAX)?.len();
    println!(
        "discovery: {:.1} ms with {processes} processes ({} entries)",
        (monotonic_ns() - before) as f64 / 1e6,
        found.len()
    );

    let kept = std::env::args().nth(4).map(std::path::PathBuf::from);
    let temporary = std::env::temp_dir().join(format!("observe-cost-{}", std::process::id()));
    let directory = kept.clone().unwrap_or(temporary);
    std::fs::create_dir_all(&directory)?;
    let clock = Clock::start();
    let mut probes: Vec<Box<dyn Probe>> = vec![
        Box::new(OsProbe::new(&root)),
        Box::new(ProcessProbe::new(&root, pid, &[])?),
        Box::new(StallProbe::start(&clock)?),
    ];
    match CgroupProbe::of_process(&root, pid) {
        Ok(probe) => probes.push(Box::new(probe)),
        Err(error) => println!("no cgroup: {error}"),
    }
    let own_before = own_cpu_seconds()?;
    let store = SeriesStore::create(&directory, &FileStart::default())?;
    let watch = Watch::start(clock, store.clone(), WatchOptions { interval }, probes)?;
    // Nothing is sent: the wait ends after the given time.
    let (_sender, receiver) = channel::<()>();
    let _ = receiver.recv_timeout(Duration::from_secs(seconds));
    watch.stop();
    let own = own_cpu_seconds()? - own_before;

    let path = directory.join(&SeriesStore::part().file);
    let bytes = std::fs::metadata(&path)?.len();
    let set = read_series(&path, &SeriesQuery::default())?;
    if kept.is_none() {
        std::fs::remove_dir_all(&directory)?;
    }
    println!("interval {interval:?}, {seconds} s, {} series, {bytes} bytes", set.series.len());
    let mut total = 0.0;
    for data in &set.series {
        if let ("busyhour_observe_cpu_seconds_total" | "busyhour_stall_cpu_seconds_total", Some((_, cpu))) =
            (data.info.name.as_str(), data.last)
        {
            let source = data.info.labels.first().map_or("stall (thread)", |(_, source)| source.as_str());
            println!("{source:<20} {:>8.2} ms  {:>6.3} % of a core", cpu * 1e3, cpu / seconds as f64 * 100.0);
            total += cpu;
        }
    }
    println!(
        "{:<20} {:>8.2} ms  {:>6.3} % of a core",
        "together",
        total * 1e3,
        total / seconds as f64 * 100.0
    );
    println!(
        "{:<20} {:>8.2} ms  {:>6.3} % of a core",
        "this process",
        own * 1e3,
        own / seconds as f64 * 100.0
    );
    Ok(())
}

/// CPU time of this process in seconds.
#[cfg(target_os = "linux")]
fn own_cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}
