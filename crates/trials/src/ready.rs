//! The ready check of a system under test.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::{Duration, Instant};

use busyhour_experiment::Command;
use ureq::tls::TlsConfig;

use crate::error::TrialError;
use crate::process::{Kept, KeptCommand, POLL_INTERVAL, SUCCESS, Waited};
use crate::setting::words;
use crate::stop::StopRequest;

/// Time that one check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Time to connect to a port that should be free.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// A ready check.
pub(crate) enum ReadyCheck<'c> {
    Url(&'c str),
    Command(&'c Command),
}

impl<'c> ReadyCheck<'c> {
    pub(crate) fn of(command: &'c Command) -> ReadyCheck<'c> {
        match command {
            Command::Shell(text) if text.starts_with("http://") || text.starts_with("https://") => {
                ReadyCheck::Url(text)
            }
            command => ReadyCheck::Command(command),
        }
    }

    /// The condition for which the check waits.
    pub(crate) fn describe(&self) -> String {
        match self {
            ReadyCheck::Url(url) => format!("a code below 400 from {url}"),
            ReadyCheck::Command(Command::Shell(text)) => format!("exit code 0 of `{text}`"),
            ReadyCheck::Command(Command::Program(words)) => format!("exit code 0 of `{}`", words.join(" ")),
        }
    }

    /// Fails if another process listens on the port of the URL already.
    pub(crate) fn refuse_taken_port(&self) -> Result<(), TrialError> {
        let ReadyCheck::Url(url) = self else { return Ok(()) };
        let Some((host, port)) = host_and_port(url) else { return Ok(()) };
        let addresses = (host.as_str(), port).to_socket_addrs().into_iter().flatten();
        let is_taken =
            addresses.take(4).any(|address| TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok());
        match is_taken {
            false => Ok(()),
            true => Err(TrialError::Failed(format!(
                "port {port} of {url} is taken by another process before the system starts; find it with `ss -ltnp`, end it or change the port"
            ))),
        }
    }

    /// Waits until the port of the URL is free: the system of an interrupted trial may still be ending.
    pub(crate) fn wait_for_free_port(&self, limit: Duration, stop: &StopRequest) {
        let deadline = Instant::now() + limit;
        while self.refuse_taken_port().is_err() && Instant::now() < deadline && !stop.is_requested() {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until the system is ready. `system` is the started system, which must not end meanwhile.
    pub(crate) fn wait(
        &self,
        mut system: Option<&mut Kept>,
        within: Duration,
        check: &KeptCommand<'_>,
        stop: &StopRequest,
    ) -> Result<(), TrialError> {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(POLL_INTERVAL);
            let last = match self.check(left.min(CHECK_TIMEOUT), check, stop) {
                Ok(()) => return Ok(()),
                Err(reason) => reason,
            };
            if stop.is_requested() {
                return Err(TrialError::Stopped);
            }
            if let Some(status) = system.as_mut().and_then(|system| system.exit()) {
                return Err(TrialError::Failed(format!(
                    "the system ended with {status} before it was ready"
                )));
            }
            if Instant::now() >= deadline {
                return Err(TrialError::Failed(format!(
                    "the system was not ready within {} s: waited for {}; last check: {last}",
                    within.as_secs_f64(),
                    self.describe()
                )));
            }
            std::thread::sleep(POLL_INTERVAL.saturating_mul(2));
        }
    }

    fn check(&self, limit: Duration, check: &KeptCommand<'_>, stop: &StopRequest) -> Result<(), String> {
        match self {
            ReadyCheck::Url(url) => fetch(url, limit),
            ReadyCheck::Command(command) => {
                let check = KeptCommand { words: words(command), ..check.clone() };
                let mut kept = check.start().map_err(|error| error.to_string())?;
                match kept.wait(limit, stop) {
                    Waited::Ended(status) if status == SUCCESS => Ok(()),
                    Waited::Ended(status) => Err(status),
                    Waited::TimedOut => Err(format!("no end after {} s", limit.as_secs_f64())),
                    Waited::Stopped => Err("stopped".to_owned()),
                }
            }
        }
    }
}

/// Checks that a URL returns a code below 400. Certificates are not verified, as in runs.
fn fetch(url: &str, limit: Duration) -> Result<(), String> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(limit))
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(TlsConfig::builder().disable_verification(true).build())
        .build()
        .new_agent();
    match agent.get(url).call() {
        Ok(response) if response.status().as_u16() < 400 => Ok(()),
        Ok(response) => Err(format!("code {}", response.status().as_u16())),
        Err(error) => Err(error.to_string()),
    }
}

/// The host and port of a URL.
fn host_and_port(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let default = if scheme == "https" { 443 } else { 80 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => {
            (host, port.parse().ok()?)
        }
        _ => (authority, default),
    };
    Some((host.trim_start_matches('[').trim_end_matches(']').to_owned(), port))
}

/// The command with which a check is started; its words are those of the check.
pub(crate) fn check_command<'c>(
    (busyhour, experiment): (&'c Path, &'c Path),
    directory: &'c Path,
    environment: Vec<(String, String)>,
    log: std::path::PathBuf,
) -> KeptCommand<'c> {
    KeptCommand {
        busyhour,
        experiment,
        words: Vec::new(),
        environment,
        directory,
        cores: &[],
        log,
        grace: Duration::from_millis(500),
        lingers: false,
        waits: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_url_is_found() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/health", Some(("127.0.0.1", 8080))),
            ("http://user:word@[::1]:81", Some(("::1", 81))),
            ("https://shop.example/a:b", Some(("shop.example", 443))),
            ("http://shop.example?x=1", Some(("shop.example", 80))),
            ("shop", None),
        ] {
            let found = host_and_port(url);
            assert_eq!(found.as_ref().map(|(host, port)| (host.as_str(), *port)), expected, "{url}");
        }
    }
}
