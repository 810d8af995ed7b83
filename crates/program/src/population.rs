//! Descriptions of groups whose users come and go by a plan of their own, as the thread groups of jmeter-plugins have it.
//!
//! An ordinary group starts its users evenly and all of them may end together. Here each has a beginning and an end of
//! its own ([`lifetimes`]), or a level is kept: whoever ends is replaced ([`level`]).

pub mod level;
pub mod lifetimes;

pub use level::Level;
pub use lifetimes::{Lifetime, Lifetimes};

/// How users of a group come and go.
#[derive(Clone, Debug)]
pub enum Population {
    /// Each begins and ends at a time of its own.
    Lifetimes(Lifetimes),
    /// So many are kept at work.
    Level(Level),
    /// They serve arrivals: each goes on as the same user with its next one, and rests in between.
    Arrivals,
}
