//! An agent: waits for runs, and generates shares of their load.

mod gate;
mod idle;
mod plan_files;
pub(crate) mod reports;
mod run;
mod run_thread;
mod settings;
mod stop;
#[cfg(test)]
mod version_tests;

pub use settings::{AgentObserver, AgentSettings};
pub use stop::AgentStop;

use std::sync::{Arc, Mutex, PoisonError};

use async_nats::{Client, Message, Subscriber};
use busyhour_program::clock::monotonic_ns;
use futures_util::StreamExt as _;

use crate::connection::{Role, Say, connect};
use crate::error::ClusterError;
use crate::messages::{AgentAnswer, AgentInfo, AgentRequest, ClockReading, PROTOCOL};
use crate::seal;
use crate::subjects;
use crate::wire::encode;
use idle::IdleTime;
use run::{RunSite, work};

/// Maximum time to send the last messages.
const LAST_FLUSH: std::time::Duration = std::time::Duration::from_secs(1);

/// The agent's service: its connection and the run for which it works.
struct Service {
    settings: Arc<AgentSettings>,
    client: Client,
    id: String,
    say: Say,
    stop: AgentStop,
    /// The run for which it works; `None` if it is free.
    run: Arc<Mutex<Option<String>>>,
    idle: Arc<IdleTime>,
}

