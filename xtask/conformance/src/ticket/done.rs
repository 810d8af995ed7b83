//! What a run of the ticket workload leaves.

use std::collections::BTreeMap;

use super::rows::Row;
use super::shop::Booking;

/// Venues and events: enough that ids have one, two and three digits.
pub const VENUES: u64 = 10;
/// Events.
pub const EVENTS: u64 = 10;

/// What one contender did.
#[derive(Debug)]
pub struct Done {
    /// Rows of the run that only fills the shop.
    pub filling: Vec<Row>,
    /// What the shop held after it, by the path of each list.
    pub lists: BTreeMap<&'static str, serde_json::Value>,
    /// Rows of the whole run.
    pub whole: Vec<Row>,
    /// The bookings that the shop held after it.
    pub left: Vec<Booking>,
    /// Lines of its logs with errors.
    pub errors: Vec<String>,
}
