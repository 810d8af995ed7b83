//! Numbers the rows of tables by label and kind.

use std::sync::Arc;

use crate::labels::{LABELS_MAX, Labels, OTHER_LABELS};
use crate::sample::LabelId;
use crate::sample_flags::SampleKind;

/// The label of the rows for labels beyond [`LABELS_MAX`].
const OTHER: LabelId = LabelId(u32::MAX);

/// The rows of a table: one for each label and kind, and one of each kind for the labels beyond [`LABELS_MAX`].
#[derive(Debug, Default)]
pub struct LabelRows {
    /// Row numbers by label and kind.
    index: Vec<[Option<u32>; 3]>,
    rows: Vec<(LabelId, SampleKind)>,
    /// For each kind, the row of the labels beyond the limit.
    other: [Option<u32>; 3],
}

impl LabelRows {
    /// The number of the row for a label and kind, and whether it is the row of the labels beyond the limit.
    pub fn of(&mut self, label: LabelId, kind: SampleKind) -> (usize, bool) {
        let (at, kind_at) = (label.0 as usize, kind as usize);
        if self.index.len() <= at {
            self.index.resize(at + 1, [None; 3]);
        }
        let row = self.index[at][kind_at].unwrap_or_else(|| {
            let next = self.rows.len() as u32;
            let full = self.rows.len() >= LABELS_MAX;
            let row = if full { *self.other[kind_at].get_or_insert(next) } else { next };
            if row == next {
                self.rows.push((if full { OTHER } else { label }, kind));
            }
            self.index[at][kind_at] = Some(row);
            row
        });
        (row as usize, self.other[kind_at] == Some(row))
    }

    /// The label and kind of a row.
    pub fn get(&self, row: usize) -> Option<(LabelId, SampleKind)> {
        self.rows.get(row).copied()
    }
}

/// The name of a row's label.
pub fn row_label(labels: &Labels, id: LabelId) -> Arc<str> {
    if id == OTHER { Arc::from(OTHER_LABELS) } else { labels.name(id) }
}
