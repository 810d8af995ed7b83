//! Connects simulated agents to a hub and waits until the process is ended:
//!
//! ```text
//! cargo run -p busyhour-cluster --example simulated_agents -- --join hub/agent.json --agents 1000 --labels 20 --rate 100 --for 60
//! ```
//!
//! With `--dir DIR`, the agents write records there; without, the controller restores the samples from the seconds that it received.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints what happens")]

use std::process::ExitCode;

use busyhour_cluster::Invitation;
use busyhour_cluster::simulated::{SimulatedAgents, SimulatedLoad, SimulatedSettings};

fn main() -> ExitCode {
    match settings().and_then(|settings| {
        let agents = settings.agents;
        let started = SimulatedAgents::start(settings, |text| eprintln!("{text}"));
        started.map(|started| (agents, started)).map_err(|error| error.to_string())
    }) {
        Ok((agents, _started)) => {
            println!("{agents} simulated agents are waiting for work");
            loop {
                std::thread::park();
            }
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The settings of the command line.
fn settings() -> Result<SimulatedSettings, String> {
    let mut settings = SimulatedSettings {
        invitation: Invitation::default(),
        agents: 10,
        load: SimulatedLoad { seconds: 60, labels: 20, rate: 100, seed: 1 },
        dir: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing"))?;
        let number = || value.parse::<u32>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--join" => settings.invitation = Invitation::read(&value).map_err(|error| error.to_string())?,
            "--agents" => settings.agents = number()? as usize,
            "--labels" => settings.load.labels = number()?,
            "--rate" => settings.load.rate = number()?,
            "--for" => settings.load.seconds = number()?.into(),
            "--seed" => settings.load.seed = number()?.into(),
            "--dir" => settings.dir = Some(value.clone().into()),
            _ => return Err(format!("{name} is not an option")),
        }
    }
    Ok(settings)
}
