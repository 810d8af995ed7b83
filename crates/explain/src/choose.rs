//! Compares the causes and names one, or none.

use std::collections::BTreeMap;

use busyhour_analysis::explanation::{Basis, Cause, Evidence, Explanation, NotExamined};

use crate::effect::{CauseEffect, effect};
use crate::episodes::{Change, change};
use crate::levels::{RequestMeans, Waiting, waiting, waiting_ratio};
use crate::multiplicity::holm;
use crate::request_times::Requests;
use crate::sentences;
use crate::shift_test::{ShiftTest, Untestable, shift_test};
use crate::signal::Signal;
use crate::signals::CpuFigures;
use crate::slow_times::SlowTimes;

/// The largest accepted probability that a cause is claimed although none is related to slow requests.
const LEVEL: f64 = 0.05;

/// A claimed cause explains at least this share of the time above the median, or of the slow requests.
const TIME_SHARE_MIN: f64 = 0.25;
const SLOW_SHARE_MIN: f64 = 0.35;

/// Slow requests are at least this many times as frequent when a claimed cause is present.
const SLOW_FACTOR_MIN: f64 = 2.0;

/// The time above the median is longer by at least this share of the median when a claimed cause is present.
const EXCESS_MIN: f64 = 0.5;

/// A more specific cause is named if its share is at least this part of the largest one.
const NEARLY: f64 = 0.85;

/// A cause that can lead to the claimed one is named instead if its share is at least this part of it.
const ORIGIN_SHARE: f64 = 0.5;

/// A server behind the system counts as slow if requests wait for it at least this many times as long as otherwise.
/// With a smaller ratio, more requests wait at the same time, but not longer.
const DEPENDENCY_RATIO_MIN: f64 = 1.5;

/// Something that occurs more than this time (in ns) after the start of a request does not count as the cause of its
/// slowness, however long requests take.
const REACH_MAX_NS: u64 = 1_000_000_000;

/// A machine is short of CPUs during a whole run if at least this share of its CPU time is used.
const SATURATED: f64 = 0.85;

/// The observations of a run.
#[derive(Debug)]
pub struct Observations<'o> {
    /// The requests.
    pub requests: &'o Requests,
    /// The measured part in ns since the start of the run.
    pub part: (u64, u64),
    /// Whether the rate of requests does not depend on their response times.
    pub is_open: bool,
    /// The signals of causes.
    pub signals: Vec<Signal>,
    /// The use of the CPUs of the system's machine; `None` if it is unknown.
    pub cpu: Option<CpuFigures>,
    /// Times of incidents in ns since the start of the run. In them, requests were slow or failed, and the generator
    /// was not the cause.
    pub incidents: Vec<(u64, u64)>,
    /// Why the generator was the bottleneck, in a clause.
    pub generator: Option<String>,
    /// Why arrivals were not as planned, in a clause.
    pub arrivals: Option<String>,
    /// Why a memory leak is likely, in a clause.
    pub leak: Option<String>,
}

/// Names the cause of slow requests, or [`Cause::None`]. `None` for fewer than 100 requests.
#[must_use]
pub fn explain(observations: &Observations<'_>) -> Option<Explanation> {
    let (from, to) = observations.part;
    let slow = SlowTimes::new(observations.requests.kept(), (from, to), observations.is_open)?;
    let total = slow.total();
    let means = RequestMeans {
        rate_per_s: total.requests * observations.requests.per_kept() as f64 / (slow.length() as f64 / 1e9),
        response_ms: mean_response_ms(observations.requests, (from, to)),
    };
    let compared = Comparison::new(observations, &slow, means);
    let mut evidence = compared.evidence(slow.median_ms);
    let mut cause = name(observations, &compared, &evidence);
    if cause == Cause::CpuSaturation
        && let Some(neighbour) = compared.constant_neighbour(observations.cpu, &evidence)
    {
        evidence.retain(|one| one.cause != Cause::CpuNeighbour);
        evidence.push(neighbour);
        cause = Cause::CpuNeighbour;
    }
    if cause == Cause::DatabaseLock
        && evidence.iter().any(|one| one.cause == Cause::PoolExhausted && one.holds)
        && let Some(found) = compared.locks_behind_pool().filter(LocksBehindPool::are_origin)
        && let Some(locks) = evidence.iter_mut().find(|one| one.cause == cause)
    {
        locks.sentence = found.sentence(&locks.sentence);
        locks.holds = true;
    }
    evidence.sort_by(|a, b| {
        let rank = |one: &Evidence| (one.cause != cause, !one.holds);
        rank(a).cmp(&rank(b)).then(b.share.total_cmp(&a.share))
    });
    // A significant association that is not claimed is too weak; a longer run would not change that.
    let is_open = |one: &&Evidence| {
        one.p.is_some_and(|p| p <= LEVEL) && one.p_adjusted.is_none_or(|adjusted| adjusted > LEVEL)
    };
    let candidate = evidence
        .iter()
        .filter(|one| cause == Cause::None && is_open(one))
        .min_by(|a, b| a.p.unwrap_or(1.0).total_cmp(&b.p.unwrap_or(1.0)))
        .cloned();
    let not_examined = compared.not_examined();
    let missing: Vec<Cause> = not_examined.iter().map(|one| one.cause).collect();
    let sentence = sentence(observations, cause, &evidence, compared.tested());
    Some(Explanation {
        cause,
        sentence,
        compared: compared.tested(),
        evidence,
        not_examined,
        next: sentences::next_step(cause, candidate.as_ref(), &missing),
    })
}

