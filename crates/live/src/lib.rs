//! Live view of a run: its state so far, and a page on this machine that shows and controls it.
//!
//! [`LiveRun`] aggregates the [`Snapshot`](busyhour_sample::Snapshot)s of a recorder in bounded memory for a page or a
//! terminal. [`LiveObserver`] updates it. [`PageServer`] serves the page of `report`, sends each second as a server-sent event,
//! and passes commands on to [`CommandHandler`](busyhour_launch::CommandHandler). A slow or disconnected browser does not delay the run: if it
//! misses events, it gets a complete model.

mod access;
mod events;
mod follow;
mod hub;
mod live_run;
mod server;
mod slices;
mod system;
mod words;

pub use access::Token;
pub use follow::{LiveObserver, LiveView};
pub use live_run::{Figures, LiveLabel, LiveRun};
pub use server::{PageServer, PageSettings, ServeError};
pub use slices::{SLICES_MAX, Slice, Slices};
pub use system::{LiveSystem, SHOWN as SYSTEM_SERIES_SHOWN, ShownSeries, SystemHistory};
pub use words::{caveats, changes, completed, offered, started, threshold_lines};
