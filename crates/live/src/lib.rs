//! Live view of a run: its state so far, and a page on this machine that shows and controls it.
//!
//! [`LiveRun`] aggregates the [`Snapshot`](busyhour_record::Snapshot)s of a recorder in bounded memory for a page or a
//! terminal. [`follow`] updates it on its own thread. [`PageServer`] serves the page of `report`, sends
//! each second as a server-sent event, and receives [`Order`]s, which [`Steering`] executes. A slow or disconnected browser
//! does not delay the run: if it misses events, it gets a complete model.

mod access;
mod events;
mod follow;
mod hub;
mod live_run;
mod server;
mod slices;
mod steering;
mod words;

pub use access::Token;
pub use follow::{Follower, follow};
pub use live_run::{Figures, LiveLabel, LiveRun};
pub use server::{PageServer, PageSettings, ServeError};
pub use slices::{SLICES_MAX, Slice, Slices};
pub use steering::{LoadState, Order, OrderRefused, RunPhase, Steering};
pub use words::{caveats, changes, completed, offered, started, threshold_lines};
