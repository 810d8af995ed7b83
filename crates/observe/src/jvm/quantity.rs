//! The metrics that a JVM provides: which counters they are computed from, and why others are unavailable.

use busyhour_series::Metric;

use super::allocation::Allocation;
use super::collector::{CollectorGroup, Counted, HeapPool, JvmCollector};
use super::counters::{CounterId, CounterIndex};
use super::identity::JvmIdentity;
use super::metrics as m;

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
    /// The divisor that converts the sum of the counters to the unit of the metric.
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
        if collector == JvmCollector::Unknown {
            let reason = format!("the garbage collector of {} is not known", self.identity.jdk());
            for metric in [&m::MEMORY_USED, &m::MEMORY_COMMITTED, &m::MEMORY_MAX] {
                self.unavailable(metric, reason.clone());
            }
            return;
        }
        for pool in collector.pools() {
            self.pool(pool);
        }
        let maximum = |generation: u8| format!("sun.gc.generation.{generation}.maxCapacity");
        let maxima = if collector.splits_heap() { vec![maximum(0), maximum(1)] } else { vec![maximum(1)] };
        self.add(Sum::of(&m::MEMORY_MAX, maxima).labels(&[("area", "heap")]));
    }

    fn pool(&mut self, pool: &HeapPool) {
        let collector = self.identity.collector;
        let names = |what: &str| -> Vec<String> {
            let space = |space| format!("sun.gc.generation.{}.space.{space}.{what}", pool.generation);
            pool.spaces.iter().map(space).collect()
        };
        let labels = [("area", "heap"), ("pool", pool.name), ("generation", pool.label)];
        // Epsilon updates the use and the capacity once per megabyte; both are 0 before the first update.
        let guard = (collector == JvmCollector::Epsilon).then_some("sun.gc.generation.1.space.0.capacity");
        // Older JVMs refresh the use of spaces every 50 ms. Exactly these JVMs also publish this counter.
        let is_sampled = self.index.find("sun.os.hrt.ticks").is_some();
        let is_eden = pool.generation == 0 && pool.spaces == [0];
        if is_eden && collector.splits_heap() && !is_sampled {
            let jdk = self.identity.jdk();
            self.unavailable(
                &m::MEMORY_USED,
                format!("{jdk} updates the use of {} only at collections, when it is empty", pool.name),
            );
        } else {
            self.add(Sum::of(&m::MEMORY_USED, names("used")).labels(&labels).unknown_while_zero(guard));
        }
        self.add(Sum::of(&m::MEMORY_COMMITTED, names("capacity")).labels(&labels).unknown_while_zero(guard));
    }

    fn allocation(&mut self) {
        let collector = self.identity.collector;
        match collector {
            // Epsilon never collects, so all allocated memory is in use.
            JvmCollector::Epsilon => {
                let used = Sum::of(&m::ALLOCATED, one("sun.gc.generation.1.space.0.used"));
                self.add(used.unknown_while_zero(Some("sun.gc.generation.1.space.0.capacity")));
            }
            _ if Allocation::of(self.index, collector).is_some() => {}
            _ => {
                let (jdk, name) = (self.identity.jdk(), collector.name());
                self.unavailable(
                    &m::ALLOCATED,
                    format!("{jdk} does not publish the allocation between the collections of {name}"),
                );
            }
        }
    }

    fn class_memory(&mut self) {
        for (prefix, pool) in
            [("sun.gc.metaspace", "Metaspace"), ("sun.gc.compressedclassspace", "Compressed Class Space")]
        {
            let labels = [("area", "nonheap"), ("pool", pool)];
            let capacity = format!("{prefix}.capacity");
            for (metric, name) in
                [(&m::MEMORY_USED, format!("{prefix}.used")), (&m::MEMORY_COMMITTED, capacity.clone())]
            {
                self.add(Sum::of(metric, vec![name]).labels(&labels).unknown_while_zero(Some(&capacity)));
            }
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
            self.add(Sum::of(count, vec![format!("{prefix}.invocations")]).labels(&labels));
            self.add_seconds(Sum::of(seconds, vec![format!("{prefix}.time")]).labels(&labels));
        }
        if let Some(reason) = self.reason_without_pauses(groups.len()) {
            self.unavailable(&m::GC_PAUSES, reason.clone());
            self.unavailable(&m::GC_PAUSE_SECONDS, reason);
        }
        self.collector_cpu();
    }

    /// Why some or all pauses are unknown; `groups` is the number of groups of counters that the JVM publishes.
    fn reason_without_pauses(&self, groups: usize) -> Option<String> {
        let jdk = self.identity.jdk();
        match self.identity.collector {
            JvmCollector::Shenandoah => Some(
                "Shenandoah's counters add concurrent phases to pauses; jvm_safepoint_seconds_total has the pauses"
                    .to_owned(),
            ),
            JvmCollector::Epsilon => Some("Epsilon does not collect".to_owned()),
            JvmCollector::Unknown => Some(format!("the garbage collector of {jdk} is not known")),
            JvmCollector::G1 if groups < 3 => {
                Some(format!("G1 of {jdk} does not count the pauses of its concurrent cycle (Remark, Cleanup)"))
            }
            _ if groups == 0 => Some(format!("{jdk} does not publish them")),
            _ => None,
        }
    }

    fn has(&self, group: &CollectorGroup) -> bool {
        self.index.find(&format!("sun.gc.collector.{}.invocations", group.number)).is_some()
    }

    fn collector_cpu(&mut self) {
        let collector = self.identity.collector;
        match collector {
            // The total that the JVM publishes for these collectors is always 0.
            JvmCollector::Z
            | JvmCollector::GenerationalZ
            | JvmCollector::Shenandoah
            | JvmCollector::Epsilon
            | JvmCollector::Unknown => {
                let reason = format!("the JVM does not measure it for the collector {}", collector.name());
                self.unavailable(&m::GC_CPU_SECONDS, reason);
            }
            JvmCollector::Serial
            | JvmCollector::Parallel
            | JvmCollector::ConcurrentMarkSweep
            | JvmCollector::G1 => {
                self.add_seconds(Sum::of(&m::GC_CPU_SECONDS, one("sun.threads.total_gc_cpu_time")));
            }
        }
    }

    fn safepoints(&mut self) {
        self.add(Sum::of(&m::SAFEPOINTS, one("sun.rt.safepoints")));
        self.add_seconds(Sum::of(&m::SAFEPOINT_SYNC_SECONDS, one("sun.rt.safepointSyncTime")));
        match self.identity.stall_counters() {
            Some(names) => self.add_seconds(Sum::of(&m::SAFEPOINT_SECONDS, owned(names))),
            None => self.unavailable(
                &m::SAFEPOINT_SECONDS,
                "the JVM does not state its version, which determines what the counter contains".to_owned(),
            ),
        }
    }

    fn threads_and_classes(&mut self) {
        self.add(Sum::of(&m::THREADS, one("java.threads.live")));
        self.add(Sum::of(&m::THREADS_DAEMON, one("java.threads.daemon")));
        self.add(Sum::of(&m::THREADS_PEAK, one("java.threads.livePeak")));
        self.add(Sum::of(&m::THREADS_STARTED, one("java.threads.started")));
        let loaded = owned(&["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"]);
        let unloaded = owned(&["java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"]);
        self.add(Sum::of(&m::CLASSES, loaded.clone()).less(unloaded.clone()));
        self.add(Sum::of(&m::CLASSES_LOADED, loaded));
        self.add(Sum::of(&m::CLASSES_UNLOADED, unloaded));
        self.add_seconds(Sum::of(&m::CLASS_LOADING_SECONDS, one("sun.cls.time")));
        self.add(Sum::of(&m::COMPILATIONS, one("sun.ci.totalCompiles")));
        self.add_seconds(Sum::of(&m::COMPILATION_SECONDS, one("java.ci.totalTime")));
    }

    fn contention(&mut self) {
        self.add(Sum::of(&m::CONTENDED_ATTEMPTS, one("sun.rt._sync_ContendedLockAttempts")));
        self.add(Sum::of(&m::MONITOR_PARKS, one("sun.rt._sync_Parks")));
        self.add(Sum::of(&m::FUTILE_WAKEUPS, one("sun.rt._sync_FutileWakeups")));
    }

    /// Adds a sum of ticks as seconds.
    fn add_seconds(&mut self, sum: Sum) {
        match self.ticks {
            Some(ticks) => self.add(Sum { divisor: ticks, ..sum }),
            None => {
                self.unavailable(sum.metric, "the JVM does not state the frequency of its timer".to_owned())
            }
        }
    }

    /// Adds a quantity, or the reason why there is none.
    fn add(&mut self, sum: Sum) {
        let ids = |names: &[String]| -> Result<Vec<CounterId>, String> {
            names.iter().map(|name| self.index.find(name).ok_or_else(|| name.clone())).collect()
        };
        match (ids(&sum.added), ids(&sum.subtracted)) {
            (Ok(added), Ok(subtracted)) => self.metrics.quantities.push(Quantity {
                metric: sum.metric,
                labels: sum.labels,
                added,
                subtracted,
                divisor: sum.divisor,
                unknown_while_zero: sum.unknown_while_zero.and_then(|name| self.index.find(&name)),
            }),
            (Err(missing), _) | (_, Err(missing)) => {
                let reason = format!("{} does not publish the counter {missing}", self.identity.jdk());
                self.unavailable(sum.metric, reason);
            }
        }
    }

    /// Adds a reason. Several reasons for one metric are joined, because only one text per metric is recorded.
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

/// A sum of counters, given by their names, that becomes a quantity.
struct Sum {
    metric: &'static Metric,
    labels: Vec<(&'static str, String)>,
    added: Vec<String>,
    subtracted: Vec<String>,
    divisor: f64,
    unknown_while_zero: Option<String>,
}

impl Sum {
    fn of(metric: &'static Metric, added: Vec<String>) -> Sum {
        Sum {
            metric,
            labels: Vec::new(),
            added,
            subtracted: Vec::new(),
            divisor: 1.0,
            unknown_while_zero: None,
        }
    }

    fn labels(mut self, labels: &[(&'static str, &str)]) -> Sum {
        self.labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self
    }

    fn less(mut self, subtracted: Vec<String>) -> Sum {
        self.subtracted = subtracted;
        self
    }

    fn unknown_while_zero(mut self, counter: Option<&str>) -> Sum {
        self.unknown_while_zero = counter.map(str::to_owned);
        self
    }
}

fn one(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
