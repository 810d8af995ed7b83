//! Orders to the agents of a run, and readings of their clocks.

use std::time::Duration;

use async_nats::{Client, Request};
use busyhour_program::clock::{Clock, monotonic_ns};
use nkeys::KeyPair;
use tokio::sync::Semaphore;

use crate::clock_table::{ClockOffset, Exchange, best_offset};
use crate::error::ClusterError;
use crate::invitation::Invitation;
use crate::messages::{AgentAnswer, AgentRequest, ClockReading, Order, OrderAnswer};
use crate::parts::part_of_message;
use crate::seal::seal;
use crate::subjects;
use crate::wire::decode;

/// Time to wait for the answer to an order before it is repeated.
const ANSWER: Duration = Duration::from_secs(2);

/// Pause before an order is repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// Number of exchanges for one estimate of an offset.
const EXCHANGES: usize = 16;

/// The clocks that are read at the same time. With more, messages wait for one another, and the bounds of the offsets grow.
static READINGS: Semaphore = Semaphore::const_new(16);

/// The key that signs orders: that of the invitation, or a new one without authentication.
///
/// # Errors
/// The key of the invitation is not valid.
pub(crate) fn signing_key(invitation: &Invitation) -> Result<KeyPair, ClusterError> {
    match &invitation.seed {
        Some(seed) => KeyPair::from_seed(seed)
            .map_err(|error| ClusterError::Invitation(format!("the key of the invitation: {error}"))),
        None => Ok(KeyPair::new_user()),
    }
}

/// The time after this duration, by the clock of the process in ns.
pub(crate) fn after(duration: Duration) -> u64 {
    monotonic_ns().saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Gives orders.
pub(crate) struct Orders {
    pub(crate) client: Client,
    /// Signs the orders.
    pub(crate) key: KeyPair,
    pub(crate) run: String,
}

impl Orders {
    /// Gives an order and repeats it until it is answered or `patience` is over.
    ///
    /// # Errors
    /// There is no answer, or the agent refuses.
    pub(crate) async fn give(
        &self,
        agent: &str,
        order: &Order,
        patience: Duration,
    ) -> Result<OrderAnswer, ClusterError> {
        let what = || format!("the order to the agent {agent}");
        let recipient = format!("{}/{agent}", self.run);
        let bytes =
            seal(&self.key, &recipient, order).map_err(|error| ClusterError::message(what(), error))?;
        let deadline_ns = after(patience);
        loop {
            let request = Request::new().payload(bytes.clone().into()).timeout(Some(ANSWER.min(patience)));
            let cause = match self.client.send_request(subjects::down(&self.run, agent), request).await {
                Ok(answer) => match decode(&answer.payload) {
                    Ok(OrderAnswer::Refused { reason }) => {
                        return Err(ClusterError::Refused { agent: agent.to_owned(), reason });
                    }
                    Ok(answer) => return Ok(answer),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            if monotonic_ns() >= deadline_ns {
                return Err(ClusterError::message(what(), cause));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Sends a request to an agent that works for no run.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) async fn ask(&self, agent: &str, request: &AgentRequest) -> Result<AgentAnswer, ClusterError> {
        let what = || format!("the request to the agent {agent}");
        let bytes = seal(&self.key, agent, request).map_err(|error| ClusterError::message(what(), error))?;
        let request = Request::new().payload(bytes.into()).timeout(Some(2 * ANSWER));
        let answer = self.client.send_request(subjects::agent(agent), request).await;
        let answer = answer.map_err(|error| ClusterError::message(what(), error))?;
        decode(&answer.payload).map_err(|error| ClusterError::message(what(), error))
    }

    /// Estimates the difference between the clock of an agent's process and the clock of the run. Also returns the longest round
    /// trip in ns.
    ///
    /// # Errors
    /// The agent does not answer.
    pub(crate) async fn read_clock(
        &self,
        agent: &str,
        clock: &Clock,
    ) -> Result<(ClockOffset, u64), ClusterError> {
        // The semaphore is never closed.
        let _reading = READINGS.acquire().await;
        let now = || i64::try_from(clock.now().0).unwrap_or(i64::MAX);
        let there = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        for _ in 0..EXCHANGES {
            let sent = now();
            let answer = self.give(agent, &Order::Clock, ANSWER).await?;
            let received = now();
            if let OrderAnswer::Clock(ClockReading { received_ns, sent_ns, .. }) = answer {
                let (received_there, answered_there) = (there(received_ns), there(sent_ns));
                exchanges.push(Exchange { sent, received_there, answered_there, received });
            }
        }
        let longest = exchanges.iter().map(|exchange| exchange.received - exchange.sent).max().unwrap_or(0);
        let offset = best_offset(&exchanges)
            .ok_or_else(|| ClusterError::message(format!("the clock of the agent {agent}"), "no answer"))?;
        Ok((offset, u64::try_from(longest).unwrap_or(0)))
    }

    /// Fetches a part of a file of an agent's record.
    ///
    /// # Errors
    /// There is no answer, or the agent cannot read the file.
    pub(crate) async fn fetch(&self, agent: &str, file: &str, from: u64) -> Result<Vec<u8>, String> {
        let order = Order::Fetch { file: file.to_owned(), from };
        let recipient = format!("{}/{agent}", self.run);
        let bytes = seal(&self.key, &recipient, &order).map_err(|error| error.to_string())?;
        let request = Request::new().payload(bytes.into()).timeout(Some(5 * ANSWER));
        let answer = self.client.send_request(subjects::down(&self.run, agent), request).await;
        part_of_message(&answer.map_err(|error| error.to_string())?.payload)
    }
}
