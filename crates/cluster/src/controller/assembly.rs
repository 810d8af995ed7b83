//! The assembly of a run: agents are found, claimed and prepared before any request is sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Subscriber;
use busyhour_arrivals::LoadShare;
use busyhour_launch::Prepared;
use busyhour_program::clock::{Clock, monotonic_ns};
use futures_util::StreamExt as _;
use futures_util::future::join_all;

use super::attachment::StoredRun;
use super::claims::{claim, suitable, too_few};
use super::collect::fetched_end;
use super::incoming::{acknowledge, agent_of};
use super::member::Member;
use super::plan_files::{PlanFiles, remove_parts, serve};
use super::preparation::{Preparation, Seat};
use super::replacement::Recruiting;
use super::settings::{ControllerSettings, OnAgentLoss};
use crate::connection::{Role, Say, connect};
use crate::error::ClusterError;
use crate::list::call;
use crate::messages::{AgentInfo, Order, Report};
use crate::orders::{Orders, after, signing_key};
use crate::subjects;
use crate::wire::decode;

/// Time for an agent to answer another controller.
const ATTACH: Duration = Duration::from_secs(6);

/// Interval at which agents are called while too few are free.
const CALL_AGAIN: Duration = Duration::from_millis(500);

/// Maximum time for the preparation of a run on an agent.
const PREPARATION: Duration = Duration::from_secs(120);

/// Time over which the agents spread the messages with their seconds, in ms.
const PHASES_MS: u64 = 400;

/// A run whose agents are ready.
pub(super) struct Assembled {
    pub(super) orders: Arc<Orders>,
    pub(super) members: Vec<Member>,
    pub(super) reports: Subscriber,
    /// The task that sends the files of the plan.
    pub(super) serving: tokio::task::JoinHandle<()>,
    /// What further agents need; `None` if the shares of lost agents are not given to others.
    pub(super) recruiting: Option<Recruiting>,
}

/// Finds, claims and prepares agents.
pub(super) async fn assemble(
    prepared: &Prepared,
    settings: &ControllerSettings,
    say: &Say,
) -> Result<Assembled, ClusterError> {
    let run = run_name(prepared);
    let client = connect(&settings.invitation, Role::Controller, &run, Arc::clone(say)).await?;
    let key = signing_key(&settings.invitation)?;
    let subscribed = |subject| client.subscribe(subject);
    let failed = |error: async_nats::SubscribeError| ClusterError::message("subscribe", error);
    let mut reports = subscribed(subjects::up_all(&run)).await.map_err(failed)?;
    let requests = subscribed(subjects::files(&run)).await.map_err(failed)?;
    client.flush().await.map_err(|error| ClusterError::message("subscribe", error))?;
    let orders = Arc::new(Orders { client: client.clone(), key, run });
    let mut members = claim_agents(&orders, settings, prepared, say).await?;
    let files = match PlanFiles::of(prepared, settings.csv_rows, members.len()) {
        Ok(files) => Arc::new(files),
        Err(error) => {
            release(&orders, &members).await;
            return Err(error);
        }
    };
    let preparation = match Preparation::of(prepared, settings) {
        Ok(preparation) => preparation,
        Err(error) => {
            release(&orders, &members).await;
            return Err(error);
        }
    };
    files.tell(say);
    let serving = tokio::spawn(serve(client, requests, Arc::clone(&files)));
    let readied = ready(&orders, &mut members, &mut reports, prepared, &preparation, &files).await;
    let recruiting =
        (settings.on_loss == OnAgentLoss::Redistribute).then(|| Recruiting { preparation, files });
    if readied.is_err() || recruiting.is_none() {
        remove_parts(prepared.dir().path());
    }
    if let Err(error) = readied {
        serving.abort();
        release(&orders, &members).await;
        return Err(error);
    }
    Ok(Assembled { orders, members, reports, serving, recruiting })
}

