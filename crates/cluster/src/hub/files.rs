//! The files of a hub: certificates, keys, the configuration of the server and the invitations.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyUsagePurpose};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;

use crate::connection::Role;
use crate::error::ClusterError;
use crate::invitation::Invitation;
use crate::parts::create_private_dir;

/// The settings of a hub.
#[derive(Clone, Debug)]
pub struct HubSettings {
    /// Directory for its files.
    pub dir: PathBuf,
    /// The address on which it listens.
    pub listen: IpAddr,
    /// The port; 0 selects a free one.
    pub port: u16,
    /// Names and addresses under which agents and controllers reach it. The first one is used in the invitations.
    pub hosts: Vec<String>,
}

/// The files of a hub.
#[derive(Clone, Debug)]
pub struct HubFiles {
    /// The directory.
    pub dir: PathBuf,
    /// Whether new certificates replaced those of a hub that had other hosts. Its earlier invitations are void.
    pub has_new_certificates: bool,
}

impl HubFiles {
    /// The files in a directory.
    #[must_use]
    pub fn at(dir: PathBuf) -> HubFiles {
        HubFiles { dir, has_new_certificates: false }
    }

    /// The invitation for agents.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.dir.join("agent.json")
    }

    /// The invitation for controllers.
    #[must_use]
    pub fn controller(&self) -> PathBuf {
        self.dir.join("controller.json")
    }

    /// The configuration of the server.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.dir.join("nats.conf")
    }

    /// The output of the server.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.join("nats.log")
    }
}

/// The users of a hub and their keys.
struct Users {
    agent: KeyPair,
    controller: KeyPair,
}

/// Creates the files of a hub. If the directory already contains a hub, its keys are kept, and so are its certificates if they
/// are valid for all hosts. The configuration of the server is written again.
///
/// # Errors
/// A file cannot be written, or a certificate cannot be made.
pub fn create_hub_files(settings: &HubSettings) -> Result<HubFiles, ClusterError> {
    let mut files = HubFiles::at(settings.dir.clone());
    create_private_dir(&files.dir).map_err(ClusterError::file(&files.dir))?;
    if !files.agent().exists() || !files.controller().exists() {
        let users = Users { agent: KeyPair::new_user(), controller: KeyPair::new_user() };
        let ca = write_certificates(settings)?;
        write_private(&files.dir.join("authorization.conf"), &authorization(&users))?;
        write_invitations(&files, settings, &users, &ca)?;
    } else if !is_valid_for(&files, &settings.hosts)? {
        // The key of the certificate authority is not kept, so that the invitations need a new authority, too.
        let ca = write_certificates(settings)?;
        let host = settings.hosts.first().map_or("127.0.0.1", String::as_str);
        for path in [files.agent(), files.controller()] {
            let invitation = Invitation::read(&path.display().to_string())?;
            let renewed = Invitation { url: url(host, settings.port), ca: Some(ca.clone()), ..invitation };
            write_private(&path, &json(&renewed))?;
        }
        files.has_new_certificates = true;
    }
    write_private(&files.config(), &server_config(settings))?;
    Ok(files)
}

/// Whether the certificate of the server is valid for these names and addresses.
fn is_valid_for(files: &HubFiles, hosts: &[String]) -> Result<bool, ClusterError> {
    let path = files.dir.join("server.pem");
    let pem = std::fs::read(&path).map_err(ClusterError::file(&path))?;
    let failed = |error: &dyn std::fmt::Display| {
        ClusterError::Hub(format!("cannot read the certificate {}: {error}", path.display()))
    };
    let certificate = CertificateDer::from_pem_slice(&pem).map_err(|error| failed(&error))?;
    let certificate = ParsedCertificate::try_from(&certificate).map_err(|error| failed(&error))?;
    // Texts that are no names cannot be checked by clients either.
    let mut names = hosts.iter().filter_map(|host| ServerName::try_from(host.as_str()).ok());
    Ok(names.all(|name| verify_server_name(&certificate, &name).is_ok()))
}