/// The mean response time of the requests that were meant to start in a part.
fn mean_response_ms(requests: &Requests, (from, to): (u64, u64)) -> f64 {
    let inside = requests.kept().iter().filter(|request| (from..to).contains(&request.start.0));
    let (sum, count) =
        inside.fold((0.0, 0.0), |(sum, count), request| (sum + request.response_ns as f64, count + 1.0));
    if count > 0.0 { sum / count / 1e6 } else { 0.0 }
}

/// The 95th percentile of the response times of the requests that were meant to start in a part, in ns.
fn slow_response_ns(requests: &Requests, (from, to): (u64, u64)) -> u64 {
    let inside = requests.kept().iter().filter(|request| (from..to).contains(&request.start.0));
    let mut times: Vec<u64> = inside.map(|request| request.response_ns).collect();
    let place = times.len() * 95 / 100;
    if times.is_empty() { 0 } else { *times.select_nth_unstable(place).1 }
}

/// A signal with the results of all methods.
struct Compared<'s> {
    signal: &'s Signal,
    test: Result<ShiftTest, Untestable>,
    effect: Option<CauseEffect>,
    change: Option<Change>,
    waiting: Option<Waiting>,
    /// For a server behind the system: how much longer requests wait for it than otherwise.
    ratio: Option<f64>,
    means: RequestMeans,
    cpu: Option<CpuFigures>,
}

impl Compared<'_> {
    fn changed_in_incidents(&self) -> bool {
        self.change.is_some_and(|change| change.p <= LEVEL && change.is_large(self.signal))
    }

    /// Whether each wait became longer, if that is known. If all connections of a limited number are in use, the server
    /// need not be slow.
    fn became_slower(&self) -> bool {
        self.ratio.is_none_or(|ratio| ratio >= DEPENDENCY_RATIO_MIN)
    }

    fn waits_always(&self) -> bool {
        // Threads also wait if the CPUs are far from busy.
        let is_short = self.signal.cause != Cause::CpuSaturation
            || self.cpu.is_none_or(|cpu| cpu.utilization >= SATURATED);
        is_short && self.waiting.is_some_and(|waiting| waiting.is_cause(self.signal.cause, self.means))
    }
}

/// Sessions that wait for locks, behind an exhausted pool.
struct LocksBehindPool<'s> {
    pool: &'s Signal,
    waited: Waiting,
    /// How long a request waits for locks, in ms.
    locks_ms: f64,
    /// How long a request uses a connection, in ms.
    in_use_ms: f64,
}

impl LocksBehindPool<'_> {
    fn are_origin(&self) -> bool {
        self.locks_ms >= ORIGIN_SHARE * self.in_use_ms
    }

    fn sentence(&self, evidence: &str) -> String {
        sentences::behind_pool(evidence, (self.pool, &self.waited), (self.locks_ms, self.in_use_ms))
    }
}

/// The signals of all causes, compared with the requests.
struct Comparison<'s> {
    by_cause: BTreeMap<Cause, Vec<Compared<'s>>>,
    /// The smallest p value of each cause that could be tested, corrected for the number of its signals, and after Holm's
    /// correction for the number of causes.
    p: BTreeMap<Cause, (f64, f64)>,
}

