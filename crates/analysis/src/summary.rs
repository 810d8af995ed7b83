//! The summary of a run, as `summary.json` holds it.

use busyhour_record::{HISTOGRAM_DIGITS, RunTotals, SampleKind};
use serde::{Deserialize, Serialize};

use crate::arrivals::ArrivalVerdict;
use crate::caveat::Told;
use crate::facts::RunFacts;
use crate::groups::GroupRows;
use crate::over_time::HeatMap;
use crate::row::{ErrorRow, Row, SlowSample};
use crate::run_caveats;
use crate::series::{DistributionPoint, Series, distribution};
use crate::thresholds::ThresholdResult;
use crate::window::{Window, WindowHow};

/// Version of the summary that is written, and the only one that is read.
pub const SUMMARY_VERSION: u32 = 3;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// The run.
    pub run: RunFacts,
    /// From the first start to the last end of a request, in seconds: what rates are over.
    pub span_s: f64,
    /// Most active users seen.
    pub users_max: u32,
    /// All requests: without samples of transaction controllers and without sub-results.
    pub total: Row,
    /// Per label, in order of first appearance: requests and transactions.
    pub labels: Vec<Row>,
    /// Per label: results inside requests (redirects, embedded resources), which are not in the total.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_results: Vec<Row>,
    /// Requests and sub-results together, as JMeter's dashboard adds up its result file; `None` without sub-results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_with_sub_results: Option<Row>,
    /// The same by thread group, in the order of the plan, where requests of several count; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRows>,
    /// How requests failed, most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Errors of further kinds.
    pub errors_other: u64,
    /// What is in doubt.
    pub caveats: Vec<Told>,
    /// Whether the arrivals were those that were asked for: of each open workload, then of the groups with users of their
    /// own, in total and by group. Empty when nobody has judged them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<ArrivalVerdict>,
    /// How the run fared by its thresholds, in their order; empty when it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// The quantile function of all requests.
    pub distribution: Vec<DistributionPoint>,
    /// Second by second.
    pub series: Series,
    /// Response times of requests over time; `None` when nobody recorded them, or no request ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatMap>,
    /// The slowest requests by response time, slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowSample>,
    /// The part of the run that the tables are of; `None` for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// How far a percentile can lie from the sample's own, as a share of it: the width of the histograms' cells.
    pub percentile_error: f64,
}

/// A summary that cannot be read.
#[derive(Debug)]
pub enum SummaryError {
    /// The text is no summary.
    Json(serde_json::Error),
    /// It is of another version.
    Version(u32),
}

impl std::fmt::Display for SummaryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SummaryError::Json(_) => f.write_str("the text is no summary of a run"),
            SummaryError::Version(version) => {
                write!(f, "the summary is of version {version}; this program reads version {SUMMARY_VERSION}")
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
    /// Sums up a run.
    #[must_use]
    pub fn new(run: RunFacts, totals: &RunTotals) -> Summary {
        let window = totals.window.map(|left_out| Window::asked(&left_out, totals.total.last_end));
        let span_s = match &window {
            _ if totals.total.samples == 0 => 0.0,
            // What started in the window is the load of the whole window.
            Some(window) => window.to_s - window.from_s,
            None => totals.total.span_s(),
        };
        let apdex = totals.apdex;
        let of_kind = |sub: bool| {
            let wanted =
                totals.labels.iter().filter(move |label| (label.kind == SampleKind::SubResult) == sub);
            wanted.map(|label| Row::of_label(label, span_s, apdex)).collect::<Vec<_>>()
        };
        let sub_results = of_kind(true);
        let total_with_sub_results = (!sub_results.is_empty()).then(|| {
            let mut all = totals.total.clone();
            let subs = totals.labels.iter().filter(|label| label.kind == SampleKind::SubResult);
            subs.for_each(|label| all.merge(&label.totals));
            Row::of("Total", SampleKind::Request, &all, span_s, apdex)
        });
        let caveats = run_caveats::find(&run, totals).into_iter().map(Told::from).collect();
        Summary {
            version: SUMMARY_VERSION,
            span_s,
            users_max: totals.seconds.iter().map(|point| point.users).max().unwrap_or(0),
            total: Row::of("Total", SampleKind::Request, &totals.total, span_s, apdex),
            labels: of_kind(false),
            sub_results,
            total_with_sub_results,
            groups: GroupRows::of(totals, window.as_ref().map(|_| span_s)),
            errors: totals.errors.iter().map(|kind| ErrorRow::of(kind, totals.total.errors)).collect(),
            errors_other: totals.errors_other,
            caveats,
            arrivals: Vec::new(),
            thresholds: Vec::new(),
            distribution: distribution(&totals.total.response, &totals.total.service),
            series: Series::of(&totals.seconds, totals.started.as_ref(), totals.offered.as_ref()),
            heat: totals.heat.as_ref().and_then(HeatMap::of),
            slowest: totals.slowest.iter().map(SlowSample::of).collect(),
            window,
            percentile_error: 10f64.powi(-i32::from(HISTOGRAM_DIGITS)),
            run,
        }
    }

    /// Adds the verdicts on the run's arrivals, and what is in doubt about them.
    pub fn add_arrivals(&mut self, verdicts: Vec<ArrivalVerdict>) {
        for told in verdicts.iter().flat_map(|verdict| &verdict.caveats) {
            // Groups share most doubts with the whole.
            if !self.caveats.iter().any(|known| {
                std::mem::discriminant(&known.caveat) == std::mem::discriminant(&told.caveat)
                    && known.advice == told.advice
            }) {
                self.caveats.push(told.clone());
            }
        }
        self.arrivals = verdicts;
    }

    /// Says how the part of the run was chosen that the tables are of, and why.
    pub fn tell_window(&mut self, how: WindowHow, words: String) {
        match &mut self.window {
            Some(window) => (window.how, window.words) = (how, words),
            None => {
                let total = &self.total;
                let (from_s, to_s) = (total.first_start_s, total.last_end_s);
                self.window =
                    Some(Window { from_s, to_s, how: WindowHow::Whole, before: 0, after: 0, words });
            }
        }
    }

    /// The text of `summary.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // The summary holds strings, numbers and lists: every one has a JSON form.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads what [`Summary::to_json`] wrote.
    ///
    /// # Errors
    /// The text is no summary, or one of another version.
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