/// Writes the address into the invitations, once the port is known.
///
/// # Errors
/// An invitation cannot be read or written.
pub(super) fn set_address(files: &HubFiles, settings: &HubSettings, port: u16) -> Result<(), ClusterError> {
    for path in [files.agent(), files.controller()] {
        let mut invitation = Invitation::read(&path.display().to_string())?;
        let host = invitation_host(settings, &invitation.url);
        invitation.url = url(&host, port);
        write_private(&path, &json(&invitation))?;
    }
    Ok(())
}

/// The host of the invitations: the first host of the settings, or the host that they already contain.
fn invitation_host(settings: &HubSettings, known: &str) -> String {
    let known = known.trim_start_matches("tls://");
    let known = known.rsplit_once(':').map_or(known, |(host, _)| host);
    settings.hosts.first().cloned().unwrap_or_else(|| known.trim_matches(['[', ']']).to_owned())
}

fn url(host: &str, port: u16) -> String {
    if host.contains(':') { format!("tls://[{host}]:{port}") } else { format!("tls://{host}:{port}") }
}

fn json(invitation: &Invitation) -> String {
    // Texts can always be written as JSON.
    serde_json::to_string_pretty(invitation).unwrap_or_default() + "\n"
}

fn write_invitations(
    files: &HubFiles,
    settings: &HubSettings,
    users: &Users,
    ca: &str,
) -> Result<(), ClusterError> {
    let host = settings.hosts.first().map_or("127.0.0.1", String::as_str);
    let seed = |key: &KeyPair| key.seed().map_err(|error| ClusterError::Hub(error.to_string()));
    let invitation = |key: &KeyPair| -> Result<Invitation, ClusterError> {
        let controllers = vec![users.controller.public_key()];
        Ok(Invitation {
            url: url(host, settings.port),
            ca: Some(ca.to_owned()),
            seed: Some(seed(key)?),
            controllers,
        })
    };
    write_private(&files.agent(), &json(&invitation(&users.agent)?))?;
    write_private(&files.controller(), &json(&invitation(&users.controller)?))
}

/// The users and their permissions, in the notation of the server.
fn authorization(users: &Users) -> String {
    let (agent_inbox, controller_inbox) = (Role::Agent.inbox(), Role::Controller.inbox());
    format!(
        r#"# Users of the hub and the subjects that each may use.
authorization {{
  users = [
    # Controllers: orders to agents, reports of agents, files of runs.
    {{
      nkey: {controller}
      permissions: {{
        publish: {{ allow: ["bh.call", "bh.agent.*", "bh.run.*.down.*"] }}
        subscribe: {{ allow: ["bh.run.*.up.*", "bh.run.*.files", "{controller_inbox}.>"] }}
        allow_responses: {{ max: 1, expires: "2m" }}
      }}
    }}
    # Agents: reports of runs, requests for files. They cannot give orders.
    {{
      nkey: {agent}
      permissions: {{
        publish: {{ allow: ["bh.run.*.up.*", "bh.run.*.files"] }}
        subscribe: {{ allow: ["bh.call", "bh.agent.*", "bh.run.*.down.*", "{agent_inbox}.>"] }}
        allow_responses: {{ max: 1, expires: "2m" }}
      }}
    }}
  ]
}}
"#,
        controller = users.controller.public_key(),
        agent = users.agent.public_key(),
    )
}

/// The configuration of the server. Paths are relative to the directory in which it runs.
fn server_config(settings: &HubSettings) -> String {
    let port = if settings.port == 0 { -1 } else { i32::from(settings.port) };
    format!(
        r#"# The NATS server of a hub, started in this directory: nats-server -c nats.conf
host: "{}"
port: {port}
server_name: "busyhour-hub"
ports_file_dir: "."
max_payload: 1MB
max_pending: 256MB
ping_interval: "5s"
ping_max: 2
tls {{
  cert_file: "server.pem"
  key_file: "server.key"
  timeout: 5
}}
include "authorization.conf"
"#,
        settings.listen
    )
}

