//! The command line of `busyhour cluster`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Default directory of a hub.
pub(super) const HUB_DIR: &str = "busyhour-hub";

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(super) verb: ClusterVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ClusterVerb {
    /// Start the NATS server that connects agents and controllers.
    Hub(HubArgs),
    /// Make the files of a hub without starting it.
    Init(InitArgs),
    /// Wait for runs and generate a share of their load.
    Agent(AgentArgs),
    /// List the agents of a hub.
    List(ListArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster hub                            agents on this machine\n  \
    busyhour cluster hub --listen 0.0.0.0 --host load1.example\n\n\
    The hub needs the program nats-server in the PATH (Debian: apt-get install nats-server).\n\
    It prints the command for agents and the option for runs. Their invitations contain secret keys.")]
pub(crate) struct HubArgs {
    #[command(flatten)]
    pub(super) files: InitArgs,
    /// Path of the NATS server (default: nats-server in the PATH).
    #[arg(long, value_name = "FILE")]
    pub(super) server: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Directory for certificates, keys and invitations.
    #[arg(long, value_name = "DIR", default_value = HUB_DIR)]
    pub(super) dir: PathBuf,
    /// Address on which the hub listens; 0.0.0.0 for all.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(super) listen: IpAddr,
    /// Port on which the hub listens; 0 selects a free one.
    #[arg(long, value_name = "PORT", default_value_t = 4222)]
    pub(super) port: u16,
    /// Name or address under which agents and controllers reach the hub (default: the address of --listen); may be given several times.
    #[arg(long = "host", value_name = "HOST")]
    pub(super) hosts: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster agent --join busyhour-hub/agent.json\n  \
    busyhour cluster agent --join agent.json --label zone=eu --allow-host '*.test.example'\n\n\
    The agent works for one run after the other until it is stopped. Ctrl-C ends it; during a run, the run is stopped first.")]
pub(crate) struct AgentArgs {
    /// Invitation of the hub: a file, a line that starts with bh1_, or the address of a server without authentication.
    #[arg(long, alias = "nats", value_name = "INVITATION")]
    pub(super) join: String,
    /// Name of the agent (default: the name of the machine).
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Label by which runs select agents; may be given several times.
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(super) labels: Vec<String>,
    /// Number of cores that generate load (default: all that this process may use).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) cores: Option<u32>,
    /// Directory for the records of runs.
    #[arg(long, value_name = "DIR", default_value = "busyhour-agent")]
    pub(super) dir: PathBuf,
    /// Refuse plans that send requests to other hosts than these; *.example allows all names below example.
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(super) allowed_hosts: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  busyhour cluster list\n  busyhour cluster list --on busyhour-hub/controller.json --json"
)]
pub(crate) struct ListArgs {
    /// Invitation of the hub for controllers.
    #[arg(long, value_name = "INVITATION", default_value = "busyhour-hub/controller.json")]
    pub(super) on: String,
    /// Print the list as JSON.
    #[arg(long)]
    pub(super) json: bool,
}
