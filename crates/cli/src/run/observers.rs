//! Subscribers of a run: thresholds, exports and the live view.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use busyhour_export::{NowMs, Origin, UserCounts};
use busyhour_program::run::RunShared;
use busyhour_record::SnapshotSender;

use crate::export::Exports;
use crate::live::{Live, Steered, View};
use crate::run::prepare::Prepared;
use crate::run::refusal::Refusal;
use crate::run_request::RunRequest;
use crate::stop_signals::StopRequests;
use crate::terminal_view;
use crate::thresholds::{StopOrders, Watch};

/// The subscribers of a run.
pub(crate) struct Observers {
    pub(crate) thresholds: Option<Watch>,
    /// Stop requests of the thresholds.
    pub(crate) orders: Option<StopOrders>,
    pub(crate) exports: Exports,
    pub(crate) live: Option<Live>,
    /// Whether the terminal shows a full screen.
    pub(crate) with_screen: bool,
}

impl Observers {
    /// Starts the subscribers; the senders are for the recorder.
    pub(crate) fn start(
        request: &RunRequest,
        prepared: &Prepared,
        stops: &StopRequests,
        length: Option<Duration>,
    ) -> Result<(Self, Vec<SnapshotSender>), Refusal> {
        let Prepared { started, manifest, dir, .. } = prepared;
        let criteria = &request.thresholds.criteria;
        let (thresholds, seconds, orders) = match Watch::start(criteria).map_err(Refusal::internal)? {
            Some((watch, seconds, orders)) => (Some(watch), Some(seconds), Some(orders)),
            None => (None, None, None),
        };
        let plan = [&manifest.plan.name, &manifest.plan.path].into_iter().find(|name| !name.is_empty());
        let (exports, mut senders) = Exports::start(
            &request.exports,
            &started.backends,
            plan.map_or("run", String::as_str),
            Origin { wall_anchor_ms: manifest.wall_anchor_ms },
            &now_ms(&started.shared),
            &user_counts(&started.shared),
        )
        .map_err(Refusal::usage)?;
        senders.extend(seconds);
        let with_screen = shows_screen(request)?;
        let mut live = None;
        if with_screen || request.live.live.is_some() {
            let steered = Steered::new(started, stops, length, dir, manifest);
            let (started_live, seconds) =
                Live::start(&request.live, criteria, started, steered).map_err(Refusal::usage)?;
            senders.push(seconds);
            live = Some(started_live);
        }
        Ok((Self { thresholds, orders, exports, live, with_screen }, senders))
    }
}

/// The numbers of users that have started and finished.
fn user_counts(shared: &Arc<RunShared>) -> UserCounts {
    let shared = Arc::clone(shared);
    Arc::new(move || Some((shared.started.load(Relaxed), shared.finished.load(Relaxed))))
}

/// The clock of the run in milliseconds since 1970.
fn now_ms(shared: &Arc<RunShared>) -> NowMs {
    let clock = shared.clock.clone();
    Arc::new(move || i64::try_from(clock.wall_ms(clock.now())).unwrap_or(i64::MAX))
}

fn shows_screen(request: &RunRequest) -> Result<bool, Refusal> {
    match (request.live.view, terminal_view::reason_against()) {
        (View::Lines, _) => Ok(false),
        // JMeter's command line prints JMeter's lines.
        (View::Auto, why) => Ok(why.is_none() && !request.as_jmeter),
        (View::Screen, None) => Ok(true),
        (View::Screen, Some(why)) => Err(Refusal::usage(format!("--view screen: {why}"))),
    }
}
