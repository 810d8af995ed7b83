//! Computes tables and a verdict on the arrivals from the rows of a log.

use crate::{LogFacts, LogForm};
use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, JudgedStarts, RequestedProcess, Resolution, SameUserGaps,
    TallySettings, judge,
};
use busyhour_analysis::{WebLog, WebLogOptions, WebLogTables};
use busyhour_sample::LogRow;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Seed of the simulations in statistical tests; it is fixed so that the same log always has the same verdict.
const SEED: u64 = 0;

/// The kind of load that generated a log. The log itself does not contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLoad {
    /// Users that wait for each response, as JMeter's threads do. The expected irregularity of their arrivals depends
    /// on R/(R + Z), where R is the response time and Z the think time.
    #[default]
    Closed,
    /// Arrivals that do not wait for responses. They are compared with Poisson arrivals over the whole time.
    Open,
}

/// A log and the analysis of its arrivals.
#[derive(Debug, Clone)]
pub struct LogReport {
    /// Name of the log as given by the user.
    pub name: String,
    /// Facts about the rows that were read.
    pub facts: LogFacts,
    /// Arrival statistics of the log.
    pub tables: WebLogTables,
    /// Verdicts on its arrivals: one on all of them, or one for each workload of a run. Empty if start times are coarser than
    /// milliseconds.
    pub verdicts: Vec<ArrivalVerdict>,
}

/// Computes the tables and the verdict from rows that are added in the order of their starts.
#[derive(Debug)]
pub struct LogTally {
    web_log: WebLog,
    arrivals: ArrivalTally,
    same_user: SameUserGaps,
    origin_ns: Option<i64>,
}

impl LogTally {
    /// A tally without rows, for a log of the format `form`.
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

    /// Adds the next row. If a row is not `wanted`, it only determines the start of the log.
    pub fn add(&mut self, row: &LogRow, wanted: bool) {
        if self.web_log.add(row, wanted) {
            // The origin is the first time stamp, so times in whole ms remain whole ms.
            let origin_ns = *self.origin_ns.get_or_insert(row.start_ns);
            let start_ns = row.start_ns.abs_diff(origin_ns);
            self.arrivals.add(start_ns);
            self.same_user.add(start_ns, row.user);
        }
    }

    /// Returns the tables and the verdict.
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
        // With a coarser clock, gaps are mostly 0 or one tick, which gives no information about the process.
        let is_fine = facts.form.tick_ns() <= Resolution::Millisecond.tick_ns();
        let verdict = is_fine.then(|| judge(self.arrivals.finish(&mut random), asked, &circumstances));
        LogReport { name, facts, tables, verdicts: verdict.into_iter().collect() }
    }
}
