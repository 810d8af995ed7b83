//! A bounded number of requests.

use busyhour_sample::Nanos;

/// Requests that are kept. If there are more, only every second, every fourth request and so on is kept.
pub const REQUESTS_MAX: usize = 1 << 20;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedRequest {
    /// The intended start, in ns since the start of the run.
    pub start: Nanos,
    /// The response time in ns.
    pub response_ns: u64,
    /// A number for the label.
    pub label: u32,
}

/// Requests, of which at most [`REQUESTS_MAX`] are kept.
#[derive(Clone, Debug)]
pub struct Requests {
    kept: Vec<TimedRequest>,
    every: u64,
    seen: u64,
    max: usize,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests { kept: Vec::new(), every: 1, seen: 0, max: REQUESTS_MAX }
    }
}

impl Requests {
    /// Adds a request.
    pub fn add(&mut self, request: TimedRequest) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == self.max {
                let mut number = 0;
                self.kept.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.push(request);
            }
        }
        self.seen += 1;
    }

    /// The requests that are kept.
    #[must_use]
    pub fn kept(&self) -> &[TimedRequest] {
        &self.kept
    }

    /// How many requests were added for each one that is kept.
    #[must_use]
    pub fn per_kept(&self) -> u64 {
        self.every
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fourth_of_many_requests_is_kept() {
        let mut requests = Requests { max: 8, ..Requests::default() };
        for number in 0..30 {
            requests.add(TimedRequest { start: Nanos(number), response_ns: 1, label: 0 });
        }
        let starts: Vec<u64> = requests.kept().iter().map(|request| request.start.0).collect();
        assert_eq!(starts, [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(requests.per_kept(), 4);
    }
}
