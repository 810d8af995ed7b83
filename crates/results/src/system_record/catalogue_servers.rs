//! The panels of virtual machines, databases, caches and logs; the second half of the catalogue.

use super::model::Aspect::{Errors, Saturation, Traffic, Utilisation};
use super::model::Resource::{Caches, Database, GcLog, Jvm, Log};
use super::model::Unit::{Bytes, BytesPerSecond, Cores, Count, PerSecond, Percent, Plain, Seconds};
use super::rule::{PanelRule, line, panel};

pub(super) static JAVA: &[PanelRule] = &[
    panel(
        (Jvm, Utilisation),
        "Heap",
        Bytes,
        &[
            line("jvm_memory_used_bytes", "").only("area", "heap").by(&["pool", "id"]),
            line("jvm_memory_max_bytes", "limit").only("area", "heap").limit(),
        ],
    )
    .stacked(),
    panel(
        (Jvm, Saturation),
        "Time in GC pauses",
        Percent,
        &[
            line("jvm_gc_pause_seconds_total", "").by(&["kind"]).percent(),
            line("jvm_gc_pause_seconds_sum", "").by(&["action"]).percent(),
            line("jvm_gc_collection_seconds_sum", "").by(&["gc"]).percent(),
        ],
    )
    .help("Share of the time in which the collector stopped the application."),
    panel(
        (Jvm, Saturation),
        "Application stopped",
        Percent,
        &[
            line("jvm_safepoint_seconds_total", "stopped").percent(),
            line("jvm_safepoint_sync_seconds_total", "stopping all threads (included in stopped)").percent(),
        ],
    )
    .help("Safepoints: for collections and other operations.")
    .not_zero(),
    panel(
        (Jvm, Saturation),
        "Contended locks",
        PerSecond,
        &[
            line("jvm_monitor_contended_attempts_total", "attempts that waited"),
            line("jvm_monitor_parks_total", "threads that slept"),
        ],
    )
    .help("Synchronized blocks; locks of java.util.concurrent are not counted.")
    .not_zero(),
    panel(
        (Jvm, Traffic),
        "Allocation",
        BytesPerSecond,
        &[line("jvm_memory_allocated_bytes_total", "allocated")],
    ),
    panel(
        (Jvm, Traffic),
        "GC pauses",
        PerSecond,
        &[
            line("jvm_gc_pauses_total", "").by(&["kind"]),
            line("jvm_gc_pause_seconds_count", "").by(&["action"]),
            line("jvm_gc_collection_seconds_count", "").by(&["gc"]),
        ],
    ),
    panel(
        (Jvm, Traffic),
        "GC phases",
        Percent,
        &[line("jvm_gc_phase_seconds_total", "").by(&["kind"]).percent()],
    )
    .help("Pauses and concurrent phases together, so the value does not measure pauses."),
    panel(
        (Jvm, Utilisation),
        "Java threads",
        Count,
        &[
            line("jvm_threads_current", "live"),
            line("jvm_threads_daemon", "daemon"),
            line("jvm_threads_live_threads", "live"),
        ],
    )
    .changed(),
    panel((Jvm, Utilisation), "Loaded classes", Count, &[line("jvm_classes_currently_loaded", "loaded")])
        .changed(),
    panel(
        (Jvm, Utilisation),
        "CPU of the collector",
        Cores,
        &[line("jvm_gc_cpu_seconds_total", "collector")],
    )
    .not_zero(),
    panel(
        (Jvm, Traffic),
        "Compilation",
        Percent,
        &[line("jvm_compilation_seconds_total", "compiling").percent()],
    )
    .not_zero(),
];

