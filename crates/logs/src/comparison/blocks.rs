//! Counts in blocks of time, and their variance.

use crate::counts::GroupCounts;

/// Number of the shortest blocks in a run.
const BLOCKS: usize = 32;
/// The dispersion is computed for blocks of each of these numbers of shortest blocks, so that bursts of any length up to a
/// quarter of the run are recognized.
const JOINED: [usize; 4] = [1, 2, 4, 8];

/// The counts of a group in blocks of equal length.
#[derive(Debug, Clone)]
pub(super) struct BlockCounts {
    blocks: Vec<f64>,
    total: u64,
}

/// The ratio of variance to mean, and the degrees of freedom of its estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispersion {
    pub(super) ratio: f64,
    pub(super) freedom: f64,
}

impl BlockCounts {
    /// The sum of groups in a run of this length in seconds.
    pub(super) fn of(groups: &[&GroupCounts], length_s: f64) -> BlockCounts {
        let mut blocks = vec![0.0; BLOCKS];
        for (start_s, count) in groups.iter().flat_map(|group| &group.over_time.counts) {
            let at = (f64::from(*start_s) / length_s * BLOCKS as f64) as usize;
            blocks[at.min(BLOCKS - 1)] += f64::from(*count);
        }
        BlockCounts { blocks, total: groups.iter().map(|group| group.count).sum() }
    }

    /// Number of entries.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The dispersion for each length of blocks; `None` if there are no entries.
    pub(super) fn dispersions(&self) -> Option<[Dispersion; JOINED.len()]> {
        (self.total > 0).then(|| {
            JOINED.map(|joined| {
                let counts: Vec<f64> = self.blocks.chunks(joined).map(|blocks| blocks.iter().sum()).collect();
                let mean = counts.iter().sum::<f64>() / counts.len() as f64;
                let freedom = counts.len() as f64 - 1.0;
                let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
                Dispersion { ratio: squares / freedom / mean.max(f64::MIN_POSITIVE), freedom }
            })
        })
    }
}
