//! Detects neighbours that harm the system under test while it is observed. All functions are pure.
//!
//! ```text
//! Reading (once a second) ──▶ Detector ──▶ Detection: the suspect, the harm, the times, the chance of a coincidence
//!   harm, CPU time of the system                 │
//!   CPU time of every other process              ├─ History: the last half hour
//!                                                ├─ association: harm that the load of the system does not explain
//!                                                └─ chance: how often other times fit as well
//! ```
//!
//! A [`Detector`] names a suspect if three conditions are met:
//!
//! 1. **Association.** The harm is larger when the suspect uses more CPU time, more than noise explains ([`association`]). The part of
//!    the harm that follows the system's own CPU time is subtracted first.
//! 2. **No coincidence.** The times of the suspect fit those of the harm better than the same times moved within the last half hour,
//!    and than those of all other processes ([`chance`]). The limit is lower for systems that were often slow by themselves.
//! 3. **Size.** The harm is large enough to matter ([`HarmKind`]).
//!
//! Readings in which the system reaches its own limits are not used: in this state, a slow system is not attributed to
//! a neighbour. CPU time that the hypervisor gives to other machines is detected by its level ([`StealWatch`]).
//!
//! `crates/detection/tests/study` measures the error rates; `docs/neighbour-detection.md` lists them.

mod association;
mod basis;
mod candidates;
mod chance;
mod detection;
mod detector;
mod episodes;
mod harm;
mod history;
mod neighbours;
mod reading;
mod scores;
mod steal;

pub use detection::{Confidence, Detection};
pub use detector::Detector;
pub use harm::HarmKind;
pub use neighbours::{
    Damage, NEIGHBOURS_FILE_NAME, NEIGHBOURS_VERSION, Neighbour, Neighbours, NotWatched, Who,
};
pub use reading::{SuspectId, UsageReading, Use, Victim};
pub use steal::{STEAL_SHARE_MIN, StealWatch, StolenTime};
