//! How often a harmless process is accused, and how often and how fast a neighbour is found.
//!
//! By default each kind is simulated a few times. For the tables of `docs/neighbour-detection.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-detection --test study -- --nocapture
//! ```

mod others;
mod run;
mod system;

use std::io::Write as _;

use crate::others::Shape;
use crate::run::{Found, MOVED_MAX_S, Scene, observe};
use crate::system::{SYSTEM, SystemKind, harm_of_p95};

/// Number of simulated observations of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}

/// Whether a kind is simulated: all of them, or those with a text in their name.
fn is_chosen(name: &str) -> bool {
    option_env!("BUSYHOUR_STUDY_KIND").is_none_or(|text| name.contains(text))
}

/// Hours of an observation without a neighbour.
fn hours() -> u32 {
    if seeds() < 20 { 1 } else { 2 }
}

/// Prints a line of a table.
fn show(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

/// Simulates all seeds of a kind, on two threads.
fn observe_all(scene: &Scene) -> Vec<Found> {
    // Ten thousand processes take long to simulate.
    let seeds = if scene.processes.1 > 1_000 { seeds().div_ceil(20) } else { seeds() };
    std::thread::scope(|scope| {
        let half = |part: u64| {
            scope.spawn(move || {
                (0..seeds)
                    .filter(|seed| seed % 2 == part)
                    .map(|seed| observe(scene, seed))
                    .collect::<Vec<_>>()
            })
        };
        let (even, odd) = (half(0), half(1));
        let mut all = even.join().unwrap();
        all.extend(odd.join().unwrap());
        all
    })
}

/// A machine without a neighbour.
const QUIET: Scene = Scene {
    system: SYSTEM,
    processes: USUAL,
    length_s: 3_600,
    shape: None,
    neighbours: 0,
    start_s: 0.0,
    harm_s: 0.0,
    cores: 0.8,
};

/// Processes of several kinds, and none that are only steady.
const USUAL: (usize, usize) = (40, 0);

const CLEAN: &[(&str, SystemKind, (usize, usize))] = &[
    ("steady load", SYSTEM, USUAL),
    ("load as over a day, processes that follow it", SystemKind { is_diurnal: true, ..SYSTEM }, USUAL),
    ("busy system (48 % of its CPU)", SystemKind { rate: 120.0, ..SYSTEM }, USUAL),
    ("5 requests per second", SystemKind { rate: 5.0, ..SYSTEM }, USUAL),
    ("heavy tails (index 1.8)", SystemKind { has_heavy_tail: true, ..SYSTEM }, USUAL),
    ("wandering level, correlation 0.9 per second", SystemKind { wander: 0.9, ..SYSTEM }, USUAL),
    ("wandering level, correlation 0.98 per second", SystemKind { wander: 0.98, ..SYSTEM }, USUAL),
    ("slow by itself 4 times per hour", SystemKind { own_bursts_per_hour: 4.0, ..SYSTEM }, USUAL),
    ("slow by itself 20 times per hour", SystemKind { own_bursts_per_hour: 20.0, ..SYSTEM }, USUAL),
    ("own overload 6 times per hour", SystemKind { overloads_per_hour: 6.0, ..SYSTEM }, USUAL),
    ("own quota 6 times per hour", SystemKind { throttles_per_hour: 6.0, ..SYSTEM }, USUAL),
    ("own housekeeping at the times of cron", SystemKind { has_housekeeping: true, ..SYSTEM }, USUAL),
    ("400 processes", SYSTEM, (40, 360)),
    ("400 processes, half of which run now and then", SYSTEM, (400, 0)),
    ("10,000 processes", SYSTEM, (40, 9_960)),
];

#[test]
fn harmless_processes_are_not_accused() {
    show("| system without a neighbour | hours | false alarms | per hour |");
    show("|---|---:|---:|---:|");
    let (mut all, mut all_hours) = (0, 0.0);
    for (name, system, processes) in CLEAN.iter().filter(|kind| is_chosen(kind.0)) {
        let scene = Scene { system: *system, processes: *processes, length_s: hours() * 3_600, ..QUIET };
        let observed = observe_all(&scene);
        let wrong: u32 = observed.iter().map(|found| found.wrong).sum();
        let time = observed.len() as f64 * f64::from(hours());
        show(&format!("| {name} | {time} | {wrong} | {:.1} % |", f64::from(wrong) / time * 100.0));
        all += wrong;
        all_hours += time;
        assert!(
            f64::from(wrong) <= (0.05 * time + 3.0 * (0.05 * time).sqrt()).ceil(),
            "{name}: {wrong} in {time} h"
        );
    }
    let rate = f64::from(all) / all_hours;
    show(&format!("| all | {all_hours} | {all} | {:.1} % |", rate * 100.0));
    assert!(rate <= 0.05 + 2.0 / all_hours, "{rate} per hour");
}

/// Neighbours: name, system, effect on p95, shape, start, number of neighbours, processes.
type Harmful = (&'static str, SystemKind, f64, Shape, f64, u32, (usize, usize));

const LATE: f64 = 1_800.0;

const WANDERING: SystemKind = SystemKind { wander: 0.9, ..SYSTEM };

const HARMFUL: &[Harmful] = &[
    ("from then on", SYSTEM, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("from then on, p95 + 20 %", SYSTEM, 0.2, Shape::Constant, LATE, 1, USUAL),
    ("weak: p95 + 5 %", SYSTEM, 0.05, Shape::Constant, LATE, 1, USUAL),
    ("bursts of about 3 s every 10 s", SYSTEM, 0.1, Shape::Bursts(3.0, 10.0), LATE, 1, USUAL),
    ("bursts of about 10 s every 30 s", SYSTEM, 0.1, Shape::Bursts(10.0, 30.0), LATE, 1, USUAL),
    ("slow ramp of 2 min", SYSTEM, 0.1, Shape::Ramp(120.0), LATE, 1, USUAL),
    ("three neighbours, 20 s apart", SYSTEM, 0.1, Shape::Constant, LATE, 3, USUAL),
    ("5 min after the start", SYSTEM, 0.1, Shape::Constant, 300.0, 1, USUAL),
    ("1 min after the start", SYSTEM, 0.1, Shape::Constant, 60.0, 1, USUAL),
    ("30 s after the start", SYSTEM, 0.1, Shape::Constant, 30.0, 1, USUAL),
    ("load as over a day", SystemKind { is_diurnal: true, ..SYSTEM }, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("busy system", SystemKind { rate: 120.0, ..SYSTEM }, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("20 requests per second", SystemKind { rate: 20.0, ..SYSTEM }, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("5 requests per second", SystemKind { rate: 5.0, ..SYSTEM }, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("heavy tails", SystemKind { has_heavy_tail: true, ..SYSTEM }, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("wandering level, correlation 0.9", WANDERING, 0.1, Shape::Constant, LATE, 1, USUAL),
    ("wandering level, p95 + 50 %", WANDERING, 0.5, Shape::Constant, LATE, 1, USUAL),
    (
        "slow by itself 4 times per hour",
        SystemKind { own_bursts_per_hour: 4.0, ..SYSTEM },
        0.1,
        Shape::Constant,
        LATE,
        1,
        USUAL,
    ),
    ("400 processes", SYSTEM, 0.1, Shape::Constant, LATE, 1, (40, 360)),
    ("400 processes, half of which run now and then", SYSTEM, 0.1, Shape::Constant, LATE, 1, (400, 0)),
    ("10,000 processes", SYSTEM, 0.1, Shape::Constant, LATE, 1, (40, 9_960)),
];

#[test]
fn neighbours_are_found_within_a_minute() {
    show("| neighbour | found within 60 s | within 120 s | median time | another was named |");
    show("|---|---:|---:|---:|---:|");
    for (name, system, effect, shape, start_s, neighbours, processes) in
        HARMFUL.iter().filter(|kind| is_chosen(kind.0))
    {
        let harm_s = harm_of_p95(*system, *effect);
        let full_s = match shape {
            Shape::Ramp(length) => *length,
            Shape::Constant | Shape::Bursts(..) => 0.0,
        };
        let scene = Scene {
            system: *system,
            processes: *processes,
            length_s: (start_s + full_s + MOVED_MAX_S + 125.0) as u32,
            shape: Some(*shape),
            neighbours: *neighbours,
            start_s: *start_s,
            harm_s,
            ..QUIET
        };
        let all = observe_all(&scene);
        let mut times: Vec<f64> =
            all.iter().map(|found| found.after_s.map_or(f64::INFINITY, |at| at - full_s)).collect();
        times.sort_unstable_by(f64::total_cmp);
        let within = |limit: f64| {
            times.iter().filter(|time| **time <= limit).count() as f64 / times.len() as f64 * 100.0
        };
        let wrong = all.iter().filter(|found| found.wrong > 0).count() as f64 / all.len() as f64 * 100.0;
        let median = times[times.len() / 2];
        show(&format!(
            "| {name} | {:.1} % | {:.1} % | {median:.0} s | {wrong:.1} % |",
            within(60.0),
            within(120.0)
        ));
    }
}
