//! The results of the runs of the ticket workload in one program.

use std::collections::BTreeMap;

use super::rows::Row;
use super::shop::Booking;

/// The number of venues; together with the events, enough for ids with one, two and three digits.
pub const VENUES: u64 = 10;
/// The number of events.
pub const EVENTS: u64 = 10;

/// The results of one program.
#[derive(Debug)]
pub struct RunResults {
    /// The rows of the run that only fills the shop.
    pub filling: Vec<Row>,
    /// The data in the shop after that run, by the path of each list.
    pub lists: BTreeMap<&'static str, serde_json::Value>,
    /// The rows of the complete run.
    pub whole: Vec<Row>,
    /// The bookings in the shop after the complete run.
    pub bookings: Vec<Booking>,
    /// The lines of the logs with errors.
    pub errors: Vec<String>,
}
