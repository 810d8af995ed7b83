//! The command line of `busyhour demo` and `busyhour lab`.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_demo::ServerStall;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "The load is open: visitors arrive as a Poisson process, whether or not the shop is fast. With --closed a fixed \
    number of users is paced by the plan's Constant Throughput Timer, as in JMeter: compare the line \"Arrivals\" of both.\n\n\
    With --system cells, users call a Java server with known faults, which is compiled with the JDK of this machine: the \
    configurations 1, 2 and 7 leak memory, 4 and 9 throw exceptions. Its JVM, its logs and the machine are observed, and \
    the report shows them under System.\n\n\
    Examples:\n  busyhour demo\n  busyhour demo --for 10s --rate 200/s\n  busyhour demo --closed --users 50\n  \
    busyhour demo --system cells\n  busyhour demo --system cells --configurations 3,5,6,8,10"
)]
pub(crate) struct DemoArgs {
    /// System to load and to observe.
    #[arg(long, value_enum, default_value_t = DemoSystem::Shop)]
    pub(crate) system: DemoSystem,
    /// Length of the load (default: 25s, cells 60s); with --closed, after all users have started.
    #[arg(short = 'z', long = "for", value_name = "TIME", value_parser = super::quantities::duration)]
    pub(crate) length: Option<Duration>,
    #[arg(long, hide = true, conflicts_with = "length")]
    pub(crate) seconds: Option<u64>,
    /// A fixed number of users that wait for each response, instead of visitors that arrive at random.
    #[arg(long)]
    pub(crate) closed: bool,
    /// Number of users (default: 100); for the shop with --closed.
    #[arg(short = 'c', long)]
    pub(crate) users: Option<u32>,
    /// shop: approximate rate of requests (default: 400/s).
    #[arg(long, value_name = "RATE", value_parser = super::quantities::whole_rate_per_s)]
    pub(crate) rate: Option<u32>,
    #[command(flatten)]
    pub(crate) cells: super::demo_cells_args::DemoCellsArgs,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Seed of all random choices.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

/// A system that the demo loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoSystem {
    /// The ticket shop.
    Shop,
    /// A Java server with known leaks and failures.
    Cells,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour lab server shop --port 8080\n  \
    busyhour lab server probe --port 0 --stall 2s@10s\n  \
    busyhour lab server cells --port 0 --collector g1 --heap 256m\n  \
    busyhour lab server broker --port 0 --agents 10 --front process\n  \
    busyhour lab neighbour stream --cores 1 --intensity 50 --for 30s")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: LabVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// Start a server to test: a ticket shop, a probe that records arrivals, a Java server with known faults, or a queue with agents.
    Server(ServerArgs),
    /// Load one resource of chosen cores: memory bandwidth, CPU, caches, memory, disk or network.
    #[command(alias = "neighbor")]
    Neighbour(super::neighbour_args::NeighbourArgs),
}

/// A server to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabServer {
    /// The ticket shop of the demo.
    #[value(alias = "ticket-monster")]
    Shop,
    /// A server that records the time of each arrival.
    Probe,
    /// A Java server with known leaks, failures and CPU costs.
    Cells,
    /// A front end with a queue and a fixed number of agents.
    Broker,
}

#[derive(Debug, Args)]
#[command(
    after_help = "shop is a ticket shop. probe responds ok to every request and records its arrival time: the moment \
    when its first byte could be read, in nanoseconds of the monotonic clock. It prints arrival statistics when it ends. \
    cells is a Java server, compiled with the JDK of this machine: /cells?config=N calls some of six cells. In its \
    configurations 1 to 10, the numbers 1, 2 and 7 leak memory, 4 and 9 throw exceptions, and the CPU costs are \
    those of a published study. It writes a server log, an access log and a GC log. The plan is plans/cells.jmx. \
    broker queues requests for a fixed number of agents: \
    /benchmark?numFields=10&numRecords=10&msdelay=100 returns 10 records of 10 fields after 100 ms in an agent, or code 503 \
    if the queue is full. Its metrics are at /metrics. The plan is examples/broker.jmx.\n\n\
    Examples:\n  busyhour lab server shop --port 8080 --full\n  \
    busyhour lab server --backend \"2 x exponential(4ms)\"\n  \
    busyhour lab server probe --port 0 --stamps stamps.txt --stall 2s@10s\n  \
    busyhour lab server cells --workers 50 --beans 100\n  \
    busyhour lab server cells --port 0 --dir logs --heap 256m --collector parallel\n  \
    busyhour lab server broker --agents 10 --queue 100\n  \
    busyhour lab server broker --port 0 --front process"
)]
pub(crate) struct ServerArgs {
    /// Server to start.
    #[arg(value_enum, default_value_t = LabServer::Shop)]
    pub(crate) server: LabServer,
    /// Port on 127.0.0.1; 0 selects a free port.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Database file (default: in memory).
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
    /// Respond to errors as the original application, TicketMonster, does.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Start with 10 venues and 10 events.
    #[arg(long, conflicts_with = "full")]
    pub(crate) small: bool,
    /// Start with 100 venues and 100 events.
    #[arg(long)]
    pub(crate) full: bool,
    /// shop: each response occupies one of N connections to a simulated backend for a random time that uses no
    /// CPU: constant(5ms), exponential(5ms), "2 x exponential(5ms)".
    #[arg(long, value_name = "[N x] LAW", value_parser = super::backend_notation::backend)]
    pub(crate) backend: Option<busyhour_demo::BackendOptions>,
    /// probe: stall for LENGTH, starting AFTER the first request (2s@10s); may be given several times.
    #[arg(long, value_name = "LENGTH@AFTER", value_parser = super::quantities::stall)]
    pub(crate) stall: Vec<ServerStall>,
    /// probe: delay of each response.
    #[arg(long, value_name = "TIME", value_parser = super::quantities::duration)]
    pub(crate) delay: Option<Duration>,
    /// probe: write the arrival times to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) stamps: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cells: super::cells::CellsArgs,
    #[command(flatten)]
    pub(crate) broker: super::broker::BrokerArgs,
    /// End when standard input is closed.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}
