//! The seconds of a run. A second is closed when all of its samples are known, and seconds are closed in order.

use std::collections::{BTreeMap, VecDeque};

use crate::nanos::Nanos;
use crate::over_time::{OverTime, RowSecond};
use crate::sample::Sample;
use crate::second_point::{SecondPoint, SecondTimes};

/// Number of seconds that stay open for cores that report late. If another second is needed, the oldest is closed without these
/// reports.
const OPEN_SECONDS_MAX: u64 = 30;

/// Maximum number of samples whose times are held in memory if rows are not sorted by end time: 64 MiB.
pub const HELD_SAMPLES_MAX: usize = 1 << 22;

/// The samples of one second.
#[derive(Default)]
pub struct Second {
    /// Number of the second since the start of the run.
    pub number: u64,
    /// Number of requests that ended in it.
    pub requests: u64,
    errors: u64,
    bytes: u64,
    sent_bytes: u64,
    service_ns: u128,
    response_ns: u128,
    /// The samples of each row, by the index of the aggregator's row. Sub-results are not included.
    pub rows: Vec<RowSecond>,
}

impl Second {
    fn clear(&mut self, number: u64) {
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            row.times.clear();
            *row = RowSecond { times: std::mem::take(&mut row.times), ..RowSecond::default() };
        }
        *self = Second { number, rows, ..Second::default() };
    }

    fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.times.is_empty())
    }

    fn add(&mut self, row: usize, sample: &Sample<'_>, request: bool) {
        if self.rows.len() <= row {
            self.rows.resize_with(row + 1, RowSecond::default);
        }
        let row = &mut self.rows[row];
        row.samples += u64::from(sample.sample_count);
        row.errors += u64::from(sample.error_count);
        let (service, response) = (sample.service_ns(), sample.response_ns());
        row.times.push((service / 1_000, response / 1_000));
        if !request {
            return;
        }
        row.is_request = true;
        self.requests += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        self.bytes = self.bytes.saturating_add(sample.sizes.bytes());
        self.sent_bytes = self.sent_bytes.saturating_add(sample.sizes.sent_bytes);
        self.service_ns += u128::from(service);
        self.response_ns += u128::from(response);
    }

    /// Copies the times of the requests, chosen by `of`, into `into`.
    fn times_of_requests(&self, of: impl Fn(&(u64, u64)) -> u64, into: &mut Vec<u64>) {
        into.clear();
        for row in self.rows.iter().filter(|row| row.is_request) {
            into.extend(row.times.iter().map(&of));
        }
    }
}

/// The series computed from the closed seconds.
pub struct ClosedSeconds {
    /// The closed seconds, in order.
    pub points: Vec<SecondPoint>,
    /// Time series in slices of several seconds.
    pub over_time: OverTime,
    only_actual_starts: bool,
    /// Times of the second that is being closed; its memory is reused.
    times: Vec<u64>,
}

impl ClosedSeconds {
    /// Series without seconds. With `only_actual_starts`, response times equal service times.
    pub fn new(only_actual_starts: bool) -> ClosedSeconds {
        ClosedSeconds {
            points: Vec::new(),
            over_time: OverTime::new(),
            only_actual_starts,
            times: Vec::new(),
        }
    }

    /// Adds a second, which must not be before the previous one.
    pub fn close(&mut self, second: &Second) {
        if second.is_empty() {
            return;
        }
        self.over_time.add(second.number, &second.rows);
        if second.requests == 0 {
            return;
        }
        second.times_of_requests(|(_, response)| *response, &mut self.times);
        let response = SecondTimes::of(&mut self.times, second.response_ns);
        let service = if self.only_actual_starts {
            response
        } else {
            second.times_of_requests(|(service, _)| *service, &mut self.times);
            SecondTimes::of(&mut self.times, second.service_ns)
        };
        self.points.push(SecondPoint {
            second: second.number,
            requests: second.requests,
            errors: second.errors,
            bytes: second.bytes,
            sent_bytes: second.sent_bytes,
            service,
            response,
        });
    }
}

/// The seconds of samples that are added approximately in the order of their ends.
pub struct OpenSeconds {
    /// The open seconds, without gaps; the first one has the number `open_from`.
    open: VecDeque<Second>,
    open_from: u64,
    /// Cleared seconds, whose memory is reused.
    spare: Vec<Second>,
    closed: VecDeque<Second>,
    watermark: Nanos,
    /// Number of samples whose second was already closed; they are added to the first open second.
    pub late: u64,
    done: ClosedSeconds,
}

impl OpenSeconds {
    pub fn new(only_actual_starts: bool) -> OpenSeconds {
        OpenSeconds {
            open: VecDeque::new(),
            open_from: 0,
            spare: Vec::new(),
            closed: VecDeque::new(),
            watermark: Nanos::ZERO,
            late: 0,
            done: ClosedSeconds::new(only_actual_starts),
        }
    }

    /// Adds a sample of the row with number `row`.
    pub fn add(&mut self, row: usize, sample: &Sample<'_>, request: bool) {
        self.second(sample.times.end.second()).add(row, sample, request);
    }

