//! Transactions: samples that measure several others together.

use busyhour_program::result::{RecordMarks, SampleResult};
use busyhour_sample::{Nanos, SampleOutcome, SampleSizes, SampleTimes};

use crate::next::Next;

/// A transaction in progress.
#[derive(Debug)]
pub struct Transaction {
    /// The sample of the transaction itself.
    pub result: SampleResult,
    /// Number of samples in the transaction.
    pub calls: u32,
    /// Number of failed samples in the transaction.
    pub failing: u32,
    /// In parent mode: whether all children have been sampled.
    pub done: bool,
    /// In parent mode: the next step of the walk through its children.
    pub sub: Next,
    /// In parent mode: service time of the children in nanoseconds. Otherwise: time between the children in nanoseconds,
    /// which the transaction does not include.
    pub time_ns: u64,
    /// In parent mode: connect time of the children in nanoseconds.
    pub connect_ns: u64,
    /// When the last child ended.
    pub previous_end: Nanos,
    /// Whether a sample in the transaction has ended.
    pub begun: bool,
    /// Whether further samples of this user are added to the transaction; `false` once it has been reported.
    pub open: bool,
    /// Number of the set of listeners that receive the transaction.
    pub listeners: u32,
}

impl Transaction {
    /// A transaction that begins now.
    pub fn begin(label: String, now: Nanos) -> Self {
        let result = SampleResult {
            label,
            times: SampleTimes { intended: now, start: now, end: now, ..SampleTimes::default() },
            outcome: SampleOutcome { success: true, ..SampleOutcome::default() },
            marks: RecordMarks { is_transaction: true, ..RecordMarks::default() },
            ..SampleResult::default()
        };
        Self {
            result,
            calls: 0,
            failing: 0,
            done: false,
            sub: Next::Nothing,
            time_ns: 0,
            connect_ns: 0,
            previous_end: now,
            begun: false,
            open: true,
            listeners: 0,
        }
    }

    /// Sets the intended start of the transaction when its first sample ends: the intended start of that sample or, if it is
    /// earlier, the transaction's start minus `late_ns`. That is the lateness of a session of an open workload at its first
    /// sample, otherwise 0.
    pub fn began_with(&mut self, child: &SampleResult, late_ns: u64) {
        if !std::mem::replace(&mut self.begun, true) {
            let own = &mut self.result;
            own.times.intended = own.times.intended.min(own.times.start - late_ns).min(child.times.intended);
        }
    }

    /// Adds a child's sample to a transaction that is not in parent mode: the transaction's sample is recorded in addition to
    /// those of its children.
    pub fn add_sample(&mut self, child: &SampleResult, include_timers: bool) {
        let own = &mut self.result;
        // All received bytes are counted as header bytes.
        own.sizes += SampleSizes { header_bytes: child.bytes(), body_bytes: 0, ..child.sizes };
        if !include_timers {
            // The time between the end of one child and the start of the next is excluded.
            self.time_ns += child.times.start.since(self.previous_end);
            self.previous_end = child.times.end;
        }
        if !child.outcome.success {
            own.outcome.success = false;
            self.failing += 1;
        }
        own.users.group = child.users.group;
        own.users.all = child.users.all;
        own.times.latency_ns += child.times.latency_ns;
        own.times.connect_ns += child.times.connect_ns;
    }

    /// Adds a child's sample to a transaction in parent mode, whose sample replaces those of its children. With `keep`, the
    /// child becomes a sub-result.
    pub fn add_child(&mut self, child: SampleResult, keep: bool) {
        self.calls += 1;
        if self.failing == 0 {
            self.result.outcome.code.clear();
            self.result.outcome.code.push_str(&child.outcome.code);
        }
        if !child.outcome.success {
            self.result.outcome.success = false;
            self.failing += 1;
        }
        self.time_ns += child.times.end.since(child.times.start).saturating_sub(child.times.idle_ns);
        self.connect_ns += child.times.connect_ns;
        let own = &mut self.result;
        own.times.end = own.times.end.max(child.times.end);
        own.sizes += child.sizes;
        if keep {
            own.sub_results.push(child);
        }
    }

    /// Ends a transaction in parent mode.
    pub fn finish_parent(&mut self, now: Nanos, include_timers: bool) {
        self.done = true;
        self.write_message();
        if self.result.outcome.success {
            self.result.outcome.code.clear();
            self.result.outcome.code.push_str("200");
        }
        if !include_timers {
            self.result.times.idle_ns = now.since(self.result.times.start).saturating_sub(self.time_ns);
            self.result.times.end = now;
        }
        self.result.times.connect_ns = self.connect_ns;
    }

    /// Writes JMeter's message about the samples in the transaction.
    pub fn write_message(&mut self) {
        use std::fmt::Write as _;
        self.result.outcome.message.clear();
        let _ = write!(
            self.result.outcome.message,
            "Number of samples in transaction : {}, number of failing samples : {}",
            self.calls, self.failing
        );
    }
}
