//! One pass over the events of a log.

use super::accumulator::{DurationStatistics, Line, SizeStatistics};
use super::model::{CollectionFigures, GcFigure, GcFigures, Occupancy, UnavailableReason};
use crate::event::{EventKind, GcEvent, GenerationSizes};
use crate::log::GcLog;
use crate::size::SizeChange;

/// The largest values of a part of the heap.
#[derive(Debug, Default)]
struct Largest {
    capacity_kib: Option<i64>,
    used_kib: Option<i64>,
}

impl Largest {
    fn add(&mut self, sizes: &SizeChange) {
        self.capacity_kib = self.capacity_kib.max(sizes.capacity_kib);
        self.used_kib = self.used_kib.max(Some(sizes.before_kib));
    }

    fn occupancy(&self, reason: UnavailableReason) -> Occupancy {
        Occupancy {
            capacity_kib: self.capacity_kib.ok_or(if self.used_kib.is_some() {
                UnavailableReason::NoCapacity
            } else {
                reason
            }),
            used_kib: self.used_kib.ok_or(reason),
        }
    }
}

/// The values of one kind of collections: full collections, or all others.
#[derive(Debug, Default)]
struct Group {
    pauses_s: Vec<f64>,
    after: SizeStatistics,
    freed: SizeStatistics,
    by_time: Line,
    by_number: Line,
}

impl Group {
    fn add_sizes(&mut self, sizes: &SizeChange, time_s: Option<f64>) {
        self.after.add(sizes.after_kib);
        self.freed.add(sizes.freed_kib());
        let after = sizes.after_kib as f64;
        if let Some(time_s) = time_s {
            self.by_time.add(time_s, after);
        }
        self.by_number.add(self.by_number.n(), after);
    }
}

/// The mean of slopes, weighted by the number of points of each.
#[derive(Debug, Default)]
struct MeanSlope {
    sum: f64,
    weight: f64,
}

impl MeanSlope {
    fn add(&mut self, line: &Line) {
        if let Some(slope) = line.slope() {
            self.sum += slope * line.n();
            self.weight += line.n();
        }
    }

    fn mean(&self) -> GcFigure<f64> {
        if self.weight > 0.0 { Ok(self.sum / self.weight) } else { Err(UnavailableReason::TooFewCollections) }
    }
}

/// The last event that stopped the application.
#[derive(Debug, Clone, Copy)]
struct Stop {
    time_s: Option<f64>,
    pause_s: f64,
    is_safepoint: bool,
}

/// The values accumulated during the pass over the events.
#[derive(Debug, Default)]
struct Walk {
    first_s: Option<f64>,
    last_s: Option<f64>,
    pauses_s: Vec<f64>,
    gc: Group,
    full: Group,
    slope: MeanSlope,
    growth: MeanSlope,
    heap: Largest,
    old: Largest,
    young: Largest,
    metaspace: Largest,
    promotion: SizeStatistics,
    last_stop: Option<Stop>,
    lacks_pauses: bool,
}

pub(crate) fn figures(log: &GcLog) -> GcFigures {
    let mut walk = Walk::default();
    for (event, time_s) in log.events.iter().zip(log.times_s()) {
        walk.add(event, time_s);
    }
    walk.end(DurationStatistics::of(log.phases_s.clone()))
}

impl Walk {
    fn add(&mut self, event: &GcEvent, time_s: Option<f64>) {
        let mut time_s = time_s;
        match event.kind {
            // Not counted: the pauses of a cycle are part of its event, and an allocation stall stops only one thread.
            EventKind::CyclePause | EventKind::AllocationStall => return,
            EventKind::ConcurrentStart => {}
            EventKind::HeapUse => {
                if let Some(heap) = &event.heap {
                    self.heap.add(heap);
                }
            }
            EventKind::Concurrent => {
                if let Some(heap) = &event.heap {
                    self.sizes(event, heap, time_s);
                }
            }
            EventKind::Safepoint => time_s = self.safepoint(event, time_s),
            _ => self.collection(event, time_s),
        }
        if let Some(time_s) = time_s {
            self.first_s = Some(self.first_s.map_or(time_s, |first| first.min(time_s)));
            self.last_s = Some(self.last_s.map_or(time_s, |last| last.max(time_s)));
        }
    }

    /// The time of a safepoint includes the pause that was logged just before it, so only the remainder is added.
    fn safepoint(&mut self, event: &GcEvent, time_s: Option<f64>) -> Option<f64> {
        let mut pause_s = event.duration_s.unwrap_or(0.0);
        let mut time_s = time_s;
        if let Some(before) = self.last_stop.filter(|stop| !stop.is_safepoint) {
            let rest_s = pause_s - before.pause_s;
            if rest_s > 0.0 {
                pause_s = rest_s;
                let end_s = before.time_s.map(|start| start + before.pause_s);
                time_s = match (time_s, end_s) {
                    (Some(time), Some(end)) => Some(time.max(end)),
                    (time, end) => time.or(end),
                };
            }
        }
        self.pauses_s.push(pause_s);
        self.last_stop = Some(Stop { time_s, pause_s, is_safepoint: true });
        time_s
    }

    fn collection(&mut self, event: &GcEvent, time_s: Option<f64>) {
        let is_cycle = event.kind.is_cycle();
        let pause_s = if is_cycle { event.cycle_pauses_s } else { event.duration_s };
        self.lacks_pauses |= is_cycle && pause_s.is_none();
        let pause_s = pause_s.unwrap_or(0.0);
        self.pauses_s.push(pause_s);
        self.last_stop = Some(Stop { time_s, pause_s, is_safepoint: false });
        let group = if event.kind == EventKind::Full { &mut self.full } else { &mut self.gc };
        group.pauses_s.push(pause_s);
        if let Some(heap) = &event.heap {
            self.sizes(event, heap, time_s);
        }
        if event.kind == EventKind::Full {
            // Each slope is fitted to the collections between two full collections.
            self.slope.add(&std::mem::take(&mut self.gc.by_time));
            self.growth.add(&std::mem::take(&mut self.gc.by_number));
        }
    }

