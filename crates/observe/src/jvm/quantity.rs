//! The metrics that a JVM provides: which counters they are computed from, and why others are unavailable.

use super::allocation::Allocation;
use super::collector::{Collector, CollectorGroup, Counted};
use super::counters::{CounterId, CounterIndex};
use super::identity::JvmIdentity;
use super::metrics as m;
use crate::metric::Metric;

/// A value of a JVM's metric.
#[derive(Clone, Debug, PartialEq)]
pub struct JvmValue<'a> {
    /// The metric.
    pub metric: &'static Metric,
    /// Names and values of its labels.
    pub labels: &'a [(&'static str, String)],
    /// The value in the metric's unit.
    pub value: f64,
}

/// The metrics of a JVM, planned once for the counters of a file and evaluated at each reading.
#[derive(Clone, Debug)]
pub struct JvmMetrics {
    quantities: Vec<Quantity>,
    unavailable: Vec<(&'static Metric, String)>,
}

/// A sum of counters.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub(super) metric: &'static Metric,
    pub(super) labels: Vec<(&'static str, String)>,
    added: Vec<CounterId>,
    subtracted: Vec<CounterId>,
    /// Counters per unit of the metric.
    divisor: f64,
    /// If this counter is 0, the JVM has not published the quantity yet.
    unknown_while_zero: Option<CounterId>,
}

impl Quantity {
    /// The value; `None` if the JVM has not published it yet or the bytes are shorter than those of the index.
    pub(super) fn value(&self, index: &CounterIndex, bytes: &[u8]) -> Option<f64> {
        if let Some(guard) = self.unknown_while_zero
            && index.long(bytes, guard)? == 0
        {
            return None;
        }
        let mut sum: i128 = 0;
        for id in &self.added {
            sum += i128::from(index.long(bytes, *id)?);
        }
        for id in &self.subtracted {
            sum -= i128::from(index.long(bytes, *id)?);
        }
        #[expect(clippy::cast_precision_loss, reason = "counters are below 2^53 in practice")]
        let sum = sum as f64;
        Some(sum / self.divisor)
    }

    /// Why there is no value while [`Self::value`] is `None`.
    pub(super) const NOT_YET: &'static str = "the JVM publishes it at its first collection";
}

impl JvmMetrics {
    /// Plans the metrics of the counters of a file. `bytes` are those of the file.
    #[must_use]
    pub fn plan(index: &CounterIndex, bytes: &[u8], identity: &JvmIdentity) -> JvmMetrics {
        let frequency = index.long_of(bytes, "sun.os.hrt.frequency").filter(|frequency| *frequency > 0);
        let mut planner = Planner {
            index,
            identity,
            ticks: frequency.map(|frequency| {
                #[expect(clippy::cast_precision_loss, reason = "a frequency below 2^53 Hz")]
                let frequency = frequency as f64;
                frequency
            }),
            metrics: JvmMetrics { quantities: Vec::new(), unavailable: Vec::new() },
        };
        planner.heap();
        planner.allocation();
        planner.class_memory();
        planner.collections();
        planner.safepoints();
        planner.threads_and_classes();
        planner.contention();
        planner.metrics
    }

    /// The current values. Quantities that the JVM has not published yet are omitted.
    #[must_use]
    pub fn values(&self, index: &CounterIndex, bytes: &[u8]) -> Vec<JvmValue<'_>> {
        let value = |quantity: &Quantity| quantity.value(index, bytes);
        self.quantities
            .iter()
            .filter_map(|quantity| {
                Some(JvmValue { metric: quantity.metric, labels: &quantity.labels, value: value(quantity)? })
            })
            .collect()
    }

    /// The metrics that this JVM does not provide, completely or in part, with the reason.
    #[must_use]
    pub fn unavailable(&self) -> &[(&'static Metric, String)] {
        &self.unavailable
    }

    pub(super) fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }
}

struct Planner<'a> {
    index: &'a CounterIndex,
    identity: &'a JvmIdentity,
    /// Ticks per second.
    ticks: Option<f64>,
    metrics: JvmMetrics,
}

