//! `busyhour cluster agent`.

use std::collections::BTreeMap;

use busyhour_cluster::{AgentObservation, AgentObserver, AgentSettings, AgentStop, Invitation, serve_agent};
use busyhour_launch::Prepared;

use super::args::AgentArgs;
use crate::agents::failure::failure;
use crate::agents::labels::labels;
use crate::events::ShownEvents;
use crate::exit::{Exit, complain, say};
use crate::observing::RunObservation;
use crate::stop_signals::Signals;

/// Runs the verb.
pub(super) fn main(args: &AgentArgs) -> Exit {
    let labels = match labels(&args.labels) {
        Ok(labels) => labels.into_iter().collect::<BTreeMap<_, _>>(),
        Err(message) => return complain(Exit::Usage, &message),
    };
    let invitation = match Invitation::read(&args.join) {
        Ok(invitation) => invitation,
        Err(error) => {
            let (exit, message) = failure(&error);
            return complain(exit, &message);
        }
    };
    let settings = AgentSettings {
        invitation,
        name: args.name.clone().unwrap_or_else(machine_name),
        labels,
        cores: args.cores.map(|cores| cores as usize),
        dir: args.dir.clone(),
        allowed_hosts: args.allowed_hosts.clone(),
        is_for_one_run: args.once,
        observe: Some(AgentObserver::new(observe)),
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

/// Observes this machine during a run.
fn observe(prepared: &Prepared, what: AgentObservation) -> Result<(), String> {
    let sources = match what {
        AgentObservation::None => "none",
        AgentObservation::Os => "os",
        AgentObservation::Auto => "auto",
    };
    let observation = RunObservation::of_list(sources).map_err(|error| error.to_string())?;
    let events = ShownEvents::new(prepared.control().grace());
    observation.attach(prepared, &events, true).map(drop).map_err(|error| error.to_string())
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
