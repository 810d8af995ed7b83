//! The summary of a run, as written to `summary.json`.

use busyhour_detection::Neighbours;
use busyhour_sample::{HISTOGRAM_DIGITS, RunTotals, SampleKind};
use busyhour_stacks::StackDifference;
use serde::{Deserialize, Serialize};

use crate::agents::Agents;
use crate::arrivals::ArrivalVerdict;
use crate::caveat::{Caveat, ReportedCaveat};
use crate::explanation::Explanation;
use crate::facts::RunFacts;
use crate::groups::GroupRows;
use crate::incidents::{Incident, NotSearched, search};
use crate::over_time::HeatMap;
use crate::result_file::Omission;
use crate::row::{ErrorRow, Row, SlowSample};
use crate::run_caveats;
use crate::saturation::Saturation;
use crate::series::{DistributionPoint, Series, distribution};
use crate::server_log::ServerLog;
use crate::system::SystemFigures;
use crate::thresholds::ThresholdResult;
use crate::window::{Window, WindowChoice};

/// Version of the summary format that is written, and the only one that is accepted on reading.
pub const SUMMARY_VERSION: u32 = 3;

/// If more than this percentage of the requests failed, reports do not show verdicts on arrivals.
const MOSTLY_PERCENT: f64 = 50.0;

/// The summary of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The format version, [`SUMMARY_VERSION`].
    pub version: u32,
    /// Facts about the run.
    pub run: RunFacts,
    /// Time from the first start to the last end of a request, in seconds. Rates are computed over this time.
    pub span_s: f64,
    /// Largest number of active users at any time; 0 if unknown.
    pub users_max: u32,
    /// Offered arrivals of open workloads per second of `span_s`; `None` without open workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_s: Option<f64>,
    /// All requests, without transactions and sub-results.
    pub total: Row,
    /// Requests and transactions per label, in order of first appearance.
    pub labels: Vec<Row>,
    /// Sub-results per label (redirects, embedded resources), which are not included in the total.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_results: Vec<Row>,
    /// Total of requests and sub-results, as JMeter's dashboard computes it from a result file; `None` without sub-results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_with_sub_results: Option<Row>,
    /// Rows per thread group, in the order of the plan; empty unless several thread groups sent requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRows>,
    /// Kinds of errors, most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Number of errors of kinds that are not listed.
    pub errors_other: u64,
    /// Reasons to doubt the results.
    pub caveats: Vec<ReportedCaveat>,
    /// Verdicts on whether arrivals followed the requested process: for each open workload, then for all closed groups
    /// together, then for each closed group. Empty if arrivals were not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<ArrivalVerdict>,
    /// The results of the run's thresholds, in their order; empty for a run without thresholds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// Times at which the run became slower, had more failures or completed less, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
    /// The parts of the run that were not searched for incidents, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_searched: Vec<NotSearched>,
    /// The quantile function of all requests.
    pub distribution: Vec<DistributionPoint>,
    /// The time series in seconds.
    pub series: Series,
    /// Response times of requests over time; `None` when they were not recorded or no request ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatMap>,
    /// The slowest requests by response time, slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowSample>,
    /// The measured part of the run, which the tables cover; `None` for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Key figures of the system under test in the measured part; `None` if it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemFigures>,
    /// Why requests were slow; `None` if the run was not observed, or was not recorded by this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The neighbours that harmed the observed system; `None` if it was not observed on its own machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// The agents of a run on several machines; `None` for a run on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Agents>,
    /// How the stacks of slow windows differ from the others, for each process whose stacks were recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackDifference>,
    /// The loads at which the resources of the system saturate; `None` if no resource was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Which requests arrived at the server, and when; `None` if its log was not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_log: Option<ServerLog>,
    /// The reasons to doubt the numbers of a result file, in a sentence; `None` for a run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// The possible effect on percentiles of requests that were never sent; `None` for a run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission: Option<Omission>,
    /// Maximum relative error of a percentile: the width of the histogram's buckets.
    pub percentile_error: f64,
}

/// Why a summary cannot be read.
#[derive(Debug)]
pub enum SummaryError {
    /// The text is not a valid summary.
    Json(serde_json::Error),
    /// The summary has another format version.
    Version(u32),
}

impl std::fmt::Display for SummaryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SummaryError::Json(_) => f.write_str("the text is not a summary of a run"),
            SummaryError::Version(version) => {
                write!(f, "the summary has version {version}; this program reads version {SUMMARY_VERSION}")
            }
        }
    }
}

impl std::error::Error for SummaryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SummaryError::Json(error) => Some(error),
            SummaryError::Version(_) => None,
        }
    }
}

