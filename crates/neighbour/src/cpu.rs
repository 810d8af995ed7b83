//! Integer work without memory.

use crate::error::NeighbourError;
use crate::pacer::Pacer;
use crate::stop::StopFlag;
use crate::workers::Work;

/// Independent sequences, so that several instructions execute at once.
const SEQUENCES: usize = 4;

/// Numbers of each sequence per step, about 20 µs.
const NUMBERS_PER_STEP: u32 = 10_000;

/// Computes xorshift numbers.
pub(crate) struct CpuWork;

/// The sequences of a thread.
pub(crate) struct Sequences {
    values: [u64; SEQUENCES],
    /// Numbers that were computed.
    pub(crate) count: u64,
}

impl Work for CpuWork {
    type State = Sequences;

    fn set_up(&self, index: usize, _stop: &StopFlag) -> Result<Sequences, NeighbourError> {
        let seed = index as u64 + 1;
        Ok(Sequences { values: std::array::from_fn(|sequence| seed << (8 * sequence)), count: 0 })
    }

    fn work(&self, state: &mut Sequences, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        while pacer.proceed() {
            state.advance();
        }
        Ok(())
    }
}

impl Sequences {
    fn advance(&mut self) {
        for _ in 0..NUMBERS_PER_STEP {
            for value in &mut self.values {
                *value ^= *value << 13;
                *value ^= *value >> 7;
                *value ^= *value << 17;
            }
        }
        std::hint::black_box(&self.values);
        self.count += u64::from(NUMBERS_PER_STEP) * SEQUENCES as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_advance_and_are_counted() {
        let mut state = CpuWork.set_up(0, &StopFlag::new()).unwrap();
        let before = state.values;
        state.advance();
        assert_eq!(state.count, 40_000);
        assert!(state.values.iter().zip(before).all(|(after, before)| *after != before && *after != 0));
    }
}