impl<'s> Comparison<'s> {
    fn new(observations: &'s Observations<'_>, slow: &SlowTimes, means: RequestMeans) -> Comparison<'s> {
        let mut by_cause: BTreeMap<Cause, Vec<Compared<'_>>> = BTreeMap::new();
        let reach_ns = slow_response_ns(observations.requests, observations.part).min(REACH_MAX_NS);
        for signal in &observations.signals {
            let reaching = signal.reaching_back(reach_ns);
            let change = (!observations.incidents.is_empty())
                .then(|| change(signal, &observations.incidents, observations.part))
                .flatten();
            by_cause.entry(signal.cause).or_default().push(Compared {
                signal,
                test: shift_test(slow, &reaching),
                effect: effect(slow, &reaching),
                change,
                waiting: waiting(signal, means),
                ratio: (signal.cause == Cause::SlowDependency).then(|| waiting_ratio(signal, slow)).flatten(),
                means,
                cpu: observations.cpu,
            });
        }
        let smallest: Vec<(Cause, f64)> = by_cause
            .iter()
            .filter_map(|(cause, signals)| {
                let tested: Vec<f64> =
                    signals.iter().filter_map(|one| one.test.ok()).map(|test| test.p).collect();
                let least = tested.iter().copied().reduce(f64::min)?;
                Some((*cause, (least * tested.len() as f64).min(1.0)))
            })
            .collect();
        let adjusted = holm(&smallest.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        let p = smallest.into_iter().zip(adjusted).map(|((cause, p), adjusted)| (cause, (p, adjusted)));
        Comparison { by_cause, p: p.collect() }
    }

    /// How many causes were tested.
    fn tested(&self) -> usize {
        self.p.len()
    }

    /// Whether a cause is associated with slow requests, without correction for the number of causes.
    fn is_associated(&self, cause: Cause) -> bool {
        self.p.get(&cause).is_some_and(|(p, _)| *p <= LEVEL)
            || self.by_cause.get(&cause).is_some_and(|signals| {
                signals.iter().any(|one| one.changed_in_incidents() || one.waiting.is_some())
            })
    }

    /// Whether one of the signals of a cause shows longer waiting, if that is known.
    fn became_slower(&self, cause: Cause) -> bool {
        self.by_cause.get(&cause).is_none_or(|signals| signals.iter().any(Compared::became_slower))
    }

    /// The evidence of each cause, from its strongest signal.
    fn evidence(&self, median_ms: f64) -> Vec<Evidence> {
        self.by_cause.values().filter_map(|signals| self.of_cause(signals, median_ms)).collect()
    }

    fn of_cause(&self, signals: &[Compared<'_>], median_ms: f64) -> Option<Evidence> {
        let cause = signals.first()?.signal.cause;
        let p_of = |one: &Compared<'_>| one.test.map_or(1.0, |test| test.p);
        if let Some((p, adjusted)) = self.p.get(&cause) {
            let best =
                innermost(signals).or_else(|| signals.iter().min_by(|a, b| p_of(a).total_cmp(&p_of(b))))?;
            if let Some(effect) = &best.effect {
                let is_large = is_large_part(effect)
                    && effect.slow_with >= SLOW_FACTOR_MIN * effect.slow_without
                    && effect.with_ms - effect.without_ms >= EXCESS_MIN * median_ms;
                let holds = *adjusted <= LEVEL && is_large && best.became_slower() && self.is_possible(cause);
                if holds || !signals.iter().any(|one| one.changed_in_incidents() || one.waiting.is_some()) {
                    return Some(timing(best.signal, effect, (*p, *adjusted), self.tested(), holds));
                }
            }
        }
        let changed = signals.iter().filter(|one| one.changed_in_incidents());
        let most = changed.max_by(|a, b| {
            let ratio = |one: &Compared<'_>| {
                one.change
                    .map_or(0.0, |change| change.inside / change.outside.max(one.signal.relevant / 10.0))
            };
            ratio(a).total_cmp(&ratio(b))
        });
        if let Some((one, change)) = most.and_then(|one| one.change.map(|change| (one, change))) {
            return Some(self.in_incidents(one, &change));
        }
        let longest = signals
            .iter()
            .filter_map(|one| one.waiting.map(|waiting| (one, waiting)))
            .max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
        Some(level(longest.0, &longest.1, self.p.get(&cause).copied(), self.tested()))
    }

