//! Open workloads: sessions start by a schedule, whether or not other sessions have ended.
//!
//! In a closed group each user starts its next iteration when the previous one has ended, so a slow
//! server reduces the load. Here an arrival process determines when sessions start. One arrival is one pass through the
//! body of a thread group as a new user. Users are a pool: an idle user takes an arrival
//! at once, and [`busyhour_program::open::NoFreeUser`] determines what happens when none is idle.

mod course;
pub(crate) mod dispatch;

pub use busyhour_sample::ArrivalCounts;

#[cfg(test)]
mod tests;