pub(super) static SERVERS: &[PanelRule] = &[
    panel(
        (Database, Utilisation),
        "Sessions",
        Count,
        &[
            line("busyhour_postgres_sessions", "").by(&["state", "wait_event_type"]),
            line("busyhour_postgres_sessions_max", "limit").limit(),
            line("busyhour_mysql_sessions", "").by(&["state", "wait_event_type"]),
            line("busyhour_mysql_sessions_max", "limit").limit(),
        ],
    )
    .stacked(),
    panel(
        (Database, Saturation),
        "Blocked sessions",
        Count,
        &[
            line("busyhour_postgres_blocked_sessions", "blocked"),
            line("busyhour_postgres_blocking_sessions", "block others"),
            line("busyhour_mysql_blocked_sessions", "blocked"),
            line("busyhour_mysql_blocking_sessions", "block others"),
        ],
    )
    .not_zero(),
    panel(
        (Database, Saturation),
        "Oldest transaction",
        Seconds,
        &[
            line("busyhour_postgres_oldest_transaction_seconds", "age"),
            line("busyhour_mysql_oldest_transaction_seconds", "age"),
        ],
    )
    .not_zero(),
    panel(
        (Database, Saturation),
        "Waiting for row locks",
        Count,
        &[line("busyhour_mysql_row_lock_wait_seconds_total", "sessions on average")],
    )
    .help("A wait counts in the second in which it ends.")
    .not_zero(),
    panel(
        (Database, Errors),
        "Deadlocks",
        PerSecond,
        &[
            line("busyhour_postgres_deadlocks_total", "").by(&["database"]),
            line("busyhour_mysql_deadlocks_total", "deadlocks"),
        ],
    )
    .not_zero(),
    panel(
        (Database, Traffic),
        "Transactions",
        PerSecond,
        &[
            line("busyhour_postgres_transactions_total", "").by(&["database", "outcome"]),
            line("busyhour_mysql_transactions_total", "").by(&["outcome"]),
        ],
    )
    .not_zero(),
    panel(
        (Database, Traffic),
        "Statements",
        PerSecond,
        &[line("busyhour_mysql_statements_total", "statements")],
    )
    .not_zero(),
    panel(
        (Database, Traffic),
        "Rows",
        PerSecond,
        &[
            line("busyhour_postgres_rows_total", "").by(&["operation"]),
            line("busyhour_mysql_rows_total", "").by(&["operation"]),
        ],
    )
    .not_zero(),
    panel(
        (Database, Traffic),
        "Blocks",
        PerSecond,
        &[
            line("busyhour_postgres_blocks_total", "").by(&["source"]),
            line("busyhour_mysql_pages_total", "").by(&["source"]),
        ],
    )
    .help("Found in the server's cache (hit) or read from the operating system.")
    .not_zero(),
    panel(
        (Database, Traffic),
        "Temporary files",
        BytesPerSecond,
        &[line("busyhour_postgres_temporary_bytes_total", "").by(&["database"])],
    )
    .not_zero(),
    panel(
        (Caches, Utilisation),
        "Cache occupancy",
        Bytes,
        &[line("busyhour_cache_occupancy_bytes", "").by(&["group", "monitor"])],
    ),
    panel(
        (Caches, Traffic),
        "Memory traffic",
        BytesPerSecond,
        &[line("busyhour_memory_traffic_bytes_total", "").by(&["group", "monitor"])],
    ),
    panel(
        (Caches, Saturation),
        "Cycles per instruction",
        Plain,
        &[line("busyhour_perf_cycles_per_instruction", "CPI")],
    ),
    panel(
        (Caches, Saturation),
        "Cache misses per 1,000 instructions",
        Plain,
        &[line("busyhour_perf_cache_misses_per_kiloinstruction", "MPKI")],
    ),
    panel(
        (Caches, Traffic),
        "Energy of cores",
        Plain,
        &[line("busyhour_core_energy_joules_total", "W,").by(&["group"])],
    ),
    panel(
        (Caches, Traffic),
        "CPU migrations",
        PerSecond,
        &[line("busyhour_perf_cpu_migrations_total", "migrations")],
    )
    .not_zero(),
];

pub(super) static LOGS: &[PanelRule] = &[
    panel(
        (GcLog, Utilisation),
        "Heap after collections",
        Bytes,
        &[
            line("busyhour_gc_log_heap_after_bytes", "used"),
            line("busyhour_gc_log_heap_committed_bytes", "committed").limit(),
        ],
    ),
    panel(
        (GcLog, Saturation),
        "Time in GC pauses",
        Percent,
        &[line("busyhour_gc_log_pause_seconds_total", "pauses").percent()],
    ),
    panel(
        (GcLog, Traffic),
        "Allocation and promotion",
        BytesPerSecond,
        &[
            line("busyhour_gc_log_allocated_bytes_total", "allocated"),
            line("busyhour_gc_log_promoted_bytes_total", "promoted"),
        ],
    ),
    panel(
        (Log, Errors),
        "Problems",
        PerSecond,
        &[
            line("busyhour_log_problems_total", "problems"),
            line("busyhour_log_exceptions_total", "stack traces"),
        ],
    )
    .not_zero(),
    panel(
        (Log, Errors),
        "HTTP responses",
        PerSecond,
        &[line("busyhour_log_http_responses_total", "").by(&["code", "status"])],
    )
    .not_zero(),
    panel(
        (Log, Traffic),
        "Entries",
        PerSecond,
        &[line("busyhour_log_entries_total", "").by(&["severity", "level"])],
    )
    .not_zero(),
];
