//! The options of `busyhour demo --system cells`.

use std::path::PathBuf;

use clap::Args;

use super::cells::{self, CollectorName};

/// The names of [`DemoCellsArgs`], for messages.
pub(super) const OPTION_NAMES: &str = "--configurations, --heap, --collector and --java-home";

/// Options of the demo for the cells.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Cells emulator")]
pub(crate) struct DemoCellsArgs {
    /// Configurations to call, from 1 to 10 (default: all); 1, 2 and 7 leak, 4 and 9 fail.
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(super) configurations: Vec<u32>,
    /// Initial and maximum size of the heap (default: 128m).
    #[arg(long, value_name = "SIZE", value_parser = cells::heap_bytes)]
    pub(super) heap: Option<u64>,
    /// Garbage collector (default: z).
    #[arg(long, value_name = "NAME")]
    pub(super) collector: Option<CollectorName>,
    /// Directory of a JDK, version 11 or later (default: JAVA_HOME, or javac on the PATH).
    #[arg(long, value_name = "DIR")]
    pub(super) java_home: Option<PathBuf>,
}
