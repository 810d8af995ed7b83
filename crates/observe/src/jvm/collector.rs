//! The garbage collectors of HotSpot, and where their counters are.

use super::counters::CounterIndex;

/// A garbage collector of HotSpot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JvmCollector {
    /// `-XX:+UseSerialGC`.
    Serial,
    /// `-XX:+UseParallelGC`.
    Parallel,
    /// `-XX:+UseConcMarkSweepGC`, up to JDK 13.
    ConcurrentMarkSweep,
    /// `-XX:+UseG1GC`.
    G1,
    /// `-XX:+UseZGC` without generations, JDK 11 to 23.
    Z,
    /// `-XX:+UseZGC` with generations, JDK 21 and later.
    GenerationalZ,
    /// `-XX:+UseShenandoahGC`, with and without generations.
    Shenandoah,
    /// `-XX:+UseEpsilonGC`, which never collects.
    Epsilon,
    /// A collector of another virtual machine or a later version.
    Unknown,
}

/// The events that the counters of a collector count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// Pauses of the application.
    Pauses,
    /// All phases: pauses together with concurrent phases.
    Phases,
}

/// One group of counters, `sun.gc.collector.N.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CollectorGroup {
    /// N.
    pub(super) number: u8,
    /// The name that the JVM's management beans use for it.
    pub(super) name: &'static str,
    /// Which collections of the collector the group counts, such as `young` or `full`.
    pub(super) kind: &'static str,
    pub(super) counted: Counted,
}

/// A memory pool and the spaces `sun.gc.generation.G.space.S.*` that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeapPool {
    pub(super) generation: u8,
    pub(super) spaces: &'static [u8],
    /// The name that the JVM's management beans use for it.
    pub(super) name: &'static str,
    /// `young`, `old`, or `all` for a heap without generations.
    pub(super) label: &'static str,
}

const fn pauses(number: u8, name: &'static str, kind: &'static str) -> CollectorGroup {
    CollectorGroup { number, name, kind, counted: Counted::Pauses }
}

const fn pool(generation: u8, spaces: &'static [u8], name: &'static str, label: &'static str) -> HeapPool {
    HeapPool { generation, spaces, name, label }
}

impl JvmCollector {
    /// Finds the collector by the names that it publishes.
    pub(super) fn detect(index: &CounterIndex, bytes: &[u8]) -> JvmCollector {
        let policy = index.text_of(bytes, "sun.gc.policy.name");
        match policy.as_deref() {
            Some("GarbageFirst") => return Self::G1,
            Some("ParScav:MSC") => return Self::Parallel,
            Some("Copy:MSC" | "ParNew:MSC") => return Self::Serial,
            Some("ParNew:CMS" | "Copy:CMS") => return Self::ConcurrentMarkSweep,
            Some(_) | None => {}
        }
        let names: Vec<String> =
            (0..3).filter_map(|n| index.text_of(bytes, &format!("sun.gc.collector.{n}.name"))).collect();
        let any = |prefix: &str| names.iter().any(|name| name.starts_with(prefix));
        if any("Shenandoah") {
            return Self::Shenandoah;
        }
        if any("ZGC minor") {
            return Self::GenerationalZ;
        }
        if any("Z ") || any("ZGC") {
            return Self::Z;
        }
        // Epsilon and ZGC of JDK 11 publish no collections; they differ in the name of their only generation.
        let has_young = index.find("sun.gc.generation.0.name").is_some();
        match index.text_of(bytes, "sun.gc.generation.1.name").as_deref() {
            Some("Heap") if names.is_empty() && !has_young => Self::Epsilon,
            Some("old") if names.is_empty() && !has_young => Self::Z,
            Some(_) | None => Self::Unknown,
        }
    }

    /// The name that is shown to users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "Serial",
            Self::Parallel => "Parallel",
            Self::ConcurrentMarkSweep => "CMS",
            Self::G1 => "G1",
            Self::Z => "ZGC",
            Self::GenerationalZ => "ZGC (generational)",
            Self::Shenandoah => "Shenandoah",
            Self::Epsilon => "Epsilon",
            Self::Unknown => "unknown",
        }
    }

    /// The groups of counters; empty for a collector that has none or is not known.
    pub(super) fn groups(self) -> &'static [CollectorGroup] {
        match self {
            Self::Serial => const { &[pauses(0, "Copy", "young"), pauses(1, "MarkSweepCompact", "full")] },
            Self::Parallel => {
                const { &[pauses(0, "PS Scavenge", "young"), pauses(1, "PS MarkSweep", "full")] }
            }
            Self::ConcurrentMarkSweep => {
                const {
                    &[
                        pauses(0, "ParNew", "young"),
                        pauses(1, "ConcurrentMarkSweep", "full"),
                        pauses(2, "ConcurrentMarkSweep", "concurrent"),
                    ]
                }
            }
            Self::G1 => {
                const {
                    &[
                        pauses(0, "G1 Young Generation", "young"),
                        pauses(1, "G1 Old Generation", "full"),
                        pauses(2, "G1 Concurrent GC", "concurrent"),
                    ]
                }
            }
            Self::Z => const { &[pauses(2, "ZGC Pauses", "concurrent")] },
            Self::GenerationalZ => {
                const { &[pauses(0, "ZGC Minor Pauses", "minor"), pauses(2, "ZGC Major Pauses", "major")] }
            }
            Self::Shenandoah => &[CollectorGroup {
                number: 1,
                name: "Shenandoah Cycles",
                kind: "concurrent",
                counted: Counted::Phases,
            }],
            Self::Epsilon | Self::Unknown => &[],
        }
    }

    /// The memory pools of the heap.
    pub(super) fn pools(self) -> &'static [HeapPool] {
        match self {
            Self::Serial => {
                const {
                    &[
                        pool(0, &[0], "Eden Space", "young"),
                        pool(0, &[1, 2], "Survivor Space", "young"),
                        pool(1, &[0], "Tenured Gen", "old"),
                    ]
                }
            }
            Self::Parallel => {
                const {
                    &[
                        pool(0, &[0], "PS Eden Space", "young"),
                        pool(0, &[1, 2], "PS Survivor Space", "young"),
                        pool(1, &[0], "PS Old Gen", "old"),
                    ]
                }
            }
            Self::ConcurrentMarkSweep => {
                const {
                    &[
                        pool(0, &[0], "Par Eden Space", "young"),
                        pool(0, &[1, 2], "Par Survivor Space", "young"),
                        pool(1, &[0], "CMS Old Gen", "old"),
                    ]
                }
            }
            // Space 1 of the young generation is always empty.
            Self::G1 => {
                const {
                    &[
                        pool(0, &[0], "G1 Eden Space", "young"),
                        pool(0, &[2], "G1 Survivor Space", "young"),
                        pool(1, &[0], "G1 Old Gen", "old"),
                    ]
                }
            }
            Self::Z => const { &[pool(1, &[0], "ZHeap", "all")] },
            Self::GenerationalZ => {
                const {
                    &[
                        pool(0, &[0], "ZGC Young Generation", "young"),
                        pool(1, &[0], "ZGC Old Generation", "old"),
                    ]
                }
            }
            Self::Shenandoah => const { &[pool(1, &[0], "Shenandoah", "all")] },
            Self::Epsilon => const { &[pool(1, &[0], "Epsilon Heap", "all")] },
            Self::Unknown => &[],
        }
    }

    /// Whether the maxima of both generations add up to that of the heap; otherwise that of the old generation covers the whole heap.
    pub(super) fn splits_heap(self) -> bool {
        matches!(self, Self::Serial | Self::Parallel | Self::ConcurrentMarkSweep)
    }
}