/// Makes the certificate authority and the certificate of the server. Returns the authority (PEM). Its key is not kept.
fn write_certificates(settings: &HubSettings) -> Result<String, ClusterError> {
    let failed = |error: rcgen::Error| ClusterError::Hub(format!("cannot make a certificate: {error}"));
    let mut authority = CertificateParams::new(Vec::<String>::new()).map_err(failed)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "busyhour hub");
    let authority_key = rcgen::KeyPair::generate().map_err(failed)?;
    let ca = authority.self_signed(&authority_key).map_err(failed)?.pem();
    let mut names = settings.hosts.clone();
    for name in ["localhost", "127.0.0.1", "::1"] {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let mut server = CertificateParams::new(names).map_err(failed)?;
    server.distinguished_name.push(DnType::CommonName, "busyhour hub");
    server.use_authority_key_identifier_extension = true;
    let server_key = rcgen::KeyPair::generate().map_err(failed)?;
    let issuer = Issuer::new(authority, authority_key);
    let certificate = server.signed_by(&server_key, &issuer).map_err(failed)?.pem();
    write_private(&settings.dir.join("ca.pem"), &ca)?;
    write_private(&settings.dir.join("server.pem"), &certificate)?;
    write_private(&settings.dir.join("server.key"), &server_key.serialize_pem())?;
    Ok(ca)
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, text: &str) -> Result<(), ClusterError> {
    let write = || {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(text.as_bytes())
    };
    write().map_err(ClusterError::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_and_only_the_owner_can_read_them() {
        let room = tempfile::tempdir().unwrap();
        let mut settings = HubSettings {
            dir: room.path().join("hub"),
            listen: IpAddr::from([127, 0, 0, 1]),
            port: 4222,
            hosts: vec!["hub.example".into()],
        };
        let files = create_hub_files(&settings).unwrap();
        let read = |path: PathBuf| Invitation::read(&path.display().to_string()).unwrap();
        let (agent, controller) = (read(files.agent()), read(files.controller()));
        assert_eq!(agent.url, "tls://hub.example:4222");
        assert_ne!(agent.seed, controller.seed);
        assert_eq!(agent.controllers, controller.controllers);
        #[cfg(unix)]
        for file in std::fs::read_dir(&files.dir).unwrap() {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&file.unwrap().metadata().unwrap().permissions());
            assert_eq!(mode & 0o077, 0);
        }
        settings.port = 0;
        create_hub_files(&settings).unwrap();
        assert_eq!(read(files.agent()).seed, agent.seed);
        assert!(std::fs::read_to_string(files.config()).unwrap().contains("port: -1"));
        set_address(&files, &settings, 5_000).unwrap();
        assert_eq!(read(files.agent()).url, "tls://hub.example:5000");
    }

    #[test]
    fn another_host_gets_new_certificates_and_keeps_the_keys() {
        let room = tempfile::tempdir().unwrap();
        let mut settings = HubSettings {
            dir: room.path().join("hub"),
            listen: IpAddr::from([127, 0, 0, 1]),
            port: 4222,
            hosts: vec!["127.0.0.1".into()],
        };
        assert!(!create_hub_files(&settings).unwrap().has_new_certificates);
        let read = |path: PathBuf| Invitation::read(&path.display().to_string()).unwrap();
        let before = read(settings.dir.join("agent.json"));
        settings.hosts = vec!["hub.example".into(), "10.0.0.7".into()];
        let files = create_hub_files(&settings).unwrap();
        assert!(files.has_new_certificates);
        let after = read(files.agent());
        assert_eq!((after.url.as_str(), &after.seed), ("tls://hub.example:4222", &before.seed));
        assert_ne!(after.ca, before.ca);
        assert_eq!(after.ca, read(files.controller()).ca);
        // All of these hosts are in the new certificate.
        for hosts in [vec!["10.0.0.7".into()], vec!["127.0.0.1".into()], vec![]] {
            settings.hosts = hosts;
            assert!(!create_hub_files(&settings).unwrap().has_new_certificates);
        }
        assert_eq!(read(files.agent()).ca, after.ca);
    }

    #[test]
    fn addresses_of_version_6_are_in_brackets() {
        assert_eq!(url("::1", 4222), "tls://[::1]:4222");
        let settings =
            HubSettings { dir: PathBuf::new(), listen: IpAddr::from([0; 16]), port: 0, hosts: vec![] };
        assert_eq!(invitation_host(&settings, "tls://[::1]:4222"), "::1");
        assert_eq!(invitation_host(&settings, "tls://a.b:4222"), "a.b");
    }
}