/// Connects an agent to its hub, and works for runs until it is stopped. Blocks the calling thread. `say` receives messages for
/// the user.
///
/// # Errors
/// The hub cannot be reached, or a thread cannot be started.
pub fn serve_agent(
    settings: AgentSettings,
    stop: &AgentStop,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), ClusterError> {
    // Runs change the working directory.
    let dir = std::path::absolute(&settings.dir).map_err(ClusterError::file(&settings.dir))?;
    let settings = AgentSettings { dir, ..settings };
    busyhour_launch::allow_only(settings.allowed_hosts.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("agent")
        .enable_all()
        .build()
        .map_err(ClusterError::Thread)?;
    let served = runtime.block_on(serve(settings, stop.clone(), Arc::new(say)));
    // A run thread that does not end must not keep the process alive.
    runtime.shutdown_background();
    served
}

async fn serve(settings: AgentSettings, stop: AgentStop, say: Say) -> Result<(), ClusterError> {
    let name = subjects::token(&settings.name);
    let id = format!("{name}-{}", subjects::random_token());
    let client = connect(&settings.invitation, Role::Agent, &id, Arc::clone(&say)).await?;
    let subscribe = |subject: String| {
        let client = client.clone();
        async move { client.subscribe(subject).await.map_err(|error| ClusterError::message("subscribe", error)) }
    };
    let mut calls = subscribe(subjects::CALL.to_owned()).await?;
    let mut requests = subscribe(subjects::agent(&id)).await?;
    client.flush().await.map_err(|error| ClusterError::message("subscribe", error))?;
    say(&format!("agent {} is waiting for work at {}", settings.name, settings.invitation.url));
    let idle = Arc::new(IdleTime::default());
    let service = Service { settings: Arc::new(settings), client, id, say, stop, run: Arc::default(), idle };
    let mut tick = tokio::time::interval(std::time::Duration::from_secs(1));
    loop {
        tokio::select! {
            Some(call) = calls.next() => service.answer_call(&call).await,
            Some(request) = requests.next() => service.answer(&request).await,
            _ = tick.tick() => service.idle.update(),
            () = service.stop.requested(1), if service.is_free() => break,
            () = service.stop.requested(2) => break,
            else => break,
        }
        if service.stop.count() > 0 && service.is_free() {
            break;
        }
    }
    // Without a connection, the client would wait for the next one.
    let _ = tokio::time::timeout(LAST_FLUSH, service.client.flush()).await;
    Ok(())
}

impl Service {
    fn current_run(&self) -> Option<String> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_free(&self) -> bool {
        self.current_run().is_none()
    }

    fn info(&self) -> AgentInfo {
        AgentInfo {
            id: self.id.clone(),
            name: self.settings.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            cores: u32::try_from(self.settings.core_count()).unwrap_or(u32::MAX),
            labels: self.settings.labels.clone(),
            idle_percent: self.idle.percent(),
            run: self.current_run(),
        }
    }

    async fn answer_call(&self, call: &Message) {
        if self.stop.count() == 0 {
            self.reply(call, &self.info()).await;
        }
    }

    /// Answers a request to this agent.
    async fn answer(&self, request: &Message) {
        let received_ns = monotonic_ns();
        let trusted = &self.settings.invitation.controllers;
        let answer = match seal::open::<AgentRequest>(trusted, &self.id, &request.payload) {
            Ok(AgentRequest::Clock) => AgentAnswer::Clock(ClockReading::since(received_ns)),
            Ok(AgentRequest::Claim { run, version, protocol }) => self.claim(&run, &version, protocol).await,
            Err(error) => {
                (self.say)(&format!("warning: refused a request: {error}"));
                AgentAnswer::Refused { reason: error.to_string() }
            }
        };
        self.reply(request, &answer).await;
    }

    async fn reply<T: serde::Serialize>(&self, to: &Message, answer: &T) {
        if let (Some(inbox), Ok(bytes)) = (&to.reply, encode(answer)) {
            let _ = self.client.publish(inbox.clone(), bytes.into()).await;
        }
    }

    /// Starts to work for a run.
    async fn claim(&self, run: &str, version: &str, protocol: u32) -> AgentAnswer {
        let refused = |reason: String| AgentAnswer::Refused { reason };
        if protocol != PROTOCOL || version != env!("CARGO_PKG_VERSION") {
            return refused(format!(
                "this agent has version {} (messages {PROTOCOL}), the controller {version} (messages {protocol}); use the \
                 same version of busyhour",
                env!("CARGO_PKG_VERSION")
            ));
        }
        if run.is_empty() || subjects::token(run) != run {
            return refused("the identifier of the run is not valid".to_owned());
        }
        {
            let mut current = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            match &*current {
                Some(known) if known == run => return AgentAnswer::Claimed,
                Some(other) => return AgentAnswer::Busy { run: other.clone() },
                None if self.stop.count() > 0 => return refused("it is about to end".to_owned()),
                None => *current = Some(run.to_owned()),
            }
        }
        match self.subscribe_to(run).await {
            Ok((orders, all)) => {
                let site = RunSite {
                    client: self.client.clone(),
                    run: run.to_owned(),
                    id: self.id.clone(),
                    settings: Arc::clone(&self.settings),
                    say: Arc::clone(&self.say),
                    stop: self.stop.clone(),
                };
                let current = Arc::clone(&self.run);
                let stop = self.stop.clone();
                let is_for_one_run = self.settings.is_for_one_run;
                tokio::spawn(async move {
                    work(site, orders, all).await;
                    if is_for_one_run {
                        stop.request();
                    }
                    *current.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    stop.check_again();
                });
                AgentAnswer::Claimed
            }
            Err(error) => {
                *self.run.lock().unwrap_or_else(PoisonError::into_inner) = None;
                refused(error.to_string())
            }
        }
    }

    /// Subscribes to the orders of a run before the claim is answered, so that no order is missed.
    async fn subscribe_to(&self, run: &str) -> Result<(Subscriber, Subscriber), ClusterError> {
        let failed = |error: &dyn std::fmt::Display| ClusterError::message("subscribe to the run", error);
        let orders =
            self.client.subscribe(subjects::down(run, &self.id)).await.map_err(|error| failed(&error))?;
        let all = self.client.subscribe(subjects::down_all(run)).await.map_err(|error| failed(&error))?;
        self.client.flush().await.map_err(|error| failed(&error))?;
        Ok((orders, all))
    }
}
