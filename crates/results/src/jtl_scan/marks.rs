//! Finds the ends of cells and rows in a block of bytes, many bytes at once.

/// Number of bytes in a block.
pub(super) const BLOCK: usize = 64;

/// Number of bytes that one register holds.
#[cfg(target_arch = "x86_64")]
const PART: usize = 16;

/// Finds the delimiters, line feeds and quotes in blocks.
pub(super) struct Marks {
    delimiter: u8,
}

/// The marks in a block. Bit `i` belongs to byte `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockMarks {
    /// The positions of delimiters.
    pub(super) delimiters: u64,
    /// The positions of line feeds and quotes: the row ends there, or contains quotes.
    pub(super) stops: u64,
}

impl Marks {
    pub(super) const fn new(delimiter: u8) -> Marks {
        Marks { delimiter }
    }

    /// Finds the marks in `block`.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn of(&self, block: &[u8; BLOCK]) -> BlockMarks {
        use std::arch::x86_64::{
            _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
        };
        let mut found = BlockMarks { delimiters: 0, stops: 0 };
        for (at, part) in block.as_chunks::<PART>().0.iter().enumerate() {
            let part = u128::from_le_bytes(*part);
            // SAFETY: every x86-64 processor has SSE2, and these intrinsics use only values, not memory.
            let (delimiters, stops) = unsafe {
                // The compiler merges the two halves into one load.
                let bytes = _mm_set_epi64x((part >> 64) as i64, part as i64);
                let [delimiters, feeds, quotes] = [self.delimiter, b'\n', b'"']
                    .map(|byte| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)));
                (_mm_movemask_epi8(delimiters), _mm_movemask_epi8(_mm_or_si128(feeds, quotes)))
            };
            found.delimiters |= u64::from(delimiters as u32) << (at * PART);
            found.stops |= u64::from(stops as u32) << (at * PART);
        }
        found
    }

    /// Finds the marks in `block`.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    pub(super) fn of(&self, block: &[u8; BLOCK]) -> BlockMarks {
        self.plain(block)
    }

    /// Finds the marks in `block` byte by byte.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn plain(&self, block: &[u8; BLOCK]) -> BlockMarks {
        let bits = |wanted: &[u8]| {
            block.iter().enumerate().fold(0, |bits, (at, byte)| bits | u64::from(wanted.contains(byte)) << at)
        };
        BlockMarks { delimiters: bits(&[self.delimiter]), stops: bits(b"\n\"") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_equal_those_of_the_plain_search(
            block in prop::collection::vec(prop_oneof![any::<u8>(), Just(b','), Just(b'\n'), Just(b'"')], BLOCK),
            delimiter: u8,
        ) {
            let block: [u8; BLOCK] = block.try_into().unwrap();
            for delimiter in [delimiter, b',', block[BLOCK / 2]] {
                let marks = Marks::new(delimiter);
                prop_assert_eq!(marks.of(&block), marks.plain(&block));
            }
        }
    }
}
