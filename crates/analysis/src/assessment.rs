//! Reasons to doubt the numbers of a result file, as caveats and as a sentence.

mod doubt;

use busyhour_sample::{RunTotals, TimeHistogram};

use crate::arrivals::ARRIVALS_FOR_VERDICT;
use crate::caveat::Caveat;
use crate::result_file::{
    Omission, OmissionBounds, OmissionLimit, StartGap, mixed_labels, omission, percentile_interval,
    user_interval,
};
use crate::summary::Summary;

impl Summary {
    /// Adds the reasons to doubt the numbers of a result file. `totals` are the totals of the summary's run. `is_open` means that
    /// arrivals do not wait for responses.
    pub fn assess_result_file(&mut self, totals: &RunTotals, is_open: bool) {
        if self.total.samples == 0 {
            return;
        }
        let times = &totals.total.response.histogram;
        let mut found: Vec<Caveat> = Vec::new();
        if let Some(tool) = &self.run.other_tool {
            if tool.dropped > 0 {
                found.push(Caveat::NotStartedByTool { tool: tool.tool.clone(), dropped: tool.dropped });
            }
            if tool.is_without_failed {
                found.push(Caveat::FailedRequestsMissing { tool: tool.tool.clone() });
            }
        }
        let omission = self.omission(times, is_open);
        found.extend(omission.bounds.filter(OmissionBounds::is_material).map(Caveat::OmittedRequests));
        self.omission = Some(omission);
        if let Some(interval) = percentile_interval(times) {
            // The interval is more informative than the number of samples above the percentile.
            self.caveats.retain(|reported| !matches!(reported.caveat, Caveat::ThinTail { .. }));
            found.push(Caveat::FewSamplesBeyond(interval));
        }
        found.extend(
            mixed_labels(&self.labels, self.total.samples)
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
        let observed = verdict.map(|verdict| &verdict.observed);
        let stalls = observed.map_or(&[][..], |observed| &observed.stalls).iter();
        let stalls: Vec<StartGap> =
            stalls.map(|gap| StartGap { length_s: gap.length_s, backlog: gap.backlog }).collect();
        let rate_per_s = observed.and_then(|observed| {
            observed.rate_per_s.as_ref().map(|rate| rate.value).or(observed.whole_rate_per_s)
        });
        let series = &self.series;
        let starts = if series.started.is_empty() { &series.requests } else { &series.started };
        let interval = match is_open {
            true => Err(OmissionLimit::Open),
            false => user_interval(&self.series.users, starts, self.users_max, self.total.service.p50 / 1e3),
        };
        omission(times, interval, &stalls, rate_per_s)
    }
}
