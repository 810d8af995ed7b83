//! The results that a script accesses.

use crate::scope::{AssertionVerdict, SampleChanges, SampleFacts};

/// The results of samples, and the result of an assertion's script.
///
/// Which results the methods return depends on the element that contains the script. It does not change while the script
/// runs. Before the first sample, there is no result. Only an assertion's script has a [`verdict`](Self::verdict). The
/// interpreter drops the values that a method returns before the next call. [`Scope`](crate::Scope) has an example.
pub trait ScriptSamples {
    /// The sample result that the script processes: `prev` (Groovy, BeanShell), `SampleResult` (BeanShell functions) or
    /// `sampleResult` (JEXL, JavaScript). `None` before the first sample.
    fn sample(&self) -> Option<&dyn SampleFacts> {
        None
    }
    /// Like [`sample`](Self::sample), but mutable; `None` if the script may not change the result.
    fn sample_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        None
    }
    /// The result of the preceding sample. It differs from [`sample`](Self::sample) only in a sampler's script.
    fn previous(&self) -> Option<&dyn SampleFacts> {
        self.sample()
    }
    /// Like [`previous`](Self::previous), but mutable.
    fn previous_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        self.sample_mut()
    }
    /// The result that an assertion's script sets; `None` for other scripts.
    fn verdict(&mut self) -> Option<&mut AssertionVerdict> {
        None
    }
}
