//! Measures the cost of following a log: a thread appends lines at a rate, and a watch reads them.
//!
//! `cargo run --release -p busyhour-observation --example follow_log -- LINES_PER_SECOND SECONDS`
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use busyhour_logs::{LOGS_FILE_NAME, LogsFile};
use busyhour_observation::{LogOptions, LogSources, SourceSpec};
use busyhour_observe::{SeriesStore, Watch, WatchOptions};
use busyhour_program::clock::Clock;

/// Parts of a second in which lines are written.
const PARTS: u32 = 20;

/// The lines of a part: one in fifty is an error, and one in five hundred has a stack trace.
fn lines(wall_ms: u64, from: u64, count: u32) -> String {
    let (second, milli) = (wall_ms / 1_000 % 86_400, wall_ms % 1_000);
    let stamp = format!("{:02}:{:02}:{:02}.{milli:03}", second / 3_600, second / 60 % 60, second % 60);
    let mut out = String::new();
    for number in from..from + u64::from(count) {
        let thread = number % 97;
        // Writing to a string cannot fail.
        let _ = match number % 500 {
            0 => writeln!(
                out,
                "{stamp} ERROR [exec-{thread}] shop.Seats - no seat for booking {number}\n\
                 java.lang.IllegalStateException: no seat\n\tat shop.Seats.take(Seats.java:12)\n\
                 \tat shop.Booking.book(Booking.java:7)"
            ),
            at if at % 50 == 0 => {
                writeln!(
                    out,
                    "{stamp} ERROR [exec-{thread}] shop.Payment - payment {number} failed with code {}",
                    at
                )
            }
            _ => writeln!(
                out,
                "{stamp} INFO  [exec-{thread}] c.e.shop.BookingService - booking {number} of user {} accepted in {} ms",
                number * 7 % 10_007,
                number % 113
            ),
        };
    }
    out
}

/// Appends lines until the end; returns how many bytes.
fn append(file: &mut File, clock: &Clock, rate: u32, length: Duration) -> std::io::Result<u64> {
    // The channel never receives anything, so waiting for it until a time is a pause.
    let (_sender, never) = channel::<()>();
    let (mut number, mut bytes) = (0, 0);
    for part in 0.. {
        let due = Duration::from_secs(1) * part / PARTS;
        if due >= length {
            return Ok(bytes);
        }
        let _ = never.recv_timeout(due.saturating_sub(Duration::from_nanos(clock.now().0)));
        let text = lines(clock.wall_ms(clock.now()), number, rate / PARTS);
        file.write_all(text.as_bytes())?;
        (number, bytes) = (number + u64::from(rate / PARTS), bytes + text.len() as u64);
    }
    Ok(bytes)
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rate, seconds] = numbers[..] else {
        println!("usage: follow_log LINES_PER_SECOND SECONDS");
        return Ok(());
    };
    let dir = std::env::temp_dir().join(format!("follow-log-{}", std::process::id()));
    std::fs::create_dir(&dir)?;
    let result = measure(&dir, rate, Duration::from_secs(seconds.into()));
    std::fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path, rate: u32, length: Duration) -> Result<(), Box<dyn Error>> {
    let path = dir.join("server.log");
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let (clock, store) = (Clock::start(), SeriesStore::in_memory());
    let mut logs = LogSources::new(dir, &clock, LogOptions::default());
    let probes = logs.probe(&SourceSpec::Log(path)).into_iter().collect();
    let watch = Watch::start(clock.clone(), store.clone(), WatchOptions::default(), probes)?;
    let bytes = append(&mut file, &clock, rate, length)?;
    let latest = store.latest();
    let of =
        |name: &str| latest.iter().filter(|value| &*value.name == name).map(|value| value.value).sum::<f64>();
    let cpu_s: f64 = latest
        .iter()
        .filter(|value| &*value.name == "busyhour_observe_cpu_seconds_total")
        .filter(|value| value.labels.iter().any(|(_, source)| source.starts_with("log:")))
        .map(|value| value.value)
        .sum();
    let behind = of("busyhour_log_behind_ratio");
    watch.stop();
    logs.finish(&store)?;
    let counts = LogsFile::read(&dir.join(LOGS_FILE_NAME))?.sources.remove(0).counts;
    println!(
        "{} lines, {:.1} MB, {} problems in {} templates; CPU {cpu_s:.2} s in {:.0} s: {:.1} % of a core; behind: {behind}; \
         peak memory {} MiB; logs.json {} KiB",
        counts.lines,
        bytes as f64 / 1e6,
        counts.matching,
        counts.templates.len(),
        length.as_secs_f64(),
        100.0 * cpu_s / length.as_secs_f64(),
        resident_kib().unwrap_or(0) / 1024,
        std::fs::metadata(dir.join(LOGS_FILE_NAME))?.len() / 1024
    );
    Ok(())
}
