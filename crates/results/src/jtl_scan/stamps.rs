//! Parses the time stamps of a log.

use super::cell::Cell;
use super::cells::{STAMP_MS_MAX, number, stamp_ns};

/// Parses time stamps of 13 digits, which cover the years 2001 to 2286. Caches the value of the first eight digits,
/// which change only every 100 s.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    head: [u8; 8],
    head_ms: u64,
}

impl Stamps {
    /// Parses a time stamp. The result equals that of [`stamp_ns`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_stamps_equal_parsed_stamps() {
        let mut stamps = Stamps::default();
        let all: [&[u8]; 7] = [
            b"1331861403100",
            b"1331861403101",
            b"1331861503101",
            b"9999999999999",
            b"13318615x3101",
            b"133186150310x",
            b"12",
        ];
        for cell in all {
            assert_eq!(stamps.ns(Cell::new(cell, cell.len())), stamp_ns(cell));
        }
    }
}
