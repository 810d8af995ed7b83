//! Exhausted pools of connections: requests that wait because all connections to a server are in use.
//!
//! From outside, a pool is visible as a number of connections that does not grow although all connections await a
//! response. If there are more requests in progress than connections, the other requests wait for a connection.

use std::collections::BTreeMap;

use busyhour_analysis::explanation::Cause;
use busyhour_series::{SeriesData, SeriesSet};

use super::rules::{AWAITING, CONNECTIONS};
use crate::request_times::Requests;
use crate::series_pieces::{label, mean_between, pieces};
use crate::signal::{Signal, SignalPiece, SignalShape};

/// A pool is exhausted if at least this share of its connections is in use. The other connections are between two
/// requests.
const IN_USE: f64 = 0.8;

/// A pool has its full size if the number of connections is at least this share of the largest number. A smaller number
/// still grows with the load: there is no pool, or it is not exhausted.
const FULL: f64 = 0.95;

/// Minimum share of the readings in which a pool that is in use has its full size. The number of connections that are
/// opened for each request varies more.
const STEADY: f64 = 0.8;

/// Minimum number of requests that wait for a connection.
const WAITING_MIN: f64 = 1.0;

/// The signals of all pools: the number of requests that waited for a connection.
pub(super) fn pools(set: &SeriesSet, requests: &Requests) -> Vec<Signal> {
    exhausted(set, requests).filter_map(|pool| pool.signal(set)).collect()
}

/// A pool that was exhausted at some time.
pub(crate) struct ExhaustedPool<'s> {
    awaiting: &'s SeriesData,
    peer: &'s str,
    /// The number of requests that waited for a connection.
    waiting: Vec<SignalPiece>,
}

impl ExhaustedPool<'_> {
    /// Whether this is the pool of a source for a server.
    pub(crate) fn is(&self, source: u32, peer: &str) -> bool {
        self.awaiting.info.source == source && self.peer == peer
    }

    /// Share of the time between two times in which requests waited for a connection.
    pub(crate) fn share(&self, (from, to): (u64, u64)) -> f64 {
        let waits = |piece: &SignalPiece| SignalPiece {
            value: f64::from(u8::from(piece.value >= WAITING_MIN)),
            ..*piece
        };
        mean_between(&self.waiting.iter().map(waits).collect::<Vec<_>>(), from, to).unwrap_or(0.0)
    }

    fn signal(self, set: &SeriesSet) -> Option<Signal> {
        Some(Signal {
            cause: Cause::PoolExhausted,
            source: set.sources.get(self.awaiting.info.source as usize)?.clone(),
            name: format!("waiting for a free connection to {}", self.peer),
            shape: SignalShape::Levels,
            relevant: WAITING_MIN,
            is_waiting: true,
            pieces: self.waiting,
            in_use: pieces(self.awaiting.info.kind, &self.awaiting.points),
        })
    }
}

/// The pools that were exhausted at some time.
pub(crate) fn exhausted<'s>(
    set: &'s SeriesSet,
    requests: &Requests,
) -> impl Iterator<Item = ExhaustedPool<'s>> {
    let in_progress = InProgress::new(requests);
    let mut by_peer: BTreeMap<(u32, &str), [Option<&SeriesData>; 2]> = BTreeMap::new();
    for series in &set.series {
        let place = match series.info.name.as_str() {
            CONNECTIONS => 0,
            AWAITING => 1,
            _ => continue,
        };
        if let Some(peer) = label(&series.info, "peer") {
            by_peer.entry((series.info.source, peer)).or_default()[place] = Some(series);
        }
    }
    by_peer.into_iter().filter_map(move |((_, peer), both)| {
        let [Some(connections), Some(awaiting)] = both else { return None };
        let waiting = waiting(connections, awaiting, &in_progress)?;
        Some(ExhaustedPool { awaiting, peer, waiting })
    })
}

