//! Writes and reads a series file of 1,000 series with a reading every 100 ms for an hour, and prints sizes, times and memory:
//!
//! ```text
//! cargo run --release -p busyhour-observe --example series_file_cost -- [SERIES [READINGS]]
//! ```

#![allow(clippy::print_stdout, reason = "a program that prints what it measured")]

use std::io::Write;

use busyhour_observe::Metric;
use busyhour_program::clock::monotonic_ns;
use busyhour_sample::Nanos;
use busyhour_series::{FileStart, SeriesEncoder, SeriesQuery, read_series};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |number: usize| std::env::args().nth(number).map(|text| text.parse::<u32>()).transpose();
    let (series, readings) = (argument(1)?.unwrap_or(1_000), argument(2)?.unwrap_or(36_000));
    let path = std::env::temp_dir().join(format!("series-cost-{}", std::process::id()));
    let mut file = std::fs::File::create(&path)?;

    let before = monotonic_ns();
    let (mut encoder, mut buffer) = (SeriesEncoder::default(), Vec::new());
    encoder.start(&mut buffer, &FileStart::default());
    let source = encoder.source(&mut buffer, "test");
    for number in 0..series {
        let text = number.to_string();
        // Counters of bytes, gauges of bytes, and times with fractions.
        let metric = match number % 3 {
            0 => Metric::counter("test_bytes_total", "A counter."),
            1 => Metric::gauge("test_bytes", "A gauge."),
            _ => Metric::counter("test_seconds_total", "A time."),
        };
        encoder.series(&mut buffer, source, &metric, &[("number", &text)]);
    }
    let mut values = Vec::new();
    for reading in 0..u64::from(readings) {
        values.clear();
        let time = Nanos(reading * 100_000_000);
        for number in 0..series {
            let noise = (reading * 7_919 + u64::from(number) * 104_729) % 65_536;
            let value = match number % 3 {
                0 => (reading * 1_000_000 + noise) as f64,
                1 => (noise * 4_096) as f64,
                _ => reading as f64 * 0.013 + noise as f64 / 1e9,
            };
            values.push((time, number, value));
        }
        encoder.values(&mut buffer, &values);
        file.write_all(&buffer)?;
        buffer.clear();
    }
    drop(file);
    let count = f64::from(series) * f64::from(readings);
    let bytes = std::fs::metadata(&path)?.len();
    println!(
        "written: {count} values, {bytes} bytes, {:.2} bytes per value, {:.1} ns per value",
        bytes as f64 / count,
        (monotonic_ns() - before) as f64 / count
    );

    let memory_before = peak_memory();
    let before = monotonic_ns();
    let set = read_series(&path, &SeriesQuery::default())?;
    let points: usize = set.series.iter().map(|data| data.points.len()).sum();
    println!(
        "read: {} series, {points} points of {:.1} s, {:.2} s, peak of memory {} before and {} after",
        set.series.len(),
        set.width_ns as f64 / 1e9,
        (monotonic_ns() - before) as f64 / 1e9,
        memory_before,
        peak_memory(),
    );
    std::fs::remove_file(&path)?;
    Ok(())
}

/// The largest resident memory of this process so far, as the kernel states it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| String::from("unknown"), |peak| peak.trim().to_owned())
}
