//! How often counts are wrong, and offsets are outside their bounds, in simulated runs.
//!
//! `BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-serverlog --test study -- --nocapture` prints the tables of `docs/server-log.md`.

use std::io::Write as _;

use busyhour_serverlog::{
    ClockDrift, LoggedRequest, MatchSettings, Matches, SentRequest, StampKind, match_requests, text_key,
};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp, LogNormal, Pareto};
use rand_xoshiro::Xoshiro256PlusPlus;

const MS: f64 = 1e6;
const S: f64 = 1e9;

/// Seeds per case.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(4)
}

/// A simulated run and log.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    seconds: f64,
    per_s: f64,
    urls: u64,
    kind: StampKind,
    /// Resolution of stamps and durations in ns.
    tick_ns: u64,
    has_duration: bool,
    offset_ms: f64,
    drift_ms_per_min: f64,
    /// Share of service times that are heavy-tailed instead of log-normal.
    heavy: f64,
    /// Lines of other clients per request.
    foreign: f64,
    /// Whether the log has addresses.
    has_clients: bool,
    /// Share of lines that are stamped up to 20 ms late.
    late: f64,
    /// Shares of requests that are lost without a response, answered elsewhere, repeated by a proxy.
    lost: f64,
    elsewhere: f64,
    repeated: f64,
}

const NGINX: Case = Case {
    name: "1 min, 50/s, ms, durations",
    seconds: 60.0,
    per_s: 50.0,
    urls: 5,
    kind: StampKind::End,
    tick_ns: 1_000_000,
    has_duration: true,
    offset_ms: 12.345,
    drift_ms_per_min: 0.0,
    heavy: 0.0,
    foreign: 0.0,
    has_clients: true,
    late: 0.0,
    lost: 0.0,
    elsewhere: 0.0,
    repeated: 0.0,
};

fn cases() -> Vec<Case> {
    let common = Case { kind: StampKind::Between, tick_ns: 1_000_000_000, has_duration: false, ..NGINX };
    vec![
        NGINX,
        Case { name: "the same, 50 requests", seconds: 5.0, per_s: 10.0, ..NGINX },
        Case { name: "one URL, 1000/s, 5 s", seconds: 5.0, per_s: 1_000.0, urls: 1, ..NGINX },
        Case { name: "one URL, heavy tail", urls: 1, heavy: 1.0, ..NGINX },
        Case { name: "no durations", has_duration: false, ..NGINX },
        Case { name: "start in microseconds", kind: StampKind::Start, tick_ns: 1_000, ..NGINX },
        Case {
            name: "start in microseconds, no durations",
            kind: StampKind::Start,
            tick_ns: 1_000,
            has_duration: false,
            ..NGINX
        },
        Case { name: "whole seconds", ..common },
        Case {
            name: "whole seconds, one URL, 1000/s, 5 s",
            seconds: 20.0,
            per_s: 1_000.0,
            urls: 1,
            ..common
        },
        Case { name: "whole seconds, offset of -5 min", offset_ms: -300_123.0, ..common },
        Case { name: "offset of 10 min", offset_ms: 600_077.7, ..NGINX },
        Case {
            name: "10 min, drift of 0.2 ms/min",
            seconds: 600.0,
            per_s: 10.0,
            drift_ms_per_min: 0.2,
            ..NGINX
        },
        Case {
            name: "5 min, drift of -50 ms/min",
            seconds: 300.0,
            per_s: 20.0,
            drift_ms_per_min: -50.0,
            ..NGINX
        },
        Case {
            name: "10 min, drift of 3 ms/min",
            seconds: 600.0,
            per_s: 10.0,
            drift_ms_per_min: 3.0,
            ..NGINX
        },
        Case { name: "as many lines of other clients", foreign: 1.0, ..NGINX },
        Case { name: "as many lines of others, no addresses", foreign: 1.0, has_clients: false, ..NGINX },
        Case { name: "5 % of the lines late by up to 20 ms", late: 0.05, ..NGINX },
        Case {
            name: "1 % lost, repeated, answered elsewhere",
            lost: 0.01,
            elsewhere: 0.01,
            repeated: 0.01,
            ..NGINX
        },
        Case {
            name: "the same, one URL, 1000/s, 5 s",
            seconds: 20.0,
            per_s: 1_000.0,
            urls: 1,
            lost: 0.01,
            elsewhere: 0.01,
            repeated: 0.01,
            ..NGINX
        },
        Case { name: "the same, whole seconds", lost: 0.01, elsewhere: 0.01, repeated: 0.01, ..common },
        Case {
            name: "the same, others as many, no addresses",
            lost: 0.01,
            elsewhere: 0.01,
            repeated: 0.01,
            foreign: 1.0,
            has_clients: false,
            ..NGINX
        },
        Case {
            name: "the same, others as many, addresses",
            lost: 0.01,
            elsewhere: 0.01,
            repeated: 0.01,
            foreign: 1.0,
            ..NGINX
        },
        Case { name: "20 % lost", lost: 0.2, ..NGINX },
    ]
}

