//! Numbers of sources and series, and the values and marks of a reading.

use busyhour_sample::Nanos;
use busyhour_series::Mark;

/// A source of a watch: its number in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceId(pub(crate) u32);

/// A series: a metric of a source with certain labels. Valid for readings of the source that it was created for, until the watch
/// ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId(pub(crate) u32);

impl SeriesId {
    /// A series beyond the limit: its values are discarded.
    pub(crate) const DISCARDED: SeriesId = SeriesId(u32::MAX);

    /// Whether the values of this series are recorded: it is not beyond the limit on the number of series.
    #[must_use]
    pub fn is_recorded(self) -> bool {
        self != Self::DISCARDED
    }
}

/// The values and marks that a probe recorded since the last commit. The buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) values: Vec<(Nanos, SeriesId, f64)>,
    pub(crate) marks: Vec<Mark>,
}
