//! The values of series with the times for which they hold.

use busyhour_series::{MetricKind, SeriesData, SeriesInfo, SeriesPoint};

use crate::signal::SignalPiece;

/// The value of a label.
pub(crate) fn label<'i>(info: &'i SeriesInfo, name: &str) -> Option<&'i str> {
    info.labels.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// The values of a series with the times for which they hold: a rate between its readings, a gauge up to halfway to its
/// neighbours.
pub(crate) fn pieces(kind: MetricKind, points: &[SeriesPoint]) -> Vec<SignalPiece> {
    let with_value = |from: u64, to: u64, value| (from < to).then_some(SignalPiece { from, to, value });
    match kind {
        MetricKind::Counter => {
            points.iter().filter_map(|point| with_value(point.from.0, point.to.0, point.mean)).collect()
        }
        MetricKind::Gauge => {
            let middle = |point: &SeriesPoint| point.from.0 + (point.to.0 - point.from.0) / 2;
            let usual = usual_distance(points);
            (0..points.len())
                .filter_map(|at| {
                    let own = middle(&points[at]);
                    let half = |other: u64| own.abs_diff(other).min(2 * usual) / 2;
                    let before = at.checked_sub(1).map_or(usual / 2, |at| half(middle(&points[at])));
                    let after = points.get(at + 1).map_or(usual / 2, |next| half(middle(next)));
                    with_value(own.saturating_sub(before), own + after, points[at].mean)
                })
                .collect()
        }
    }
}

/// The median distance between points in ns.
fn usual_distance(points: &[SeriesPoint]) -> u64 {
    let mut distances: Vec<u64> =
        points.windows(2).map(|pair| pair[1].from.0.saturating_sub(pair[0].from.0)).collect();
    if distances.is_empty() {
        return 0;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable(middle).1
}

/// The sum of series at the times of the series with the most points. A series without a value at a time counts as 0.
pub(crate) fn sum(series: &[&SeriesData]) -> Vec<SignalPiece> {
    let Some(longest) = series.iter().max_by_key(|one| one.points.len()) else { return Vec::new() };
    let mut total = pieces(longest.info.kind, &longest.points);
    for one in series.iter().filter(|one| !std::ptr::eq(**one, *longest)) {
        let other = pieces(one.info.kind, &one.points);
        for piece in &mut total {
            piece.value += mean_between(&other, piece.from, piece.to).unwrap_or(0.0);
        }
    }
    total
}

/// The mean of pieces, which are in the order of time, between two times; `None` if none of them lies there.
pub(crate) fn mean_between(pieces: &[SignalPiece], from: u64, to: u64) -> Option<f64> {
    let first = pieces.partition_point(|piece| piece.to <= from);
    let (mut sum, mut time) = (0.0, 0.0);
    for piece in pieces[first..].iter().take_while(|piece| piece.from < to) {
        let length = (piece.to.min(to) - piece.from.max(from)) as f64;
        sum += piece.value * length;
        time += length;
    }
    (time > 0.0).then(|| sum / time)
}