    fn sizes(&mut self, event: &GcEvent, heap: &SizeChange, time_s: Option<f64>) {
        self.heap.add(heap);
        let group = if event.kind == EventKind::Full { &mut self.full } else { &mut self.gc };
        group.add_sizes(heap, time_s);
        if let Some(spaces) = &event.spaces {
            self.spaces(event, spaces, heap);
        }
    }

    fn spaces(&mut self, event: &GcEvent, spaces: &GenerationSizes, heap: &SizeChange) {
        // Logs up to JDK 8 leave out the generation that was not collected.
        let young = spaces.young.or_else(|| heap.minus(&spaces.old?));
        let old = spaces.old.or_else(|| heap.minus(&spaces.young?));
        if let Some(young) = &young {
            self.young.add(young);
        }
        if let Some(old) = &old {
            self.old.add(old);
        }
        if let Some(metaspace) = &spaces.metaspace {
            self.metaspace.add(metaspace);
        }
        let is_young = if spaces.collected_only {
            spaces.old.is_none() && spaces.metaspace.is_none() && event.kind != EventKind::Full
        } else {
            matches!(event.kind, EventKind::Young | EventKind::YoungConcurrentStart)
        };
        if let Some(young) = spaces.young.filter(|_| is_young) {
            self.promotion.add(young.freed_kib() - heap.freed_kib());
        }
    }

    fn end(self, phases: DurationStatistics) -> GcFigures {
        let has_events = !self.pauses_s.is_empty() || self.gc.freed.n() > 0;
        let total_s = self.total_s();
        let reason =
            if has_events { UnavailableReason::NoHeapSizes } else { UnavailableReason::NoCollections };
        let freed_n = self.gc.freed.n() + self.full.freed.n();
        let freed_kib = if freed_n == 0 {
            Err(reason)
        } else {
            Ok(self.gc.freed.sum_kib().saturating_add(self.full.freed.sum_kib()))
        };
        let spanned_s =
            total_s.and_then(|s| if s > 0.0 { Ok(s) } else { Err(UnavailableReason::NoTimeSpan) });
        let pauses = DurationStatistics::of(self.pauses_s);
        let paused_s =
            if self.lacks_pauses { Err(UnavailableReason::CyclesWithoutPauses) } else { Ok(pauses.sum()) };
        let heap = self.heap.occupancy(reason);
        let has_full = !self.full.pauses_s.is_empty();
        let slopes =
            |mean: &MeanSlope| if has_full { mean.mean() } else { Err(UnavailableReason::NoFullCollections) };
        GcFigures {
            footprint_kib: heap.capacity_kib,
            heap,
            old: self.old.occupancy(UnavailableReason::NoGenerations),
            young: self.young.occupancy(UnavailableReason::NoGenerations),
            metaspace: self.metaspace.occupancy(UnavailableReason::NoGenerations),
            freed_kib,
            total_s,
            freed_kib_per_min: freed_kib.and_then(|kib| Ok(kib as f64 / spanned_s? * 60.0)),
            throughput_percent: spanned_s.and_then(|total| Ok(100.0 * (total - paused_s?) / total)),
            gc: group(
                self.gc,
                (slopes(&self.slope), slopes(&self.growth)),
                self.lacks_pauses,
                if has_full {
                    UnavailableReason::OnlyFullCollections
                } else {
                    UnavailableReason::NoCollections
                },
            ),
            full: {
                let slopes = (
                    self.full.by_time.slope().ok_or(UnavailableReason::TooFewCollections),
                    self.full.by_number.slope().ok_or(UnavailableReason::TooFewCollections),
                );
                group(self.full, slopes, false, UnavailableReason::NoFullCollections)
            },
            pauses,
            promotion: self.promotion,
            phases,
            lacks_pauses: self.lacks_pauses,
        }
    }

    fn total_s(&self) -> GcFigure<f64> {
        let last_pause_s = self.last_stop.map_or(0.0, |stop| stop.pause_s);
        match (self.first_s, self.last_s) {
            (Some(first), Some(last)) => Ok(last - first + last_pause_s),
            _ if self.pauses_s.is_empty() => Err(UnavailableReason::NoCollections),
            _ => Err(UnavailableReason::NoStamps),
        }
    }
}

fn group(
    group: Group,
    (slope, growth): (GcFigure<f64>, GcFigure<f64>),
    lacks_pauses: bool,
    reason: UnavailableReason,
) -> CollectionFigures {
    let pauses = DurationStatistics::of(group.pauses_s);
    let performance_kib_per_s = if pauses.n() == 0 {
        Err(reason)
    } else if lacks_pauses {
        Err(UnavailableReason::CyclesWithoutPauses)
    } else if group.freed.n() == 0 {
        Err(UnavailableReason::NoHeapSizes)
    } else if pauses.sum() <= 0.0 {
        Err(UnavailableReason::PausesTooShort)
    } else {
        Ok(group.freed.sum_kib() as f64 / pauses.sum())
    };
    CollectionFigures {
        pauses,
        after: group.after,
        freed: group.freed,
        performance_kib_per_s,
        slope_kib_per_s: slope,
        growth_kib: growth,
    }
}
