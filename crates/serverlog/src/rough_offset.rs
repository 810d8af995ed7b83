//! A rough estimate of the offset between two clocks, from counts per interval.

use crate::entry::{LoggedRequest, StampKind};
use crate::sent::SentRequest;

/// Number of classes into which requests are divided. Each class is counted separately.
const CLASSES: u64 = 16;

/// The length of the run that is used, in ns.
const USED_NS: i64 = 7_200_000_000_000;

/// Widths of the counted intervals in ns: first over the whole range, then near the best offset.
const WIDTHS_NS: [i64; 2] = [1_000_000_000, 50_000_000];

/// The offset in ns at which the counts of the log explain the most requests: Σ min(requests, lines) over intervals and classes of
/// keys. If several offsets explain equally many, the smallest one is returned. Accurate to about 50 ms, or to the resolution of the log.
pub(crate) fn rough_offset(sent: &[SentRequest], logged: &[LoggedRequest], max_ns: i64) -> Option<i64> {
    let (first, tick) = (sent.first()?, i64::try_from(logged.first()?.tick_ns).ok()?);
    let mut best_ns = 0;
    let mut range_ns = max_ns;
    for width_ns in WIDTHS_NS {
        if width_ns < tick && range_ns < max_ns {
            break;
        }
        let width_ns = width_ns.max(tick);
        let counts = Counts::new(sent, logged, first.start_ns, width_ns, best_ns, range_ns);
        best_ns += counts.best_lag() * width_ns;
        range_ns = 2 * width_ns;
    }
    Some(best_ns)
}

/// The class of a line or a request, from its target and its status.
fn class(target: u64, status: u16) -> usize {
    (target.wrapping_add(u64::from(status).wrapping_mul(0x9e37_79b9_7f4a_7c15)) % CLASSES) as usize
}

/// Counts per interval, for each class.
struct Counts {
    sent: Vec<Vec<u32>>,
    /// Starts `lags` intervals before `sent`.
    logged: Vec<Vec<u32>>,
    lags: usize,
}

impl Counts {
    fn new(
        sent: &[SentRequest],
        logged: &[LoggedRequest],
        origin_ns: i64,
        width_ns: i64,
        offset_ns: i64,
        range_ns: i64,
    ) -> Counts {
        let by_start = logged.first().is_some_and(|line| line.kind == StampKind::Start);
        let lags = usize::try_from(range_ns / width_ns + 1).unwrap_or(1);
        let used_ns =
            sent.iter().map(|request| request.end_ns - origin_ns).max().unwrap_or(0).clamp(0, USED_NS);
        let bins = usize::try_from(used_ns / width_ns + 1).unwrap_or(1);
        let classes = usize::try_from(CLASSES).unwrap_or(1);
        let mut counts = Counts {
            sent: vec![vec![0; bins]; classes],
            logged: vec![vec![0; bins + 2 * lags]; classes],
            lags,
        };
        for request in sent.iter().filter(|request| request.status > 0) {
            let at_ns = if by_start { request.start_ns } else { request.end_ns };
            if let Ok(bin) = usize::try_from((at_ns - origin_ns).div_euclid(width_ns))
                && let Some(count) = counts.sent[class(request.target, request.status)].get_mut(bin)
            {
                *count += 1;
            }
        }
        for line in logged {
            let bin = line.stamp_ns.saturating_sub(origin_ns).saturating_sub(offset_ns).div_euclid(width_ns);
            let Ok(bin) = usize::try_from(bin.saturating_add(i64::try_from(lags).unwrap_or(0))) else {
                continue;
            };
            if let Some(count) = counts.logged[class(line.target, line.status)].get_mut(bin) {
                *count += 1;
            }
        }
        counts
    }

    fn explained(&self, lag: usize) -> u64 {
        let pairs = self.sent.iter().zip(&self.logged);
        let sum = |(sent, logged): (&Vec<u32>, &Vec<u32>)| {
            sent.iter().zip(&logged[lag..]).map(|(sent, logged)| u64::from(*sent.min(logged))).sum::<u64>()
        };
        pairs.map(sum).sum()
    }

    /// The lag in intervals with the most explained requests.
    fn best_lag(&self) -> i64 {
        let zero = self.lags as i64;
        let mut best = (0, 0);
        // From small to large lags, so that the smallest of several equally good lags is selected.
        for distance in 0..=zero {
            for lag in if distance == 0 { vec![0] } else { vec![distance, -distance] } {
                let explained = self.explained(usize::try_from(zero + lag).unwrap_or(0));
                if explained > best.0 {
                    best = (explained, lag);
                }
            }
        }
        best.1
    }
}
