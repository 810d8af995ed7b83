//! Compares the arrivals at the server with the planned and the sent ones.

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, JudgedStarts, Observed, RequestedProcess, Resolution, TallySettings, judge,
};
use busyhour_analysis::server_log::{CountRow, JudgedArrivals, ServerArrivals};
use busyhour_serverlog::{LoggedRequest, Matches, StampKind};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::requests::RunRequests;

/// Seed of the simulations in statistical tests; it is fixed so that the same log always has the same verdict.
const SEED: u64 = 0;

/// Minimum number of arrivals that are compared.
const ARRIVALS_MIN: usize = 100;

/// Resolutions in ns up to which start times count as continuous, and up to which gaps are compared.
const CONTINUOUS_NS: u64 = 10_000;
const GAPS_NS: u64 = 2_000_000;

/// Widths of the windows in which coarse times are counted, in ticks.
const COUNTED_TICKS: [u64; 2] = [1, 10];

pub(super) fn arrivals(run: &RunRequests, lines: &[LoggedRequest], matches: &Matches) -> ServerArrivals {
    let of_run: Vec<&LoggedRequest> = matches.lines_of_run.iter().map(|at| &lines[*at as usize]).collect();
    if of_run.len() < ARRIVALS_MIN {
        let reason = format!("the log has fewer than {ARRIVALS_MIN} requests of the run");
        return ServerArrivals::Unavailable { reason };
    }
    let covered = |server: u32| !matches.other_servers.iter().any(|(other, _)| *other == server);
    let pairs = run.sent.iter().zip(&run.intended_ns).filter(|(request, _)| covered(request.server));
    let (sent, planned): (Vec<i64>, Vec<i64>) =
        pairs.map(|(request, intended_ns)| (request.start_ns, *intended_ns)).unzip();
    let starts: Option<Vec<(i64, u64)>> =
        of_run.iter().map(|line| Some((line.start_ns()?, line.start_tick_ns()))).collect();
    let Some(starts) = starts else {
        let tick = of_run.iter().map(|line| line.tick_ns).max().unwrap_or(1);
        // If responses are much faster than the resolution of the stamps, it does not matter which instant they mark.
        if tick >= 1_000_000_000 && of_run.iter().any(|line| line.kind == StampKind::Between) {
            let stamps = of_run.iter().map(|line| line.stamp_ns).collect();
            return counted(planned, sent, stamps, tick);
        }
        let reason = "the log has the ends of requests, but not their durations: the times at which they arrived are unknown"
            .to_owned();
        return ServerArrivals::Unavailable { reason };
    };
    let tick = starts.iter().map(|(_, tick)| *tick).max().unwrap_or(1);
    let arrived: Vec<i64> = starts.into_iter().map(|(start_ns, _)| start_ns).collect();
    if tick > GAPS_NS {
        return counted(planned, sent, arrived, tick);
    }
    let resolution = if tick <= CONTINUOUS_NS { Resolution::Nanosecond } else { Resolution::Millisecond };
    let observe = |times| observe(times, &TallySettings::new(resolution).judging_all(), resolution.tick_ns());
    let (planned, sent, arrived) = (observe(planned), observe(sent), observe(arrived));
    let context = ArrivalContext {
        scope: JudgedStarts::SamplerStarts,
        schedule: Some(&sent),
        ..ArrivalContext::default()
    };
    let verdict = judge(arrived, RequestedProcess::Replay, &context);
    ServerArrivals::Judged(Box::new(JudgedArrivals {
        planned,
        sent,
        arrived: verdict.observed,
        measures: verdict.measures,
        decision: verdict.decision,
    }))
}

/// Statistics of times in ns, rounded down to whole ticks.
fn observe(mut times: Vec<i64>, settings: &TallySettings, tick_ns: u64) -> Observed {
    times.sort_unstable();
    let mut tally = ArrivalTally::new(settings.clone());
    for time in times {
        let time = u64::try_from(time).unwrap_or(0);
        tally.add(time - time % tick_ns);
    }
    tally.finish(&mut Xoshiro256PlusPlus::seed_from_u64(SEED))
}

/// The times without those in the first and in the last tick, which the run covers only partly.
fn within_whole_ticks(times: Vec<i64>, tick_ns: u64) -> Vec<i64> {
    let tick = i64::try_from(tick_ns).unwrap_or(i64::MAX);
    let ticks = times.iter().map(|time| time.div_euclid(tick));
    let (first, last) = (ticks.clone().min().unwrap_or(0), ticks.max().unwrap_or(0));
    times.into_iter().filter(|time| (first + 1..last).contains(&time.div_euclid(tick))).collect()
}

/// The comparison of counts, for times that are too coarse for gaps.
fn counted(planned: Vec<i64>, sent: Vec<i64>, arrived: Vec<i64>, tick_ns: u64) -> ServerArrivals {
    let settings = TallySettings {
        scales_ns: COUNTED_TICKS.iter().map(|ticks| ticks * tick_ns).collect(),
        ..TallySettings::new(Resolution::Nanosecond).judging_all()
    };
    let [planned, sent, arrived] =
        [planned, sent, arrived].map(|times| observe(within_whole_ticks(times, tick_ns), &settings, tick_ns));
    let index = |observed: &Observed, scale_s: f64| {
        let row = observed.dispersion.iter().find(|row| (row.scale_s - scale_s).abs() < 1e-9)?;
        Some(row.index.value)
    };
    let counts = COUNTED_TICKS
        .iter()
        .filter_map(|ticks| {
            let scale_s = (ticks * tick_ns) as f64 / 1e9;
            Some(CountRow {
                scale_s,
                planned: index(&planned, scale_s)?,
                sent: index(&sent, scale_s)?,
                arrived: index(&arrived, scale_s)?,
            })
        })
        .collect();
    let reason = if tick_ns >= 1_000_000_000 {
        "the times in the log are whole seconds, so that gaps between requests are not visible".to_owned()
    } else {
        format!(
            "the times in the log have a resolution of {} ms, so that gaps between requests are not visible",
            tick_ns / 1_000_000
        )
    };
    ServerArrivals::Counted { counts, reason }
}