impl Summary {
    /// Computes the summary of a run.
    #[must_use]
    pub fn new(run: RunFacts, totals: &RunTotals) -> Summary {
        let window = totals.window.map(|left_out| Window::requested(&left_out, totals.total.last_end));
        let span_s = match &window {
            _ if totals.total.samples == 0 => 0.0,
            // The load of a window is the number of requests that started in it, divided by the whole length of the window.
            Some(window) => window.to_s - window.from_s,
            None => totals.total.span_s(),
        };
        let apdex = totals.apdex;
        let of_kind = |sub: bool| {
            let labels =
                totals.labels.iter().filter(move |label| (label.kind == SampleKind::SubResult) == sub);
            labels.map(|label| Row::of_label(label, span_s, apdex)).collect::<Vec<_>>()
        };
        let sub_results = of_kind(true);
        let total_with_sub_results = (!sub_results.is_empty()).then(|| {
            let mut all = totals.total.clone();
            let subs = totals.labels.iter().filter(|label| label.kind == SampleKind::SubResult);
            subs.for_each(|label| all.merge(&label.totals));
            Row::of("Total", SampleKind::Request, &all, span_s, apdex)
        });
        let labels = of_kind(false);
        let series = Series::of(totals);
        let measured_s = window.as_ref().map(|window| (window.from_s, window.to_s));
        let findings = search(&run, totals, &series, measured_s);
        let unsteady = findings.unsteady.into_iter().map(Caveat::Unsteady);
        let caveats = run_caveats::find(&run, totals).into_iter().chain(unsteady);
        Summary {
            version: SUMMARY_VERSION,
            span_s,
            offered_per_s: series
                .offered_per_s(window.as_ref().map(|window| (window.from_s, window.to_s)), span_s),
            users_max: totals.users.max,
            total: Row::of("Total", SampleKind::Request, &totals.total, span_s, apdex),
            incidents: findings.incidents,
            not_searched: findings.not_searched,
            labels,
            sub_results,
            total_with_sub_results,
            groups: GroupRows::of(totals, window.as_ref().map(|_| span_s)),
            errors: totals.errors.iter().map(|kind| ErrorRow::of(kind, totals.total.errors)).collect(),
            errors_other: totals.errors_other,
            caveats: caveats.map(ReportedCaveat::from).collect(),
            arrivals: Vec::new(),
            thresholds: Vec::new(),
            distribution: distribution(&totals.total.response, &totals.total.service),
            series,
            heat: totals.heat.as_ref().and_then(HeatMap::of),
            slowest: totals.slowest.iter().map(SlowSample::of).collect(),
            window,
            system: None,
            explanation: None,
            neighbours: None,
            agents: None,
            stacks: Vec::new(),
            saturation: None,
            server_log: None,
            doubt: None,
            omission: None,
            percentile_error: 10f64.powi(-i32::from(HISTOGRAM_DIGITS)),
            run,
        }
    }

    /// Whether most requests failed, in which case arrivals are not the main problem.
    #[must_use]
    pub fn mostly_failed(&self) -> bool {
        self.total.error_percent > MOSTLY_PERCENT
    }

    /// The verdicts on arrivals that reports show: none if most requests failed.
    #[must_use]
    pub fn shown_arrivals(&self) -> &[ArrivalVerdict] {
        if self.mostly_failed() { &[] } else { &self.arrivals }
    }

    /// Adds the verdicts on the run's arrivals, and the caveats of those that are shown.
    pub fn add_arrivals(&mut self, verdicts: Vec<ArrivalVerdict>) {
        self.arrivals = verdicts;
        let caveats: Vec<_> =
            self.shown_arrivals().iter().flat_map(|verdict| verdict.caveats.clone()).collect();
        for caveat in caveats {
            // Most caveats of a group repeat those of the total.
            if !self.caveats.iter().any(|known| {
                std::mem::discriminant(&known.caveat) == std::mem::discriminant(&caveat.caveat)
                    && known.advice == caveat.advice
            }) {
                let explains = matches!(&caveat.caveat, Caveat::Arrivals(caveat) if caveat.explains_others());
                let at = if explains { 0 } else { self.caveats.len() };
                self.caveats.insert(at, caveat);
            }
        }
    }

    /// The part of the run that the tables cover, in seconds from the start of the run: the selected window or, without
    /// one, the time from the first start to the last end of a request.
    #[must_use]
    pub fn measured_s(&self) -> (f64, f64) {
        match &self.window {
            Some(window) => (window.from_s, window.to_s),
            None => (self.total.first_start_s, self.total.last_end_s),
        }
    }

    /// Records how the measured part of the run was chosen, and why.
    pub fn set_window_reason(&mut self, how: WindowChoice, reason: String) {
        match &mut self.window {
            Some(window) => (window.how, window.reason) = (how, reason),
            None => {
                let total = &self.total;
                let (from_s, to_s) = (total.first_start_s, total.last_end_s);
                self.window =
                    Some(Window { from_s, to_s, how: WindowChoice::Whole, before: 0, after: 0, reason });
            }
        }
    }

    /// Serializes the summary as `summary.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Cannot fail: the summary consists of strings, numbers and lists.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Parses the output of [`Summary::to_json`].
    ///
    /// # Errors
    /// The text is not a summary, or has another format version.
    pub fn from_json(text: &str) -> Result<Summary, SummaryError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = serde_json::from_str(text).map_err(SummaryError::Json)?;
        if version != SUMMARY_VERSION {
            return Err(SummaryError::Version(version));
        }
        serde_json::from_str(text).map_err(SummaryError::Json)
    }
}