/// The true numbers of lost, repeated and elsewhere answered requests.
#[derive(Default)]
struct Truth {
    lost: u64,
    elsewhere: u64,
    repeated: u64,
}

fn simulate(case: &Case, seed: u64) -> (Vec<SentRequest>, Vec<LoggedRequest>, Truth) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let gap = Exp::new(case.per_s / S).unwrap();
    let network = Exp::new(1.0 / (0.5 * MS)).unwrap();
    let usual = LogNormal::new((10.0 * MS).ln(), 0.7).unwrap();
    let heavy = Pareto::new(5.0 * MS, 1.3).unwrap();
    let origin_ns = 1_795_000_000_000_000_000_i64;
    let (mut sent, mut logged, mut truth) = (Vec::new(), Vec::new(), Truth::default());
    let offset = |at_ns: f64| case.offset_ms * MS + case.drift_ms_per_min * MS * at_ns / (60.0 * S);
    let line = |start_ns: f64, end_ns: f64, url: u64, client: &str| {
        let tick = case.tick_ns as i64;
        let stamp = match case.kind {
            StampKind::Start => start_ns,
            StampKind::End | StampKind::Between => end_ns,
        };
        let stamp_ns = origin_ns + (stamp + offset(stamp)) as i64;
        LoggedRequest {
            stamp_ns: stamp_ns.div_euclid(tick) * tick,
            tick_ns: case.tick_ns,
            kind: case.kind,
            duration_ns: case
                .has_duration
                .then_some((end_ns - start_ns) as u64 / case.tick_ns * case.tick_ns),
            duration_tick_ns: if case.has_duration { case.tick_ns } else { 0 },
            target: url + 1,
            path: url + 1,
            status: 200,
            client: if case.has_clients { text_key(client) } else { 0 },
            id: 0,
        }
    };
    let mut at = 0.0;
    loop {
        at += gap.sample(&mut random);
        if at > case.seconds * S {
            break;
        }
        let url = random.random_range(0..case.urls);
        let service: f64 = if random.random_bool(case.heavy) {
            heavy.sample(&mut random)
        } else {
            usual.sample(&mut random)
        };
        let service = service.min(5.0 * S);
        let start = at + 0.1 * MS + network.sample(&mut random);
        let end = start + service;
        let mut request = SentRequest {
            start_ns: origin_ns + at as i64,
            end_ns: origin_ns + (end + 0.1 * MS + network.sample(&mut random)) as i64,
            target: url + 1,
            path: url + 1,
            status: 200,
            server: 0,
            label: 0,
            id: 0,
        };
        let chance: f64 = random.random();
        if chance < case.lost {
            truth.lost += 1;
            request.status = 0;
            request.end_ns = request.start_ns + S as i64;
        } else if chance < case.lost + case.elsewhere {
            truth.elsewhere += 1;
        } else {
            let stamp =
                if random.random_bool(case.late) { end + random.random::<f64>() * 20.0 * MS } else { end };
            logged.push(line(start, stamp, url, "generator"));
            if random.random_bool(case.repeated) {
                truth.repeated += 1;
                logged.push(line(start + MS, end + 2.0 * MS, url, "generator"));
            }
        }
        sent.push(request);
        if random.random_bool(case.foreign.min(1.0)) {
            let start = random.random::<f64>() * case.seconds * S;
            logged.push(line(
                start,
                start + usual.sample(&mut random),
                random.random_range(0..case.urls),
                "other",
            ));
        }
    }
    logged.sort_by_key(|line| line.stamp_ns);
    (sent, logged, truth)
}

