//! The command line of `busyhour lab neighbour`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::quantities::{self, neighbour_time, percent, size_bytes};

#[derive(Debug, Args)]
#[command(
    after_help = "A neighbour loads one resource of chosen cores, to measure how a system under test reacts to it. It \
    runs one thread per core. It ends after its time, on Ctrl-C or SIGTERM, and when the process that started it ends. It \
    refuses more memory or disk space than is free.\n\n\
    Examples:\n  busyhour lab neighbour stream --cores 1 --for 30s\n  \
    busyhour lab neighbour cpu --cores 0-1 --intensity 50\n  \
    busyhour lab neighbour disk --dir . --for 10s --json\n\n\
    Exit codes:\n  0  it worked until its time was over\n  1  the program or the system failed\n  \
    2  the command line is wrong\n  3  there is too little free memory or disk space, or no parent\n  \
    4  it ended before its time, by a signal or with its parent"
)]
pub(crate) struct NeighbourArgs {
    #[command(subcommand)]
    pub(super) verb: NeighbourVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum NeighbourVerb {
    /// Load the memory bandwidth with the STREAM benchmark.
    Stream(StreamArgs),
    /// Load cores with integer work.
    Cpu(CpuArgs),
    /// Evict the cache lines of others.
    Cache(CacheArgs),
    /// Allocate memory and keep it in use.
    Memory(MemoryArgs),
    /// Write to files, with an fsync after each write.
    Disk(DiskArgs),
    /// Send data over the loopback interface.
    Network(NetworkArgs),
}

/// Options of all neighbours.
#[derive(Debug, Args)]
pub(super) struct SharedArgs {
    /// Cores to run on, with a thread for each, such as 0,2-3 (default: the highest that this process may use).
    #[arg(long, value_name = "LIST")]
    pub(super) cores: Option<String>,
    /// Share of each 100 ms in which it works, from 0 to 100.
    #[arg(long, value_name = "PERCENT", default_value = "100", value_parser = percent, allow_negative_numbers = true)]
    pub(super) intensity: u8,
    /// Time after which it ends, at most 24h.
    #[arg(short = 'z', long = "for", value_name = "TIME", default_value = "60s", value_parser = neighbour_time)]
    pub(super) length: Duration,
    /// Start only if the parent has this process ID. Without it, a neighbour whose parent has already ended takes its
    /// new parent for the original one.
    #[arg(long, value_name = "PID")]
    pub(super) parent: Option<u32>,
    /// Print the summary as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The kernels Copy, Scale, Add and Triad run by the rules of STREAM. A pass executes each of them \
    10 times and validates the results; passes follow each other until the end. The best, mean, shortest and longest \
    times leave out the first execution of each pass, and contain no pauses.\n\n\
    Examples:\n  busyhour lab neighbour stream\n  \
    busyhour lab neighbour stream --cores 0-3 --intensity 30 --for 2min\n  \
    busyhour lab neighbour stream --size 1g --repetitions 20 --json"
)]
pub(super) struct StreamArgs {
    /// Size of each of the three arrays (default and minimum: four times the last-level caches of the cores).
    #[arg(long, value_name = "SIZE", value_parser = size_bytes)]
    pub(super) size: Option<u64>,
    /// Executions of each kernel per pass.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=200))]
    pub(super) repetitions: u32,
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Computes xorshift numbers in registers.\n\n\
    Examples:\n  busyhour lab neighbour cpu --cores 1\n  \
    busyhour lab neighbour cpu --cores 0-1 --intensity 25 --for 5min")]
pub(super) struct CpuArgs {
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour lab neighbour cache --cores 1\n  \
    busyhour lab neighbour cache --size 8m --pattern chase --intensity 50")]
pub(super) struct CacheArgs {
    /// Size of the buffers of all threads (default: the last-level caches of the cores).
    #[arg(long, value_name = "SIZE", value_parser = size_bytes)]
    pub(super) size: Option<u64>,
    /// Order of the accesses.
    #[arg(long, value_enum, default_value_t = CacheOrder::Write)]
    pub(super) pattern: CacheOrder,
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CacheOrder {
    /// Write to one cache line after the other.
    Write,
    /// Read lines in random order, each of which contains the address of the next.
    Chase,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Grows by 4 MiB at a time, and then writes to each page again and again. It stops growing if less \
    than 64 MiB of memory are free.\n\n\
    Examples:\n  busyhour lab neighbour memory --size 2g\n  \
    busyhour lab neighbour memory --size 512m --intensity 10 --for 5min"
)]
pub(super) struct MemoryArgs {
    /// Memory of all threads, such as 512m or 2g.
    #[arg(long, value_name = "SIZE", value_parser = size_bytes)]
    pub(super) size: u64,
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each thread writes a file of its own, busyhour-neighbour-PID-N.tmp, from the beginning again when it \
    is full. The files are removed at the end.\n\n\
    Examples:\n  busyhour lab neighbour disk --dir /var/tmp\n  \
    busyhour lab neighbour disk --dir . --block 1m --size 1g --intensity 20"
)]
pub(super) struct DiskArgs {
    /// Directory on the disk to load.
    #[arg(long, value_name = "DIR")]
    pub(super) dir: PathBuf,
    /// Size of the files of all threads.
    #[arg(long, value_name = "SIZE", default_value = "64m", value_parser = size_bytes)]
    pub(super) size: u64,
    /// Size of each write, at most 64m.
    #[arg(long, value_name = "SIZE", default_value = "64k", value_parser = quantities::block_bytes)]
    pub(super) block: u64,
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each thread sends to itself, and receives the data immediately. No data leaves the machine.\n\n\
    Examples:\n  busyhour lab neighbour network --cores 1\n  \
    busyhour lab neighbour network --protocol udp --intensity 40 --for 30s"
)]
pub(super) struct NetworkArgs {
    /// Writes of 64 KiB to a connection, or datagrams of 1400 bytes.
    #[arg(long, value_enum, default_value_t = FloodProtocol::Tcp)]
    pub(super) protocol: FloodProtocol,
    #[command(flatten)]
    pub(super) shared: SharedArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FloodProtocol {
    Tcp,
    Udp,
}
