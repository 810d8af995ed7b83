//! The part of service times that was not spent in the server.

use busyhour_analysis::server_log::{OutsideMean, OutsideTime};
use busyhour_serverlog::{LoggedRequest, Matches};
use rustc_hash::FxHashMap;

use super::requests::RunRequests;

/// Minimum number of requests whose line is certain.
const REQUESTS_MIN: usize = 20;

/// Maximum number of labels.
const LABELS_MAX: usize = 50;

/// Service times, durations in the log and their differences in ns.
#[derive(Default)]
struct Times {
    service: Vec<i64>,
    server: Vec<i64>,
    outside: Vec<i64>,
}

/// The mean times of all pairs; `None` if no line has a duration.
pub(super) fn outside_mean(
    run: &RunRequests,
    lines: &[LoggedRequest],
    matches: &Matches,
) -> Option<OutsideMean> {
    let (mut requests, mut service, mut server) = (0_u64, 0.0, 0.0);
    for pair in &matches.pairs {
        let (request, line) = (&run.sent[pair.sent as usize], &lines[pair.line as usize]);
        let Some(duration_ns) = line.duration_ns.filter(|_| request.status > 0) else { continue };
        requests += 1;
        service += (request.end_ns - request.start_ns) as f64 / 1e6;
        server += duration_ns as f64 / 1e6;
    }
    let mean = |sum: f64| sum / requests as f64;
    (requests > 0).then(|| OutsideMean {
        requests,
        service_ms: mean(service),
        server_ms: mean(server),
        outside_ms: mean(service - server),
    })
}

/// The rows of the table, or why there are none.
pub(super) fn outside_times(
    run: &RunRequests,
    lines: &[LoggedRequest],
    matches: &Matches,
) -> (Vec<OutsideTime>, Option<String>) {
    let mut labels: FxHashMap<u32, Times> = FxHashMap::default();
    let mut all = Times::default();
    let (mut before, mut tick_ns) = (Vec::new(), 0);
    for pair in matches.pairs.iter().filter(|pair| pair.is_certain) {
        let (request, line) = (&run.sent[pair.sent as usize], &lines[pair.line as usize]);
        let Some(duration_ns) = line.duration_ns else { continue };
        let service = request.end_ns - request.start_ns;
        let server = i64::try_from(duration_ns).unwrap_or(i64::MAX);
        for times in [&mut all, labels.entry(request.label).or_default()] {
            times.service.push(service);
            times.server.push(server);
            times.outside.push(service.saturating_sub(server));
        }
        before.extend(line.start_ns().map(|start_ns| start_ns - request.start_ns));
        tick_ns = tick_ns.max(line.start_tick_ns());
    }
    if lines.iter().all(|line| line.duration_ns.is_none()) {
        let reason = "the log has no durations ($request_time of nginx, %D of Apache and Tomcat)";
        return (Vec::new(), Some(reason.to_owned()));
    }
    if all.service.len() < REQUESTS_MIN {
        let reason = format!(
            "the lines of fewer than {REQUESTS_MIN} requests are certain: at this rate, requests with the same URL overlap"
        );
        return (Vec::new(), Some(reason));
    }
    let before_tick_ms = tick_ns as f64 / 1e6;
    let offset_ms = matches.offset.filter(|offset| offset.drift.is_none()).map(|offset| offset.middle_ms());
    let before_ms = offset_ms.filter(|_| !before.is_empty()).map(|offset_ms| {
        let [median, ..] = quantiles(&mut before);
        // Starts are rounded down.
        median + before_tick_ms / 2.0 - offset_ms
    });
    let mut rows = vec![OutsideTime { before_ms, before_tick_ms, ..row(None, all) }];
    let mut labelled: Vec<(u32, Times)> =
        labels.into_iter().filter(|(_, times)| times.service.len() >= REQUESTS_MIN).collect();
    labelled.sort_by_key(|(label, times)| (usize::MAX - times.service.len(), *label));
    labelled.truncate(LABELS_MAX);
    if labelled.len() > 1 {
        rows.extend(labelled.into_iter().map(|(label, times)| row(Some(run.label(label)), times)));
    }
    (rows, None)
}

fn row(label: Option<String>, mut times: Times) -> OutsideTime {
    OutsideTime {
        label,
        requests: times.service.len() as u64,
        service_ms: quantiles(&mut times.service),
        server_ms: quantiles(&mut times.server),
        outside_ms: quantiles(&mut times.outside),
        before_ms: None,
        before_tick_ms: 0.0,
    }
}

/// Quantiles 0.5, 0.95 and 0.99 in ms: the smallest value with at least that share of the values up to it.
fn quantiles(times: &mut [i64]) -> [f64; 3] {
    times.sort_unstable();
    [0.5, 0.95, 0.99].map(|quantile| {
        let rank = (quantile * times.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).map_or(f64::NAN, |ns| *ns as f64 / 1e6)
    })
}
