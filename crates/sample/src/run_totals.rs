//! The totals of a whole run.

use crate::apdex_limits::ApdexLimits;
use crate::error_kinds::ErrorKind;
use crate::group_totals::{GroupTotals, name_groups};
use crate::nanos::Nanos;
use crate::over_time::Heat;
use crate::recorder_event::RecorderEvent;
use crate::run_names::RunNames;
use crate::second_point::SecondPoint;
use crate::slowest::SlowRequest;
use crate::starts::SecondCounts;
use crate::totals::{LabelTotals, OutsideWindow, Totals};
use crate::user_counts::UsersOverTime;

/// All totals of a run.
#[derive(Debug, Clone)]
pub struct RunTotals {
    /// Totals of all requests, without the samples of transaction controllers and without sub-results.
    pub total: Totals,
    /// Totals of each label and kind, in order of first appearance.
    pub labels: Vec<LabelTotals>,
    /// Totals of each thread group, in the order of their numbers, if several groups have requests; empty otherwise.
    pub groups: Vec<GroupTotals>,
    /// The thread groups of the samples, as indices into [`crate::RunNames::groups`].
    pub active_groups: Vec<u32>,
    /// The kinds of error among the requests, most frequent first; at most [`crate::ERROR_KINDS_MAX`].
    pub errors: Vec<ErrorKind>,
    /// Number of errors of kinds beyond that limit.
    pub errors_other: u64,
    /// One point for each second in which a request ended.
    pub seconds: Vec<SecondPoint>,
    /// Response times of requests over the run; `None` when no request ended.
    pub heat: Option<Heat>,
    /// The slowest requests, slowest first.
    pub slowest: Vec<SlowRequest>,
    /// Number of requests that started in each second; `None` if start times are too far apart to be counted.
    pub started: Option<SecondCounts>,
    /// Active users at the end of each second.
    pub users: UsersOverTime,
    /// The earliest start of any sample, inside or outside the window; `Nanos::MAX` without samples.
    pub first_start: Nanos,
    /// Number of arrivals of open workloads by the second of their scheduled time; `None` without open workloads.
    pub offered: Option<SecondCounts>,
    /// The limits for [`Totals::satisfied`] and [`Totals::tolerated`].
    pub apdex: ApdexLimits,
    /// The window in which samples are counted, and the numbers of requests outside it; `None` if all samples are counted. Time
    /// series contain all samples.
    pub window: Option<OutsideWindow>,
    /// Number of samples before the measured part. They are excluded from all other figures.
    pub warmup_samples: u64,
    /// Number of samples that reached the recorder after their second was closed. They are included in all totals; in the
    /// series, they are in a later second.
    pub late_samples: u64,
    /// Number of samples that are counted under [`crate::OTHER_LABELS`].
    pub other_label_samples: u64,
    /// Errors of the recorder.
    pub events: Vec<RecorderEvent>,
}

impl RunTotals {
    /// The totals of a run without samples.
    pub fn empty() -> RunTotals {
        RunTotals {
            total: Totals::new(),
            labels: Vec::new(),
            groups: Vec::new(),
            active_groups: Vec::new(),
            errors: Vec::new(),
            errors_other: 0,
            seconds: Vec::new(),
            heat: None,
            slowest: Vec::new(),
            started: None,
            users: UsersOverTime::default(),
            first_start: Nanos::MAX,
            offered: None,
            apdex: ApdexLimits::default(),
            window: None,
            warmup_samples: 0,
            late_samples: 0,
            other_label_samples: 0,
            events: Vec::new(),
        }
    }

    /// Sets the names of the thread groups; removes the totals by group if there is only one.
    pub fn name_groups(&mut self, names: &RunNames) {
        self.groups = name_groups(std::mem::take(&mut self.groups), names);
    }

    /// Makes all times relative to an origin that is `seconds` later, so that they become smaller.
    pub fn move_origin(&mut self, seconds: u64) {
        let ns = Nanos::from_secs(seconds).0;
        self.users.move_origin(seconds);
        if self.first_start < Nanos::MAX {
            self.first_start = self.first_start - ns;
        }
        let rows = self.labels.iter_mut().map(|label| &mut label.totals);
        let groups = self.groups.iter_mut().flat_map(GroupTotals::all_totals);
        for totals in rows.chain(groups).chain([&mut self.total]) {
            // The value is `Nanos::MAX` without samples.
            if totals.first_start < Nanos::MAX {
                totals.first_start = totals.first_start - ns;
            }
            totals.last_end = totals.last_end - ns;
        }
        for series in self.labels.iter_mut().filter_map(|label| label.series.as_mut()) {
            series.from_second = series.from_second.saturating_sub(seconds);
        }
        for slices in self.labels.iter_mut().filter_map(|label| label.slices.as_mut()) {
            slices.from_second = slices.from_second.saturating_sub(seconds);
        }
        for error in &mut self.errors {
            (error.first, error.last) = (error.first - ns, error.last - ns);
        }
        for point in &mut self.seconds {
            point.second = point.second.saturating_sub(seconds);
        }
        if let Some(heat) = &mut self.heat {
            heat.from_second = heat.from_second.saturating_sub(seconds);
        }
        for request in &mut self.slowest {
            request.start = request.start - ns;
        }
        for counts in [&mut self.started, &mut self.offered].into_iter().flatten() {
            counts.first = counts.first.saturating_sub(seconds);
        }
        if let Some(outside) = &mut self.window {
            outside.window = (outside.window.0 - ns, outside.window.1 - ns);
        }
    }
}
