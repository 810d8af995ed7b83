//! Open workloads: sessions that begin when a schedule says so, whoever else is still busy.
//!
//! A closed group starts users, and each begins its next iteration when it is through with the one before: a slow
//! server slows the load down. Here an arrival process says when sessions begin; one arrival is one pass through the
//! body of a thread group by a fresh visitor. Users are only the hands that do the work: a free one takes an arrival up
//! at once, and what happens when none is free is said by [`busyhour_program::open::NoFreeUser`].

mod course;
pub(crate) mod desk;
pub(crate) mod dispatch;

pub use busyhour_record::ArrivalCounts;

/// Arrivals that may wait at once for users of one group on one core; further ones are dropped, so that memory stays
/// bounded whatever the server does.
pub(crate) const WAITING_MAX: usize = 4_000_000;

#[cfg(test)]
mod tests;
