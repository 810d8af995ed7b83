//! The events that are counted.

use perf_event::events::{Event, Hardware, Software};

use busyhour_series::Metric;

/// A kind of event.
#[derive(Debug)]
pub(super) struct EventKind {
    pub(super) event: PerfEvent,
    pub(super) metric: Metric,
    /// The factor that converts a count to the metric's unit.
    pub(super) scale: f64,
    /// Whether the event happens in the kernel, so that it cannot be counted for user code alone.
    pub(super) is_of_kernel: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PerfEvent {
    Cycles,
    Instructions,
    CacheReferences,
    CacheMisses,
    TaskClock,
    ContextSwitches,
    Migrations,
    PageFaults,
}

impl PerfEvent {
    /// The kernel's number of the event.
    pub(super) fn kernel_event(self) -> Event {
        match self {
            PerfEvent::Cycles => Hardware::CPU_CYCLES.into(),
            PerfEvent::Instructions => Hardware::INSTRUCTIONS.into(),
            PerfEvent::CacheReferences => Hardware::CACHE_REFERENCES.into(),
            PerfEvent::CacheMisses => Hardware::CACHE_MISSES.into(),
            PerfEvent::TaskClock => Software::TASK_CLOCK.into(),
            PerfEvent::ContextSwitches => Software::CONTEXT_SWITCHES.into(),
            PerfEvent::Migrations => Software::CPU_MIGRATIONS.into(),
            PerfEvent::PageFaults => Software::PAGE_FAULTS.into(),
        }
    }
}

const fn kind(
    event: PerfEvent,
    name: &'static str,
    help: &'static str,
    scale: f64,
    of_kernel: bool,
) -> EventKind {
    EventKind { event, metric: Metric::counter(name, help), scale, is_of_kernel: of_kernel }
}

/// All events, in the order in which they are opened.
pub(super) static EVENTS: [EventKind; 8] = [
    kind(PerfEvent::Cycles, "busyhour_perf_cycles_total", "Cycles of the processor.", 1.0, false),
    kind(PerfEvent::Instructions, "busyhour_perf_instructions_total", "Instructions executed.", 1.0, false),
    kind(
        PerfEvent::CacheReferences,
        "busyhour_perf_cache_references_total",
        "Accesses to the last-level cache.",
        1.0,
        false,
    ),
    kind(
        PerfEvent::CacheMisses,
        "busyhour_perf_cache_misses_total",
        "Accesses that missed the last-level cache.",
        1.0,
        false,
    ),
    kind(PerfEvent::TaskClock, "busyhour_perf_task_clock_seconds_total", "CPU time.", 1e-9, false),
    kind(
        PerfEvent::ContextSwitches,
        "busyhour_perf_context_switches_total",
        "Switches to other threads.",
        1.0,
        true,
    ),
    kind(
        PerfEvent::Migrations,
        "busyhour_perf_cpu_migrations_total",
        "Moves of threads to other cores.",
        1.0,
        true,
    ),
    kind(PerfEvent::PageFaults, "busyhour_perf_page_faults_total", "Page faults.", 1.0, false),
];

/// Cycles per instruction.
pub(super) static CPI: Metric =
    Metric::gauge("busyhour_perf_cycles_per_instruction", "Cycles per instruction in the interval (CPI).");

/// Cache misses per 1,000 instructions.
pub(super) static MPKI: Metric = Metric::gauge(
    "busyhour_perf_cache_misses_per_kiloinstruction",
    "Last-level cache misses per 1,000 instructions in the interval (MPKI).",
);

/// The share of time in which events were really counted.
pub(super) static COUNTED: Metric = Metric::gauge(
    "busyhour_perf_counted_ratio",
    "Share of the time in which the processor counted an event; the count is divided by this share.",
);