/// Finds the agents of a run whose controller has ended. They repeat their reports, apart from the seconds that the other
/// controller has acknowledged.
pub(super) async fn attach(
    prepared: &Prepared,
    stored: &StoredRun,
    settings: &ControllerSettings,
    say: &Say,
) -> Result<Assembled, ClusterError> {
    let run = stored.state.run.clone();
    let client = connect(&settings.invitation, Role::Controller, &run, Arc::clone(say)).await?;
    let failed = |error: async_nats::SubscribeError| ClusterError::message("subscribe", error);
    let reports = client.subscribe(subjects::up_all(&run)).await.map_err(failed)?;
    client.flush().await.map_err(|error| ClusterError::message("subscribe", error))?;
    let orders = Arc::new(Orders { client, key: signing_key(&settings.invitation)?, run });
    let mut members = stored.members();
    let now = prepared.clock().now().0;
    let asked = members.iter_mut().map(|member| {
        let orders = Arc::clone(&orders);
        async move {
            member.last_message_ns = now;
            // Agents that were released before the other controller ended have no part in the run any more.
            member.end = fetched_end(prepared.dir().path(), member);
            if member.end.is_some() {
                return;
            }
            match orders.give(&member.info.id, &Order::Repeat, ATTACH).await {
                Ok(_) => {
                    let _ = member.update_clock(&orders, prepared.clock()).await;
                }
                Err(error) => {
                    member.failure = Some(format!("it does not work for the run any more: {error}"))
                }
            }
        }
    });
    join_all(asked).await;
    let working = members.iter().filter(|member| member.failure.is_none()).count();
    if working == 0 {
        return Err(ClusterError::Agents(format!(
            "none of the {} agents works for this run any more; they keep their records, see `cluster list`",
            members.len()
        )));
    }
    say(&format!("{working} of {} agents still work for the run", members.len()));
    let serving = tokio::spawn(async {});
    // The request for further agents is not stored, because it contains secrets.
    Ok(Assembled { orders, members, reports, serving, recruiting: None })
}

/// The identifier of the run: the name of its directory, with a random part.
fn run_name(prepared: &Prepared) -> String {
    let name = prepared.dir().path().file_name().map(|name| name.to_string_lossy().into_owned());
    format!("{}-{}", subjects::token(&name.unwrap_or_default()), subjects::random_token())
}

/// Releases all agents of a run that does not start.
pub(super) async fn release(orders: &Orders, members: &[Member]) {
    let order = Order::Release { is_complete: true };
    let releases = members.iter().map(|member| orders.give(&member.info.id, &order, Duration::from_secs(1)));
    join_all(releases).await;
}

/// Claims the agents of the run: the number that is requested, or all that are free.
async fn claim_agents(
    orders: &Orders,
    settings: &ControllerSettings,
    prepared: &Prepared,
    say: &Say,
) -> Result<Vec<Member>, ClusterError> {
    let wanted = settings.agents.unwrap_or(1).max(1);
    let deadline_ns = after(settings.wait);
    let mut is_told = false;
    let mut claimed: Vec<AgentInfo> = Vec::new();
    loop {
        if prepared.control().is_requested() {
            release(orders, &members_of(claimed, false)?).await;
            return Err(ClusterError::Stopped);
        }
        let found = call(&orders.client).await?;
        let mut suitable = suitable(&found, settings);
        suitable.retain(|agent| !claimed.iter().any(|known| known.id == agent.id));
        for agent in suitable {
            if settings.agents.is_some_and(|agents| claimed.len() >= agents) {
                break;
            }
            if claim(orders, &agent).await? {
                claimed.push(agent);
            }
        }
        if claimed.len() >= wanted {
            break;
        }
        if monotonic_ns() >= deadline_ns {
            let reason = too_few(&found, &claimed, wanted, settings);
            release(orders, &members_of(claimed, false)?).await;
            return Err(ClusterError::Agents(reason));
        }
        if !std::mem::replace(&mut is_told, true) {
            say(&format!("waiting for agents: {} of {wanted} are ready", claimed.len()));
        }
        tokio::time::sleep(CALL_AGAIN).await;
    }
    claimed.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    members_of(claimed, settings.weighs_cores)
}

