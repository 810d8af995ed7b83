//! The size of the shop's data.

/// The size of the initial data. There is one show for each event at each venue.
///
/// Venues are named by their numbers and have one section `A` of 100 rows of 100 seats. Every show has one performance
/// (2020-11-13 06:00 UTC), one price (200) and one booking of two seats. A show has the same id as its performance, its
/// price and its first booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSet {
    /// Number of venues.
    pub venues: u32,
    /// Number of events.
    pub events: u32,
}

impl DataSet {
    /// 10 venues × 10 events, which are created almost instantly; for demonstrations.
    pub const SMALL: Self = Self { venues: 10, events: 10 };
    /// 100 venues × 100 events, that is, 10,000 shows: the data of the published measurements.
    pub const FULL: Self = Self { venues: 100, events: 100 };
}
