//! The `.jmva` format: classes, stations with service times and visits, and the reference station of each class.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

/// Name of the reference station of open classes.
const ARRIVALS: &str = "Arrival Process";
