//! The senders of reports, and the acknowledgement.

use async_nats::Client;

/// The identifier of the agent that sent a report.
pub(super) fn agent_of(subject: &str) -> Option<&str> {
    subject.rsplit('.').next()
}

/// Acknowledges a report.
pub(super) async fn acknowledge(client: &Client, message: &async_nats::Message) {
    if let Some(inbox) = &message.reply {
        let _ = client.publish(inbox.clone(), Vec::new().into()).await;
    }
}
