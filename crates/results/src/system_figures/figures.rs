//! Computes figures from tallies.

use std::collections::BTreeMap;

use busyhour_analysis::system::{Figure, FigureKind, SubjectKind, SystemSubject};

use super::gc_logs::LoggedPauses;
use super::metrics::{Quantity, SubjectKey};
use super::subjects::{QuantityTally, Subject, Subjects};
use super::tally::Increases;

/// Completed requests over time.
pub(super) struct Requests<'w> {
    between: &'w dyn Fn(f64, f64) -> f64,
}

impl<'w> Requests<'w> {
    pub(super) fn new(between: &'w dyn Fn(f64, f64) -> f64) -> Requests<'w> {
        Requests { between }
    }

    pub(super) fn between(&self, from_s: f64, to_s: f64) -> f64 {
        (self.between)(from_s, to_s)
    }

    fn between_ns(&self, from: u64, to: u64) -> f64 {
        self.between(from as f64 / 1e9, to as f64 / 1e9)
    }
}

/// The figures of all subjects, sorted by kind; processes are sorted by CPU time.
pub(super) fn figures(subjects: &Subjects, requests: &Requests<'_>) -> Vec<SystemSubject> {
    let mut all: Vec<SystemSubject> = subjects
        .subjects
        .iter()
        .filter(|subject| subject.key.disk.is_none() && !is_exporter(subjects, &subject.key))
        .map(|subject| View::new(subjects, subject, requests).figures())
        .collect();
    let cpu = |subject: &SystemSubject| subject.value(FigureKind::CpuSeconds).unwrap_or(-1.0);
    // The sort is stable, so other subjects remain in the order of their first reading.
    all.sort_by(|one, other| one.kind.cmp(&other.kind).then(cpu(other).total_cmp(&cpu(one))));
    all
}

/// Whether a process is the exporter of a machine's metrics, which is not part of the system under test.
fn is_exporter(subjects: &Subjects, key: &SubjectKey) -> bool {
    let machine = SubjectKey { kind: SubjectKind::Machine, ..key.clone() };
    key.kind == SubjectKind::Process
        && key.exporter.as_deref() == Some(key.source.as_str())
        && subjects.find(&machine).is_some()
}

type Value = Result<f64, String>;

/// A subject whose figures are computed.
struct View<'v> {
    subjects: &'v Subjects,
    subject: &'v Subject,
    requests: &'v Requests<'v>,
    /// The disk of the machine with the longest busy time.
    disk: Option<&'v Subject>,
}