impl Planner<'_> {
    fn heap(&mut self) {
        let collector = self.identity.collector;
        if collector == Collector::Unknown {
            let reason = format!("the garbage collector of {} is not known", self.identity.jdk());
            for metric in [&m::MEMORY_USED, &m::MEMORY_COMMITTED, &m::MEMORY_MAX] {
                self.unavailable(metric, reason.clone());
            }
            return;
        }
        // The sampler that refreshed the use of spaces every 50 ms also published this counter, and was removed with it.
        let is_sampled = self.index.find("sun.os.hrt.ticks").is_some();
        for pool in collector.pools() {
            let names = |what: &str| -> Vec<String> {
                let space = |space| format!("sun.gc.generation.{}.space.{space}.{what}", pool.generation);
                pool.spaces.iter().map(space).collect()
            };
            let labels = [("area", "heap"), ("pool", pool.name), ("generation", pool.label)];
            // Epsilon publishes its use at every megabyte; both are 0 before.
            let guard = format!("sun.gc.generation.{}.space.0.capacity", pool.generation);
            let guard = (collector == Collector::Epsilon).then_some(guard);
            let is_eden = pool.generation == 0 && pool.spaces == [0];
            if is_eden && collector.splits_heap() && !is_sampled {
                let jdk = self.identity.jdk();
                self.unavailable(
                    &m::MEMORY_USED,
                    format!("{jdk} updates the use of {} only at collections, when it is empty", pool.name),
                );
            } else {
                self.sum(&m::MEMORY_USED, &labels, &names("used"), &[], 1.0, guard.as_deref());
            }
            self.sum(&m::MEMORY_COMMITTED, &labels, &names("capacity"), &[], 1.0, guard.as_deref());
        }
        let maximum = |generation: u8| format!("sun.gc.generation.{generation}.maxCapacity");
        let maxima = if collector.splits_heap() { vec![maximum(0), maximum(1)] } else { vec![maximum(1)] };
        self.sum(&m::MEMORY_MAX, &[("area", "heap")], &maxima, &[], 1.0, None);
    }

    fn allocation(&mut self) {
        let collector = self.identity.collector;
        match collector {
            // Never collected, all that was allocated is in use.
            Collector::Epsilon => {
                let (used, guard) =
                    ("sun.gc.generation.1.space.0.used", "sun.gc.generation.1.space.0.capacity");
                self.sum(&m::ALLOCATED, &[], &[used.to_owned()], &[], 1.0, Some(guard));
            }
            _ if Allocation::of(self.index, collector).is_some() => {}
            _ => self.unavailable(
                &m::ALLOCATED,
                format!(
                    "{} does not publish the allocation between the collections of {}",
                    self.identity.jdk(),
                    collector.name()
                ),
            ),
        }
    }

    fn class_memory(&mut self) {
        for (prefix, pool) in
            [("sun.gc.metaspace", "Metaspace"), ("sun.gc.compressedclassspace", "Compressed Class Space")]
        {
            let labels = [("area", "nonheap"), ("pool", pool)];
            let names = |what: &str| vec![format!("{prefix}.{what}")];
            let guard = format!("{prefix}.capacity");
            self.sum(&m::MEMORY_USED, &labels, &names("used"), &[], 1.0, Some(&guard));
            self.sum(&m::MEMORY_COMMITTED, &labels, &names("capacity"), &[], 1.0, Some(&guard));
        }
    }

    fn collections(&mut self) {
        let collector = self.identity.collector;
        let groups: Vec<CollectorGroup> =
            collector.groups().iter().filter(|group| self.has(group)).copied().collect();
        for group in &groups {
            let (count, seconds) = match group.counted {
                Counted::Pauses => (&m::GC_PAUSES, &m::GC_PAUSE_SECONDS),
                Counted::Phases => (&m::GC_PHASES, &m::GC_PHASE_SECONDS),
            };
            let labels = [("collector", group.name), ("kind", group.kind)];
            let prefix = format!("sun.gc.collector.{}", group.number);
            self.sum(count, &labels, &[format!("{prefix}.invocations")], &[], 1.0, None);
            self.seconds(seconds, &labels, &[format!("{prefix}.time")]);
        }
        let reason = match collector {
            Collector::Shenandoah => Some(
                "Shenandoah's counters add concurrent phases to pauses; jvm_safepoint_seconds_total has the pauses".to_owned(),
            ),
            Collector::Epsilon => Some("Epsilon does not collect".to_owned()),
            Collector::Unknown => Some(format!("the garbage collector of {} is not known", self.identity.jdk())),
            Collector::G1 if groups.len() < 3 => Some(format!(
                "G1 of {} does not count the pauses of its concurrent cycle (Remark, Cleanup)",
                self.identity.jdk()
            )),
            _ if groups.is_empty() => Some(format!("{} does not publish them", self.identity.jdk())),
            _ => None,
        };
        if let Some(reason) = reason {
            self.unavailable(&m::GC_PAUSES, reason.clone());
            self.unavailable(&m::GC_PAUSE_SECONDS, reason);
        }
        self.collector_cpu();
    }

    fn has(&self, group: &CollectorGroup) -> bool {
        self.index.find(&format!("sun.gc.collector.{}.invocations", group.number)).is_some()
    }

    fn collector_cpu(&mut self) {
        let collector = self.identity.collector;
        match collector {
            // Their total is always 0.
            Collector::Z
            | Collector::GenerationalZ
            | Collector::Shenandoah
            | Collector::Epsilon
            | Collector::Unknown => {
                let reason = format!("the JVM does not measure it for the collector {}", collector.name());
                self.unavailable(&m::GC_CPU_SECONDS, reason);
            }
            Collector::Serial | Collector::Parallel | Collector::ConcurrentMarkSweep | Collector::G1 => {
                self.seconds(&m::GC_CPU_SECONDS, &[], &["sun.threads.total_gc_cpu_time".to_owned()]);
            }
        }
    }

    fn safepoints(&mut self) {
        self.sum(&m::SAFEPOINTS, &[], &["sun.rt.safepoints".to_owned()], &[], 1.0, None);
        self.seconds(&m::SAFEPOINT_SYNC_SECONDS, &[], &["sun.rt.safepointSyncTime".to_owned()]);
        match self.identity.stall_counters() {
            Some(names) => {
                let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
                self.seconds(&m::SAFEPOINT_SECONDS, &[], &names);
            }
            None => self.unavailable(
                &m::SAFEPOINT_SECONDS,
                "the JVM does not state its version, which determines what the counter contains".to_owned(),
            ),
        }
    }

    fn threads_and_classes(&mut self) {
        let mut plain = |metric, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            self.sum(metric, &[], &names, &[], 1.0, None);
        };
        plain(&m::THREADS, &["java.threads.live"]);
        plain(&m::THREADS_DAEMON, &["java.threads.daemon"]);
        plain(&m::THREADS_PEAK, &["java.threads.livePeak"]);
        plain(&m::THREADS_STARTED, &["java.threads.started"]);
        plain(&m::COMPILATIONS, &["sun.ci.totalCompiles"]);
        let loaded = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];
        let unloaded = ["java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"];
        plain(&m::CLASSES_LOADED, &loaded);
        plain(&m::CLASSES_UNLOADED, &unloaded);
        self.sum(&m::CLASSES, &[], &loaded.map(str::to_owned), &unloaded.map(str::to_owned), 1.0, None);
        self.seconds(&m::CLASS_LOADING_SECONDS, &[], &["sun.cls.time".to_owned()]);
        self.seconds(&m::COMPILATION_SECONDS, &[], &["java.ci.totalTime".to_owned()]);
    }

    fn contention(&mut self) {
        for (metric, name) in [
            (&m::CONTENDED_ATTEMPTS, "sun.rt._sync_ContendedLockAttempts"),
            (&m::MONITOR_PARKS, "sun.rt._sync_Parks"),
            (&m::FUTILE_WAKEUPS, "sun.rt._sync_FutileWakeups"),
        ] {
            self.sum(metric, &[], &[name.to_owned()], &[], 1.0, None);
        }
    }

    fn seconds(&mut self, metric: &'static Metric, labels: &[(&'static str, &str)], added: &[String]) {
        match self.ticks {
            Some(ticks) => self.sum(metric, labels, added, &[], ticks, None),
            None => self.unavailable(metric, "the JVM does not state the frequency of its timer".to_owned()),
        }
    }

    /// Adds a quantity, or the reason why there is none.
    fn sum(
        &mut self,
        metric: &'static Metric,
        labels: &[(&'static str, &str)],
        added: &[String],
        subtracted: &[String],
        divisor: f64,
        unknown_while_zero: Option<&str>,
    ) {
        let ids = |names: &[String]| -> Result<Vec<CounterId>, String> {
            names.iter().map(|name| self.index.find(name).ok_or_else(|| name.clone())).collect()
        };
        match (ids(added), ids(subtracted)) {
            (Ok(added), Ok(subtracted)) => self.metrics.quantities.push(Quantity {
                metric,
                labels: labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
                added,
                subtracted,
                divisor,
                unknown_while_zero: unknown_while_zero.and_then(|name| self.index.find(name)),
            }),
            (Err(missing), _) | (_, Err(missing)) => {
                let reason = format!("{} does not publish the counter {missing}", self.identity.jdk());
                self.unavailable(metric, reason);
            }
        }
    }

    /// Adds a reason; several reasons for one metric are joined, because one is recorded.
    fn unavailable(&mut self, metric: &'static Metric, reason: String) {
        match self.metrics.unavailable.iter_mut().find(|(known, _)| known.name == metric.name) {
            Some((_, reasons)) => {
                reasons.push_str("; ");
                reasons.push_str(&reason);
            }
            None => self.metrics.unavailable.push((metric, reason)),
        }
    }
}
