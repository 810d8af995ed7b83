//! Timers.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// How a timer delays samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerClass {
    /// Makes users wait until a number of them are waiting.
    Synchronizing,
    /// A constant pause.
    Constant,
    /// A pause with a uniform random part.
    UniformRandom,
    /// A pause with a Gaussian random part.
    GaussianRandom,
    /// A pause with a Poisson random part.
    PoissonRandom,
    /// Maintains a rate.
    ConstantThroughput,
    /// Schedules starts at random times.
    PreciseThroughput,
    /// Follows a table of rates.
    ThroughputShaping,
    /// A pause that a script computes.
    Script(&'static ScriptSource),
}

impl TimerClass {
    /// The name of the timer if it sets a rate rather than a pause.
    pub(crate) fn rate_timer(self) -> Option<&'static str> {
        match self {
            Self::ConstantThroughput => Some(CONSTANT_THROUGHPUT),
            Self::PreciseThroughput => Some(PRECISE_THROUGHPUT),
            Self::ThroughputShaping => Some("Throughput Shaping Timer"),
            Self::Synchronizing
            | Self::Constant
            | Self::UniformRandom
            | Self::GaussianRandom
            | Self::PoissonRandom
            | Self::Script(_) => None,
        }
    }
}

const CONSTANT_THROUGHPUT: &str = "Constant Throughput Timer";
const PRECISE_THROUGHPUT: &str = "Precise Throughput Timer";

const SCRIPTS: &str =
    "Groovy, BeanShell, JEXL and JavaScript; scripts that need more than common JDK classes are refused";

/// The numeric properties of the timers that pause.
const PAUSE_NUMBERS: &[&str] = &["ConstantTimer.delay", "RandomTimer.range"];

/// The timers.
pub(crate) const ELEMENTS: &[Descriptor<TimerClass>] = &[
    Descriptor::new("SyncTimer", "Synchronizing Timer", TimerClass::Synchronizing).note("stops waiting when the run is stopped"),
    Descriptor::new("ConstantTimer", "Constant Timer", TimerClass::Constant).numbers(PAUSE_NUMBERS),
    Descriptor::new("UniformRandomTimer", "Uniform Random Timer", TimerClass::UniformRandom).numbers(PAUSE_NUMBERS),
    Descriptor::new("GaussianRandomTimer", "Gaussian Random Timer", TimerClass::GaussianRandom).numbers(PAUSE_NUMBERS),
    Descriptor::new("PoissonRandomTimer", "Poisson Random Timer", TimerClass::PoissonRandom).numbers(PAUSE_NUMBERS),
    Descriptor::new("ConstantThroughputTimer", CONSTANT_THROUGHPUT, TimerClass::ConstantThroughput).numbers(&["throughput"]).properties(&["ConstantThroughputTimer.throughput"]),
    Descriptor::new("PreciseThroughputTimer", PRECISE_THROUGHPUT, TimerClass::PreciseThroughput).numbers(&["throughput", "throughputPeriod", "duration", "batchSize", "randomSeed"]),
    Descriptor::new("kg.apc.jmeter.timers.VariableThroughputTimer", "Throughput Shaping Timer (jmeter-plugins)", TimerClass::ThroughputShaping).note("seconds count from its first sample, not from full seconds of the clock; its properties (NAME_rps, …) are set only if the plan uses them"),
    Descriptor::new("JSR223Timer", "JSR223 Timer", TimerClass::Script(&source::JSR223)).note(SCRIPTS),
    Descriptor::new("BeanShellTimer", "BeanShell Timer", TimerClass::Script(&source::BEANSHELL)).note(SCRIPTS),
    Descriptor::new("BSFTimer", "BSF Timer", TimerClass::Script(&source::BSF)).note(SCRIPTS),
];
