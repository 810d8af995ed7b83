//! The strength of a cause over time.

use busyhour_analysis::explanation::Cause;

/// A part of the time in which a signal has one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalPiece {
    /// Start in ns since the start of the run.
    pub from: u64,
    /// End in ns since the start of the run.
    pub to: u64,
    /// The value; larger means that the cause is stronger.
    pub value: f64,
}

/// The kind of values of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalShape {
    /// 1 in intervals in which the cause was present, and 0 between them.
    Intervals,
    /// A level between two readings.
    Levels,
}

/// The strength of a cause over time, as one source shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The cause.
    pub cause: Cause,
    /// The source, such as `process:4711`.
    pub source: String,
    /// The measured state, such as `waiting for a CPU`.
    pub name: String,
    /// The kind of values.
    pub shape: SignalShape,
    /// The smallest level that may be the cause, in the unit of the values.
    pub relevant: f64,
    /// Whether the values are waiting times of requests, in seconds per second. Such values can be divided by the rate
    /// of requests.
    pub is_waiting: bool,
    /// The values, in the order of time, without overlap. Times without a piece are unknown.
    pub pieces: Vec<SignalPiece>,
    /// For waiting in front of a limited number of connections: how many of them are in use, over the same time. Empty if the
    /// signal has another meaning.
    pub in_use: Vec<SignalPiece>,
}

/// An effect lasts at most this much longer than an interval, because queues drain, in ns.
const DRAIN_MAX_NS: u64 = 1_000_000_000;

impl Signal {
    /// A signal of intervals in the part of the run from `from` to `to`. Each interval is extended: at its start by `before_ns`,
    /// for the requests that were in progress, and at its end by its own length, but at most by one second, for the queue that
    /// drains.
    #[must_use]
    pub fn of_intervals(
        (cause, source, name): (Cause, &str, &str),
        intervals: &[(u64, u64)],
        before_ns: u64,
        (from, to): (u64, u64),
    ) -> Signal {
        let mut wide: Vec<(u64, u64)> = intervals
            .iter()
            .map(|(start, end)| {
                let drain = end.saturating_sub(*start).min(DRAIN_MAX_NS);
                (start.saturating_sub(before_ns).max(from), end.saturating_add(drain).min(to))
            })
            .filter(|(start, end)| start < end)
            .collect();
        wide.sort_unstable();
        let mut pieces: Vec<SignalPiece> = Vec::new();
        let mut at = from;
        for (start, end) in wide {
            let start = start.max(at);
            if start >= end {
                continue;
            }
            if start > at {
                pieces.push(SignalPiece { from: at, to: start, value: 0.0 });
            }
            match pieces.last_mut() {
                Some(last) if last.value > 0.0 && last.to == start => last.to = end,
                _ => pieces.push(SignalPiece { from: start, to: end, value: 1.0 }),
            }
            at = end;
        }
        if at < to {
            pieces.push(SignalPiece { from: at, to, value: 0.0 });
        }
        Signal {
            cause,
            source: source.to_owned(),
            name: name.to_owned(),
            shape: SignalShape::Intervals,
            relevant: 0.5,
            is_waiting: false,
            pieces,
            in_use: Vec::new(),
        }
    }

    /// The part between two times.
    #[must_use]
    pub fn within(&self, (from, to): (u64, u64)) -> Signal {
        let within = |pieces: &[SignalPiece]| {
            pieces
                .iter()
                .map(|piece| SignalPiece { from: piece.from.max(from), to: piece.to.min(to), ..*piece })
                .filter(|piece| piece.from < piece.to)
                .collect()
        };
        Signal { pieces: within(&self.pieces), in_use: within(&self.in_use), ..self.clone() }
    }

    /// The signal for requests that last `time_ns`: each value is the largest one from its time until the end of such a
    /// request, because a cause can also slow down a request that has already started. `time_ns` is the same for all
    /// requests: with their own times, long requests would have larger values by chance. Intervals are unchanged; they
    /// have been extended.
    #[must_use]
    pub fn reaching_back(&self, time_ns: u64) -> Signal {
        if self.shape == SignalShape::Intervals {
            return self.clone();
        }
        let pieces = (0..self.pieces.len())
            .map(|at| {
                let own = self.pieces[at];
                let until = (own.from + (own.to - own.from) / 2).saturating_add(time_ns);
                let later = self.pieces[at + 1..].iter().take_while(|piece| piece.from < until);
                let value = later.map(|piece| piece.value).fold(own.value, f64::max);
                SignalPiece { value, ..own }
            })
            .collect();
        Signal { pieces, ..self.clone() }
    }

