//! What to doubt about the numbers of a result file, such as that of another load generator.
//!
//! A result file contains less than a run directory: no intended starts, and nothing about the generator. What can be derived from
//! it is derived here, in addition to the caveats of any run: requests that were never sent ([`Omission`]), intervals of
//! percentiles, and requests that are mixed in one percentile.

mod doubt;
mod mixed;
mod omission;
mod tail;

use busyhour_sample::{RunTotals, TimeHistogram};
use serde::{Deserialize, Serialize};

use crate::arrivals::{ARRIVALS_FOR_VERDICT, ArrivalGap};
use crate::caveat::Caveat;
use crate::summary::Summary;

pub use mixed::LabelTime;
pub use omission::{Omission, OmissionBounds, OmissionLimit, PercentileBounds};
pub use tail::PercentileInterval;

/// The largest clock tick, in s, with which arrivals are judged.
pub const ARRIVAL_TICK_S_MAX: f64 = 0.001;

/// Facts about the tool that wrote a result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherTool {
    /// The tool; several ones are separated by commas.
    pub tool: String,
    /// The clock tick of start times in s.
    pub tick_s: f64,
    /// The step of durations in s.
    pub duration_step_s: f64,
    /// Whether the file contains no date, so that times count from the start of the run.
    pub is_undated: bool,
    /// Whether failed requests are not in the file.
    pub is_without_failed: bool,
    /// Requests or iterations that the tool should have started, but did not, and reported.
    pub dropped: u64,
}

impl Summary {
    /// Adds what to doubt about the numbers of a result file. `totals` are those of the summary, `is_open` tells that arrivals do
    /// not wait for responses.
    pub fn assess_result_file(&mut self, totals: &RunTotals, is_open: bool) {
        if self.total.samples == 0 {
            return;
        }
        let times = &totals.total.response.histogram;
        let mut found: Vec<Caveat> = Vec::new();
        if let Some(tool) = &self.run.other_tool {
            if tool.dropped > 0 {
                found.push(Caveat::DroppedByTool { tool: tool.tool.clone(), dropped: tool.dropped });
            }
            if tool.is_without_failed {
                found.push(Caveat::FailedMissing { tool: tool.tool.clone() });
            }
        }
        let omission = self.omission(times, is_open);
        found.extend(omission.bounds.filter(OmissionBounds::is_material).map(Caveat::OmittedRequests));
        self.omission = Some(omission);
        if let Some(interval) = tail::interval(times) {
            // The interval says more than the number of samples above a percentile.
            self.caveats.retain(|reported| !matches!(reported.caveat, Caveat::ThinTail { .. }));
            found.push(Caveat::FewBeyond(interval));
        }
        found.extend(
            mixed::mixed_labels(&self.labels, self.total.samples)
                .map(|(fast, slow)| Caveat::MixedLabels { fast, slow }),
        );
        self.caveats.extend(found.into_iter().map(Into::into));
        self.doubt = Some(doubt::sentence(&self.caveats));
    }

    fn omission(&self, times: &TimeHistogram, is_open: bool) -> Omission {
        // With too few arrivals for a verdict, a long gap can be a property of the load.
        let verdict = self
            .arrivals
            .first()
            .filter(|verdict| verdict.of.is_none() && verdict.observed.arrivals >= ARRIVALS_FOR_VERDICT);
        let (stalls, rate_per_s): (&[ArrivalGap], _) = match verdict.map(|verdict| &verdict.observed) {
            Some(observed) => (
                &observed.stalls,
                observed.rate_per_s.as_ref().map(|rate| rate.value).or(observed.whole_rate_per_s),
            ),
            None => (&[], None),
        };
        let interval = match is_open {
            true => Err(OmissionLimit::Open),
            false => omission::user_interval(&self.series, self.users_max, self.total.service.p50 / 1e3),
        };
        omission::omission(times, interval, stalls, rate_per_s)
    }
}
