//! The command line of `busyhour cluster`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Default directory of a hub.
pub(super) const HUB_DIR: &str = "busyhour-hub";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster hub\n  \
    busyhour cluster agent --join busyhour-hub/agent.json\n  \
    busyhour cluster list\n  \
    busyhour run plan.jmx --on busyhour-hub/controller.json\n\n\
    docs/cluster.md describes what is divided, clocks, faults and security.")]
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
    /// Take over a run whose controller has ended.
    Attach(AttachArgs),
    /// Print the Kubernetes objects of a run, or write a Kustomize directory or a Helm chart.
    Manifests(ManifestsArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster hub                            agents on this machine\n  \
    busyhour cluster hub --listen 0.0.0.0 --host load1.example\n\n\
    The hub needs the program nats-server in the PATH (Debian: apt-get install nats-server).\n\
    It prints the command for agents and the option for runs. Their invitations contain secret keys.")]
pub(crate) struct HubArgs {
    #[command(flatten)]
    pub(super) files: HubFilesArgs,
    /// Path of the NATS server (default: nats-server in the PATH).
    #[arg(long, value_name = "FILE")]
    pub(super) server: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster init --listen 0.0.0.0 --host load1.example\n  \
    busyhour cluster init --dir shop-hub --host shop-hub")]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(super) files: HubFilesArgs,
}

/// The options that determine the files of a hub.
#[derive(Debug, Args)]
pub(crate) struct HubFilesArgs {
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
    busyhour cluster agent --join agent.json --label zone=eu\n  \
    busyhour cluster agent --join agent.json --allow-host '*.test.example'\n\n\
    The agent works for one run after the other until it is stopped. Ctrl-C ends it; during a run, the run is stopped first.")]
pub(crate) struct AgentArgs {
    /// Invitation of the hub: a file, a line that starts with bh1_, or the address of a server without authentication.
    #[arg(long, alias = "nats", value_name = "INVITATION")]
    pub(super) join: String,
    /// Name of the agent (default: the name of the machine).
    #[arg(long, value_name = "NAME", value_parser = super::agent_name::agent_name)]
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
    /// End after the first run.
    #[arg(long)]
    pub(super) once: bool,
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    busyhour cluster attach busyhour-runs/shop-20260301-101500\n  \
    busyhour cluster attach run --on busyhour-hub/controller.json\n\n\
    Agents go on for the time of --agent-lease (30s) without their controller. Within this time, another process on the same \
    machine can take the run over: it receives everything that the first one has not received, and ends the run with the same \
    results, report and exit code.")]
pub(crate) struct AttachArgs {
    /// Directory of the run.
    #[arg(value_name = "RUN")]
    pub(super) dir: PathBuf,
    /// Invitation of the hub for controllers.
    #[arg(long, value_name = "INVITATION", default_value = "busyhour-hub/controller.json")]
    pub(super) on: String,
}

/// The NATS image: the server, a shell and tar.
const NATS_IMAGE: &str = "nats:2.15-alpine";

#[derive(Debug, Args)]
#[command(
    override_usage = "busyhour cluster manifests [OPTIONS] <PLAN> [-- <OPTIONS>...]",
    after_help = "Examples:\n  \
    busyhour cluster init --dir busyhour-hub --host shop-hub\n  \
    busyhour cluster manifests a.jmx --image IMAGE --agents 8 > a.yaml\n  \
    busyhour cluster manifests a.jmx --image IMAGE --agents 8 --helm chart\n\n\
    Then: kubectl apply --server-side -f a.yaml. The hub is created with the name of its Service in the cluster (--host shop-hub). \
    The output contains the keys of the hub and the plan."
)]
pub(crate) struct ManifestsArgs {
    /// Plan (.jmx). Files that it mentions are added, if they are below its directory.
    #[arg(value_name = "PLAN")]
    pub(super) plan: PathBuf,
    /// Options of busyhour run for the controller, after --.
    #[arg(last = true, value_name = "OPTIONS")]
    pub(super) run_options: Vec<String>,
    /// Directory with the files of the hub (busyhour cluster init).
    #[arg(long, value_name = "DIR", default_value = HUB_DIR)]
    pub(super) hub_dir: PathBuf,
    /// Image with busyhour.
    #[arg(long, value_name = "IMAGE")]
    pub(super) image: String,
    /// Number of agents.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) agents: u32,
    /// Cores of each agent.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) cores: u32,
    /// Memory of each agent.
    #[arg(long, value_name = "SIZE", default_value = "1Gi")]
    pub(super) memory: String,
    /// Name of the run, the start of the names of its objects (default: the name of the plan).
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Namespace (default: that of your context).
    #[arg(long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Also create the namespace.
    #[arg(long, requires = "namespace", conflicts_with = "helm")]
    pub(super) create_namespace: bool,
    /// Longest duration of the run. Kubernetes ends the jobs 25 minutes after it, which leaves time for the start and the end.
    #[arg(long = "for", value_name = "TIME", default_value = "1h")]
    pub(super) length: String,
    /// Existing PersistentVolumeClaim for the results (default: they stay in the pod of the controller).
    #[arg(long, value_name = "CLAIM")]
    pub(super) results_claim: Option<String>,
    /// Time for which the pod of the controller stays, so that the results can be copied.
    #[arg(long, value_name = "TIME", default_value = "1h", conflicts_with = "results_claim")]
    pub(super) keep_results: String,
    /// Time after which Kubernetes deletes finished jobs.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(super) delete_after: String,
    /// How agents are spread over the nodes.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SpreadArg::Even)]
    pub(super) spread: SpreadArg,
    /// Addresses to which the pods may connect besides the hub and DNS, e.g. 10.0.0.0/8 (default: all); may be given several times.
    #[arg(long, value_name = "CIDR")]
    pub(super) egress: Vec<String>,
    /// Label of all objects; may be given several times.
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(super) labels: Vec<String>,
    /// PriorityClass of the pods.
    #[arg(long, value_name = "CLASS")]
    pub(super) priority_class: Option<String>,
    /// Secret with which the images are pulled from a private registry; may be given several times.
    #[arg(long = "image-pull-secret", value_name = "NAME")]
    pub(super) pull_secrets: Vec<String>,
    /// Label of the nodes on which the agents may run; may be given several times.
    #[arg(long = "node-label", value_name = "NAME=VALUE")]
    pub(super) node_labels: Vec<String>,
    /// Taint of nodes that does not keep agents away; may be given several times.
    #[arg(long = "toleration", value_name = "KEY[=VALUE][:EFFECT]")]
    pub(super) tolerations: Vec<String>,
    /// Disk space of each agent, and of the controller without a claim.
    #[arg(long, value_name = "SIZE", default_value = "10Gi")]
    pub(super) disk: String,
    /// Image with the NATS server, a shell and tar.
    #[arg(long, value_name = "IMAGE", default_value = NATS_IMAGE)]
    pub(super) nats_image: String,
    /// Write a Kustomize directory instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "helm")]
    pub(super) kustomize: Option<PathBuf>,
    /// Write a Helm chart instead of printing.
    #[arg(long, value_name = "DIR")]
    pub(super) helm: Option<PathBuf>,
}

/// How agents are spread over the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SpreadArg {
    /// Evenly over nodes and zones, if there is room.
    Even,
    /// At most one per node.
    OnePerNode,
    /// As the scheduler decides.
    Off,
}
