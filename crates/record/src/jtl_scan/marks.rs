//! Where in a block of bytes a byte stands, all sixteen at once.

/// Bytes that are looked at together.
pub(super) const BLOCK: usize = 16;

/// Three bytes to look for.
pub(super) struct Marks {
    wanted: [u8; 3],
}

impl Marks {
    pub(super) const fn new(wanted: [u8; 3]) -> Marks {
        Marks { wanted }
    }

    /// Bit `i` is set when byte `i` of `block` is one of the three.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn of(&self, block: &[u8; BLOCK]) -> u32 {
        use std::arch::x86_64::{
            _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
        };
        let block = u128::from_le_bytes(*block);
        // SAFETY: every x86-64 has SSE2, and values alone are worked on, no memory.
        unsafe {
            // The compiler makes one load of the two halves.
            let bytes = _mm_set_epi64x((block >> 64) as i64, block as i64);
            let [a, b, c] = self.wanted.map(|byte| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), c)) as u32
        }
    }

    /// Bit `i` is set when byte `i` of `block` is one of the three.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    pub(super) fn of(&self, block: &[u8; BLOCK]) -> u32 {
        plain(&self.wanted, block)
    }
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(wanted: &[u8; 3], block: &[u8; BLOCK]) -> u32 {
    block.iter().enumerate().fold(0, |marks, (at, byte)| marks | u32::from(wanted.contains(byte)) << at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_are_found_and_nothing_else(block: [u8; BLOCK], at in 0..BLOCK, wanted: [u8; 3]) {
            let mut block = block;
            block[at] = wanted[1];
            block[BLOCK - 1 - at] = wanted[2];
            prop_assert_eq!(Marks::new(wanted).of(&block), plain(&wanted, &block));
        }
    }
}
