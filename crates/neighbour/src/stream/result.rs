//! Times of the kernels, and the validation of the arrays.

use std::time::Duration;

use serde::Serialize;

use super::kernel::{ErrorSums, ExpectedValues, Kernel};

/// The largest average error relative to the expected value, as in STREAM for elements of 8 bytes.
pub(super) const EPSILON: f64 = 1e-13;

/// The results of the stream neighbour.
#[derive(Clone, Debug, Serialize)]
pub struct StreamResult {
    /// Elements of each of the three arrays.
    pub elements: u64,
    /// Bytes of each of the three arrays.
    pub array_bytes: u64,
    /// Number of threads.
    pub threads: usize,
    /// How often a pass executes each kernel.
    pub repetitions: u32,
    /// Number of complete passes, each of which was validated.
    pub passes: u64,
    /// The kernels in their order.
    pub kernels: Vec<KernelTimes>,
    /// Whether the results are correct.
    pub validation: Validation,
}

/// The times of a kernel. They leave out the first repetition of each pass.
#[derive(Clone, Debug, Serialize)]
pub struct KernelTimes {
    /// The name, such as `Copy`.
    pub name: &'static str,
    /// Number of executions, including the first ones.
    pub executions: u64,
    /// Bytes that one execution moves.
    pub bytes: u64,
    /// Number of executions that count.
    pub counted: u64,
    /// Bytes per second of the fastest execution.
    pub best_bytes_per_s: Option<f64>,
    /// The mean time in seconds.
    pub mean_s: Option<f64>,
    /// The shortest time in seconds.
    pub min_s: Option<f64>,
    /// The longest time in seconds.
    pub max_s: Option<f64>,
}

/// Whether the arrays have the values that they must have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Validation {
    /// All passes were correct.
    Passed {
        /// The limit of the average relative error.
        epsilon: f64,
    },
    /// A pass was wrong: the hardware or the program is faulty.
    Failed {
        /// The first array that is wrong.
        array: char,
        /// Its average error, relative to the expected value.
        relative_error: f64,
        /// The limit of the average relative error.
        epsilon: f64,
    },
    /// The neighbour ended before the first pass was complete.
    Unavailable,
}

impl Validation {
    /// Validates the arrays of a pass.
    pub(super) fn of(errors: &ErrorSums, expected: &ExpectedValues, elements: u64) -> Self {
        let arrays = [('a', errors.a, expected.a), ('b', errors.b, expected.b), ('c', errors.c, expected.c)];
        for (array, sum, expected) in arrays {
            let relative_error = sum / elements as f64 / expected.abs();
            // NaN is wrong, too.
            if relative_error.is_nan() || relative_error > EPSILON {
                return Self::Failed { array, relative_error, epsilon: EPSILON };
            }
        }
        Self::Passed { epsilon: EPSILON }
    }
}

/// The times of all kernels.
#[derive(Default)]
pub(super) struct TimesOfKernels([Times; Kernel::ALL.len()]);

#[derive(Clone, Copy, Default)]
struct Times {
    executions: u64,
    counted: u64,
    total: Duration,
    range: Option<(Duration, Duration)>,
}

impl TimesOfKernels {
    /// Adds the time of one execution.
    pub(super) fn add(&mut self, kernel: Kernel, repetition: u32, time: Duration) {
        let times = &mut self.0[kernel as usize];
        times.executions += 1;
        if repetition == 0 {
            return;
        }
        times.counted += 1;
        times.total += time;
        let (min, max) = times.range.unwrap_or((time, time));
        times.range = Some((min.min(time), max.max(time)));
    }

    /// The results for arrays of this length.
    pub(super) fn kernels(&self, elements: u64) -> Vec<KernelTimes> {
        let result = |kernel: &Kernel| {
            let Times { executions, counted, total, range } = self.0[*kernel as usize];
            let bytes = kernel.bytes_per_element() * elements;
            let min_s = range.map(|(min, _)| min.as_secs_f64());
            KernelTimes {
                name: kernel.name(),
                executions,
                bytes,
                counted,
                best_bytes_per_s: min_s.filter(|min_s| *min_s > 0.0).map(|min_s| bytes as f64 / min_s),
                mean_s: range.map(|_| total.as_secs_f64() / counted as f64),
                min_s,
                max_s: range.map(|(_, max)| max.as_secs_f64()),
            }
        };
        Kernel::ALL.iter().map(result).collect()
    }
}