    /// The part of the time in which requests use a connection of an exhausted pool that they spend with waiting for locks
    /// of the database. `None` if one of the two was not observed.
    ///
    /// The number of blocked sessions is limited by the size of the pool, that of the requests in front of the pool is not.
    /// Their shares of the response time are therefore no measure of which one is the origin.
    fn locks_behind_pool(&self) -> Option<LocksBehindPool<'_>> {
        let longest = |cause: Cause| {
            let signals = self.by_cause.get(&cause)?.iter();
            let waiting = signals.filter_map(|one| Some((one.signal, one.waiting?)));
            waiting.max_by(|a, b| a.1.share.total_cmp(&b.1.share))
        };
        let (pool, waited) = longest(Cause::PoolExhausted)?;
        let (_, locks) = longest(Cause::DatabaseLock)?;
        let in_use_ms = waited.in_use_ms.filter(|in_use| *in_use > 0.0)?;
        Some(LocksBehindPool { pool, waited, locks_ms: locks.per_request_ms, in_use_ms })
    }

    fn in_incidents(&self, one: &Compared<'_>, change: &Change) -> Evidence {
        let effect = one.effect.as_ref();
        let share = effect.map_or(0.0, CauseEffect::share);
        Evidence {
            cause: one.signal.cause,
            holds: effect.is_some_and(is_large_part)
                && one.became_slower()
                && self.is_possible(one.signal.cause),
            basis: Basis::Incidents,
            source: one.signal.source.clone(),
            signal: one.signal.name.clone(),
            sentence: sentences::incidents(one.signal, change),
            p: Some(change.p),
            p_adjusted: None,
            share,
            present: effect.map_or(0.0, |effect| effect.present),
            windows_s: effect.map(windows_s).unwrap_or_default(),
        }
    }

    /// Whether other signals allow a cause: other processes slow the system down only if its own processes wait for a CPU.
    fn is_possible(&self, cause: Cause) -> bool {
        cause != Cause::CpuNeighbour
            || !self.by_cause.contains_key(&Cause::CpuSaturation)
            || self.is_associated(Cause::CpuSaturation)
    }

    /// If the system waits for CPUs and other processes use more CPU time than the system, the other processes are the
    /// cause, even if their use does not vary.
    fn constant_neighbour(&self, cpu: Option<CpuFigures>, evidence: &[Evidence]) -> Option<Evidence> {
        let own = cpu?.own_cores;
        let others = self.by_cause.get(&Cause::CpuNeighbour)?.first()?.signal;
        let waiting = evidence.iter().find(|one| one.cause == Cause::CpuSaturation)?;
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let parts: Vec<Signal> =
            waiting.windows_s.iter().map(|(from, to)| others.within((ns(*from), ns(*to)))).collect();
        let (used, time) = parts
            .iter()
            .chain(parts.is_empty().then_some(others))
            .filter_map(|part| Some((part.mean()?, part.covered_ns() as f64)))
            .fold((0.0, 0.0), |(used, all), (mean, time)| (used + mean * time, all + time));
        let used = used / time.max(1.0);
        (used >= others.relevant && used > own).then(|| Evidence {
            cause: Cause::CpuNeighbour,
            source: others.source.clone(),
            signal: others.name.clone(),
            sentence: sentences::neighbour(&waiting.sentence, used, own),
            ..waiting.clone()
        })
    }

    fn not_examined(&self) -> Vec<NotExamined> {
        let reason = |cause: Cause| match self.by_cause.get(&cause) {
            None => Some(format!("not watched; it needs {}", cause.needs())),
            Some(signals) => {
                let is_short = signals.iter().all(|one| one.test == Err(Untestable::TooShort));
                let is_told = signals.iter().any(|one| one.changed_in_incidents() || one.waits_always());
                (is_short && !is_told)
                    .then(|| "its values changed too seldom for the length of the run".to_owned())
            }
        };
        Cause::ALL
            .into_iter()
            .filter(|cause| !matches!(cause, Cause::Generator | Cause::Arrivals | Cause::MemoryLeak))
            .filter_map(|cause| Some(NotExamined { cause, reason: reason(cause)? }))
            .collect()
    }
}

/// The last server of a chain for which requests wait nearly as long as for the first one. The sources are in the order
/// of the chain. `None` if requests waited for no server.
fn innermost<'c, 's>(signals: &'c [Compared<'s>]) -> Option<&'c Compared<'s>> {
    let share = |one: &Compared<'_>| {
        let is_slow = one.signal.cause == Cause::SlowDependency
            && one.test.is_ok_and(|test| test.p <= LEVEL)
            && one.became_slower();
        one.effect.as_ref().filter(|_| is_slow).map(CauseEffect::share)
    };
    let largest = signals.iter().filter_map(share).reduce(f64::max)?;
    signals.iter().rev().find(|one| share(one).is_some_and(|share| share >= NEARLY * largest))
}

fn timing(
    signal: &Signal,
    effect: &CauseEffect,
    (p, adjusted): (f64, f64),
    compared: usize,
    holds: bool,
) -> Evidence {
    Evidence {
        cause: signal.cause,
        holds,
        basis: Basis::Timing,
        source: signal.source.clone(),
        signal: signal.name.clone(),
        sentence: sentences::timing(signal, effect, p, adjusted, compared),
        p: Some(p),
        p_adjusted: Some(adjusted),
        share: effect.share(),
        present: effect.present,
        windows_s: windows_s(effect),
    }
}

