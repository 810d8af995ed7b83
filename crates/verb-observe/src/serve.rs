//! `busyhour observe --serve`: serves the metrics of this machine to the machine that generates the load.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::{chain, with_hint};
use busyhour_limits::files::{TEXT_FILE_BYTES, read_regular};
use busyhour_observation::{ObservationRequest, SourceSpec};
use busyhour_observe::prometheus::{MetricsServerOptions, ServerTls};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain};
use clap::Args;

use super::watch::WatchArgs;
use crate::source_options::TOKEN_VARIABLE;

/// Default address of the metrics.
const METRICS_ADDRESS: &str = "127.0.0.1:9464";

/// Options of `--serve`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Serving")]
pub(crate) struct ServeArgs {
    /// Serve the metrics of this machine in Prometheus' format.
    ///
    /// Without --pid, --target or --sources, these are the operating system and all JVMs, also those that start later. The address of the metrics is
    /// http://HOST:PORT/metrics. Port 0 selects a free port.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = METRICS_ADDRESS, conflicts_with_all = ["duration", "dir"])]
    pub(crate) serve: Option<String>,
    /// Answer PerfMon Metrics Collectors of JMeter plans at this port, usually 4444, or address.
    ///
    /// A port alone belongs to the host of --serve. The protocol has no password. Commands and files are never executed or read.
    #[arg(long, value_name = "PORT", requires = "serve")]
    perfmon: Option<String>,
    /// File with the token that requests for metrics must have (Authorization: Bearer).
    ///
    /// Without this option, the token is read from the environment variable BUSYHOUR_OBSERVE_TOKEN. Other users can read command lines, so
    /// there is no option for the token itself.
    #[arg(long, value_name = "FILE", requires = "serve")]
    token_file: Option<PathBuf>,
    /// Serve HTTPS with this certificate and its chain (PEM).
    #[arg(long, value_name = "FILE", requires = "serve", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "serve", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Allow addresses that other machines can reach even if there is no token, also for --perfmon, which has no token.
    #[arg(long, requires = "serve")]
    serve_remote: bool,
}

/// The addresses, the token and the certificate of the servers.
struct Serving {
    metrics: TcpListener,
    perfmon: Option<TcpListener>,
    options: MetricsServerOptions,
    request: ObservationRequest,
    /// Whether the user named the sources. If so, sources that cannot be watched are reported.
    is_explicit: bool,
}

/// Serves until a signal ends it.
pub(crate) fn main(args: &ServeArgs, watch: &WatchArgs, address: &str) -> Exit {
    match prepare(args, watch, address) {
        Ok(serving) => running::serve(serving),
        Err(error) => complain(Exit::Usage, &error),
    }
}

fn prepare(args: &ServeArgs, watch: &WatchArgs, address: &str) -> Result<Serving, CommandError> {
    let mut request = watch.request()?;
    request.finds_new_jvms = true;
    if !watch.has_sources() {
        request.sources = vec![SourceSpec::Os, SourceSpec::Jvm(None)];
    }
    let token = token(args.token_file.as_deref())?;
    let metrics = resolved("--serve", address)?;
    if token.is_none() && !args.serve_remote {
        refuse_remote("--serve", metrics, "everybody who reaches it can read the metrics", Some(TOKEN_HINT))?;
    }
    let perfmon = match &args.perfmon {
        Some(text) => {
            let address = perfmon_address(text, metrics.ip())?;
            if !args.serve_remote {
                refuse_remote("--perfmon", address, "its protocol has no password", None)?;
            }
            Some(listen("--perfmon", address)?)
        }
        None => None,
    };
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(tls(certificate, key)?),
        (None, None) | (Some(_), None) | (None, Some(_)) => None,
    };
    let options = MetricsServerOptions { token, tls, ..MetricsServerOptions::default() };
    Ok(Serving {
        metrics: listen("--serve", metrics)?,
        perfmon,
        options,
        request,
        is_explicit: watch.has_sources(),
    })
}