    fn second(&mut self, number: u64) -> &mut Second {
        if number < self.open_from {
            self.late += 1;
        }
        // Limits the number of open seconds, even after a long time without samples.
        while !self.open.is_empty() && number >= self.open_from.saturating_add(OPEN_SECONDS_MAX) {
            self.close_one();
            if self.open.iter().all(Second::is_empty) {
                self.spare.extend(self.open.drain(..));
            }
        }
        if self.open.is_empty() {
            self.open_from = self.open_from.max(number.saturating_sub(OPEN_SECONDS_MAX - 1));
        }
        let at = number.saturating_sub(self.open_from) as usize;
        while self.open.len() <= at {
            let mut second = self.spare.pop().unwrap_or_default();
            second.clear(self.open_from + self.open.len() as u64);
            self.open.push_back(second);
        }
        &mut self.open[at]
    }

    fn close_one(&mut self) {
        let Some(second) = self.open.pop_front() else { return };
        self.open_from = second.number + 1;
        self.done.close(&second);
        self.closed.push_back(second);
    }

    /// Closes the seconds before `watermark`; returns whether closed seconds are available.
    pub fn advance(&mut self, watermark: Nanos) -> bool {
        self.watermark = self.watermark.max(watermark);
        while !self.open.is_empty() && self.open_from < self.watermark.second() {
            self.close_one();
        }
        if self.open.is_empty() {
            self.open_from = self.open_from.max(self.watermark.second());
        }
        !self.closed.is_empty()
    }

    /// Closes every second.
    pub fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close_one();
        }
    }

    /// The next closed second. The caller returns its memory with [`OpenSeconds::recycle`].
    pub fn next_closed(&mut self) -> Option<Second> {
        self.closed.pop_front()
    }

    pub fn recycle(&mut self, second: Second) {
        if self.spare.len() < 4 {
            self.spare.push(second);
        }
    }

    /// The series computed from the closed seconds.
    pub const fn done(&self) -> &ClosedSeconds {
        &self.done
    }

    /// Replaces the series by those of another reading.
    pub fn replace(&mut self, done: ClosedSeconds) {
        (self.done, self.late) = (done, 0);
    }

    pub fn into_done(self) -> ClosedSeconds {
        self.done
    }
}

/// A part of the seconds of samples that are added in any order. It starts at a given second and ends where the number of held
/// samples exceeds the limit. The samples of later seconds are ignored; they require another reading of the same rows.
pub struct SecondsPart {
    held: HeldPart<Second>,
}

impl SecondsPart {
    /// A part from second `from` on, which holds at most `held_max` samples at once.
    pub fn from(from: u64, held_max: usize) -> SecondsPart {
        SecondsPart { held: HeldPart::from(from, held_max) }
    }

    /// Adds a sample if it ended in a second of this part.
    pub fn add(&mut self, row: usize, sample: &Sample<'_>, request: bool) {
        let number = sample.times.end.second();
        if let Some(second) = self.held.second(number, 1) {
            second.number = number;
            second.add(row, sample, request);
        }
    }

    /// Closes the seconds of this part. Returns the first second of the next one, or `None` if this was the last.
    pub fn close(self, done: &mut ClosedSeconds) -> Option<u64> {
        let (seconds, next) = self.held.finish();
        seconds.for_each(|(_, second)| done.close(&second));
        next
    }
}

/// Data of consecutive seconds, for a limited number of samples.
pub struct HeldPart<S> {
    from: u64,
    /// The first second that does not belong to the part; `None` if there is none.
    to: Option<u64>,
    held: usize,
    held_max: usize,
    /// By second: the number of samples, and the data.
    seconds: BTreeMap<u64, (usize, S)>,
}

impl<S: Default> HeldPart<S> {
    /// A part from second `from` on, which holds at most `held_max` samples at once.
    pub fn from(from: u64, held_max: usize) -> HeldPart<S> {
        HeldPart { from, to: None, held: 0, held_max, seconds: BTreeMap::new() }
    }

    /// The data of second `number`, to which the caller adds `samples` samples; `None` if the second is outside the part.
    pub fn second(&mut self, number: u64, samples: usize) -> Option<&mut S> {
        if number < self.from || self.to.is_some_and(|to| number >= to) {
            return None;
        }
        self.held += samples;
        self.seconds.entry(number).or_default().0 += samples;
        // At least one second is held, even if it has more samples than the limit.
        while self.held > self.held_max && self.seconds.len() > 1 {
            let Some((last, (count, _))) = self.seconds.pop_last() else { break };
            self.held -= count;
            self.to = Some(last);
        }
        self.seconds.get_mut(&number).map(|(_, second)| second)
    }

    /// The seconds of the part in order, and the first second of the next part; `None` if this is the last.
    pub fn finish(self) -> (impl Iterator<Item = (u64, S)>, Option<u64>) {
        (self.seconds.into_iter().map(|(number, (_, second))| (number, second)), self.to)
    }
}
