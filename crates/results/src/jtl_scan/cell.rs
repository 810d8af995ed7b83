//! One cell of a row. Several of its bytes are loaded with one instruction.

use super::cells;

/// Maximum lengths of cells with a key from [`Cell::short`] and from [`Cell::medium_key`].
const SHORT_MAX: usize = 7;
const MIDDLING_MAX: usize = 15;

/// A cell and the bytes before it in its row. If there are enough bytes before it, its last bytes can be loaded with
/// one instruction, regardless of the length of the cell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell<'r> {
    upto: &'r [u8],
    len: usize,
}

impl<'r> Cell<'r> {
    /// The cell that consists of the last `len` bytes of `upto`, which must have at least `len` bytes.
    #[inline]
    pub(crate) const fn new(upto: &'r [u8], len: usize) -> Cell<'r> {
        Cell { upto, len }
    }

    /// The bytes of the cell.
    #[inline]
    pub(crate) fn bytes(self) -> &'r [u8] {
        &self.upto[self.upto.len() - self.len..]
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The cell as a whole number without a sign. The result equals that of [`cells::number`] for its bytes.
    #[inline]
    pub(crate) fn number(self) -> Option<u64> {
        match self.upto.last_chunk() {
            Some(last) if self.len <= 8 && self.len > 0 => {
                // The bytes before the digits become zeros.
                let before = 64 - 8 * self.len as u32;
                digits((u64::from_le_bytes(*last) ^ u64::from_le_bytes([b'0'; 8])) >> before << before)
            }
            _ => cells::number(self.bytes()),
        }
    }

    /// The cell as a duration in ms, converted to ns. The result equals that of [`cells::span_ns`] for its bytes.
    #[inline]
    pub(crate) fn span_ns(self) -> Option<u64> {
        cells::ms_to_ns(self.number()?)
    }

    /// A key for short cells: cells with different contents have different keys. `None` for longer cells, or if too few bytes
    /// precede the cell.
    #[inline]
    pub(crate) fn short(self) -> Option<u64> {
        let last = self.upto.last_chunk().filter(|_| self.len <= SHORT_MAX)?;
        if self.len == 0 {
            return Some(0);
        }
        Some(u64::from_le_bytes(*last) >> (64 - 8 * self.len as u32) | (self.len as u64) << (8 * SHORT_MAX))
    }

    /// Like [`Cell::short`], but for cells up to twice as long.
    #[inline]
    pub(crate) fn medium_key(self) -> Option<u128> {
        let last = self.upto.last_chunk().filter(|_| self.len <= MIDDLING_MAX)?;
        if self.len == 0 {
            return Some(0);
        }
        let bytes = u128::from_le_bytes(*last) >> (128 - 8 * self.len as u32);
        Some(bytes | (self.len as u128) << (8 * MIDDLING_MAX))
    }
}

/// The value of eight digits, the first of which is in the lowest byte; `None` unless all of them are between 0 and 9.
#[inline]
fn digits(digits: u64) -> Option<u64> {
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    const OVER: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    // Sets the highest bit of each byte that is 10 or more.
    if (digits.wrapping_add(OVER) | digits) & HIGH != 0 {
        return None;
    }
    // Combines the digits into pairs in every second byte, then into groups of four, then into one number of eight digits.
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
        fn numbers_equal_those_parsed_from_bytes(before in "[0-9,x]{0,12}", cell in "[0-9]{0,20}|[0-9/:x]{0,10}|\\PC{0,4}") {
            let upto = before + &cell;
            let read = Cell::new(upto.as_bytes(), cell.len());
            prop_assert_eq!(read.bytes(), cell.as_bytes());
            prop_assert_eq!(read.number(), cells::number(cell.as_bytes()));
            prop_assert_eq!(read.span_ns(), cells::span_ns(cell.as_bytes()));
        }

        #[test]
        fn short_cells_have_distinct_keys(before in "[a-c,]{0,20}", a in "[ab\0]{0,17}", b in "[ab\0]{0,17}") {
            let (left, right) = (before.clone() + &a, before + &b);
            let (left, right) = (Cell::new(left.as_bytes(), a.len()), Cell::new(right.as_bytes(), b.len()));
            if let (Some(left), Some(right)) = (left.short(), right.short()) {
                prop_assert_eq!(left == right, a == b);
            }
            if let (Some(left), Some(right)) = (left.medium_key(), right.medium_key()) {
                prop_assert_eq!(left == right, a == b);
            }
            prop_assert_eq!(left.short().is_some(), left.upto.len() >= 8 && a.len() <= SHORT_MAX);
            prop_assert_eq!(left.medium_key().is_some(), left.upto.len() >= 16 && a.len() <= MIDDLING_MAX);
        }
    }
}