const TOKEN_HINT: &str = "set a token with --token-file or BUSYHOUR_OBSERVE_TOKEN";

/// The token, from a file or from the environment.
fn token(file: Option<&Path>) -> Result<Option<String>, CommandError> {
    let (text, origin) = match file {
        Some(path) => (text_file("--token-file", path)?, format!("--token-file {}", path.display())),
        None => match std::env::var(TOKEN_VARIABLE) {
            Ok(text) if !text.is_empty() => (text.into_bytes(), TOKEN_VARIABLE.to_owned()),
            Ok(_) | Err(_) => return Ok(None),
        },
    };
    let token = text.trim_ascii();
    // The token is sent in a header.
    if token.is_empty() || !token.iter().all(u8::is_ascii_graphic) {
        return Err(format!("{origin}: the token must be one word of visible ASCII characters").into());
    }
    Ok(Some(String::from_utf8_lossy(token).into_owned()))
}

fn text_file(option: &str, path: &Path) -> Result<Vec<u8>, CommandError> {
    let error =
        |error: std::io::Error| format!("{option}: cannot read {}: {}", path.display(), with_hint(&error));
    Ok(read_regular(path, TEXT_FILE_BYTES).map_err(error)?)
}

fn tls(certificate: &Path, key: &Path) -> Result<ServerTls, CommandError> {
    let (certificate, key) = (text_file("--tls-cert", certificate)?, text_file("--tls-key", key)?);
    Ok(ServerTls::from_pem(&certificate, &key).map_err(|error| format!("--tls-cert: {}", chain(&error)))?)
}

fn resolved(option: &str, address: &str) -> Result<SocketAddr, CommandError> {
    let error =
        |reason: &str| format!("{option}: {address:?} is not an address of the form HOST:PORT: {reason}");
    let mut found = address.to_socket_addrs().map_err(|cause| error(&cause.to_string()))?;
    Ok(found.next().ok_or_else(|| error("the name has no address"))?)
}

/// The address of the agent: a port of the host of `--serve`, or a whole address.
fn perfmon_address(text: &str, host: IpAddr) -> Result<SocketAddr, CommandError> {
    match text.parse::<u16>() {
        Ok(port) => Ok(SocketAddr::new(host, port)),
        Err(_) => resolved("--perfmon", text),
    }
}

/// Refuses addresses that other machines can reach.
fn refuse_remote(
    option: &str,
    address: SocketAddr,
    why: &str,
    other: Option<&str>,
) -> Result<(), CommandError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    let mut text = format!("{option}: {address} can be reached from other machines, and {why}\n  hint: ");
    if let Some(other) = other {
        text += &format!("{other}, or ");
    }
    text += "allow it with --serve-remote";
    Err(text.into())
}

fn listen(option: &str, address: SocketAddr) -> Result<TcpListener, CommandError> {
    let error =
        |error: std::io::Error| format!("{option}: cannot listen at {address}: {}", with_hint(&error));
    Ok(TcpListener::bind(address).map_err(error)?)
}

#[cfg(not(target_os = "linux"))]
mod running {
    use busyhour_terminal::exit::{Exit, complain};

    pub(super) fn serve(_serving: super::Serving) -> Exit {
        complain(Exit::Internal, "watching a system is supported only on Linux")
    }
}

#[cfg(target_os = "linux")]
mod running {
    use std::net::SocketAddr;

    use busyhour_diagnostic::io_hints::chain;
    use busyhour_observation::Observation;
    use busyhour_observe::ProcRoot;
    use busyhour_observe::perfmon::AgentServer;
    use busyhour_observe::prometheus::MetricsServer;
    use busyhour_program::clock::Clock;

    use super::{Serving, TOKEN_VARIABLE};
    use busyhour_terminal::command_error::CommandError;
    use busyhour_terminal::exit::{Exit, complain, print, say};
    use busyhour_terminal::signals::Signals;

