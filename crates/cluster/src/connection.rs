//! Connections to the NATS server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::error::ClusterError;
use crate::invitation::Invitation;

/// Interval at which the client checks the connection. After two unanswered checks, the connection is lost.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time for one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of messages that wait for a subscriber. Beyond, the client discards messages.
const SUBSCRIPTION_CAPACITY: usize = 1 << 18;

/// Receives messages for the user.
pub(crate) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// The role of a client, which determines the subjects of the answers that it may receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Agent,
    Controller,
}

impl Role {
    /// The start of the subjects of answers. The permissions of the hub refer to it.
    pub(crate) const fn inbox(self) -> &'static str {
        match self {
            Role::Agent => "_INBOX_agent",
            Role::Controller => "_INBOX_controller",
        }
    }
}

/// Connects to a server. After a lost connection, the client connects again by itself.
///
/// # Errors
/// The server cannot be reached, or refuses the invitation.
pub(crate) async fn connect(
    invitation: &Invitation,
    role: Role,
    name: &str,
    say: Say,
) -> Result<Client, ClusterError> {
    let failed = |cause: String| ClusterError::Connect { url: invitation.url.clone(), cause };
    let is_lost = Arc::<AtomicBool>::default();
    let mut options = ConnectOptions::new()
        .name(name)
        .custom_inbox_prefix(role.inbox())
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_TIMEOUT)
        .subscription_capacity(SUBSCRIPTION_CAPACITY)
        .ignore_discovered_servers()
        .reconnect_delay_callback(|attempts| Duration::from_millis((50 << attempts.min(5)).min(1_000)))
        .event_callback(move |event| {
            let (say, is_lost) = (Arc::clone(&say), Arc::clone(&is_lost));
            async move { tell(&event, &is_lost, &say) }
        });
    if let Some(seed) = &invitation.seed {
        options = options.nkey(seed.clone());
    }
    if let Some(ca) = &invitation.ca {
        options = options.require_tls(true).tls_client_config(tls_config(ca).map_err(failed)?);
    } else if invitation.url.starts_with("tls://") {
        options = options.require_tls(true);
    }
    options.connect(invitation.url.as_str()).await.map_err(|error| failed(causes(&error)))
}

/// Reports events that a user can act on.
fn tell(event: &Event, is_lost: &AtomicBool, say: &Say) {
    match event {
        Event::Disconnected => {
            is_lost.store(true, Ordering::Relaxed);
            say("warning: the connection to the NATS server is lost; connecting again");
        }
        Event::Connected if is_lost.swap(false, Ordering::Relaxed) => {
            say("connected to the NATS server again");
        }
        Event::Connected => {}
        Event::SlowConsumer(_) => say("warning: messages were discarded, because this machine is too slow"),
        Event::ServerError(error) => say(&format!("warning: the NATS server reports: {error}")),
        Event::ClientError(_) | Event::LameDuckMode | Event::Draining | Event::Closed => {}
    }
}

/// An error with its causes in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The configuration for a server whose certificate was issued by `ca` (PEM).
fn tls_config(ca: &str) -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        let certificate = certificate.map_err(|error| format!("the certificate authority: {error}"))?;
        roots.add(certificate).map_err(|error| format!("the certificate authority: {error}"))?;
    }
    if roots.is_empty() {
        return Err("the certificate authority of the invitation contains no certificate".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
