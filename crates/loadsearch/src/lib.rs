//! Executes a search for the largest load that keeps the thresholds.
//!
//! [`execute_search`] executes each trial that [`busyhour_search::Search`] asks for as a process `busyhour run`, in its own
//! directory, and judges it:
//!
//! - *Light trials* come first. They show how many requests a unit of load makes, and lead to a guess from which the search starts.
//! - A trial passes if all thresholds of its run pass. It is void by the rules of `busyhour-trials`: load that was not delivered, a
//!   generator that was the bottleneck, a disturbed host.
//! - Each step is a line of the journal, which is synchronized to the disk, so that a search continues after an interruption.
//! - [`read_search`] computes the result from the directory, with the resource that limits the load, and the knees of fitted curves.
//!
//! This crate never prints, and installs no signal handler.

mod arguments;
mod error;
mod execute;
mod journal;
mod light;
mod models;
mod plan;
mod report;
mod resource;
mod trial;

pub use arguments::lowest_run_arguments;
pub use error::LoadSearchError;
pub use execute::{BeginningTrial, LoadSearchEnd, LoadSearchObserver, LoadSearchRequest, execute_search};
pub use journal::SEARCH_JOURNAL_FILE_NAME;
pub use plan::{ERRORS_THRESHOLD, LoadSearchPlan, LoadTarget, search_thresholds};
pub use report::read_search;
