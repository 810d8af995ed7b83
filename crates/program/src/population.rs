//! Groups whose number of users over time is planned as in the thread groups of jmeter-plugins.
//!
//! An ordinary group starts its users evenly, and all of them may end together. The groups of this module are of two
//! kinds. Each user has its own start and end ([`lifetimes`]), or the number of users is held at a level and users that
//! end are replaced ([`level`]).

pub mod level;
pub mod lifetimes;

pub use level::Level;
pub use lifetimes::{Lifetime, Lifetimes};

/// When the users of a group start and end.
#[derive(Clone, Debug)]
pub enum Population {
    /// Each user has its own start and end.
    Lifetimes(Lifetimes),
    /// The number of users is held at a level.
    Level(Level),
    /// Users serve arrivals. Each user is idle between two arrivals and keeps its state.
    Arrivals,
}
