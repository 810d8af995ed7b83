//! Executes a run, as a library.
//!
//! ```text
//! RunRequest ──▶ Launch ──prepare──▶ Prepared ──start──▶ RunHandle ──wait──▶ FinishedRun
//!                  │ observe                                 │ control
//!                  ▼                                         ▼
//!            RunObserver: started, second, event, ended    RunControl: pause, resume, rate, stop
//! ```
//!
//! A [`RunRequest`] describes a run. [`Launch::prepare`] compiles the plan and creates the run directory,
//! [`Prepared::start`] starts the users, and [`RunHandle::wait`] returns the [`FinishedRun`]: the run directory with all
//! files, the manifest and the summary. A [`RunObserver`] receives the events and results of the run while it is in
//! progress. A [`RunControl`] changes or stops it.
//!
//! This crate never prints, reads no arguments and installs no signal handler.
//!
//! ```no_run
//! use busyhour_launch::{Launch, LaunchError, RunRequest};
//!
//! # fn main() -> Result<(), LaunchError> {
//! let request = RunRequest { plan: "shop.jmx".into(), ..RunRequest::default() };
//! let run = Launch::new(request).prepare()?.start()?.wait();
//! println!("{} requests, see {}", run.summary.total.samples, run.dir.report_path().display());
//! # Ok(())
//! # }
//! ```

mod back_off;
mod control;
mod disk;
mod error;
mod event;
mod exports;
mod files;
mod finished;
mod forecast;
mod generator;
mod handle;
mod log_file;
mod notes;
mod observer;
mod observers;
mod order;
mod outcome;
mod plan_source;
mod prepare;
mod properties;
mod quota;
mod replay_times;
mod request;
mod request_properties;
mod seconds;
mod supervision;
mod system;
mod url_plan;
mod url_plan_error;
mod users;

pub use busyhour_compile::{PerfMonListener, PerfMonRow, PlanTarget};
pub use busyhour_http::{allow_only, allows};
pub use busyhour_redaction as redaction;
pub use control::{GRACE, RunControl};
pub use error::{LaunchError, LaunchErrorKind};
pub use event::RunEvent;
pub use exports::{
    ExportSettings, INFLUX_INTERVAL_S, backend_settings, graphite_prefix, influx_exporter, sender_of,
};
pub use finished::FinishedRun;
pub use forecast::ARRIVALS_NARROW;
pub use generator::{Generated, RemoteFacts, RemoteGenerator, RemoteRun};
pub use handle::RunHandle;
pub use observer::{ObserverError, RunEnded, RunInfo, RunObserver};
pub use order::{Command, CommandHandler, CommandRefused, CommandSource, LoadState, RunPhase};
pub use plan_source::parse_and_compile;
pub use prepare::{Launch, Prepared};
pub use properties::{AssignmentError, LoadedProperties, PropertiesError, PropertySources, assignment};
pub use replay_times::{ReplayCause, ReplayError, resolve_replays};
pub use request::{ExistingResults, RunRequest};
pub use url_plan::{GeneratedPlan, UrlPlan, UrlUsers};
pub use url_plan_error::UrlPlanError;
pub use users::RunUserCounts;
