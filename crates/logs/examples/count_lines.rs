//! Counts generated log lines, to measure the speed of the collector.
//!
//! `cargo run --release -p busyhour-logs --example count_lines -- java 5000000`
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::fmt::Write as _;
use std::process::ExitCode;

use busyhour_logs::{
    CollectorSettings, LogCollector, Redactor, RunClock, StampSettings, TemplateScope, Zone,
};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// 2024-03-18T10:00:00Z.
const START: i64 = 1_710_756_000_000_000_000;
/// Lines that are generated; they are read repeatedly.
const GENERATED: usize = 100_000;
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The kinds of logs by name.
const KINDS: [(&str, fn(&mut Xoshiro256PlusPlus, &mut String, usize)); 4] =
    [("java", java), ("traces", traces), ("access", access), ("docker", docker)];

/// Messages of 12 templates with values, in the layout of Logback.
fn java(random: &mut Xoshiro256PlusPlus, out: &mut String, line: usize) {
    const MESSAGES: [(&str, &str); 12] = [
        ("INFO ", "Booking % of user % accepted, % seats in section % left"),
        ("INFO ", "Sent 200 OK to 10.0.%.%:% after % ms"),
        ("INFO ", "Cache refreshed: % entries, % KB"),
        ("DEBUG", "Acquired connection % from pool, % active, % idle"),
        ("DEBUG", "select e from Event e where e.id = % order by e.date"),
        ("WARN ", "Slow query took % ms for event %"),
        ("WARN ", "Retry % of 3 for payment service at pay-%.example.org:8443"),
        ("ERROR", "No seat left for booking % in section %"),
        ("ERROR", "Payment % failed with code % for user %"),
        ("INFO ", "Session 5f3a9b%c1 of user % expired"),
        ("INFO ", "Published message % to topic bookings-% at offset %"),
        ("ERROR", "Timeout after % ms while waiting for lock on /srv/data/shop/%.lock"),
    ];
    let (level, message) = MESSAGES[random.random_range(0..MESSAGES.len())];
    let (second, milli) = (line * 10 / GENERATED, random.random_range(0..1_000));
    let thread = random.random_range(1..200);
    let _ = write!(
        out,
        "2024-03-18 10:00:{second:02}.{milli:03} {level} [http-nio-8080-exec-{thread}] c.e.shop.BookingService - "
    );
    for part in message.split_inclusive('%') {
        out.push_str(part.trim_end_matches('%'));
        if part.ends_with('%') {
            let _ = write!(out, "{}", random.random_range(1..100_000));
        }
    }
    out.push('\n');
}

/// As `java`, but every second line is a frame of a stack trace.
fn traces(random: &mut Xoshiro256PlusPlus, out: &mut String, line: usize) {
    match line % 20 {
        0 => out.push_str("java.lang.IllegalStateException: no seat\n"),
        1..=8 => {
            let _ =
                writeln!(out, "\tat c.e.shop.BookingService.book{}(BookingService.java:{line})", line % 20);
        }
        9 => out.push_str("Caused by: java.sql.SQLException: lock\n"),
        10 => out.push_str("\tat org.postgresql.Driver.connect(Driver.java:210)\n"),
        _ => java(random, out, line),
    }
}

/// An access log in the combined format.
fn access(random: &mut Xoshiro256PlusPlus, out: &mut String, line: usize) {
    let status = [200, 200, 200, 304, 404, 500, 503][random.random_range(0..7)];
    let (order, bytes) = (random.random_range(1..100_000), random.random_range(100..100_000));
    let second = line * 10 / GENERATED;
    let _ = writeln!(
        out,
        "10.0.3.{} - - [18/Mar/2024:10:00:{second:02} +0000] \"GET /api/orders/{order}?page=2 HTTP/1.1\" {status} {bytes} \"-\" \
         \"Mozilla/5.0 (X11; Linux x86_64)\" 0.0{}",
        line % 250,
        order % 90 + 10
    );
}

/// As `java`, in the envelope of Docker.
fn docker(random: &mut Xoshiro256PlusPlus, out: &mut String, line: usize) {
    let mut text = String::new();
    java(random, &mut text, line);
    let text = text.trim_end();
    let _ = writeln!(
        out,
        "{{\"log\":\"{text}\\n\",\"stream\":\"stdout\",\"time\":\"2024-03-18T10:00:05.123456789Z\"}}"
    );
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().and_then(|name| KINDS.iter().find(|(kind, _)| kind == name));
    let lines = arguments.get(1).and_then(|lines| lines.parse::<usize>().ok());
    let (Some((_, generate)), Some(lines)) = (kind, lines) else {
        println!("usage: count_lines java|traces|access|docker LINES");
        return ExitCode::FAILURE;
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut text = String::new();
    for line in 0..GENERATED.min(lines) {
        generate(&mut random, &mut text, line);
    }
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: START };
    let clock = RunClock { start_unix_ns: START, end_unix_ns: None };
    let mut settings = CollectorSettings::new(stamps, clock, Redactor::new(|_| false, |_| false));
    // The most work: all entries are grouped.
    settings.scope = TemplateScope::All;
    let mut collector = LogCollector::new(settings);
    let source = collector.add_source(None);
    for _ in 0..lines.div_ceil(GENERATED) {
        for piece in text.as_bytes().chunks(PIECE) {
            collector.read(source, piece);
        }
    }
    let counts = collector.finish();
    println!(
        "{} lines, {} entries, {} templates, {} traces, {} bytes per line",
        counts.lines,
        counts.entries,
        counts.templates.len(),
        counts.traces.len(),
        text.len() / GENERATED.min(lines.max(1))
    );
    ExitCode::SUCCESS
}
