//! Bands of response times: 64 per decade, from 1 µs up, each 3.7 % wide. Time slices count response times by band;
//! percentiles of a whole run come from histograms.

use std::sync::LazyLock;

/// Bands per decade.
pub(crate) const PER_DECADE: usize = 64;

/// Number of decades: from 1 µs to 115 days.
const DECADES: usize = 13;

/// Number of bands. Longer times are counted in the last band.
pub(crate) const BANDS: usize = PER_DECADE * DECADES;

/// Number of bits, below the leading one, that select the band where the search starts.
const HEAD_BITS: u32 = 6;

/// The edges of the bands, and an index into them.
pub(crate) struct Bands {
    /// The start of each band in µs, and the end of the last.
    edges_us: Vec<u64>,
    /// For each combination of leading bits: the band of the smallest value with these bits.
    heads: Vec<u16>,
}

static BANDS_OF_TIMES: LazyLock<Bands> = LazyLock::new(|| {
    let mut edges_us: Vec<u64> = (0..BANDS).map(|band| edge_us(band).ceil() as u64).collect();
    edges_us.push(u64::MAX);
    let head = |key: usize| {
        let (exponent, fraction) = (key >> HEAD_BITS, key & ((1 << HEAD_BITS) - 1));
        let least = (1u128 << exponent) + ((fraction as u128) << exponent >> HEAD_BITS);
        // If several edges are equal after rounding up, the last of them is used.
        edges_us.partition_point(|edge| u128::from(*edge) <= least).saturating_sub(1).min(BANDS - 1) as u16
    };
    let heads = (0..64 << HEAD_BITS).map(head).collect();
    Bands { edges_us, heads }
});

/// The start of band `band`, in µs.
pub(crate) fn edge_us(band: usize) -> f64 {
    let decade = 10f64.powi((band / PER_DECADE) as i32);
    decade * 10f64.powf((band % PER_DECADE) as f64 / PER_DECADE as f64)
}

/// The bands.
pub(crate) fn bands() -> &'static Bands {
    &BANDS_OF_TIMES
}

impl Bands {
    /// The band of a time in µs; times below 1 µs are in the first.
    #[inline]
    pub(crate) fn of(&self, us: u64) -> usize {
        let us = us.max(1);
        let exponent = us.ilog2();
        let fraction = (us << (63 - exponent) << 1 >> (64 - HEAD_BITS)) as usize;
        let mut band = usize::from(self.heads[(exponent as usize) << HEAD_BITS | fraction]);
        while band + 1 < BANDS && self.edges_us[band + 1] <= us {
            band += 1;
        }
        band
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn band(us: u64) -> usize {
        bands().of(us)
    }

    #[test]
    fn edges_are_in_the_upper_band() {
        assert_eq!((band(0), band(1), band(9), band(10), band(1_000)), (0, 0, 61, 64, 192));
        assert_eq!(band(u64::MAX), BANDS - 1);
        for decade in 0..DECADES {
            let us = 10u64.pow(decade as u32);
            assert_eq!(band(us), decade * PER_DECADE);
            assert!(us == 1 || band(us - 1) < decade * PER_DECADE);
        }
    }

    proptest! {
        #[test]
        fn a_time_is_in_its_band(us in 1u64..10_000_000_000_000) {
            let at = band(us);
            prop_assert!(edge_us(at) <= us as f64 * (1.0 + 1e-12));
            prop_assert!(at + 1 == BANDS || (us as f64) < edge_us(at + 1) * (1.0 + 1e-12));
        }
    }
}
