//! Runs of a system with a pool of connections to a database, whose rows are locked by another session at times.

use std::collections::VecDeque;

use busyhour_analysis::explanation::{Cause, Explanation};
use busyhour_explain::{Observations, Requests, Signals, TimedRequest, explain, signals as signals_of};
use busyhour_sample::Nanos;
use busyhour_series::{MetricKind, SeriesData, SeriesInfo, SeriesPoint, SeriesSet};

use crate::background::{Random, signals as usual_signals};
use crate::run::{SLICE_S, incidents, load_of};

const LENGTH_S: f64 = 180.0;

/// A kind of run with a pool.
pub struct PoolKind {
    pub name: &'static str,
    rate_per_s: f64,
    connections: usize,
    /// Mean time for which a request uses a connection without locks.
    work_s: f64,
    /// Length of a lock, and time without a lock after it.
    lock_s: (f64, f64),
    free_s: (f64, f64),
    /// The cause to be named, and the share of the runs in which it has to be named.
    pub cause: Cause,
    pub named_min: f64,
}

pub const POOL_KINDS: &[PoolKind] = &[
    PoolKind {
        name: "locks of 1 to 2 s behind a pool of 8",
        rate_per_s: 50.0,
        connections: 8,
        work_s: 0.01,
        lock_s: (1.0, 2.0),
        free_s: (2.0, 7.0),
        cause: Cause::DatabaseLock,
        named_min: 0.8,
    },
    PoolKind {
        name: "locks of 3 to 6 s behind a pool of 4",
        rate_per_s: 50.0,
        connections: 4,
        work_s: 0.01,
        lock_s: (3.0, 6.0),
        free_s: (8.0, 30.0),
        cause: Cause::DatabaseLock,
        named_min: 0.8,
    },
    PoolKind {
        name: "a pool of 2, 88 % busy, locks of 0.1 s",
        rate_per_s: 50.0,
        connections: 2,
        work_s: 0.035,
        lock_s: (0.1, 0.1),
        free_s: (10.0, 20.0),
        cause: Cause::PoolExhausted,
        // A nearly exhausted pool may also look like a slow server.
        named_min: 0.3,
    },
    PoolKind {
        name: "a pool of 2 that is too small by an eighth, locks of 0.1 s",
        rate_per_s: 50.0,
        connections: 2,
        work_s: 0.045,
        lock_s: (0.1, 0.1),
        free_s: (10.0, 20.0),
        cause: Cause::PoolExhausted,
        named_min: 0.8,
    },
];

/// A request: arrival, start and end of the use of a connection, and the time until which it waits for a lock.
struct Use {
    arrival_s: f64,
    start_s: f64,
    unlocked_s: f64,
    end_s: f64,
}

/// The explanation of a simulated run.
pub fn explanation_of(kind: &PoolKind, seed: u64) -> Explanation {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) + 77);
    let uses = simulate(&mut random, kind);
    let times: Vec<(f64, f64)> = uses.iter().map(|one| (one.arrival_s, one.end_s - one.arrival_s)).collect();
    let mut requests = Requests::default();
    for (start_s, response_s) in &times {
        requests.add(TimedRequest { start: Nanos(ns(*start_s)), response_ns: ns(*response_s), label: 0 });
    }
    let part = (0, ns(LENGTH_S));
    let load = load_of(&times, LENGTH_S);
    let faulty = vec![0.0; load.len()];
    let mut all = usual_signals(&mut random, (&load, &faulty, SLICE_S), 1.0, None);
    // The sources that are simulated here.
    let own = [Cause::DatabaseLock, Cause::SlowDependency, Cause::PoolExhausted];
    all.retain(|signal| !own.contains(&signal.cause));
    let Signals { signals, cpu } = signals_of(&series(kind, &uses), &requests, ns(0.01), 0.0, part);
    all.extend(signals);
    explain(&Observations {
        requests: &requests,
        part,
        is_open: true,
        signals: all,
        cpu,
        incidents: incidents(&times, LENGTH_S),
        generator: None,
        arrivals: None,
        leak: None,
    })
    .unwrap()
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Requests take a free connection in the order of their arrival. While the row is locked, all of them wait for the lock.
fn simulate(random: &mut Random, kind: &PoolKind) -> Vec<Use> {
    let between = |random: &mut Random, (low, high): (f64, f64)| low + (high - low) * random.uniform();
    let mut locks = VecDeque::new();
    let mut at_s = between(random, kind.free_s);
    while at_s < LENGTH_S {
        let end_s = at_s + between(random, kind.lock_s);
        locks.push_back((at_s, end_s));
        at_s = end_s + between(random, kind.free_s);
    }
    let mut free_s = vec![0.0f64; kind.connections];
    let mut uses = Vec::new();
    let mut arrival_s = random.exponential(1.0 / kind.rate_per_s);
    while arrival_s < LENGTH_S {
        let connection = (0..free_s.len()).min_by(|a, b| free_s[*a].total_cmp(&free_s[*b])).unwrap();
        let start_s = free_s[connection].max(arrival_s);
        while locks.front().is_some_and(|(_, end_s)| *end_s <= start_s) {
            locks.pop_front();
        }
        let lock = locks.front().filter(|(from_s, _)| *from_s <= start_s);
        let unlocked_s = lock.map_or(start_s, |(_, end_s)| *end_s);
        let end_s = unlocked_s + random.exponential(kind.work_s);
        free_s[connection] = end_s;
        uses.push(Use { arrival_s, start_s, unlocked_s, end_s });
        arrival_s += random.exponential(1.0 / kind.rate_per_s);
    }
    uses
}

/// What the process and the database show each second.
fn series(kind: &PoolKind, uses: &[Use]) -> SeriesSet {
    let gauge = |source: u32, name: &str, value: &dyn Fn(f64) -> f64| SeriesData {
        info: SeriesInfo {
            source,
            name: name.to_owned(),
            labels: if source == 0 { vec![("peer".to_owned(), "10.0.0.2:5432".to_owned())] } else { vec![] },
            kind: MetricKind::Gauge,
            help: String::new(),
        },
        points: (0..LENGTH_S as u64)
            .map(|second| {
                let (at, value) = (Nanos(second * 1_000_000_000), value(second as f64));
                SeriesPoint { from: at, to: at, mean: value, min: value, max: value }
            })
            .collect(),
        last: None,
        increase: 0.0,
        resets: 0,
    };
    let count = |at_s: f64, until: &dyn Fn(&Use) -> f64| {
        uses.iter().filter(|one| one.start_s <= at_s && at_s < until(one)).count() as f64
    };
    SeriesSet {
        sources: vec!["process:7".to_owned(), "postgres://10.0.0.2".to_owned()],
        series: vec![
            gauge(0, "process_outgoing_connections", &|_| kind.connections as f64),
            gauge(0, "process_connections_awaiting_response", &|at_s| count(at_s, &|one| one.end_s)),
            gauge(1, "busyhour_postgres_blocked_sessions", &|at_s| count(at_s, &|one| one.unlocked_s)),
        ],
        ..SeriesSet::default()
    }
}
