//! Exporting a run while it goes on.

use busyhour_record::SnapshotReceiver;

use crate::{ExportError, Exporter};

/// Where a run's seconds lie in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
}

impl Origin {
    /// The end of a second of the run, in ms since 1970: when what it holds is known.
    #[must_use]
    pub fn end_ms(&self, second: u64) -> i64 {
        self.wall_anchor_ms
            .saturating_add(i64::try_from(second + 1).unwrap_or(i64::MAX).saturating_mul(1_000))
    }
}

/// How an export went.
#[derive(Debug, Default)]
pub struct Followed {
    /// Seconds that were handed over.
    pub seconds: u64,
    /// Seconds at which something could not be sent.
    pub failed: u64,
    /// Seconds that were lost because the exporter was too slow.
    pub lost: u64,
    /// The first failure.
    pub first_error: Option<ExportError>,
}

impl Followed {
    fn note(&mut self, result: Result<(), ExportError>) {
        if let Err(error) = result {
            self.failed += 1;
            self.first_error.get_or_insert(error);
        }
    }
}

/// Exports the seconds that come from a recorder until its run is over. A failure does not end it: a database that comes
/// back gets what comes later.
pub fn follow(seconds: &SnapshotReceiver, exporter: &mut dyn Exporter) -> Followed {
    let mut followed = Followed::default();
    while let Some(snapshot) = seconds.recv() {
        followed.seconds += 1;
        followed.note(exporter.second(&snapshot));
    }
    followed.note(exporter.finish());
    followed.lost = seconds.lost();
    followed
}