    pub(super) fn serve(serving: Serving) -> Exit {
        match try_serve(serving) {
            Ok(()) => Exit::Completed,
            Err(error) => complain(Exit::Internal, &error),
        }
    }

    fn try_serve(serving: Serving) -> Result<(), CommandError> {
        let failed = |error: std::io::Error| format!("cannot start: {error}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        // Signals are handled before the addresses are printed, so that a signal after that ends the servers properly.
        let mut signals = runtime.block_on(async { Signals::new() }).map_err(failed)?;
        let Serving { metrics, perfmon, options, request, is_explicit } = serving;
        let clock = Clock::start();
        let observation = Observation::prepare(request, &clock);
        for line in observation.lines().iter().filter(|line| is_explicit || line.is_watched()) {
            say(&format!("observing {line}"));
        }
        let sink = Box::new(|line: &str| say(&format!("observing {line}")));
        let running = observation.start_in_memory(Some(sink)).map_err(|error| chain(&error))?;
        let (is_secret, is_encrypted) = (options.token.is_some(), options.tls.is_some());
        let server =
            MetricsServer::start(metrics, running.store().clone(), clock.clone(), options).map_err(failed)?;
        let agent = match perfmon {
            Some(listener) => {
                let problems = Box::new(|problem: &_| say(&format!("perfmon: {problem}")));
                Some(AgentServer::start(listener, ProcRoot::live(), clock, problems).map_err(failed)?)
            }
            None => None,
        };
        let scheme = if is_encrypted { "https" } else { "http" };
        print(&format!("listening on {scheme}://{}/metrics\n", server.address()));
        if let Some(agent) = &agent {
            print(&format!("perfmon agent on {}\n", agent.address()));
        }
        say(&usage(server.address(), is_secret, is_encrypted));
        say("Ctrl-C ends it");
        runtime.block_on(signals.next_stop());
        Ok(())
    }

    /// The commands with which another Busyhour reads the metrics.
    fn usage(address: SocketAddr, is_secret: bool, is_encrypted: bool) -> String {
        let scheme = if is_encrypted { "https" } else { "http" };
        let host = match address.ip() {
            ip if ip.is_unspecified() => hostname(),
            _ => match address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            },
        };
        let variable = if is_secret { format!("{TOKEN_VARIABLE}=TOKEN ") } else { String::new() };
        let place = if address.ip().is_loopback() { "on this machine" } else { "elsewhere" };
        let port = address.port();
        format!("{place}: {variable}busyhour run PLAN --observe {scheme}://{host}:{port}/metrics")
    }

    fn hostname() -> String {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        if name.trim().is_empty() { "HOST".into() } else { name.trim().to_owned() }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_printed_commands_are_complete() {
            let line = |address: &str, is_secret, is_encrypted| {
                usage(address.parse().unwrap(), is_secret, is_encrypted)
            };
            assert_eq!(
                line("127.0.0.1:9464", false, false),
                "on this machine: busyhour run PLAN --observe http://127.0.0.1:9464/metrics"
            );
            assert_eq!(
                line("[2001:db8::1]:80", true, true),
                "elsewhere: BUSYHOUR_OBSERVE_TOKEN=TOKEN busyhour run PLAN --observe https://[2001:db8::1]:80/metrics"
            );
            assert_eq!(
                line("0.0.0.0:1", false, false),
                format!("elsewhere: busyhour run PLAN --observe http://{}:1/metrics", hostname())
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_has_a_port_or_an_address() {
        let host: IpAddr = "127.0.0.1".parse().unwrap();
        assert_eq!(perfmon_address("4444", host).unwrap(), "127.0.0.1:4444".parse().unwrap());
        assert_eq!(perfmon_address("10.0.0.1:1", host).unwrap(), "10.0.0.1:1".parse().unwrap());
        let error = perfmon_address("70000", host).unwrap_err().to_string();
        assert!(error.starts_with("--perfmon: \"70000\" is not an address of the form HOST:PORT"), "{error}");
    }
}