/// The number of requests that waited for a connection; `None` if the connections are not a pool, or the pool was never
/// exhausted.
fn waiting(
    connections: &SeriesData,
    awaiting: &SeriesData,
    in_progress: &InProgress,
) -> Option<Vec<SignalPiece>> {
    let all = pieces(connections.info.kind, &connections.points);
    let size = all.iter().map(|piece| piece.value).fold(0.0, f64::max);
    let (mut in_use, mut full) = (0, 0);
    let waiting: Vec<SignalPiece> = pieces(awaiting.info.kind, &awaiting.points)
        .into_iter()
        .map(|piece| {
            let open = mean_between(&all, piece.from, piece.to).unwrap_or(0.0);
            let is_in_use = open >= 1.0 && piece.value >= IN_USE * open;
            let is_full = open >= FULL * size;
            in_use += usize::from(is_in_use);
            full += usize::from(is_in_use && is_full);
            let surplus = in_progress.at((piece.from + piece.to) / 2) - open;
            SignalPiece { value: if is_in_use && is_full { surplus.max(0.0) } else { 0.0 }, ..piece }
        })
        .collect();
    (full > 0 && full as f64 >= STEADY * in_use as f64).then_some(waiting)
}

/// The number of requests in progress.
struct InProgress {
    starts: Vec<u64>,
    ends: Vec<u64>,
    per_kept: f64,
}

impl InProgress {
    fn new(requests: &Requests) -> InProgress {
        let mut starts: Vec<u64> = requests.kept().iter().map(|request| request.start.0).collect();
        let mut ends: Vec<u64> = requests
            .kept()
            .iter()
            .map(|request| request.start.0.saturating_add(request.response_ns))
            .collect();
        starts.sort_unstable();
        ends.sort_unstable();
        InProgress { starts, ends, per_kept: requests.per_kept() as f64 }
    }

    fn at(&self, time: u64) -> f64 {
        let until = |times: &[u64]| times.partition_point(|other| *other <= time) as f64;
        (until(&self.starts) - until(&self.ends)) * self.per_kept
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::Nanos;
    use busyhour_series::{MetricKind, SeriesInfo, SeriesPoint};

    use super::*;
    use crate::request_times::TimedRequest;

    const SECOND: u64 = 1_000_000_000;

    fn series(name: &str, values: &[f64]) -> SeriesData {
        let info = SeriesInfo {
            source: 0,
            name: name.to_owned(),
            labels: vec![("peer".to_owned(), "127.0.0.1:5432".to_owned())],
            kind: MetricKind::Gauge,
            help: String::new(),
        };
        let points = values.iter().enumerate().map(|(at, value)| {
            let at = Nanos(at as u64 * SECOND + SECOND / 2);
            SeriesPoint { from: at, to: at, mean: *value, min: *value, max: *value }
        });
        SeriesData { info, points: points.collect(), last: None, increase: 0.0, resets: 0 }
    }

    /// Ten requests of one second start in each second.
    fn ten_in_progress() -> Requests {
        let mut requests = Requests::default();
        for number in 0..100 {
            let start = Nanos(number * SECOND / 10);
            requests.add(TimedRequest { start, response_ns: SECOND, label: 0 });
        }
        requests
    }

    fn of(connections: &[f64], awaiting: &[f64]) -> Vec<f64> {
        let set = SeriesSet {
            sources: vec!["process:7".to_owned()],
            series: vec![series(CONNECTIONS, connections), series(AWAITING, awaiting)],
            ..SeriesSet::default()
        };
        let signals = pools(&set, &ten_in_progress());
        signals.iter().flat_map(|signal| &signal.pieces).map(|piece| piece.value).collect()
    }

    #[test]
    fn requests_beyond_a_pool_that_is_in_use_wait_for_it() {
        assert_eq!(of(&[2.0; 5], &[2.0, 1.0, 2.0, 2.0, 2.0])[1..], [0.0, 8.0, 8.0, 8.0]);
        assert!(of(&[10.0; 5], &[4.0; 5]).is_empty(), "connections are left");
        assert!(
            of(&[1.0, 9.0, 3.0, 5.0, 2.0], &[1.0, 9.0, 3.0, 5.0, 2.0]).is_empty(),
            "one for each request"
        );
    }
}