/// The results of one case.
#[derive(Default)]
struct Row {
    runs: u32,
    found: u32,
    covered: u32,
    drifts: u32,
    wrong_counts: u32,
    error_max: u64,
    missed: u64,
    claimed: u64,
    truth: u64,
    widths_ms: Vec<f64>,
}

impl Row {
    fn add(&mut self, case: &Case, matches: &Matches, truth: &Truth) {
        self.runs += 1;
        if let Some(offset) = matches.offset {
            self.found += 1;
            self.widths_ms.push(offset.high_ms - offset.low_ms);
            match offset.drift {
                None => {
                    let middle_ms = case.offset_ms + case.drift_ms_per_min * case.seconds / 120.0;
                    self.covered += u32::from((offset.low_ms..=offset.high_ms).contains(&middle_ms));
                }
                Some(ClockDrift::Steady { low_ms_per_min, high_ms_per_min }) => {
                    self.drifts += 1;
                    self.covered +=
                        u32::from((low_ms_per_min..=high_ms_per_min).contains(&case.drift_ms_per_min));
                }
                Some(ClockDrift::Irregular) => self.drifts += 1,
            }
        }
        let counts = matches.counts;
        let pairs = [
            (counts.lost, truth.lost),
            (counts.answered_elsewhere, truth.elsewhere),
            (counts.repeated, truth.repeated),
        ];
        let error = pairs.iter().map(|(found, true_count)| found.abs_diff(*true_count)).max().unwrap_or(0);
        self.wrong_counts += u32::from(error > 0);
        self.error_max = self.error_max.max(error);
        self.claimed +=
            pairs[..2].iter().map(|(found, true_count)| found.saturating_sub(*true_count)).sum::<u64>();
        self.missed +=
            pairs[..2].iter().map(|(found, true_count)| true_count.saturating_sub(*found)).sum::<u64>();
        self.truth += truth.lost + truth.elsewhere;
    }
}

fn print_line(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}

#[test]
fn counts_and_offsets_are_right() {
    print_line(
        "| run | offset found | inside the bounds | median width in ms | drift claimed | wrong counts | missing requests noticed | claimed wrongly per run |",
    );
    print_line("|---|---:|---:|---:|---:|---:|---:|---:|");
    let only = option_env!("BUSYHOUR_STUDY_CASE").unwrap_or_default();
    for case in cases().into_iter().filter(|case| case.name.contains(only)) {
        let mut row = Row::default();
        for seed in 0..seeds() {
            let (sent, logged, truth) = simulate(&case, seed);
            let matches = match_requests(&sent, &logged, MatchSettings::default());
            let counts = matches.counts;
            assert_eq!(
                counts.sent,
                counts.arrived + counts.lost + counts.answered_elsewhere,
                "{}",
                case.name
            );
            row.add(&case, &matches, &truth);
        }
        let percent = |part: u32| 100.0 * f64::from(part) / f64::from(row.runs);
        row.widths_ms.sort_by(f64::total_cmp);
        let noticed = match row.truth {
            0 => "-".to_owned(),
            all => format!("{:.1} %", 100.0 - 100.0 * row.missed as f64 / all as f64),
        };
        print_line(&format!(
            "| {} | {:.1} % | {:.1} % | {:.2} | {:.1} % | {:.1} % (at most {}) | {noticed} | {:.2} |",
            case.name,
            percent(row.found),
            percent(row.covered),
            row.widths_ms.get(row.widths_ms.len() / 2).copied().unwrap_or(f64::NAN),
            percent(row.drifts),
            percent(row.wrong_counts),
            row.error_max,
            row.claimed as f64 / f64::from(row.runs),
        ));
    }
}
