//! From the rows of a log to its tables and the verdict on its arrivals.

use crate::{LogFacts, LogForm};
use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, JudgedStarts, RequestedProcess, Resolution, SameUserGaps,
    TallySettings, judge,
};
use busyhour_analysis::{WebLog, WebLogOptions, WebLogTables};
use busyhour_sample::LogRow;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Seed of the simulations inside tests: the same log has the same verdict each time.
const SEED: u64 = 0;

/// The kind of load of a log, which the log does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLoad {
    /// Users that wait for each response, as JMeter's threads do: what R/(R + Z) makes of their arrivals is known.
    #[default]
    Closed,
    /// Arrivals that wait for nothing: compared with Poisson arrivals over all times.
    Open,
}

/// A log and the analysis of its arrivals.
#[derive(Debug, Clone)]
pub struct LogReport {
    /// Name of the log as given by the user.
    pub name: String,
    /// What was read.
    pub facts: LogFacts,
    /// Arrival statistics of the log.
    pub tables: WebLogTables,
    /// Verdicts on its arrivals: one over all, or one per workload of a run.
    pub verdicts: Vec<ArrivalVerdict>,
}

/// Takes the rows of a log in the order of their starts.
#[derive(Debug)]
pub struct LogTally {
    web_log: WebLog,
    arrivals: ArrivalTally,
    same_user: SameUserGaps,
    origin_ns: Option<i64>,
}

impl LogTally {
    /// For a log of the form `form`.
    #[must_use]
    pub fn new(options: &WebLogOptions, form: LogForm) -> LogTally {
        let resolution = if form.tick_ns() > 1 { Resolution::Millisecond } else { Resolution::Nanosecond };
        LogTally {
            web_log: WebLog::new(options.clone(), form.tick_ns()),
            arrivals: ArrivalTally::new(TallySettings::new(resolution)),
            same_user: SameUserGaps::default(),
            origin_ns: None,
        }
    }

    /// Takes the next row; a row that is not `wanted` only determines the start of the log.
    pub fn add(&mut self, row: &LogRow, wanted: bool) {
        if self.web_log.add(row, wanted) {
            // Whole ms stay whole ms: the first stamp is one of them.
            let origin_ns = *self.origin_ns.get_or_insert(row.start_ns);
            let start_ns = row.start_ns.abs_diff(origin_ns);
            self.arrivals.add(start_ns);
            self.same_user.add(start_ns, row.user);
        }
    }

    /// The tables and the verdict.
    #[must_use]
    pub fn finish(self, name: String, facts: LogFacts, load: LogLoad) -> LogReport {
        let tables = self.web_log.finish(&facts.labels);
        let response = tables.response_time.last().and_then(|total| total.mean);
        let asked = match load {
            LogLoad::Open => RequestedProcess::Unknown,
            LogLoad::Closed => RequestedProcess::Closed {
                users: tables.users.map(|users| users as f64),
                response_s: response.map(|ms| ms / 1e3),
                think_s: None,
            },
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let circumstances = ArrivalContext {
            scope: JudgedStarts::SamplerStarts,
            same_user: Some(self.same_user),
            ..ArrivalContext::default()
        };
        let verdict = judge(self.arrivals.finish(&mut random), asked, &circumstances);
        LogReport { name, facts, tables, verdicts: vec![verdict] }
    }
}