/// The agents with their shares of the load: equal ones, or in proportion to their cores.
fn members_of(claimed: Vec<AgentInfo>, weighs_cores: bool) -> Result<Vec<Member>, ClusterError> {
    if claimed.is_empty() {
        return Ok(Vec::new());
    }
    let weight = |agent: &AgentInfo| if weighs_cores { u64::from(agent.cores.max(1)) } else { 1 };
    let weights: Vec<u64> = claimed.iter().map(weight).collect();
    let shares = LoadShare::WHOLE.divide(&weights)?;
    Ok(claimed.into_iter().zip(shares).map(|(info, share)| Member::new(info, share)).collect())
}

/// Prepares the run on all agents and waits until they are ready.
async fn ready(
    orders: &Orders,
    members: &mut [Member],
    reports: &mut Subscriber,
    prepared: &Prepared,
    preparation: &Preparation,
    files: &PlanFiles,
) -> Result<(), ClusterError> {
    let clock = prepared.clock();
    let count = members.len() as u64;
    let set_up = (0..).zip(members.iter_mut()).map(|(number, member): (u64, &mut Member)| {
        let files = files.facts(number as usize);
        member.seat = number as usize;
        async move {
            let (offset, longest) = orders.read_clock(&member.info.id, clock).await?;
            member.origin_ns = offset.offset_ns;
            member.round_trip_ns = longest;
            member.clock.add(crate::clock_table::ClockOffset { offset_ns: 0, ..offset });
            let order = preparation.order(Seat {
                share: member.share.clone(),
                files,
                origin_ns: member.origin_ns,
                phase_ms: number * PHASES_MS / count.max(1),
                joins: false,
            });
            orders.give(&member.info.id, &Order::Prepare(Box::new(order)), Duration::from_secs(10)).await
        }
    });
    for answer in join_all(set_up).await {
        answer?;
    }
    wait_until_ready(orders, members, reports, prepared, clock).await
}

async fn wait_until_ready(
    orders: &Orders,
    members: &mut [Member],
    reports: &mut Subscriber,
    prepared: &Prepared,
    clock: &Clock,
) -> Result<(), ClusterError> {
    let mut waiting: BTreeMap<String, String> =
        members.iter().map(|member| (member.info.id.clone(), member.info.name.clone())).collect();
    let deadline_ns = after(PREPARATION);
    while !waiting.is_empty() {
        if prepared.control().is_requested() {
            return Err(ClusterError::Stopped);
        }
        if monotonic_ns() >= deadline_ns {
            let names: Vec<&str> = waiting.values().map(String::as_str).collect();
            return Err(ClusterError::Agents(format!(
                "no request was sent: the agents {} were not ready after {} s",
                names.join(", "),
                PREPARATION.as_secs()
            )));
        }
        let next = tokio::time::timeout(Duration::from_millis(100), reports.next()).await;
        let Ok(Some(message)) = next else { continue };
        acknowledge(&orders.client, &message).await;
        let Some(id) = agent_of(&message.subject) else { continue };
        match decode::<Report>(&message.payload) {
            Ok(Report::Ready) => {
                waiting.remove(id);
            }
            Ok(Report::Failed { reason }) => {
                let agent = waiting.get(id).cloned().unwrap_or_else(|| id.to_owned());
                return Err(ClusterError::Refused { agent, reason });
            }
            _ => {}
        }
        let now = clock.now().0;
        members
            .iter_mut()
            .filter(|member| member.info.id == id)
            .for_each(|member| member.last_message_ns = now);
    }
    let now = clock.now().0;
    members.iter_mut().for_each(|member| member.last_message_ns = now);
    Ok(())
}
