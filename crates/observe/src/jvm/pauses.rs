//! Pauses of the application, seen as steps of counters between two readings.

use std::time::Duration;

use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind};

use super::collector::{Counted, JvmCollector};
use super::counters::{CounterId, CounterIndex};
use super::identity::JvmIdentity;

/// Detects pauses between readings.
///
/// A mark covers the pauses between two readings. The JVM publishes the end of each collector's last pause. The time of a single
/// pause is therefore known to within 2 ms (the JVM publishes its own start in whole milliseconds). Several pauses are marked from
/// the previous reading to the end of the last pause.
#[derive(Debug)]
pub(super) struct PauseTracker {
    groups: Vec<Group>,
    /// Counters of time at safepoints, in ticks.
    stalls: Vec<CounterId>,
    /// Ticks per second.
    frequency: i64,
    created_ms: Option<u64>,
    /// Pauses below this length are not marked.
    shortest: Duration,
    last: Option<Step>,
}

#[derive(Debug)]
struct Group {
    name: &'static str,
    counted: Counted,
    count: CounterId,
    last_exit: Option<CounterId>,
}

#[derive(Clone, Debug)]
struct Step {
    time: Nanos,
    stalled_ns: i64,
    counts: Vec<i64>,
}

impl PauseTracker {
    /// A tracker; `None` if the JVM does not publish its time at safepoints.
    pub(super) fn new(
        index: &CounterIndex,
        bytes: &[u8],
        identity: &JvmIdentity,
        shortest: Duration,
    ) -> Option<PauseTracker> {
        let frequency = index.long_of(bytes, "sun.os.hrt.frequency").filter(|frequency| *frequency > 0)?;
        let groups = identity.collector.groups().iter().filter_map(|group| {
            let find = |what: &str| index.find(&format!("sun.gc.collector.{}.{what}", group.number));
            Some(Group {
                name: group.name,
                counted: group.counted,
                count: find("invocations")?,
                last_exit: find("lastExitTime"),
            })
        });
        let stalls =
            identity.stall_counters()?.iter().map(|name| index.find(name)).collect::<Option<Vec<_>>>()?;
        Some(PauseTracker {
            groups: groups.collect(),
            stalls,
            frequency,
            created_ms: identity.created_ms,
            shortest,
            last: None,
        })
    }

    /// Compares a reading with the previous one. `wall_start_ms` is the start of the run in ms since 1970.
    pub(super) fn read(
        &mut self,
        index: &CounterIndex,
        bytes: &[u8],
        time: Nanos,
        wall_start_ms: u64,
    ) -> Option<Mark> {
        let step = self.step(index, bytes, time)?;
        let last = self.last.replace(step.clone())?;
        let stalled = u64::try_from(step.stalled_ns.checked_sub(last.stalled_ns)?).ok()?;
        if u128::from(stalled) < self.shortest.as_nanos() || stalled == 0 {
            return None;
        }
        let collections: Vec<(&Group, i64)> = self
            .groups
            .iter()
            .zip(step.counts.iter().zip(&last.counts))
            .filter_map(|(group, (now, before))| Some((group, now.checked_sub(*before)?)))
            .filter(|(_, collections)| *collections > 0)
            .collect();
        let exits = collections.iter().filter_map(|(group, _)| index.long(bytes, group.last_exit?));
        let exit = exits.max().and_then(|ticks| self.time_of(ticks, wall_start_ms));
        let to = exit.unwrap_or(time).min(time).max(last.time);
        let is_single =
            matches!(collections[..], [(Group { counted: Counted::Pauses, .. }, 1)]) && exit.is_some();
        let from = if is_single { Nanos(to.0.saturating_sub(stalled)) } else { last.time.min(to) };
        let kind = if collections.is_empty() { MarkKind::Other } else { MarkKind::GcPause };
        Some(Mark { kind, from, to, text: describe(stalled, &collections) })
    }

    fn step(&self, index: &CounterIndex, bytes: &[u8], time: Nanos) -> Option<Step> {
        let mut ticks = 0_i64;
        for id in &self.stalls {
            ticks = ticks.checked_add(index.long(bytes, *id)?)?;
        }
        let stalled_ns =
            i64::try_from(i128::from(ticks) * 1_000_000_000 / i128::from(self.frequency)).ok()?;
        let counts =
            self.groups.iter().map(|group| index.long(bytes, group.count)).collect::<Option<Vec<_>>>()?;
        Some(Step { time, stalled_ns, counts })
    }

    /// Converts a time of the JVM, in ticks since its creation, to a time in the run.
    fn time_of(&self, ticks: i64, wall_start_ms: u64) -> Option<Nanos> {
        let since_creation = i128::from(ticks) * 1_000_000_000 / i128::from(self.frequency);
        let created = (i128::from(self.created_ms?) - i128::from(wall_start_ms)) * 1_000_000;
        u64::try_from(created + since_creation).ok().map(Nanos)
    }
}

fn describe(stalled_ns: u64, collections: &[(&Group, i64)]) -> String {
    let parts: Vec<String> = collections
        .iter()
        .map(|(group, count)| match (group.counted, *count) {
            (Counted::Pauses, 1) => group.name.to_owned(),
            (Counted::Pauses, count) => format!("{count} x {}", group.name),
            (Counted::Phases, count) => format!("{count} phases of {}", JvmCollector::Shenandoah.name()),
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "shown in ms")]
    let ms = stalled_ns as f64 / 1e6;
    let cause = if parts.is_empty() { "safepoint without a collection".to_owned() } else { parts.join(", ") };
    format!("stopped for {ms:.1} ms: {cause}")
}
