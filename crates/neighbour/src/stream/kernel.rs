//! The arrays of STREAM, its kernels, and the values that the arrays must have afterwards.

use serde::Serialize;

use crate::error::NeighbourError;
use crate::filled::filled;
use crate::stop::StopFlag;

/// The factor of Scale and Triad.
const SCALAR: f64 = 3.0;

/// Elements between two checks for a stop request: 1 MiB of each array.
const CHUNK: usize = 128 << 10;

/// A kernel of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kernel {
    /// c = a
    Copy,
    /// b = 3 c
    Scale,
    /// c = a + b
    Add,
    /// a = b + 3 c
    Triad,
}

impl Kernel {
    /// In the order of execution.
    pub(crate) const ALL: [Self; 4] = [Self::Copy, Self::Scale, Self::Add, Self::Triad];

    /// The name that STREAM prints.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Copy => "Copy",
            Self::Scale => "Scale",
            Self::Add => "Add",
            Self::Triad => "Triad",
        }
    }

    /// Bytes per element, without the reads that a cache makes before writes.
    pub(crate) fn bytes_per_element(self) -> u64 {
        match self {
            Self::Copy | Self::Scale => 16,
            Self::Add | Self::Triad => 24,
        }
    }
}

/// The part of the three arrays that a thread owns.
pub(crate) struct Arrays {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) c: Vec<f64>,
}

impl Arrays {
    /// Allocates the arrays, and writes to their elements so that the kernel provides the pages. They are shorter if `stop`
    /// was set.
    pub(crate) fn new(length: usize, stop: &StopFlag) -> Result<Self, NeighbourError> {
        let array = || filled(0.0, length, stop);
        Ok(Self { a: array()?, b: array()?, c: array()? })
    }

    /// Sets the values at the start of a pass.
    pub(crate) fn initialize(&mut self) {
        let ExpectedValues { a, b, c } = ExpectedValues::at_start();
        self.a.fill(a);
        self.b.fill(b);
        self.c.fill(c);
    }

    /// Executes a kernel in chunks. Returns false if `is_stopped` ended it early.
    pub(crate) fn execute(&mut self, kernel: Kernel, is_stopped: impl Fn() -> bool) -> bool {
        let a = self.a.chunks_mut(CHUNK);
        let b = self.b.chunks_mut(CHUNK);
        let c = self.c.chunks_mut(CHUNK);
        for ((a, b), c) in a.zip(b).zip(c) {
            if is_stopped() {
                return false;
            }
            match kernel {
                Kernel::Copy => c.copy_from_slice(a),
                Kernel::Scale => b.iter_mut().zip(c).for_each(|(b, c)| *b = SCALAR * *c),
                Kernel::Add => c.iter_mut().zip(a).zip(b).for_each(|((c, a), b)| *c = *a + *b),
                Kernel::Triad => a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = *b + SCALAR * *c),
            }
        }
        true
    }

    /// The sums of the differences from the expected values.
    pub(crate) fn errors(&self, expected: &ExpectedValues) -> ErrorSums {
        let sum = |array: &[f64], expected: f64| array.iter().map(|value| (value - expected).abs()).sum();
        ErrorSums { a: sum(&self.a, expected.a), b: sum(&self.b, expected.b), c: sum(&self.c, expected.c) }
    }
}

/// The value that all elements of each array have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExpectedValues {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
}

impl ExpectedValues {
    /// The values of STREAM after its test of the clock, which doubles the first array.
    fn at_start() -> Self {
        Self { a: 2.0, b: 2.0, c: 0.0 }
    }

    /// The values after each kernel was executed this many times.
    pub(crate) fn after(repetitions: u32) -> Self {
        let Self { mut a, mut b, mut c } = Self::at_start();
        for _ in 0..repetitions {
            c = a;
            b = SCALAR * c;
            c = a + b;
            a = b + SCALAR * c;
        }
        Self { a, b, c }
    }
}

/// Sums of the absolute errors of all elements of each array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ErrorSums {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
}

impl ErrorSums {
    /// Adds the sums of another part of the arrays.
    pub(crate) fn add(&mut self, other: &Self) {
        self.a += other.a;
        self.b += other.b;
        self.c += other.c;
    }
}
