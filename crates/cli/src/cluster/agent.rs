//! `busyhour cluster agent`.

use std::collections::BTreeMap;

use busyhour_cluster::{AgentObservation, AgentObserver, AgentSettings, AgentStop, Invitation, serve_agent};
use busyhour_launch::Prepared;
use busyhour_terminal::exit::{Exit, complain, say};
use busyhour_terminal::signals::Signals;

use super::args::AgentArgs;
use crate::agents::failure::failure;
use crate::agents::labels::labels;
use crate::events::ShownEvents;
use crate::observing::RunObservation;

/// The port of NATS servers whose address has none.
const NATS_PORT: u16 = 4222;

/// Runs the verb.
pub(super) fn main(args: &AgentArgs) -> Exit {
    let labels = match labels(&args.labels) {
        Ok(labels) => labels.into_iter().collect::<BTreeMap<_, _>>(),
        Err(message) => return complain(Exit::Usage, &message),
    };
    let available = std::thread::available_parallelism()
        .map_or(u32::MAX, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
    if let Err(message) = check_cores(args.cores, available) {
        return complain(Exit::Usage, &message);
    }
    let invitation = match Invitation::for_agent(&args.join) {
        Ok(invitation) => invitation,
        Err(error) => {
            let (exit, message) = failure(&error);
            return complain(exit, &message);
        }
    };
    let hub = hub_address(&invitation.url);
    let settings = AgentSettings {
        invitation,
        name: args.name.clone().unwrap_or_else(machine_name),
        labels,
        cores: args.cores.map(|cores| cores as usize),
        dir: args.dir.clone(),
        allowed_hosts: args.allowed_hosts.clone(),
        is_for_one_run: args.once,
        observe: Some(AgentObserver::new(move |prepared, what| observe(prepared, what, hub.clone()))),
    };
    let stop = AgentStop::default();
    if let Err(error) = stop_on_signals(stop.clone()) {
        return complain(Exit::Internal, &format!("cannot wait for signals: {error}"));
    }
    match serve_agent(settings, &stop, say) {
        Ok(()) => Exit::Completed,
        Err(error) => {
            let (exit, message) = failure(&error);
            complain(exit, &message)
        }
    }
}

/// The host and port in the address of a hub, such as `tls://10.0.0.5:4222`.
fn hub_address(url: &str) -> Option<(String, u16)> {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next()?;
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let with_port = server.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = with_port.unwrap_or((server, NATS_PORT));
    Some((host.trim_start_matches('[').trim_end_matches(']').to_owned(), port))
}

/// Observes this machine during a run, without the hub's server.
fn observe(prepared: &Prepared, what: AgentObservation, hub: Option<(String, u16)>) -> Result<(), String> {
    let sources = match what {
        AgentObservation::None => "none",
        AgentObservation::Os => "os",
        AgentObservation::Auto => "auto",
    };
    let mut observation = RunObservation::of_list(sources).map_err(|error| error.to_string())?;
    if let Some((host, port)) = hub {
        observation.leave_out(host, port);
    }
    let events = ShownEvents::new(prepared.control().grace());
    observation.attach(prepared, &events, true).map(drop).map_err(|error| error.to_string())
}

/// Refuses more cores than there are: their number determines the share with `--shares cores`.
fn check_cores(cores: Option<u32>, available: u32) -> Result<(), String> {
    match cores {
        Some(cores) if cores > available => {
            Err(format!("--cores {cores}: this process may use {available} cores"))
        }
        _ => Ok(()),
    }
}

/// The name of this machine.
fn machine_name() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_else(|_| "agent".into())
    }
}

/// Stops the agent on signals; the second signal ends it at once.
fn stop_on_signals(stop: AgentStop) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let listen = async move {
        loop {
            signals.next_stop().await;
            stop.request();
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{check_cores, hub_address};

    #[test]
    fn an_agent_has_no_more_cores_than_its_machine() {
        assert_eq!(check_cores(Some(99), 2), Err("--cores 99: this process may use 2 cores".to_owned()));
        assert_eq!(check_cores(Some(2), 2), Ok(()));
        assert_eq!(check_cores(None, 2), Ok(()));
    }

    #[test]
    fn the_address_of_the_hub_is_in_its_url() {
        let address = |host: &str| Some((host.to_owned(), 4222));
        assert_eq!(hub_address("tls://10.0.0.5:4222"), address("10.0.0.5"));
        assert_eq!(hub_address("nats://me:secret@[::1]:4222/"), address("::1"));
        assert_eq!(hub_address("hub.example:4222"), address("hub.example"));
        assert_eq!(hub_address("tls://hub.example"), address("hub.example"));
        assert_eq!(hub_address("tls://[::1]"), address("::1"));
    }
}
