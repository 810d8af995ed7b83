//! Time stamps of rows.

use super::cell::Cell;
use super::cells::{STAMP_MS_MAX, number, stamp_ns};

/// Reads stamps of 13 digits, as all are from 2001 to 2286: the first eight change every 100 s only.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    head: [u8; 8],
    head_ms: u64,
}

impl Stamps {
    /// The same as [`stamp_ns`].
    #[inline]
    pub(crate) fn ns(&mut self, cell: Cell<'_>) -> Option<i64> {
        let Ok(stamp) = <&[u8; 13]>::try_from(cell.bytes()) else { return stamp_ns(cell.bytes()) };
        let [head @ .., _, _, _, _, _] = stamp;
        if *head != self.head {
            let Some(value) = number(head) else { return stamp_ns(stamp) };
            (self.head, self.head_ms) = (*head, value * 100_000);
        }
        let Some(tail) = Cell::new(stamp, 5).number() else { return stamp_ns(stamp) };
        let ms = self.head_ms + tail;
        (ms <= STAMP_MS_MAX).then(|| ms as i64 * 1_000_000)
    }
}
