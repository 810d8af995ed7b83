//! The identity of a simulated agent, and its connection.

use std::path::PathBuf;
use std::sync::Arc;

use async_nats::{Client, Message};

use super::load::Templates;
use crate::subjects;
use crate::wire::encode;

/// A simulated agent.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) client: Client,
    pub(super) id: String,
    /// The public keys of the controllers whose orders it accepts.
    pub(super) trusted: Vec<String>,
    /// Its number among the simulated agents, from 0.
    pub(super) number: usize,
    /// Directory for its records; `None` to write none.
    pub(super) dir: Option<PathBuf>,
    pub(super) templates: Arc<Templates>,
}

impl Site {
    pub(super) fn new(
        client: Client,
        trusted: Vec<String>,
        number: usize,
        dir: Option<PathBuf>,
        templates: Arc<Templates>,
    ) -> Site {
        let id = format!("{}-{}", name(number), subjects::random_token());
        let dir = dir.map(|dir| dir.join(name(number)));
        Site { client, id, trusted, number, dir, templates }
    }

    /// The name of the agent.
    pub(super) fn name(&self) -> String {
        name(self.number)
    }

    /// Sends the answer to a message.
    pub(super) async fn reply<T: serde::Serialize>(&self, to: &Message, answer: &T) {
        if let (Some(inbox), Ok(bytes)) = (&to.reply, encode(answer)) {
            let _ = self.client.publish(inbox.clone(), bytes.into()).await;
        }
    }
}

/// The name of an agent. The order of names is that of the numbers.
fn name(number: usize) -> String {
    format!("sim{number:05}")
}
