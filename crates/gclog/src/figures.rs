//! The figures that performance engineers quote, with GCViewer's definitions and names.
//!
//! [`GcFigures`] are numbers; [`GcFigures::rows`] prints them as GCViewer prints them. Where GCViewer has no sensible value (a
//! footprint of −2,199,023,255,552 B, a throughput of a log without stamps), a figure is unavailable with its reason.
//!
//! The figures differ from GCViewer's where GCViewer misreads a log:
//!
//! - Sizes on concurrent events (Shenandoah) and collections of generational ZGC are included.
//! - Averages of sizes are over the events that have sizes; GCViewer adds a zero for each event without.
//! - The young generation of G1 in unified logs is eden and survivors, so that promotion can be computed from its sizes.
//! - Percentiles have the percentage in their name; GCViewer prints the 50th as the 75th, the 75th as the 95th, and so on.

mod accumulator;
mod format;
mod model;
mod rows;
mod walk;

use crate::log::GcLog;

pub use accumulator::{DurationStatistics, SizeStatistics};
pub use model::{CollectionFigures, GcFigure, GcFigures, Occupancy, UnavailableReason};
pub use rows::FigureRow;
pub(crate) use rows::{memory_row, number_row};

impl GcFigures {
    /// Computes the figures of a log.
    #[must_use]
    pub fn of(log: &GcLog) -> GcFigures {
        walk::figures(log)
    }

    /// The sum of all pauses, s.
    ///
    /// # Errors
    /// The log has cycles of ZGC without pauses, or no events.
    pub fn accumulated_pauses_s(&self) -> GcFigure<f64> {
        if self.lacks_pauses {
            return Err(UnavailableReason::CyclesWithoutPauses);
        }
        if self.pauses.n() == 0 { Err(UnavailableReason::NoPauses) } else { Ok(self.pauses.sum()) }
    }

    /// The figures under GCViewer's names, with its formats, in its order.
    #[must_use]
    pub fn rows(&self) -> Vec<FigureRow> {
        rows::rows(self)
    }
}
