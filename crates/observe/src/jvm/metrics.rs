//! The metrics of a JVM. Names follow the Prometheus Java client where it has the same quantity.

use busyhour_series::Metric;

pub(super) static INFO: Metric = Metric::gauge(
    "jvm_info",
    "Always 1; the labels state the version, the virtual machine and the collector.",
);
pub(super) static START: Metric = Metric::gauge(
    "jvm_start_time_seconds",
    "When the JVM was created, in seconds since 1970: time 0 of its logs. The process started about 0.1 s earlier.",
);

pub(super) static MEMORY_USED: Metric = Metric::gauge(
    "jvm_memory_used_bytes",
    "Memory in use. Depending on the collector, the JVM updates it continuously or only at collections.",
);
pub(super) static MEMORY_COMMITTED: Metric =
    Metric::gauge("jvm_memory_committed_bytes", "Memory that the JVM has reserved and may use.");
pub(super) static MEMORY_MAX: Metric =
    Metric::gauge("jvm_memory_max_bytes", "The limit of the memory, such as -Xmx for the heap.");
pub(super) static ALLOCATED: Metric = Metric::counter(
    "jvm_memory_allocated_bytes_total",
    "Bytes that threads allocated in their buffers, from the first reading to the last collection: a lower bound, because larger \
     objects are not counted. Of several collections between two readings, all but the last are estimated.",
);

pub(super) static GC_PAUSES: Metric =
    Metric::counter("jvm_gc_pauses_total", "Pauses of the application that a collector caused.");
pub(super) static GC_PAUSE_SECONDS: Metric =
    Metric::counter("jvm_gc_pause_seconds_total", "Time that a collector stopped the application.");
pub(super) static GC_PHASES: Metric =
    Metric::counter("jvm_gc_phases_total", "Phases of a collector, both pauses and concurrent phases.");
pub(super) static GC_PHASE_SECONDS: Metric = Metric::counter(
    "jvm_gc_phase_seconds_total",
    "Time of the phases of a collector, both pauses and concurrent phases. It does not measure pauses.",
);
pub(super) static GC_CPU_SECONDS: Metric =
    Metric::counter("jvm_gc_cpu_seconds_total", "CPU time of the collector's threads.");

pub(super) static SAFEPOINTS: Metric = Metric::counter(
    "jvm_safepoints_total",
    "Safepoints: moments when all threads of the application were stopped, for a collection or another operation.",
);
pub(super) static SAFEPOINT_SECONDS: Metric = Metric::counter(
    "jvm_safepoint_seconds_total",
    "Time that the application was stopped, including the time to reach the safepoint.",
);
pub(super) static SAFEPOINT_SYNC_SECONDS: Metric = Metric::counter(
    "jvm_safepoint_sync_seconds_total",
    "The part of jvm_safepoint_seconds_total in which the JVM waited for threads to stop.",
);

pub(super) static THREADS: Metric = Metric::gauge("jvm_threads_current", "Live platform threads.");
pub(super) static THREADS_DAEMON: Metric = Metric::gauge("jvm_threads_daemon", "Live daemon threads.");
pub(super) static THREADS_PEAK: Metric =
    Metric::gauge("jvm_threads_peak", "The largest number of live threads since the start.");
pub(super) static THREADS_STARTED: Metric =
    Metric::counter("jvm_threads_started_total", "Threads that were started.");

pub(super) static CLASSES: Metric = Metric::gauge("jvm_classes_currently_loaded", "Classes that are loaded.");
pub(super) static CLASSES_LOADED: Metric =
    Metric::counter("jvm_classes_loaded_total", "Classes that were loaded.");
pub(super) static CLASSES_UNLOADED: Metric =
    Metric::counter("jvm_classes_unloaded_total", "Classes that were unloaded.");
pub(super) static CLASS_LOADING_SECONDS: Metric =
    Metric::counter("jvm_class_loading_seconds_total", "Time spent loading classes.");

pub(super) static COMPILATIONS: Metric =
    Metric::counter("jvm_compilations_total", "Methods and loops that were compiled.");
pub(super) static COMPILATION_SECONDS: Metric =
    Metric::counter("jvm_compilation_seconds_total", "Time spent compiling methods.");

pub(super) static CONTENDED_ATTEMPTS: Metric = Metric::counter(
    "jvm_monitor_contended_attempts_total",
    "Attempts to enter a synchronized block that had to wait. Locks of java.util.concurrent are not counted.",
);
pub(super) static MONITOR_PARKS: Metric =
    Metric::counter("jvm_monitor_parks_total", "Times that a thread slept until a monitor was free.");
pub(super) static FUTILE_WAKEUPS: Metric = Metric::counter(
    "jvm_monitor_futile_wakeups_total",
    "Times that a thread was woken for a monitor, and another thread had taken it.",
);
