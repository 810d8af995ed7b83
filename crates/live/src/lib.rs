//! A run that goes on, for people: its course, and a page on this machine that shows it and changes it.
//!
//! [`Course`] adds up the [`Snapshot`](busyhour_record::Snapshot)s of a recorder in bounded memory: what a page or a terminal
//! shows of a run so far. [`follow`] keeps it on a thread of its own. [`PageServer`] serves the page of `report`, sends
//! each second by server-sent events, and takes [`Order`]s, which [`Steering`] carries out. A browser that is slow or dead
//! holds nobody up: what it has missed is made good by a whole model.

mod access;
mod course;
mod events;
mod follow;
mod hub;
mod server;
mod slices;
mod steering;
mod words;

pub use access::Token;
pub use course::{Course, Figures, LabelCourse};
pub use follow::{Follower, follow};
pub use server::{PageServer, PageSettings, ServeError};
pub use slices::{SLICES_MAX, Slice, Slices};
pub use steering::{LoadState, Order, RunPhase, Steering};
pub use words::{caveats, changes, completed, offered, started, threshold_lines};
