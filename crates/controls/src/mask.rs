//! The rules of cache masks and bandwidths.

/// A cache mask or a bandwidth that does not fit the hardware.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The mask selects no way.
    #[error("the mask 0 selects no part of the cache")]
    Empty,
    /// The mask has bits that the cache lacks.
    #[error("the mask {mask:#x} exceeds the full mask {full:#x}")]
    TooWide {
        /// The mask.
        mask: u64,
        /// The full mask.
        full: u64,
    },
    /// The mask has gaps.
    #[error("the bits of the mask {mask:#x} are not contiguous, which this hardware requires")]
    Gaps {
        /// The mask.
        mask: u64,
    },
    /// The mask has too few bits.
    #[error("the mask {mask:#x} has {bits} bits; this hardware requires at least {least}")]
    TooNarrow {
        /// The mask.
        mask: u64,
        /// Its bits.
        bits: u32,
        /// The smallest number of bits.
        least: u32,
    },
    /// Bits belong to a group in exclusive mode, or are pseudo-locked.
    #[error(
        "the bits {bits:#x} of the mask {mask:#x} are reserved by a group in exclusive or pseudo-locked mode"
    )]
    Reserved {
        /// The mask.
        mask: u64,
        /// The reserved bits.
        bits: u64,
    },
    /// The bandwidth is outside of the range.
    #[error("the bandwidth {percent} % is not between {least} and 100 %")]
    Bandwidth {
        /// The bandwidth.
        percent: u64,
        /// The smallest one.
        least: u64,
    },
    /// The bandwidth has a unit other than percent.
    #[error(
        "this machine does not count memory bandwidth in percent (an AMD processor, or the mount option mba_MBps)"
    )]
    NotPercent,
    /// There is no such cache or memory controller.
    #[error("there is no domain {domain}; the domains are {known}")]
    Domain {
        /// The number.
        domain: u32,
        /// The existing ones.
        known: String,
    },
    /// There is nothing to allocate.
    #[error("no domain is named")]
    NoDomain,
}

/// The rules of masks of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskRules {
    /// All bits.
    pub full: u64,
    /// The smallest number of bits.
    pub min_bits: u32,
    /// Whether masks may have gaps.
    pub is_sparse: bool,
    /// Bits that other hardware, such as network cards, uses too.
    pub shareable: u64,
}

impl MaskRules {
    /// Checks a mask as the kernel does. `reserved` are the bits of exclusive groups.
    ///
    /// # Errors
    /// The kernel would refuse it.
    ///
    /// # Examples
    /// ```
    /// use busyhour_controls::mask::MaskRules;
    ///
    /// let rules = MaskRules { full: 0xfffff, min_bits: 2, is_sparse: false, shareable: 0xc0000 };
    /// assert!(rules.check(0x3, 0).is_ok());
    /// assert!(rules.check(0x5, 0).is_err());
    /// ```
    pub fn check(&self, mask: u64, reserved: u64) -> Result<(), AllocationError> {
        let bits = mask.count_ones();
        if mask == 0 {
            Err(AllocationError::Empty)
        } else if mask & !self.full != 0 {
            Err(AllocationError::TooWide { mask, full: self.full })
        } else if !self.is_sparse && !is_contiguous(mask) {
            Err(AllocationError::Gaps { mask })
        } else if bits < self.min_bits {
            Err(AllocationError::TooNarrow { mask, bits, least: self.min_bits })
        } else if mask & reserved != 0 {
            Err(AllocationError::Reserved { mask, bits: mask & reserved })
        } else {
            Ok(())
        }
    }
}

/// Whether the bits of a mask, which is not 0, are next to each other.
pub(crate) fn is_contiguous(mask: u64) -> bool {
    let shifted = mask >> mask.trailing_zeros();
    shifted & shifted.wrapping_add(1) == 0
}

/// The rules of memory bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandwidthRules {
    /// The smallest value in percent.
    pub least: u64,
    /// The step to which the kernel rounds up.
    pub step: u64,
}

impl BandwidthRules {
    /// The value to which the kernel rounds a bandwidth.
    ///
    /// # Errors
    /// It is out of range.
    pub fn rounded(&self, percent: u64) -> Result<u64, AllocationError> {
        if percent < self.least.max(1) || percent > 100 {
            return Err(AllocationError::Bandwidth { percent, least: self.least.max(1) });
        }
        Ok(percent.next_multiple_of(self.step.max(1)).min(100))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A mask is contiguous if its bits form one run.
    fn runs(mask: u64) -> u32 {
        (0..64).filter(|bit| mask >> bit & 1 == 1 && (*bit == 0 || mask >> (bit - 1) & 1 == 0)).count() as u32
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: prop::test_runner::RngSeed::Fixed(32), ..ProptestConfig::default() })]

        #[test]
        fn exactly_the_valid_masks_are_accepted(
            mask: u64, shift in 0_u32..64, ways in 1_u32..33, min_bits in 1_u32..4, is_sparse: bool, reserved: u64,
        ) {
            // Most of the random masks are too wide; the shifted ones are valid more often.
            for mask in [mask, mask >> shift, (mask >> shift) & 0xff, u64::MAX >> shift] {
                for reserved in [0, reserved & (reserved >> 7)] {
                    let full = (1 << ways) - 1;
                    let rules = MaskRules { full, min_bits, is_sparse, shareable: 0 };
                    let expected = mask != 0
                        && mask <= full
                        && (is_sparse || runs(mask) == 1)
                        && mask.count_ones() >= min_bits
                        && mask & reserved == 0;
                    prop_assert_eq!(rules.check(mask, reserved).is_ok(), expected, "{:x}", mask);
                }
            }
        }

        #[test]
        fn bandwidths_are_rounded_up_within_the_range(percent in 0_u64..300, least in 0_u64..50, step in 0_u64..30) {
            let rules = BandwidthRules { least, step };
            match rules.rounded(percent) {
                Ok(rounded) => {
                    prop_assert!(rounded >= percent && rounded <= 100 && percent >= least && percent > 0);
                    prop_assert!(rounded == 100 || step == 0 || rounded % step == 0 && rounded - percent < step);
                }
                Err(_) => prop_assert!(percent < least.max(1) || percent > 100),
            }
        }
    }

    #[test]
    fn errors_name_the_rule() {
        let rules = MaskRules { full: 0xff, min_bits: 2, is_sparse: false, shareable: 0 };
        let message = |mask, reserved| rules.check(mask, reserved).unwrap_err().to_string();
        assert_eq!(message(0, 0), "the mask 0 selects no part of the cache");
        assert_eq!(message(0x1ff, 0), "the mask 0x1ff exceeds the full mask 0xff");
        assert_eq!(
            message(0x9, 0),
            "the bits of the mask 0x9 are not contiguous, which this hardware requires"
        );
        assert_eq!(message(0x8, 0), "the mask 0x8 has 1 bits; this hardware requires at least 2");
        assert!(message(0x6, 0x4).starts_with("the bits 0x4 of the mask 0x6 are reserved"));
        let full = MaskRules { full: u64::MAX, min_bits: 1, is_sparse: false, shareable: 0 };
        assert_eq!(full.check(u64::MAX, 0), Ok(()));
    }
}
