//! A simulated agent that waits for runs.

use async_nats::{Message, Subscriber};
use busyhour_program::clock::monotonic_ns;
use futures_util::StreamExt as _;

use super::run::work;
use super::site::Site;
use crate::error::ClusterError;
use crate::messages::{AgentAnswer, AgentInfo, AgentRequest, ClockReading, PROTOCOL};
use crate::{seal, subjects};

/// Calls to all agents, and requests to this one.
pub(super) struct Subscriptions {
    calls: Subscriber,
    requests: Subscriber,
}

/// Subscribes to calls and requests.
///
/// # Errors
/// The connection is closed.
pub(super) async fn subscribe(site: &Site) -> Result<Subscriptions, ClusterError> {
    let failed = |error: async_nats::SubscribeError| ClusterError::message("subscribe", error);
    let calls = site.client.subscribe(subjects::CALL).await.map_err(failed)?;
    let requests = site.client.subscribe(subjects::agent(&site.id)).await.map_err(failed)?;
    Ok(Subscriptions { calls, requests })
}

/// Works for one run after the other, until the process ends.
pub(super) async fn serve(site: Site, mut subscriptions: Subscriptions) {
    let mut run: Option<(String, tokio::task::JoinHandle<()>)> = None;
    loop {
        tokio::select! {
            Some(call) = subscriptions.calls.next() => {
                forget_ended(&mut run);
                let run = run.as_ref().map(|(run, _)| run.clone());
                site.reply(&call, &info(&site, run)).await;
            }
            Some(request) = subscriptions.requests.next() => {
                forget_ended(&mut run);
                answer(&site, &request, &mut run).await;
            }
            else => return,
        }
    }
}

fn forget_ended(run: &mut Option<(String, tokio::task::JoinHandle<()>)>) {
    if run.as_ref().is_some_and(|(_, work)| work.is_finished()) {
        *run = None;
    }
}

fn info(site: &Site, run: Option<String>) -> AgentInfo {
    AgentInfo {
        id: site.id.clone(),
        name: site.name(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        cores: 1,
        run,
        ..AgentInfo::default()
    }
}

async fn answer(site: &Site, request: &Message, run: &mut Option<(String, tokio::task::JoinHandle<()>)>) {
    let received_ns = monotonic_ns();
    let answer = match seal::open::<AgentRequest>(&site.trusted, &site.id, &request.payload) {
        Ok(AgentRequest::Clock) => AgentAnswer::Clock(ClockReading::since(received_ns)),
        Ok(AgentRequest::Claim { run: wanted, .. }) => match run {
            Some((known, _)) if *known == wanted => AgentAnswer::Claimed,
            Some((other, _)) => AgentAnswer::Busy { run: other.clone() },
            None => match start(site, &wanted).await {
                Ok(work) => {
                    *run = Some((wanted, work));
                    AgentAnswer::Claimed
                }
                Err(error) => AgentAnswer::Refused { reason: error.to_string() },
            },
        },
        Err(error) => AgentAnswer::Refused { reason: error.to_string() },
    };
    site.reply(request, &answer).await;
}

/// Starts to work for a run. The orders are subscribed to before the claim is answered, so that none is missed.
async fn start(site: &Site, run: &str) -> Result<tokio::task::JoinHandle<()>, ClusterError> {
    let failed = |error: async_nats::SubscribeError| ClusterError::message("subscribe", error);
    let orders = site.client.subscribe(subjects::down(run, &site.id)).await.map_err(failed)?;
    let all = site.client.subscribe(subjects::down_all(run)).await.map_err(failed)?;
    site.client.flush().await.map_err(|error| ClusterError::message("subscribe", error))?;
    Ok(tokio::spawn(work(site.clone(), run.to_owned(), orders, all)))
}
