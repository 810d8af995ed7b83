//! Bands of response time: 64 to a decade, from 1 µs up, each 3.7 % wide. A band's number is all that is kept of a time
//! where times are summed over slices of a run; percentiles of a whole run come from histograms.

use std::sync::LazyLock;

/// Bands to a decade.
pub(crate) const PER_DECADE: usize = 64;

/// Decades: from 1 µs to 115 days.
const DECADES: usize = 13;

/// How many bands there are. What is longer counts in the last.
pub(crate) const BANDS: usize = PER_DECADE * DECADES;

/// Bits below the leading one that choose where the search for a band begins.
const HEAD_BITS: u32 = 6;

/// Which times lie in which band.
pub(crate) struct Bands {
    /// Where each band begins, in µs, and the end of the last.
    edges_us: Vec<u64>,
    /// By leading bits: the band of the least value that begins with them.
    heads: Vec<u16>,
}

static BANDS_OF_TIMES: LazyLock<Bands> = LazyLock::new(|| {
    let mut edges_us: Vec<u64> = (0..BANDS).map(|band| edge_us(band).ceil() as u64).collect();
    edges_us.push(u64::MAX);
    let head = |key: usize| {
        let (exponent, fraction) = (key >> HEAD_BITS, key & ((1 << HEAD_BITS) - 1));
        let least = (1u128 << exponent) + ((fraction as u128) << exponent >> HEAD_BITS);
        // Of edges that are equal after rounding up, the last begins the band.
        edges_us.partition_point(|edge| u128::from(*edge) <= least).saturating_sub(1).min(BANDS - 1) as u16
    };
    let heads = (0..64 << HEAD_BITS).map(head).collect();
    Bands { edges_us, heads }
});

/// Where band `band` begins, in µs.
pub(crate) fn edge_us(band: usize) -> f64 {
    let decade = 10f64.powi((band / PER_DECADE) as i32);
    decade * 10f64.powf((band % PER_DECADE) as f64 / PER_DECADE as f64)
}

/// The bands.
pub(crate) fn bands() -> &'static Bands {
    &BANDS_OF_TIMES
}

impl Bands {
    /// The band of a time in µs; less than 1 µs counts as 1.
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
    fn edges_belong_to_the_band_above_them() {
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
        fn a_time_lies_in_its_band(us in 1u64..10_000_000_000_000) {
            let at = band(us);
            prop_assert!(edge_us(at) <= us as f64 * (1.0 + 1e-12));
            prop_assert!(at + 1 == BANDS || (us as f64) < edge_us(at + 1) * (1.0 + 1e-12));
        }
    }
}