fn level(one: &Compared<'_>, waiting: &Waiting, p: Option<(f64, f64)>, compared: usize) -> Evidence {
    Evidence {
        cause: one.signal.cause,
        holds: one.waits_always(),
        basis: Basis::Level,
        source: one.signal.source.clone(),
        signal: one.signal.name.clone(),
        sentence: sentences::level(one.signal, waiting, p, compared),
        p: p.map(|(p, _)| p),
        p_adjusted: p.map(|(_, adjusted)| adjusted),
        share: waiting.share,
        present: waiting.present,
        windows_s: Vec::new(),
    }
}

/// Whether a cause explains enough to be claimed.
fn is_large_part(effect: &CauseEffect) -> bool {
    effect.time_share >= TIME_SHARE_MIN || effect.slow_share >= SLOW_SHARE_MIN
}

fn windows_s(effect: &CauseEffect) -> Vec<(f64, f64)> {
    let seconds = |ns: u64| (ns as f64 / 1e6).round() / 1e3;
    effect.windows.iter().map(|(from, to)| (seconds(*from), seconds(*to))).collect()
}

/// The cause to name: the generator if it was the bottleneck, otherwise the most specific of the causes with the
/// largest shares, or the origin of that cause.
fn name(observations: &Observations<'_>, compared: &Comparison<'_>, evidence: &[Evidence]) -> Cause {
    if observations.generator.is_some() {
        return Cause::Generator;
    }
    // The times of slow requests are stronger evidence than the mean waiting time.
    let varies = evidence.iter().any(|one| one.holds && one.basis != Basis::Level);
    let holding = || evidence.iter().filter(|one| one.holds && (!varies || one.basis != Basis::Level));
    let largest = holding().map(|one| one.share).fold(0.0, f64::max);
    let nearly = holding().filter(|one| !varies || one.share >= NEARLY * largest);
    match nearly.min_by_key(|one| one.cause).map(|one| origin(compared, evidence, one)) {
        Some(Cause::GcPauses) if observations.leak.is_some() => Cause::MemoryLeak,
        Some(cause) => cause,
        None if observations.arrivals.is_some() => Cause::Arrivals,
        None => Cause::None,
    }
}

/// The cause that led to a claimed cause: both are associated with slow requests. Only few causes are compared here, so
/// that their p values are not corrected.
fn origin(compared: &Comparison<'_>, evidence: &[Evidence], claimed: &Evidence) -> Cause {
    let origins = claimed.cause.origins();
    let possible = evidence
        .iter()
        .filter(|one| origins.contains(&one.cause) && compared.is_associated(one.cause))
        .filter(|one| compared.became_slower(one.cause))
        .filter(|one| match compared.locks_behind_pool() {
            Some(found) if (claimed.cause, one.cause) == (Cause::PoolExhausted, Cause::DatabaseLock) => {
                found.are_origin()
            }
            // A constant level gives no information about times.
            _ if one.basis == Basis::Level && claimed.basis != Basis::Level => false,
            _ => one.share >= ORIGIN_SHARE * claimed.share,
        });
    match possible.max_by(|a, b| a.share.total_cmp(&b.share)) {
        Some(first) => origin(compared, evidence, first),
        None => claimed.cause,
    }
}

/// The finding in a sentence.
fn sentence(observations: &Observations<'_>, cause: Cause, evidence: &[Evidence], compared: usize) -> String {
    let because = |reason: &Option<String>| reason.clone().unwrap_or_default();
    let of = |cause: Cause| evidence.iter().find(|one| one.cause == cause);
    let capital = |text: &str| {
        let mut characters = text.chars();
        characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
    };
    match cause {
        Cause::Generator => {
            format!("Response times are those of the generator: {}.", because(&observations.generator))
        }
        Cause::Arrivals => format!("Arrivals were not as planned: {}.", because(&observations.arrivals)),
        Cause::None if compared == 0 => {
            "No cause was found: nothing that varied was watched of the system under test.".to_owned()
        }
        Cause::None if compared == 1 => {
            "The one cause that was compared does not go with slow requests.".to_owned()
        }
        Cause::None => {
            format!("None of the {compared} causes that were compared goes with slow requests.")
        }
        Cause::MemoryLeak => format!(
            "Slow requests go with pauses for garbage collection in a heap that fills up: {}.",
            because(&observations.leak)
        ),
        cause => match of(cause) {
            Some(one) => format!("Slow requests go with {}: {}.", cause.title(), one.sentence),
            None => format!("Slow requests go with {}.", capital(cause.title())),
        },
    }
}
