//! Thread groups.

use super::descriptor::Descriptor;

/// How a thread group starts its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupClass {
    /// JMeter's own group: a number of users and a ramp-up.
    Main,
    /// Like `Main`, but runs before all other groups.
    SetUp,
    /// Like `Main`, but runs after all other groups.
    TearDown,
    /// JMeter's own open workload.
    OpenModel,
    /// A table of users over time.
    Ultimate,
    /// Users added and removed in steps.
    Stepping,
    /// A number of users that is held constant: users that end are replaced.
    Concurrency,
    /// Arrivals at a rate that rises to a target.
    Arrivals,
    /// Arrivals at the rates of a table.
    FreeFormArrivals,
}

impl GroupClass {
    /// Whether its users run in the main part of the test.
    pub(crate) fn is_main(self) -> bool {
        !matches!(self, Self::SetUp | Self::TearDown)
    }

    /// Whether it is one of JMeter's own groups with a number of users.
    pub(crate) fn has_own_users(self) -> bool {
        matches!(self, Self::Main | Self::SetUp | Self::TearDown)
    }

    /// Whether it is one of the two groups of jmeter-plugins that generate arrivals.
    pub(crate) fn is_plugin_arrivals(self) -> bool {
        matches!(self, Self::Arrivals | Self::FreeFormArrivals)
    }

    /// Whether a separate thread of the plugin starts the users. The name of that thread is appended to the users' names,
    /// and starts may be logged.
    pub(crate) fn has_thread_starter(self) -> bool {
        matches!(self, Self::Concurrency | Self::Arrivals | Self::FreeFormArrivals)
    }
}

/// The numeric properties of JMeter's own groups.
const NUMBERS: &[&str] =
    &["ThreadGroup.num_threads", "ThreadGroup.ramp_time", "ThreadGroup.duration", "ThreadGroup.delay"];

/// The thread groups.
pub(crate) const ELEMENTS: &[Descriptor<GroupClass>] = &[
    Descriptor::new("ThreadGroup", "Thread Group", GroupClass::Main).numbers(NUMBERS).properties(&[
        "ThreadGroup.delayedStart",
        "ThreadGroup.end_time",
        "ThreadGroup.main_controller",
        "ThreadGroup.on_sample_error",
        "ThreadGroup.same_user_on_next_iteration",
        "ThreadGroup.scheduler",
        "ThreadGroup.start_time",
    ]),
    Descriptor::new("SetupThreadGroup", "setUp Thread Group", GroupClass::SetUp).numbers(NUMBERS),
    Descriptor::new("PostThreadGroup", "tearDown Thread Group", GroupClass::TearDown).numbers(NUMBERS),
    Descriptor::new("OpenModelThreadGroup", "Open Model Thread Group", GroupClass::OpenModel)
        .note("requests in flight at the end of the schedule are completed, not interrupted")
        .properties(&[
            "OpenModelThreadGroup.kt",
            "OpenModelThreadGroup.random_seed",
            "OpenModelThreadGroup.schedule",
        ]),
    Descriptor::new(
        "kg.apc.jmeter.threads.UltimateThreadGroup",
        "Ultimate Thread Group (jmeter-plugins)",
        GroupClass::Ultimate,
    ),
    Descriptor::new(
        "kg.apc.jmeter.threads.SteppingThreadGroup",
        "Stepping Thread Group (jmeter-plugins)",
        GroupClass::Stepping,
    )
    .numbers(&[
        "ThreadGroup.num_threads",
        "Threads initial delay",
        "Start users count",
        "Start users count burst",
        "Start users period",
        "Stop users count",
        "Stop users period",
        "flighttime",
        "rampUp",
    ]),
    Descriptor::new(
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        "Concurrency Thread Group (jmeter-plugins)",
        GroupClass::Concurrency,
    )
    .note("its log file of starts is not written")
    .numbers(&["TargetLevel", "RampUp", "Steps", "Hold", "Iterations"]),
    Descriptor::new(
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
        "Arrivals Thread Group (jmeter-plugins)",
        GroupClass::Arrivals,
    )
    .note("the rate is evaluated once, when the test starts; its log file of arrivals is not written"),
    Descriptor::new(
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        "Free-Form Arrivals Thread Group (jmeter-plugins)",
        GroupClass::FreeFormArrivals,
    )
    .note("the rate is evaluated once, when the test starts; its log file of arrivals is not written"),
];
