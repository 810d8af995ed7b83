//! Gives the share of a lost agent to an agent that is free.

use std::sync::Arc;
use std::time::Duration;

use busyhour_arrivals::LoadShare;
use tokio::sync::mpsc::UnboundedSender;

use super::claims::{claim, suitable};
use super::member::Member;
use super::plan_files::PlanFiles;
use super::preparation::{Preparation, Seat};
use super::settings::ControllerSettings;
use crate::clock_table::ClockOffset;
use crate::error::ClusterError;
use crate::list::call;
use crate::messages::Order;
use crate::orders::Orders;

/// Interval at which free agents are called.
const CALL_AGAIN: Duration = Duration::from_secs(1);

/// Time in ns, beyond the lease, after which a silent agent has certainly stopped its part of the load.
pub(super) const AFTER_LEASE_NS: u64 = 2_000_000_000;

/// Time in ns between the order to a joining agent and its first request.
pub(super) const JOIN_NS: u64 = 1_500_000_000;

/// The data for preparing further agents during a run.
#[derive(Clone)]
pub(super) struct Recruiting {
    pub(super) preparation: Preparation,
    pub(super) files: Arc<PlanFiles>,
}

/// A share that needs an agent.
#[derive(Clone, Debug)]
pub(super) struct Vacancy {
    /// The number of the lost agent.
    pub(super) lost: usize,
    /// The number of the share, which determines its rows of CSV files.
    pub(super) seat: usize,
    pub(super) share: LoadShare,
}

/// Waits for a free agent and prepares the run on it. Sends it to `found`; it reports when it is ready.
pub(super) async fn recruit(
    orders: Arc<Orders>,
    settings: ControllerSettings,
    recruiting: Recruiting,
    vacancy: Vacancy,
    found: UnboundedSender<Member>,
) {
    loop {
        if let Ok(Some(member)) = try_recruit(&orders, &settings, &recruiting, &vacancy).await {
            let _ = found.send(member);
            return;
        }
        tokio::time::sleep(CALL_AGAIN).await;
    }
}

async fn try_recruit(
    orders: &Arc<Orders>,
    settings: &ControllerSettings,
    recruiting: &Recruiting,
    vacancy: &Vacancy,
) -> Result<Option<Member>, ClusterError> {
    let found = call(&orders.client).await?;
    for agent in suitable(&found, settings) {
        if !claim(orders, &agent).await? {
            continue;
        }
        let mut member = Member::new(agent, vacancy.share.clone());
        member.seat = vacancy.seat;
        member.replaces = Some(vacancy.lost);
        let (offset, longest) = orders.read_clock(&member.info.id, &recruiting.preparation.clock).await?;
        member.origin_ns = offset.offset_ns;
        member.round_trip_ns = longest;
        member.clock.add(ClockOffset { offset_ns: 0, ..offset });
        let order = recruiting.preparation.order(Seat {
            share: vacancy.share.clone(),
            files: recruiting.files.facts(vacancy.seat),
            origin_ns: member.origin_ns,
            phase_ms: 0,
            joins: true,
        });
        orders.give(&member.info.id, &Order::Prepare(Box::new(order)), Duration::from_secs(10)).await?;
        return Ok(Some(member));
    }
    Ok(None)
}
