//! The results that a script accesses.

use crate::scope::{AssertionVerdict, SampleChanges, SampleFacts};

/// The results of samples, and the result of an assertion's script.
///
/// The answers depend on the element of the script and do not change while it runs: before the first sample there is no result, and
/// only an assertion's script has a [`verdict`](Self::verdict). The interpreter drops what a method returns before the next
/// call. [`Scope`](crate::Scope) has an example.
pub trait ScriptSamples {
    /// The sample result that the script processes: `prev` (Groovy, BeanShell), `SampleResult` (BeanShell functions) or
    /// `sampleResult` (JEXL, JavaScript). `None` before the first sample.
    fn sample(&self) -> Option<&dyn SampleFacts> {
        None
    }
    /// [`sample`](Self::sample), mutable; `None` where the script may not change the result.
    fn sample_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        None
    }
    /// The result of the preceding sample. It differs from [`sample`](Self::sample) only in a sampler's script.
    fn previous(&self) -> Option<&dyn SampleFacts> {
        self.sample()
    }
    /// [`previous`](Self::previous), mutable.
    fn previous_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        self.sample_mut()
    }
    /// The result that an assertion's script sets; `None` for other scripts.
    fn verdict(&mut self) -> Option<&mut AssertionVerdict> {
        None
    }
}
