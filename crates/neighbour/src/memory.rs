//! Allocates memory up to a size and keeps it in use.

use crate::error::NeighbourError;
use crate::free_memory::{MemoryFiles, RESERVE_BYTES};
use crate::pacer::Pacer;
use crate::stop::StopFlag;
use crate::workers::Work;

/// Bytes of a block, which is allocated and touched in one step.
pub(crate) const BLOCK_BYTES: usize = 4 << 20;

/// Distance of the bytes that are touched: no page is smaller.
const PAGE_BYTES: usize = 4 << 10;

/// Options of the memory neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// Bytes of all threads together.
    pub bytes: u64,
}

/// Grows, then touches all pages again and again.
pub(crate) struct MemoryWork {
    blocks_per_thread: usize,
}

/// The memory of a thread.
#[derive(Default)]
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
    position: usize,
    round: u8,
    /// Set when memory became scarce, so that the thread no longer grows.
    pub(crate) is_scarce: bool,
    /// Pages that were written to.
    pub(crate) touches: u64,
}

impl MemoryWork {
    pub(crate) fn new(options: &MemoryOptions, threads: usize) -> Result<Self, NeighbourError> {
        let blocks = options.bytes / BLOCK_BYTES as u64 / threads as u64;
        match usize::try_from(blocks) {
            Ok(0) | Err(_) => {
                Err(NeighbourError::TooSmall { bytes: options.bytes, threads, least: BLOCK_BYTES as u64 })
            }
            Ok(blocks_per_thread) => Ok(Self { blocks_per_thread }),
        }
    }

    /// Bytes of all threads.
    pub(crate) fn total_bytes(&self, threads: usize) -> u64 {
        self.blocks_per_thread as u64 * BLOCK_BYTES as u64 * threads as u64
    }
}

impl Work for MemoryWork {
    type State = Blocks;

    fn set_up(&self, _index: usize, _stop: &StopFlag) -> Result<Blocks, NeighbourError> {
        Ok(Blocks::default())
    }

    fn work(&self, state: &mut Blocks, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        let files = MemoryFiles::live();
        while pacer.proceed() {
            if state.blocks.len() < self.blocks_per_thread && !state.is_scarce {
                // Others may have used the memory that was free at the start.
                let free = files.free()?.bytes;
                state.is_scarce = free < BLOCK_BYTES as u64 + RESERVE_BYTES || !state.grow();
            } else {
                state.touch_next();
            }
            if state.blocks.is_empty() {
                return Err(NeighbourError::Allocation { bytes: BLOCK_BYTES as u64 });
            }
        }
        Ok(())
    }
}

impl Blocks {
    /// Bytes that are allocated.
    pub(crate) fn bytes(&self) -> u64 {
        (self.blocks.len() * BLOCK_BYTES) as u64
    }

    /// Allocates a block and touches it. Returns false if the system does not provide it.
    fn grow(&mut self) -> bool {
        let mut block = Vec::new();
        if block.try_reserve_exact(BLOCK_BYTES).is_err() {
            return false;
        }
        block.resize(BLOCK_BYTES, 0);
        self.touches += touch(&mut block, self.round);
        self.blocks.push(block);
        true
    }

    /// Touches the next block.
    fn touch_next(&mut self) {
        if let Some(block) = self.blocks.get_mut(self.position) {
            self.touches += touch(block, self.round);
        }
        self.position += 1;
        if self.position >= self.blocks.len() {
            self.position = 0;
            self.round = self.round.wrapping_add(1);
        }
    }
}

/// Writes to each page; returns their number. Pages differ in content, so that the kernel cannot merge them.
fn touch(block: &mut [u8], round: u8) -> u64 {
    let mut pages = 0u64;
    for page in block.chunks_mut(PAGE_BYTES) {
        let stamp = pages.to_le_bytes();
        page[..2].copy_from_slice(&stamp[..2]);
        page[2] = round;
        pages += 1;
    }
    std::hint::black_box(&*block);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_and_every_page_is_touched() {
        let mut state = Blocks::default();
        assert!(state.grow() && state.grow());
        assert_eq!((state.bytes(), state.touches), (8 << 20, 2_048));
        (0..4).for_each(|_| state.touch_next());
        assert_eq!((state.touches, state.round, state.position), (6_144, 2, 0));
        assert!(state.blocks.iter().all(|block| block.chunks(PAGE_BYTES).all(|page| page[2] == 1)));
    }

    #[test]
    fn the_size_is_divided_among_the_threads() {
        let work = |bytes, threads| MemoryWork::new(&MemoryOptions { bytes }, threads);
        let half = work(1 << 30, 2).unwrap();
        assert_eq!((half.blocks_per_thread, half.total_bytes(2)), (128, 1 << 30));
        let error = work(4 << 20, 2).err().unwrap();
        assert!(error.to_string().contains("each needs at least 4194304 bytes"), "{error}");
    }
}
