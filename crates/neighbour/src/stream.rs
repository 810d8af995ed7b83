//! The STREAM benchmark (McCalpin) by its rules: the kernels Copy, Scale, Add and Triad on arrays that no cache holds.
//!
//! Each pass initializes the arrays, executes every kernel a number of times and validates the results. The first
//! execution of each kernel in a pass is not measured. Passes follow each other until the neighbour ends. The threads
//! execute the kernels together, each on its part of the arrays, and pause between kernels, so that the measured times
//! contain no pauses.

mod kernel;
mod printed;
mod result;

pub(crate) use kernel::Kernel;
pub use result::{KernelTimes, StreamResult, Validation};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Instant;

use crate::error::NeighbourError;
use crate::pacer::Pacer;
use crate::stop::StopFlag;
use crate::workers::Work;
use kernel::{Arrays, ErrorSums, ExpectedValues};
use result::TimesOfKernels;

/// Bytes of an element.
const ELEMENT_BYTES: u64 = 8;

/// The least number of elements of an array.
const ELEMENTS_MIN: u64 = 1_000_000;

/// The least size of an array relative to the caches.
const CACHES: u64 = 4;

/// Options of the stream neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Bytes of each of the three arrays; by default four times the last-level caches of the cores.
    pub array_bytes: Option<u64>,
    /// How often a pass executes each kernel, at least 2 and at most [`StreamOptions::REPETITIONS_MAX`].
    pub repetitions: u32,
}

impl StreamOptions {
    /// The number of repetitions of the original.
    pub const REPETITIONS: u32 = 10;
    /// With more repetitions, the values would become infinite.
    pub const REPETITIONS_MAX: u32 = 200;
}

/// The work of all threads.
pub(crate) struct StreamWork {
    elements_per_thread: usize,
    threads: usize,
    repetitions: u32,
    /// Separates kernels: all threads wait for each other before and after each of them.
    barrier: Barrier,
    /// Whether the threads execute the next kernel. The first thread decides it before the barrier.
    goes_on: AtomicBool,
    /// Whether a thread ended a kernel early, so that neither its time nor its results count.
    is_interrupted: AtomicBool,
    measured: Mutex<Measured>,
}

#[derive(Default)]
struct Measured {
    times: TimesOfKernels,
    errors: ErrorSums,
    passes: u64,
    validation: Option<Validation>,
}

/// The part of the arrays that a thread owns.
pub(crate) struct StreamPart {
    arrays: Arrays,
    is_first: bool,
}

impl StreamWork {
    /// Determines the size of the arrays. `cache_bytes` is that of the last-level caches, if it is known.
    pub(crate) fn new(
        options: &StreamOptions,
        cache_bytes: Option<u64>,
        threads: usize,
    ) -> Result<Self, NeighbourError> {
        let least = CACHES.saturating_mul(cache_bytes.unwrap_or(0)).max(ELEMENTS_MIN * ELEMENT_BYTES);
        let bytes = options.array_bytes.unwrap_or(least);
        if bytes < least {
            return Err(NeighbourError::ArraysTooSmall { bytes, least });
        }
        let per_thread = bytes.div_ceil(ELEMENT_BYTES).div_ceil(threads as u64);
        Ok(Self {
            elements_per_thread: usize::try_from(per_thread)
                .map_err(|_| NeighbourError::Allocation { bytes })?,
            threads,
            repetitions: options.repetitions,
            barrier: Barrier::new(threads),
            goes_on: AtomicBool::new(true),
            is_interrupted: AtomicBool::new(false),
            measured: Mutex::default(),
        })
    }

    /// Elements of one array, over all threads.
    pub(crate) fn elements(&self) -> u64 {
        self.elements_per_thread as u64 * self.threads as u64
    }

    /// Bytes of one array, over all threads.
    pub(crate) fn array_bytes(&self) -> u64 {
        self.elements() * ELEMENT_BYTES
    }

    /// The results so far.
    pub(crate) fn result(&self) -> StreamResult {
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        StreamResult {
            elements: self.elements(),
            array_bytes: self.array_bytes(),
            threads: self.threads,
            repetitions: self.repetitions,
            passes: measured.passes,
            kernels: measured.times.kernels(self.elements()),
            validation: measured.validation.clone().unwrap_or(Validation::Unavailable),
        }
    }

    /// Decides together with the other threads whether the next kernel is executed.
    fn proceed(&self, part: &StreamPart, pacer: &mut Pacer<'_>) -> bool {
        if part.is_first {
            let goes_on = pacer.proceed() && !self.is_interrupted.load(Ordering::Acquire);
            self.goes_on.store(goes_on, Ordering::Release);
        }
        self.barrier.wait();
        // The first thread only writes this value again after the next barrier.
        self.goes_on.load(Ordering::Acquire)
    }

    /// Executes the kernels of one pass. Returns false if the neighbour ends.
    fn execute_pass(&self, part: &mut StreamPart, pacer: &mut Pacer<'_>) -> bool {
        for repetition in 0..self.repetitions {
            for kernel in Kernel::ALL {
                if !self.proceed(part, pacer) {
                    return false;
                }
                let start = Instant::now();
                if !part.arrays.execute(kernel, || pacer.stop().is_requested()) {
                    self.is_interrupted.store(true, Ordering::Release);
                }
                self.barrier.wait();
                if part.is_first && !self.is_interrupted.load(Ordering::Acquire) {
                    let time = start.elapsed();
                    self.lock().times.add(kernel, repetition, time);
                }
            }
        }
        // The last kernel may have been interrupted, which is only known here.
        self.proceed(part, pacer)
    }

    /// Compares the arrays with the expected values.
    fn validate(&self, part: &StreamPart) {
        let expected = ExpectedValues::after(self.repetitions);
        let errors = part.arrays.errors(&expected);
        self.lock().errors.add(&errors);
        self.barrier.wait();
        if part.is_first {
            let mut measured = self.lock();
            let errors = std::mem::take(&mut measured.errors);
            let outcome = Validation::of(&errors, &expected, self.elements());
            measured.passes += 1;
            // A failed validation is kept.
            if !matches!(measured.validation, Some(Validation::Failed { .. })) {
                measured.validation = Some(outcome);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work for StreamWork {
    type State = StreamPart;

    fn set_up(&self, index: usize, stop: &StopFlag) -> Result<StreamPart, NeighbourError> {
        let arrays = Arrays::new(self.elements_per_thread, stop)?;
        Ok(StreamPart { arrays, is_first: index == 0 })
    }

    fn work(&self, part: &mut StreamPart, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        while self.proceed(part, pacer) {
            part.arrays.initialize();
            if !self.execute_pass(part, pacer) {
                break;
            }
            self.validate(part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