    /// The mean over time; `None` without pieces.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let (sum, time) = self.pieces.iter().fold((0.0, 0.0), |(sum, time), piece| {
            let length = (piece.to - piece.from) as f64;
            (sum + piece.value * length, time + length)
        });
        (time > 0.0).then(|| sum / time)
    }

    /// Share of the time in which the signal is at least [`Signal::relevant`]; `None` without pieces.
    #[must_use]
    pub fn present(&self) -> Option<f64> {
        let is_present = |piece: &&SignalPiece| piece.value >= self.relevant;
        let present: u64 = self.pieces.iter().filter(is_present).map(|piece| piece.to - piece.from).sum();
        let covered = self.covered_ns();
        (covered > 0).then(|| present as f64 / covered as f64)
    }

    /// Time that the pieces cover, in ns.
    #[must_use]
    pub fn covered_ns(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.to - piece.from).sum()
    }

    /// The quantile over time: the signal is below this value for the given share of the time.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let mut sorted: Vec<&SignalPiece> = self.pieces.iter().collect();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        let wanted = self.covered_ns() as f64 * share;
        let mut time = 0.0;
        for piece in &sorted {
            time += (piece.to - piece.from) as f64;
            if time >= wanted {
                return Some(piece.value);
            }
        }
        sorted.last().map(|piece| piece.value)
    }

    /// The cause counts as present from this level on: halfway between the usual low level and the highest levels, but
    /// at least [`Signal::relevant`].
    #[must_use]
    pub fn presence_level(&self) -> Option<f64> {
        if self.shape == SignalShape::Intervals {
            return Some(0.5);
        }
        let (low, high) = (self.quantile(0.2)?, self.quantile(0.99)?);
        Some((low + (high - low) / 2.0).max(self.relevant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_extended_and_joined() {
        let signal = Signal::of_intervals(
            (Cause::GcPauses, "gc", "pauses"),
            &[(200, 300), (330, 340), (900, 980)],
            10,
            (100, 1_000),
        );
        let pieces: Vec<(u64, u64, f64)> =
            signal.pieces.iter().map(|piece| (piece.from, piece.to, piece.value)).collect();
        assert_eq!(pieces, [(100, 190, 0.0), (190, 400, 1.0), (400, 890, 0.0), (890, 1_000, 1.0)]);
        assert_eq!(signal.covered_ns(), 900);
        assert!((signal.mean().unwrap() - 320.0 / 900.0).abs() < 1e-12);
    }

    #[test]
    fn values_reach_back_to_requests_in_progress() {
        let piece = |at: u64, value| SignalPiece { from: at * 10, to: at * 10 + 10, value };
        let signal = Signal {
            shape: SignalShape::Levels,
            pieces: vec![piece(0, 1.0), piece(1, 0.0), piece(2, 5.0), piece(3, 2.0)],
            ..Signal::of_intervals((Cause::Steal, "os", "steal"), &[], 0, (0, 40))
        };
        let values = |time_ns| -> Vec<f64> {
            signal.reaching_back(time_ns).pieces.iter().map(|piece| piece.value).collect()
        };
        assert_eq!(values(5), [1.0, 0.0, 5.0, 2.0], "the next piece begins at the end of the request");
        assert_eq!(values(6), [1.0, 5.0, 5.0, 2.0]);
        assert_eq!(values(16), [5.0, 5.0, 5.0, 2.0]);
    }

    #[test]
    fn quantiles_are_of_time() {
        let signal = Signal {
            shape: SignalShape::Levels,
            pieces: vec![
                SignalPiece { from: 0, to: 90, value: 1.0 },
                SignalPiece { from: 90, to: 100, value: 5.0 },
            ],
            ..Signal::of_intervals((Cause::Steal, "os", "steal"), &[], 0, (0, 100))
        };
        assert_eq!((signal.quantile(0.5), signal.quantile(0.95)), (Some(1.0), Some(5.0)));
        assert_eq!(signal.presence_level(), Some(3.0));
        assert_eq!(signal.within((80, 95)).covered_ns(), 15);
    }
}
