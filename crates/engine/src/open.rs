//! Open workloads: sessions start according to a schedule, whether or not other sessions have ended.
//!
//! In a closed group each user starts its next iteration when the previous one has ended, so a slow server reduces the load.
//! Here an arrival process determines when sessions start. A session is one pass through the body of a thread group as a new
//! user. Users form a pool: an idle user serves an arrival immediately, and [`busyhour_program::open::NoFreeUser`] determines
//! what happens if no user is idle.

mod course;
pub(crate) mod dispatch;

pub use busyhour_sample::ArrivalCounts;

#[cfg(test)]
mod tests;
