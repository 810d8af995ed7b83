//! Invitations: everything that an agent or a controller needs to reach a hub, in one file or one line.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde::{Deserialize, Serialize};

use crate::error::ClusterError;

/// The start of an invitation that is written as one line.
const LINE_PREFIX: &str = "bh1_";

/// Maximum length of an invitation in bytes.
const INVITATION_BYTES_MAX: u64 = 64 << 10;

/// Access to a hub.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// The address, `tls://host:port` or `nats://host:port`.
    pub url: String,
    /// The certificate authority of the hub (PEM); `None` for the usual certificate authorities, or without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The secret key (nkey seed); `None` for a server without authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The public keys of the controllers whose orders an agent accepts; empty: those of all controllers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<String>,
}

impl std::fmt::Debug for Invitation {
    /// Does not show the secret key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Invitation {
    /// Reads the value of `--on` or `--join`: an address, a line that starts with `bh1_`, or the path of a file.
    ///
    /// # Errors
    /// The text is none of these, or the file cannot be read.
    pub fn read(text: &str) -> Result<Invitation, ClusterError> {
        let text = text.trim();
        if let Some(line) = text.strip_prefix(LINE_PREFIX) {
            let json = URL_SAFE_NO_PAD.decode(line).map_err(|_| damaged("the line is incomplete"))?;
            return parse(&json);
        }
        if text.starts_with("nats://") || text.starts_with("tls://") {
            return Invitation { url: text.to_owned(), ..Invitation::default() }.without_credentials();
        }
        let path = Path::new(text);
        match std::fs::metadata(path) {
            Ok(facts) if facts.len() > INVITATION_BYTES_MAX => Err(damaged("the file is too long")),
            Ok(_) => parse(&std::fs::read(path).map_err(ClusterError::file(path))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(ClusterError::Invitation(format!(
                    "{text:?} is neither an address (nats://host:4222, tls://host:4222), nor a line that starts with \
                 {LINE_PREFIX}, nor an existing file"
                )))
            }
            Err(source) => Err(ClusterError::file(path)(source)),
        }
    }

    /// Reads the value of `--join`, like [`Invitation::read`].
    ///
    /// # Errors
    /// As for [`Invitation::read`], or the invitation is for controllers.
    pub fn for_agent(text: &str) -> Result<Invitation, ClusterError> {
        let invitation = Invitation::read(text)?;
        match invitation.is_for_controllers()? {
            Some(true) => Err(ClusterError::Invitation(
                "this is the invitation for controllers; agents need the one for agents (agent.json)".into(),
            )),
            Some(false) | None => Ok(invitation),
        }
    }

    /// Reads the value of `--on`, like [`Invitation::read`].
    ///
    /// # Errors
    /// As for [`Invitation::read`], or the invitation is for agents.
    pub fn for_controller(text: &str) -> Result<Invitation, ClusterError> {
        let invitation = Invitation::read(text)?;
        match invitation.is_for_controllers()? {
            Some(false) => Err(ClusterError::Invitation(
                "this is the invitation for agents; a controller needs the one for controllers (controller.json)".into(),
            )),
            Some(true) | None => Ok(invitation),
        }
    }

    /// Whether the key is that of a controller; `None` if the invitation does not tell.
    fn is_for_controllers(&self) -> Result<Option<bool>, ClusterError> {
        let Some(seed) = self.seed.as_ref().filter(|_| !self.controllers.is_empty()) else { return Ok(None) };
        let key = KeyPair::from_seed(seed)
            .map_err(|error| ClusterError::Invitation(format!("the key of the invitation: {error}")))?;
        Ok(Some(self.controllers.contains(&key.public_key())))
    }

    /// The invitation as one line, which can be copied to another machine. It contains the secret key.
    #[must_use]
    pub fn line(&self) -> String {
        // Texts can always be written as JSON.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("{LINE_PREFIX}{}", URL_SAFE_NO_PAD.encode(json))
    }

    /// Refuses credentials in the address, because the client would silently ignore them.
    fn without_credentials(self) -> Result<Invitation, ClusterError> {
        if self.url.contains('@') {
            return Err(ClusterError::Invitation(
                "user names and passwords in an address are not supported; use an invitation of `busyhour cluster \
                 init`"
                    .into(),
            ));
        }
        Ok(self)
    }
}

fn damaged(why: &str) -> ClusterError {
    ClusterError::Invitation(format!("the invitation cannot be read: {why}"))
}

fn parse(json: &[u8]) -> Result<Invitation, ClusterError> {
    let invitation: Invitation = serde_json::from_slice(json).map_err(|error| damaged(&error.to_string()))?;
    invitation.without_credentials()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_an_address_a_line_or_a_file() {
        let full = Invitation {
            url: "tls://hub:4222".into(),
            ca: Some("-----BEGIN CERTIFICATE-----\n".into()),
            seed: Some("SUAX".into()),
            controllers: vec!["UC".into()],
        };
        let line = full.line();
        assert!(line.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{line}");
        assert_eq!(Invitation::read(&line).unwrap(), full);
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("agent.json");
        std::fs::write(&path, serde_json::to_string_pretty(&full).unwrap()).unwrap();
        assert_eq!(Invitation::read(&path.display().to_string()).unwrap(), full);
        assert_eq!(Invitation::read("nats://10.0.0.1:4222").unwrap().seed, None);
        assert!(!format!("{full:?}").contains("SUAX"));
    }

    #[test]
    fn an_invitation_for_the_other_role_is_refused() {
        let (agent, controller) = (KeyPair::new_user(), KeyPair::new_user());
        let line = |key: &KeyPair| {
            let invitation = Invitation {
                url: "tls://hub:4222".into(),
                seed: Some(key.seed().unwrap()),
                controllers: vec![controller.public_key()],
                ..Invitation::default()
            };
            invitation.line()
        };
        assert!(Invitation::for_agent(&line(&agent)).is_ok());
        assert!(Invitation::for_controller(&line(&controller)).is_ok());
        let error = Invitation::for_agent(&line(&controller)).unwrap_err();
        assert!(error.to_string().contains("agents need the one for agents (agent.json)"), "{error}");
        let error = Invitation::for_controller(&line(&agent)).unwrap_err();
        assert!(error.to_string().contains("this is the invitation for agents"), "{error}");
        assert!(Invitation::for_agent("nats://hub:4222").is_ok());
        assert!(Invitation::for_controller("nats://hub:4222").is_ok());
    }

    #[test]
    fn bad_invitations_are_refused_with_a_reason() {
        let error = |text: &str| Invitation::read(text).unwrap_err().to_string();
        assert!(error("nats://user:secret@host:4222").contains("not supported"));
        assert!(error("hub:4222").contains("is neither an address"));
        assert!(error(&Invitation::default().line()[..10]).contains("cannot be read"));
        assert!(error("bh1_e30").contains("missing field `url`"));
    }
}
