//! Bounds of the offset between the clocks of the generator and of the server.
//!
//! A request cannot begin at the server before it was sent, or end there after its response arrived. An offset is compatible with
//! a segment of the run if its requests can be matched with lines under these conditions, except for a small share: one in 500,
//! and as many as the best offsets leave in all segments, with chance variation, because lines can be late or missing. The bounds are the lowest and the
//! highest offset that is compatible with every segment. If there is none, the offset changes during the run.

use crate::entry::LoggedRequest;
use crate::matches::{ClockDrift, ServerClock};
use crate::sent::SentRequest;
use crate::window_match::{Grouped, Interval, Point};

/// Maximum number of segments of the run, and of requests in each.
const SEGMENTS: (usize, usize) = (24, 1_000);

/// Length of a segment in ns, unless it has too few requests. An offset that changes by 1 ms per minute changes by less than the
/// usual bounds within this time.
const SEGMENT_NS: i64 = 5_000_000_000;

/// Minimum number of requests in a segment if there are several.
const SEGMENT_MIN: usize = 100;

/// Minimum number of requests whose lines determine an offset.
const REQUESTS_MIN: usize = 5;

/// Share of the requests that an offset need not explain, in addition to those that the best ones do not explain.
const UNEXPLAINED: f64 = 0.002;

/// Time in ns by which stamps may be late. The lines within this time are those that the best offset should explain.
const LATE_NS: i64 = 100_000_000;

/// The bounds of two segments must be apart by at least this, in ns, for a change of the offset.
const APART_NS: i64 = 50_000;

/// Minimum share of the requests that the best offset must explain.
const EXPLAINED_MIN: f64 = 0.3;

/// Half the width of the range around the rough offset in which offsets are searched, in addition to the resolution of the log.
const RANGE_NS: i64 = 1_000_000_000;

/// Steps of the search in ns: each from minus to plus the preceding one.
const STEPS_NS: [i64; 4] = [10_000_000, 1_000_000, 100_000, 20_000];

/// Number of steps in which offsets are tried from the best one to each end of the range.
const SCAN_STEPS: i64 = 100;

/// The precision of the bounds in ns.
const PRECISION_NS: i64 = 10_000;

/// The offset at each time of the run.
#[derive(Debug, Clone)]
pub(crate) struct OffsetOverTime {
    /// Time by the clock of the generator, and the offset there, in ns.
    knots: Vec<(i64, i64)>,
    /// Half the width of the bounds in ns.
    pub(crate) half_width_ns: i64,
    pub(crate) bounds: ServerClock,
}

impl OffsetOverTime {
    /// The offset in ns at a time of the generator's clock.
    pub(crate) fn at(&self, time_ns: i64) -> i64 {
        let after = self.knots.partition_point(|(at, _)| *at <= time_ns);
        match (after.checked_sub(1).map(|before| self.knots[before]), self.knots.get(after)) {
            (Some((from, offset)), Some((to, next))) => {
                let share = (time_ns - from) as f64 / (to - from).max(1) as f64;
                offset + ((next - offset) as f64 * share) as i64
            }
            (Some((_, offset)), None) => offset,
            (None, Some((_, offset))) => *offset,
            (None, None) => 0,
        }
    }
}

/// A part of the run, prepared for matching.
struct Segment {
    middle_ns: i64,
    /// The ends of requests in the log; `None` if it does not contain them.
    ends: Option<Grouped>,
    /// The starts.
    starts: Option<Grouped>,
}

