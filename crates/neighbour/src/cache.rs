//! Evicts the cache lines of others: writes to every line of a buffer, or follows pointers through it.

use serde::Serialize;

use crate::error::NeighbourError;
use crate::filled::filled;
use crate::pacer::Pacer;
use crate::random::SplitMix;
use crate::stop::StopFlag;
use crate::workers::Work;

/// Bytes of a line.
pub(crate) const LINE_BYTES: u64 = 64;

/// Lines per step: 256 KiB of writes, about 20 µs in the cache.
const WRITES_PER_STEP: usize = 4_096;

/// Lines per step when following pointers: about 100 µs in memory.
const READS_PER_STEP: usize = 1_024;

/// Lines whose order is determined between two checks for a stop request.
const SET_UP_LINES: usize = 1 << 20;

/// How the lines of the buffer are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePattern {
    /// Writes to one line after the other: the most lines per second.
    Write,
    /// Reads each line to find the next, in random order: one access at a time, without the help of prefetching.
    Chase,
}

/// Options of the cache neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOptions {
    /// Bytes of the buffers of all threads; by default the last-level caches of the cores.
    pub buffer_bytes: Option<u64>,
    /// How the buffer is accessed.
    pub pattern: CachePattern,
}

/// One line of the buffer. The first number is the index of the next line, or a counter.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

/// Accesses the lines of a buffer.
pub(crate) struct CacheWork {
    lines_per_thread: usize,
    pattern: CachePattern,
}

/// The buffer of a thread.
pub(crate) struct Buffer {
    lines: Vec<Line>,
    position: usize,
    /// Lines that were accessed.
    pub(crate) accesses: u64,
}

impl CacheWork {
    /// Divides the buffer among the threads.
    pub(crate) fn new(
        buffer_bytes: u64,
        threads: usize,
        pattern: CachePattern,
    ) -> Result<Self, NeighbourError> {
        let lines = buffer_bytes / LINE_BYTES / threads as u64;
        // Two lines are the shortest chain of pointers.
        if lines < 2 {
            return Err(NeighbourError::TooSmall { bytes: buffer_bytes, threads, least: 2 * LINE_BYTES });
        }
        let lines_per_thread =
            usize::try_from(lines).map_err(|_| NeighbourError::Allocation { bytes: buffer_bytes })?;
        Ok(Self { lines_per_thread, pattern })
    }

    /// Bytes of the buffers of all threads.
    pub(crate) fn total_bytes(&self, threads: usize) -> u64 {
        self.lines_per_thread as u64 * LINE_BYTES * threads as u64
    }
}

impl Work for CacheWork {
    type State = Buffer;

    fn set_up(&self, index: usize, stop: &StopFlag) -> Result<Buffer, NeighbourError> {
        let lines = filled(Line([0; 8]), self.lines_per_thread, stop)?;
        let mut buffer = Buffer { lines, position: 0, accesses: 0 };
        if self.pattern == CachePattern::Chase {
            buffer.link_in_random_order(index as u64, stop);
        }
        Ok(buffer)
    }

    fn work(&self, buffer: &mut Buffer, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        while pacer.proceed() {
            match self.pattern {
                CachePattern::Write => buffer.write(),
                CachePattern::Chase => buffer.chase(),
            }
        }
        Ok(())
    }
}

impl Buffer {
    /// Links the lines to one cycle (Sattolo's algorithm).
    fn link_in_random_order(&mut self, seed: u64, stop: &StopFlag) {
        let mut random = SplitMix::new(seed);
        for (index, line) in self.lines.iter_mut().enumerate() {
            line.0[0] = index as u64;
        }
        for last in (1..self.lines.len()).rev() {
            if last % SET_UP_LINES == 0 && stop.is_requested() {
                return;
            }
            let other = random.below(last as u64) as usize;
            let (own, others) = (self.lines[last].0[0], self.lines[other].0[0]);
            self.lines[last].0[0] = others;
            self.lines[other].0[0] = own;
        }
    }

    /// Writes to the next lines.
    fn write(&mut self) {
        let end = (self.position + WRITES_PER_STEP).min(self.lines.len());
        for line in &mut self.lines[self.position..end] {
            line.0[0] = line.0[0].wrapping_add(1);
        }
        std::hint::black_box(&self.lines);
        self.accesses += (end - self.position) as u64;
        self.position = if end == self.lines.len() { 0 } else { end };
    }

    /// Follows the next pointers.
    fn chase(&mut self) {
        let mut position = self.position;
        for _ in 0..READS_PER_STEP {
            position = self.lines[position].0[0] as usize;
        }
        self.position = position;
        self.accesses += READS_PER_STEP as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: u64, pattern: CachePattern) -> Buffer {
        CacheWork::new(bytes, 1, pattern).unwrap().set_up(0, &StopFlag::new()).unwrap()
    }

    #[test]
    fn pointers_form_one_cycle_through_all_lines() {
        for lines in [2, 3, 1_000] {
            let buffer = buffer(lines * LINE_BYTES, CachePattern::Chase);
            let (mut position, mut length) = (0, 0);
            loop {
                position = buffer.lines[position].0[0] as usize;
                length += 1;
                if position == 0 {
                    break;
                }
            }
            assert_eq!(length, lines);
        }
    }

    #[test]
    fn every_line_is_written_once_per_round() {
        let mut buffer = buffer(10_000 * LINE_BYTES, CachePattern::Write);
        for _ in 0..6 {
            buffer.write();
        }
        assert_eq!(buffer.accesses, 20_000);
        assert!(buffer.lines.iter().all(|line| line.0[0] == 2));
    }

    #[test]
    fn the_buffer_is_divided_among_the_threads() {
        let work = CacheWork::new(32 << 20, 3, CachePattern::Write).unwrap();
        assert_eq!(work.lines_per_thread, (32 << 20) / 64 / 3);
        assert!(work.total_bytes(3) <= 32 << 20);
        let error = CacheWork::new(300, 3, CachePattern::Write).err().unwrap();
        assert!(error.to_string().contains("300 bytes are too little for 3 threads"), "{error}");
    }
}
