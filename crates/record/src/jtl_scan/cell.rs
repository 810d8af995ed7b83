//! One cell of a row, read some bytes at once.

use super::cells;

/// Longest cell that has a [`Cell::short`], and that has a [`Cell::middling`].
const SHORT_MAX: usize = 7;
const MIDDLING_MAX: usize = 15;

/// A cell, together with what stands before it in its row: where that is long enough, the bytes at the cell's end are read
/// at once, whatever its length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell<'r> {
    upto: &'r [u8],
    len: usize,
}

impl<'r> Cell<'r> {
    /// The last `len` bytes of `upto`, which has as many.
    #[inline]
    pub(crate) const fn new(upto: &'r [u8], len: usize) -> Cell<'r> {
        Cell { upto, len }
    }

    /// What stands in it.
    #[inline]
    pub(crate) fn bytes(self) -> &'r [u8] {
        &self.upto[self.upto.len() - self.len..]
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The whole number without a sign in it: the same as [`cells::number`] of its bytes.
    #[inline]
    pub(crate) fn number(self) -> Option<u64> {
        match self.upto.last_chunk() {
            Some(last) if self.len <= 8 && self.len > 0 => {
                // What stands before the digits becomes zeros.
                let before = 64 - 8 * self.len as u32;
                digits((u64::from_le_bytes(*last) ^ u64::from_le_bytes([b'0'; 8])) >> before << before)
            }
            _ => cells::number(self.bytes()),
        }
    }

    /// The length of time in ns that it gives in ms: the same as [`cells::span_ns`] of its bytes.
    #[inline]
    pub(crate) fn span_ns(self) -> Option<u64> {
        cells::ms_to_ns(self.number()?)
    }

    /// A number that no other short cell has that says something else; `None` of a longer one, and where the row does not
    /// reach back far enough.
    #[inline]
    pub(crate) fn short(self) -> Option<u64> {
        let last = self.upto.last_chunk().filter(|_| self.len <= SHORT_MAX)?;
        if self.len == 0 {
            return Some(0);
        }
        Some(u64::from_le_bytes(*last) >> (64 - 8 * self.len as u32) | (self.len as u64) << (8 * SHORT_MAX))
    }

    /// The same of cells twice as long.
    #[inline]
    pub(crate) fn middling(self) -> Option<u128> {
        let last = self.upto.last_chunk().filter(|_| self.len <= MIDDLING_MAX)?;
        if self.len == 0 {
            return Some(0);
        }
        let bytes = u128::from_le_bytes(*last) >> (128 - 8 * self.len as u32);
        Some(bytes | (self.len as u128) << (8 * MIDDLING_MAX))
    }
}

/// The number that eight digits make, the first in the lowest byte; `None` unless all of them are 0 to 9.
#[inline]
fn digits(digits: u64) -> Option<u64> {
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    const OVER: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    // A byte from 10 on gets its highest bit, or has it.
    if (digits.wrapping_add(OVER) | digits) & HIGH != 0 {
        return None;
    }
    // Pairs of digits in every second byte, then fours, then all.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_bytes(before in "[0-9,x]{0,12}", cell in "[0-9]{0,20}|[0-9/:x]{0,10}|\\PC{0,4}") {
            let upto = before + &cell;
            let read = Cell::new(upto.as_bytes(), cell.len());
            prop_assert_eq!(read.bytes(), cell.as_bytes());
            prop_assert_eq!(read.number(), cells::number(cell.as_bytes()));
            prop_assert_eq!(read.span_ns(), cells::span_ns(cell.as_bytes()));
        }

        #[test]
        fn short_cells_are_told_apart(before in "[a-c,]{0,20}", a in "[ab\0]{0,17}", b in "[ab\0]{0,17}") {
            let (left, right) = (before.clone() + &a, before + &b);
            let (left, right) = (Cell::new(left.as_bytes(), a.len()), Cell::new(right.as_bytes(), b.len()));
            if let (Some(left), Some(right)) = (left.short(), right.short()) {
                prop_assert_eq!(left == right, a == b);
            }
            if let (Some(left), Some(right)) = (left.middling(), right.middling()) {
                prop_assert_eq!(left == right, a == b);
            }
            prop_assert_eq!(left.short().is_some(), left.upto.len() >= 8 && a.len() <= SHORT_MAX);
            prop_assert_eq!(left.middling().is_some(), left.upto.len() >= 16 && a.len() <= MIDDLING_MAX);
        }
    }
}