impl<'v> View<'v> {
    fn new(subjects: &'v Subjects, subject: &'v Subject, requests: &'v Requests<'v>) -> View<'v> {
        View { subjects, subject, requests, disk: busiest_disk(subjects, &subject.key) }
    }

    fn figures(&self) -> SystemSubject {
        let key = &self.subject.key;
        let figures: BTreeMap<FigureKind, Figure> =
            FigureKind::of(key.kind).map(|kind| (kind, Figure::from(self.figure(kind)))).collect();
        let part = self.subjects.part;
        let watched = self.subject.read.map_or(0, |(first, last)| part.overlap(first, last));
        SystemSubject {
            kind: key.kind,
            source: key.shown_source(),
            name: self.name(),
            observed_s: (watched as f64 / 1e6).round() / 1e3,
            restarts: self.subjects.restarts(self.subject),
            disk: self.disk.and_then(|disk| disk.key.disk.clone()),
            pauses_at_least: self.subject.is_zgc && self.logged_pauses().is_none(),
            figures,
        }
    }

    fn name(&self) -> Option<String> {
        let key = &self.subject.key;
        if key.kind == SubjectKind::Machine && key.source == "os" && key.exporter.is_none() {
            return self.subjects.hostname.clone();
        }
        let is_program = matches!(key.kind, SubjectKind::Process | SubjectKind::Jvm);
        let observer = key.exporter.as_deref().unwrap_or_default();
        let name = self.subjects.programs.of(observer, &key.source).filter(|_| is_program);
        name.map(str::to_owned)
    }

    fn figure(&self, kind: FigureKind) -> Value {
        use FigureKind as F;
        use Quantity as Q;
        match kind {
            F::CpuUtilizationMean => self.ratio(Q::CpuBusy, Q::CpuAll),
            F::CpuUtilizationMax => self.known(Q::CpuBusy, self.increases(Q::CpuBusy)?.ratio_max),
            F::CpuSteal => self.ratio(Q::CpuSteal, Q::CpuAll),
            F::MachineCpuPerRequest => self.per_request(Q::CpuBusy),
            F::RunQueueMean => self.rate(Q::CpuWaiting),
            F::RunQueueMax => self.max(Q::RunQueue),
            F::MemoryUsedMax => self.max(Q::MemoryUsed),
            F::MemoryTotal => self.max(Q::MemoryTotal),
            F::SwapInPages => self.count(Q::SwapIn),
            F::SwapOutPages => self.count(Q::SwapOut),
            F::DiskBusy => self.on_disk()?.rate(Q::DiskBusy),
            F::DiskAwait => self.disk_await(),
            F::NetworkReceivedBytes | F::NamespaceReceivedBytes => self.count(Q::Received),
            F::NetworkSentBytes | F::NamespaceSentBytes => self.count(Q::Sent),
            F::Retransmissions | F::NamespaceRetransmissions => self.count(Q::Retransmitted),
            F::ListenOverflows | F::NamespaceListenOverflows => self.count(Q::ListenOverflows),
            F::StallMax => self.max(Q::Stall),
            F::CpuSeconds => self.total(Q::ProcessCpu),
            F::CpuPerRequest => self.per_request(Q::ProcessCpu),
            F::CoresMean => self.rate(Q::ProcessCpu),
            F::CoresMax => self.known(Q::ProcessCpu, self.increases(Q::ProcessCpu)?.rate_max),
            F::CpuWaitPerRequest => self.per_request(Q::RunQueueWait),
            F::ResidentMax => self.max(Q::Resident),
            F::StorageReadBytes => self.count(Q::StorageRead),
            F::StorageWrittenBytes => self.count(Q::StorageWritten),
            F::ThreadsMax => self.max(Q::Threads),
            F::OpenFilesMax => self.max(Q::OpenFiles),
            F::AllocationRate => self.allocated().map(|(bytes, from, to)| bytes / ((to - from) as f64 / 1e9)),
            F::AllocatedPerRequest => {
                self.allocated().and_then(|(bytes, from, to)| self.divide_by_requests(bytes, from, to))
            }
            F::GcShare => match self.logged_pauses() {
                Some(logged) => self.share_of_part(logged.total_s),
                None => self.rate(Q::GcPauseTime),
            },
            F::GcPauses => match self.logged_pauses() {
                Some(logged) => Ok(logged.count as f64),
                None => self.count(Q::GcPauses),
            },
            F::GcPauseSeconds => match self.logged_pauses() {
                Some(logged) => Ok(logged.total_s),
                None => self.total(Q::GcPauseTime),
            },
            F::GcPauseMax => self.longest_pause(),
            F::StoppedShare => self.rate(Q::Stopped),
            F::HeapUsedMax => self.heap_used(),
            F::HeapLimit => self.max(Q::HeapLimit),
            F::JvmThreadsMax => self.max(Q::JvmThreads),
            F::CgroupCpuSeconds => self.total(Q::CgroupCpu),
            F::CgroupCpuPerRequest => self.per_request(Q::CgroupCpu),
            F::CgroupCoresMean => self.rate(Q::CgroupCpu),
            F::CgroupCoresLimit => self.max(Q::CgroupCores),
            F::ThrottledShare => self.ratio(Q::ThrottledPeriods, Q::Periods),
            F::CgroupMemoryMax => self.max(Q::WorkingSet),
            F::CgroupMemoryLimit => self.max(Q::MemoryLimit),
            F::TransactionRate => self.rate(Q::Transactions),
            F::TransactionsPerRequest => self.per_request(Q::Transactions),
            F::RollbackShare => self.ratio(Q::Rollbacks, Q::Transactions),
            F::SessionsMax => self.max(Q::Sessions),
            F::SessionsLimit => self.max(Q::SessionsLimit),
            F::BlockedSessionsMax => self.max(Q::BlockedSessions),
            F::CacheHitShare => self.ratio(Q::BlocksInCache, Q::Blocks),
            F::Deadlocks => self.count(Q::Deadlocks),
            F::ObservationCores => self.rate(Q::ObservationCpu),
            F::ReadingsSkipped => self.count(Q::ReadingsSkipped),
        }
    }

    fn tally(&self, quantity: Quantity) -> Option<&'v QuantityTally> {
        self.subject.quantities.get(&quantity).map(|index| &self.subjects.tallies[*index])
    }

    /// The reason why a quantity is unavailable.
    fn missing(&self, quantity: Quantity) -> String {
        let metrics = [Some(quantity.metric()), quantity.mysql_metric()];
        let reason =
            metrics.into_iter().flatten().find_map(|metric| self.subjects.reason(self.subject, metric));
        match reason {
            Some(reason) => reason.to_owned(),
            None if self.subject.quantities.contains_key(&quantity) => {
                "too few readings in the measured part".to_owned()
            }
            None => format!("{} was not recorded", quantity.metric()),
        }
    }

    fn known(&self, quantity: Quantity, value: Option<f64>) -> Value {
        value.ok_or_else(|| self.missing(quantity))
    }

    /// The increases of a counter, if it was read at least twice.
    fn increases(&self, quantity: Quantity) -> Result<&'v Increases, String> {
        let increases = self.tally(quantity).map(|tally| &tally.increases);
        increases.filter(|increases| increases.to > increases.from).ok_or_else(|| self.missing(quantity))
    }

    fn total(&self, quantity: Quantity) -> Value {
        self.increases(quantity).map(|increases| increases.amount)
    }

    /// A total of events or bytes: a whole number.
    fn count(&self, quantity: Quantity) -> Value {
        self.total(quantity).map(f64::round)
    }

    fn rate(&self, quantity: Quantity) -> Value {
        self.increases(quantity).map(|increases| increases.amount / increases.seconds())
    }

    fn ratio(&self, quantity: Quantity, of: Quantity) -> Value {
        let all = self.increases(of)?;
        let part = match self.tally(quantity) {
            Some(_) => self.increases(quantity)?.amount,
            None => return Err(self.missing(quantity)),
        };
        if all.amount > 0.0 { Ok(part / all.amount) } else { Err("the total for this share is 0".to_owned()) }
    }

    fn per_request(&self, quantity: Quantity) -> Value {
        let increases = self.increases(quantity)?;
        self.divide_by_requests(increases.amount, increases.from, increases.to)
    }

    fn divide_by_requests(&self, amount: f64, from: u64, to: u64) -> Value {
        let requests = self.requests.between_ns(from, to);
        if requests >= 1.0 {
            Ok(amount / requests)
        } else {
            Err("no request was completed while the source was read".to_owned())
        }
    }

    fn max(&self, quantity: Quantity) -> Value {
        self.known(quantity, self.tally(quantity).and_then(|tally| tally.values.max))
    }

    fn on_disk(&self) -> Result<View<'v>, String> {
        let disk = self.disk.ok_or_else(|| self.missing(Quantity::DiskBusy))?;
        Ok(View { subject: disk, disk: None, ..*self })
    }

    fn disk_await(&self) -> Value {
        let disk = self.on_disk()?;
        let operations = disk.total(Quantity::DiskOperations)?;
        let time = disk.total(Quantity::DiskOperationTime)?;
        if operations > 0.0 {
            Ok(time / operations)
        } else {
            Err("no read or write was completed".to_owned())
        }
    }

    /// Allocated bytes between two times. A JVM updates its counter of allocations only at collections, so only the
    /// allocations between the first and the last collection are known.
    fn allocated(&self) -> Result<(f64, u64, u64), String> {
        let steps = self.increases(Quantity::Allocated)?.steps;
        if steps.count < 2 {
            let reason = "the JVM counts allocations only at collections, and fewer than two were observed";
            return Err(reason.to_owned());
        }
        Ok((steps.after_first, steps.first, steps.last))
    }

    /// The pauses of a JVM in its log, if there is only one JVM and one log.
    fn logged_pauses(&self) -> Option<LoggedPauses> {
        let is_local_jvm = |key: &SubjectKey| key.kind == SubjectKind::Jvm && key.exporter.is_none();
        let mut jvms = self.subjects.subjects.iter().filter(|subject| is_local_jvm(&subject.key));
        let is_only = jvms.next().is_some_and(|first| first.key == self.subject.key) && jvms.next().is_none();
        self.subjects.gc_logs.only().filter(|_| is_only)
    }

    fn share_of_part(&self, seconds: f64) -> Value {
        let part = self.subjects.part;
        let length_s = part.to.saturating_sub(part.from) as f64 / 1e9;
        if length_s > 0.0 { Ok(seconds / length_s) } else { Err("the measured part is empty".to_owned()) }
    }

    fn longest_pause(&self) -> Value {
        const NO_PAUSE: &str = "there was no pause";
        if let Some(logged) = self.logged_pauses() {
            return if logged.count > 0 { Ok(logged.longest_s) } else { Err(NO_PAUSE.to_owned()) };
        }
        let increases = self.increases(Quantity::GcPauseTime)?;
        match (increases.single_max, increases.several_max) {
            (Some(single), several) if several.is_none_or(|several| several <= single) => Ok(single),
            (_, Some(_)) if self.subject.is_zgc => Err(
                "several pauses are between two readings, and the counters of ZGC contain only a part of each pause"
                    .to_owned(),
            ),
            (_, Some(several)) => Err(format!(
                "several pauses are between two readings; the longest is at most {}",
                short_time(several)
            )),
            (_, None) => Err(NO_PAUSE.to_owned()),
        }
    }

    fn heap_used(&self) -> Value {
        let incomplete = self.tally(Quantity::HeapUsed).map_or(0, |tally| tally.values.incomplete);
        match self.max(Quantity::HeapUsed) {
            Ok(max) if incomplete == 0 => Ok(max),
            Ok(_) | Err(_) if incomplete > 0 => {
                let reason = self.subjects.reason(self.subject, Quantity::HeapUsed.metric());
                Err(reason.unwrap_or("a part of the heap was not recorded").to_owned())
            }
            result => result,
        }
    }
}

/// A time with three significant digits: `60.0 ms`, `408 µs`.
fn short_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 0.000_999_5 => (s * 1e6, "µs"),
        s if s < 0.999_5 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let places = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$} {unit}")
}

/// The disk of a machine with the longest busy time.
fn busiest_disk<'v>(subjects: &'v Subjects, machine: &SubjectKey) -> Option<&'v Subject> {
    if machine.kind != SubjectKind::Machine {
        return None;
    }
    let busy = |subject: &Subject| {
        let index = subject.quantities.get(&Quantity::DiskBusy)?;
        let increases = &subjects.tallies[*index].increases;
        (increases.to > increases.from).then_some(increases.amount)
    };
    let disks = subjects.subjects.iter().filter(|subject| {
        subject.key.disk.is_some()
            && subject.key.source == machine.source
            && subject.key.exporter == machine.exporter
    });
    disks
        .filter_map(|disk| Some((busy(disk)?, disk)))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, disk)| disk)
}
