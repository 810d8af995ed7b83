//! The process of the NATS server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::end_with_parent::end_with_parent;
use super::files::{HubFiles, HubSettings, create_hub_files, set_address};
use crate::error::ClusterError;

/// The name of the program.
const SERVER: &str = "nats-server";

/// Maximum time until the server has written its ports.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval at which the file with the ports is checked.
const POLL: Duration = Duration::from_millis(20);

/// A running hub. Dropping it ends the server.
#[derive(Debug)]
pub struct Hub {
    server: Child,
    /// Its files.
    pub files: HubFiles,
    /// The port on which it listens.
    pub port: u16,
}

/// The path of the NATS server: `nats-server` in the directories of `path`, the value of `PATH`.
#[must_use]
pub fn find_server(path: &std::ffi::OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|dir| dir.join(SERVER)).find(|file| file.is_file())
}

impl Hub {
    /// Creates the files of a hub unless they exist, and starts the server. On Linux, the server ends with the calling thread.
    ///
    /// # Errors
    /// A file cannot be written, or the server does not start.
    pub fn start(server: &Path, settings: &HubSettings) -> Result<Hub, ClusterError> {
        let files = create_hub_files(settings)?;
        remove_port_files(&files.dir);
        let log = File::create(files.log()).map_err(ClusterError::file(files.log()))?;
        let errors = log.try_clone().map_err(ClusterError::file(files.log()))?;
        let server = std::path::absolute(server).map_err(ClusterError::file(server))?;
        let mut command = Command::new(&server);
        command.args(["-c", "nats.conf"]).current_dir(&files.dir);
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        end_with_parent(&mut command);
        let process = command.spawn().map_err(ClusterError::file(&server))?;
        let mut hub = Hub { server: process, files, port: 0 };
        hub.port = hub.wait_for_port()?;
        set_address(&hub.files, settings, hub.port)?;
        Ok(hub)
    }

    /// The process id of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Whether the server is still running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.server.try_wait(), Ok(None))
    }

    /// Waits for the port of the server.
    fn wait_for_port(&mut self) -> Result<u16, ClusterError> {
        let ports = self.files.dir.join(format!("{SERVER}_{}.ports", self.server.id()));
        for _ in 0..START_TIMEOUT.as_millis() / POLL.as_millis() {
            if let Some(port) = std::fs::read(&ports).ok().and_then(|json| port_of(&json)) {
                return Ok(port);
            }
            if !self.is_running() {
                break;
            }
            std::thread::park_timeout(POLL);
        }
        let log = std::fs::read_to_string(self.files.log()).unwrap_or_default();
        let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        Err(ClusterError::Hub(format!(
            "the NATS server did not start: {last} (all messages: {})",
            self.files.log().display()
        )))
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        remove_port_files(&self.files.dir);
    }
}

/// The port in the file that the server writes when it listens.
fn port_of(json: &[u8]) -> Option<u16> {
    let ports: serde_json::Value = serde_json::from_slice(json).ok()?;
    let url = ports.get("nats")?.get(0)?.as_str()?;
    url.rsplit_once(':')?.1.trim_end_matches('/').parse().ok()
}

/// Removes the files with the ports of earlier servers.
fn remove_port_files(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(SERVER) && name.ends_with(".ports") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_comes_from_the_first_address() {
        let json = br#"{"nats":["tls://127.0.0.1:40123"],"monitoring":[]}"#;
        assert_eq!(port_of(json), Some(40_123));
        assert_eq!((port_of(b"{}"), port_of(b"{")), (None, None));
    }
}