impl Segment {
    /// Prepares the requests of a segment; `slope` is the change of the offset within it, in ns per ns.
    fn new(
        sent: &[SentRequest],
        logged: &[LoggedRequest],
        rough_ns: i64,
        key: fn(u64, u16) -> u64,
        slope: f64,
    ) -> Segment {
        let tick = logged.first().map_or(0, |line| whole(line.tick_ns));
        let from_ns = sent.first().map_or(0, |request| request.start_ns) + rough_ns - 2 * RANGE_NS - 2 * tick;
        let last_end = sent.iter().map(|request| request.end_ns).max().unwrap_or(0);
        let to_ns = last_end + rough_ns + 2 * RANGE_NS + 2 * tick;
        let from = logged.partition_point(|line| line.stamp_ns < from_ns);
        let to = logged.partition_point(|line| line.stamp_ns <= to_ns);
        let lines = &logged[from..to.max(from)];
        let first = sent.first().map_or(0, |request| request.start_ns);
        let middle_ns = i64::midpoint(first, last_end);
        // The time of the generator at which the server's clock, without the change of its offset, shows the same time.
        let moved = |time_ns: i64| time_ns + ((time_ns - middle_ns) as f64 * slope) as i64;
        let intervals: Vec<Interval> = (0..)
            .zip(sent)
            .filter(|(_, request)| request.status > 0)
            .map(|(index, request)| Interval {
                key: key(request.target, request.status),
                from_ns: moved(request.start_ns),
                to_ns: moved(request.end_ns),
                index,
            })
            .collect();
        let points = |of: &dyn Fn(&LoggedRequest) -> Option<(i64, u64)>| {
            let points: Option<Vec<Point>> = (0..)
                .zip(lines)
                .map(|(index, line)| {
                    let (ns, tick_ns) = of(line)?;
                    Some(Point { key: key(line.target, line.status), ns, tick_ns: whole(tick_ns), index })
                })
                .collect();
            points.map(|points| Grouped::new(intervals.clone(), points))
        };
        let is_start_only =
            |line: &LoggedRequest| line.kind == crate::StampKind::Start && line.duration_ns.is_none();
        let ends = points(&|line| (!is_start_only(line)).then(|| (line.end_ns(), line.end_tick_ns())));
        let starts = points(&|line| line.start_ns().map(|ns| (ns, line.start_tick_ns())));
        Segment { middle_ns, ends, starts }
    }

    fn count(&self, offset_ns: i64) -> (usize, usize) {
        let count =
            |grouped: &Option<Grouped>| grouped.as_ref().map_or(0, |grouped| grouped.count(offset_ns));
        (count(&self.ends), count(&self.starts))
    }

    fn requests(&self) -> usize {
        self.ends.as_ref().or(self.starts.as_ref()).map_or(0, Grouped::intervals)
    }

    /// The number of pairs if stamps may be late.
    fn count_late(&self, offset_ns: i64) -> usize {
        let grouped = self.ends.as_ref().or(self.starts.as_ref());
        grouped.map_or(0, |grouped| grouped.pairs(&|_| offset_ns, LATE_NS).len())
    }

    /// Number of kinds of points.
    fn kinds(&self) -> usize {
        usize::from(self.ends.is_some()) + usize::from(self.starts.is_some())
    }
}

