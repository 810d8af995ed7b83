//! Executes the trials of an experiment.
//!
//! For each trial, [`execute`] changes files, applies commands, resets and starts the system under test, waits until it is ready, starts neighbours, executes a
//! run, and undoes everything in the reverse order. The run is a process `busyhour run` of its own, so that every trial has a fresh generator on its cores.
//!
//! - Every process is started by a keeper ([`keep`]), which ends it with all of its descendants when the experiment ends in any way.
//! - Each step is a line of the journal, which is synchronized to the disk. An interrupted experiment continues after its last
//!   finished trial, and first undoes what the interrupted trial changed.
//! - Controls of the machine (control groups, cache masks, the network) have a journal of their own. [`restore`] undoes what a killed
//!   experiment left.
//! - A trial whose load was not delivered, or whose generator or host was disturbed, is spoiled and repeated.
//! - [`read_report`] analyses the trials of a directory.
//!
//! This crate never prints, and installs no signal handler.

mod arguments;
mod collect;
mod control_plan;
mod controls;
mod error;
mod execute;
mod journal_file;
mod keeper;
mod line_file;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(not(target_os = "linux"))]
#[path = "machine_other.rs"]
mod machine;
#[cfg(target_os = "linux")]
mod machine_controls;
mod neighbour_work;
mod patches;
mod pause;
mod planned;
mod process;
mod processes;
mod read;
mod ready;
mod restore;
mod run_process;
mod setting;
mod stop;
mod trial;
mod trial_files;
mod undo;
mod values;
mod variables;
mod verdict;

pub use arguments::{example_arguments, run_arguments};
pub use controls::{CheckedControls, UnavailableControl, check_controls};
pub use error::ExecuteError;
pub use execute::{ExecuteEnd, ExecuteRequest, ExperimentProgress, TrialObserver, execute};
pub use journal_file::{
    AppliedTreatment, EndedTrial, JOURNAL_FILE_NAME, JournalContent, JournalLine, JournalStart, LeftOut,
};
pub use keeper::{KeepError, KeepRequest, keep};
pub use line_file::{LineFile, read_lines};
pub use pause::{PauseCommands, PauseError};
pub use read::{EXPERIMENT_FILE_NAME, read_report};
pub use restore::{Restored, restore};
pub use run_process::{ActiveRun, RunProcess, RunProcessEnd};
pub use setting::{CaseSetting, JAVA_OPTIONS};
pub use stop::StopRequest;
pub use verdict::{RunFault, run_faults};