fn whole(tick_ns: u64) -> i64 {
    i64::try_from(tick_ns).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// The sum of the counts of several segments.
fn count(segments: &[Segment], offset_ns: i64) -> (usize, usize) {
    let counts = segments.iter().map(|segment| segment.count(offset_ns));
    counts.fold((0, 0), |(ends, starts), (more_ends, more_starts)| (ends + more_ends, starts + more_starts))
}

/// The offset that matches the most requests of the segments, at most `reach_ns` from `start_ns`.
fn best(segments: &[Segment], start_ns: i64, reach_ns: i64) -> i64 {
    let mut best_ns = start_ns;
    let mut reach_ns = reach_ns;
    for step_ns in STEPS_NS {
        let center_ns = best_ns;
        let score = |offset_ns| {
            let (ends, starts) = count(segments, offset_ns);
            ends + starts
        };
        let mut highest = score(center_ns);
        for distance in 1..=reach_ns / step_ns {
            for offset_ns in [center_ns + distance * step_ns, center_ns - distance * step_ns] {
                let found = score(offset_ns);
                if found > highest {
                    (highest, best_ns) = (found, offset_ns);
                }
            }
        }
        reach_ns = step_ns;
    }
    best_ns
}

/// The lowest and the highest offset within `range_ns` of `best_ns` that match nearly as many requests; `unexplained` is the share that
/// the best offsets leave.
fn bounds(segment: &Segment, best_ns: i64, range_ns: i64, unexplained: f64) -> (i64, i64) {
    let (ends, starts) = segment.count(best_ns);
    // The number of unexplained requests in a segment varies like that of a Poisson distribution.
    let allowed = |of: usize| {
        let mean = of as f64 * unexplained;
        let chance = if mean > 0.0 { 1.0 + mean + 3.0 * mean.sqrt() } else { 0.0 };
        (of as f64 * UNEXPLAINED + chance).round() as usize
    };
    let is_compatible = |offset_ns: i64| {
        let (some_ends, some_starts) = segment.count(offset_ns);
        some_ends + allowed(ends) >= ends && some_starts + allowed(starts) >= starts
    };
    let edge = |sign: i64| {
        let (mut inside_ns, mut step_ns) = (0, PRECISION_NS);
        while step_ns < range_ns && is_compatible(best_ns + sign * step_ns) {
            inside_ns = step_ns;
            step_ns *= 2;
        }
        let mut outside_ns = step_ns.min(range_ns);
        // Compatible offsets farther away: requests of one kind can be matched with lines of others.
        let scan_ns = range_ns / SCAN_STEPS;
        let farthest =
            (1..=SCAN_STEPS).rev().map(|step| step * scan_ns).find(|at| is_compatible(best_ns + sign * at));
        if let Some(farthest_ns) = farthest.filter(|at| *at > inside_ns) {
            (inside_ns, outside_ns) = (farthest_ns, farthest_ns + scan_ns);
        }
        while outside_ns - inside_ns > PRECISION_NS {
            let middle_ns = i64::midpoint(inside_ns, outside_ns);
            if is_compatible(best_ns + sign * middle_ns) {
                inside_ns = middle_ns;
            } else {
                outside_ns = middle_ns;
            }
        }
        best_ns + sign * inside_ns
    };
    (edge(-1), edge(1))
}

/// The requests of each segment.
fn segments(sent: &[SentRequest]) -> impl Iterator<Item = &[SentRequest]> {
    let wanted = (sent.len() / SEGMENT_MIN).clamp(1, SEGMENTS.0);
    let length = sent.len() / wanted;
    (0..wanted).map(move |number| {
        let all = &sent[number * length..number * length + length.min(SEGMENTS.1)];
        let end_ns = all.first().map_or(0, |first| first.start_ns.saturating_add(SEGMENT_NS));
        let within = all.partition_point(|request| request.start_ns <= end_ns);
        &all[..within.max(SEGMENT_MIN).min(all.len())]
    })
}

/// The bounds of the offset in each segment: the middle of the segment, the lowest and the highest offset there.
struct SegmentBounds {
    found: Vec<(i64, i64, i64)>,
    /// Number of requests that the best offsets explain.
    explained: usize,
}

/// The bounds in each segment, if the offset changes by `slope` ns per ns within it. `None` if too few requests match.
fn segment_bounds(
    sent: &[SentRequest],
    logged: &[LoggedRequest],
    rough_ns: i64,
    key: fn(u64, u16) -> u64,
    slope: f64,
) -> Option<SegmentBounds> {
    let segments: Vec<Segment> =
        segments(sent).map(|sent| Segment::new(sent, logged, rough_ns, key, slope)).collect();
    let tick_ns = logged.first().map_or(0, |line| whole(line.tick_ns));
    let best_ns = best(&segments, rough_ns, RANGE_NS / 2 + tick_ns);
    let requests: usize = segments.iter().map(Segment::requests).sum();
    let kinds = segments.iter().map(Segment::kinds).max()?;
    let range_ns = RANGE_NS + 2 * tick_ns;
    let local: Vec<i64> =
        segments.iter().map(|segment| best(std::slice::from_ref(segment), best_ns, RANGE_NS / 2)).collect();
    let (mut explained, mut expected) = (0, 0);
    for (segment, local_ns) in segments.iter().zip(&local) {
        let (ends, starts) = segment.count(*local_ns);
        explained += (ends + starts) / kinds.max(1);
        expected += segment.count_late(*local_ns);
    }
    if explained < REQUESTS_MIN || (explained as f64) < requests as f64 * EXPLAINED_MIN {
        return None;
    }
    // Late lines and missing ones: a wrong offset can match the requests without a line with those of other requests.
    let left = expected.saturating_sub(explained) as f64 / expected.max(1) as f64;
    let missing = requests.saturating_sub(expected) as f64 / requests.max(1) as f64;
    let unexplained = left + missing;
    let found = segments
        .iter()
        .zip(&local)
        .filter(|(segment, _)| segment.requests() > 0)
        .map(|(segment, local_ns)| {
            let (low, high) = bounds(segment, *local_ns, range_ns, unexplained);
            (segment.middle_ns, low, high)
        })
        .collect();
    Some(SegmentBounds { found, explained })
}

/// The offset over the run. `sent` is in order of start, `logged` in order of stamps. `None` if too few requests match.
pub(crate) fn find_offset(
    sent: &[SentRequest],
    logged: &[LoggedRequest],
    rough_ns: i64,
    key: fn(u64, u16) -> u64,
) -> Option<OffsetOverTime> {
    let constant = segment_bounds(sent, logged, rough_ns, key, 0.0)?;
    let requests = u64::try_from(constant.explained).unwrap_or(u64::MAX);
    let low_ns = constant.found.iter().map(|(_, low, _)| *low).max()?;
    let high_ns = constant.found.iter().map(|(_, _, high)| *high).min()?;
    if low_ns <= high_ns.saturating_add(APART_NS) {
        let (low_ns, high_ns) = (low_ns.min(high_ns), high_ns.max(low_ns));
        let bounds = ServerClock { low_ms: ms(low_ns), high_ms: ms(high_ns), requests, drift: None };
        return Some(OffsetOverTime {
            knots: vec![(constant.found[0].0, i64::midpoint(low_ns, high_ns))],
            half_width_ns: (high_ns - low_ns) / 2,
            bounds,
        });
    }
    // The offset also changes within the segments: the bounds are computed again without the usual change.
    let slope = median_slope(&constant.found);
    let SegmentBounds { found, explained } = segment_bounds(sent, logged, rough_ns, key, slope)?;
    let requests = u64::try_from(explained).unwrap_or(u64::MAX);
    let (_, first_low, first_high) = *found.first()?;
    let half_width_ns = found.iter().map(|(_, low, high)| (high - low) / 2).max()?;
    let drift = Some(drift(&found));
    let bounds = ServerClock { low_ms: ms(first_low), high_ms: ms(first_high), requests, drift };
    let mut knots: Vec<(i64, i64)> =
        found.iter().map(|(at, low, high)| (*at, i64::midpoint(*low, *high))).collect();
    // Before the middle of the first segment and after that of the last one.
    let extrapolated = |(at, offset): (i64, i64), to: i64| (to, offset + ((to - at) as f64 * slope) as i64);
    let begin = extrapolated(*knots.first()?, sent.first()?.start_ns);
    let end = extrapolated(*knots.last()?, sent.last()?.end_ns);
    knots.insert(0, begin);
    knots.push(end);
    knots.sort_unstable();
    Some(OffsetOverTime { knots, half_width_ns, bounds })
}

/// The median of the slopes between the middles of all pairs of bounds, in ns per ns (Theil and Sen).
fn median_slope(found: &[(i64, i64, i64)]) -> f64 {
    let mut slopes = Vec::new();
    for (number, (from, low, high)) in found.iter().enumerate() {
        for (to, next_low, next_high) in &found[number + 1..] {
            let change = i64::midpoint(*next_low, *next_high) - i64::midpoint(*low, *high);
            slopes.push(change as f64 / (to - from).max(1) as f64);
        }
    }
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// The change of the offset, from its bounds in each segment.
fn drift(found: &[(i64, i64, i64)]) -> ClockDrift {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for (number, (from, from_low, from_high)) in found.iter().enumerate() {
        for (to, to_low, to_high) in &found[number + 1..] {
            // ms per minute, from ns per ns.
            let per = |change: i64| change as f64 / (to - from).max(1) as f64 * 60_000.0;
            low = low.max(per(to_low - from_high));
            high = high.min(per(to_high - from_low));
        }
    }
    if low <= high {
        ClockDrift::Steady { low_ms_per_min: low, high_ms_per_min: high }
    } else {
        ClockDrift::Irregular
    }
}
