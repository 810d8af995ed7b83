//! The evidence in sentences.

use busyhour_analysis::explanation::{Cause, Evidence};

use crate::effect::CauseEffect;
use crate::episodes::Change;
use crate::levels::Waiting;
use crate::signal::{Signal, SignalShape};

/// A number with three significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let places = 2 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", usize::try_from(places.clamp(0, 6)).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share in per cent.
fn percent(share: f64) -> String {
    format!("{} %", digits((share * 100.0 * 10.0).round() / 10.0))
}

/// A p value.
fn probability(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {}", digits(p)) }
}

/// `os was` or `gc:gc.log had`, with the signal.
fn subject(signal: &Signal) -> String {
    format!("{} was {}", signal.source, signal.name)
}

/// The evidence of a test of all requests.
pub(crate) fn timing(
    signal: &Signal,
    effect: &CauseEffect,
    p: f64,
    adjusted: f64,
    compared: usize,
) -> String {
    let when = match signal.shape {
        SignalShape::Intervals => "while",
        SignalShape::Levels => "when",
    };
    format!(
        "requests that started {when} {} ({} of the time) took {} ms longer than the median, others {} ms: {} of the time above \
         the median and {} of the requests beyond p95 go with it ({})",
        subject(signal),
        percent(effect.present),
        digits(effect.with_ms),
        digits(effect.without_ms),
        percent(effect.time_share),
        percent(effect.slow_share),
        probabilities(p, adjusted, compared),
    )
}

/// The evidence of incidents.
pub(crate) fn incidents(signal: &Signal, change: &Change) -> String {
    format!(
        "in the incidents, the level of {} was {}, otherwise {}; so high a level occurred in {} of other times of the same length",
        subject(signal).replace(" was ", " "),
        digits(change.inside),
        digits(change.outside),
        percent(change.p),
    )
}

/// The evidence of the mean waiting time, with the p values of the test of all requests.
pub(crate) fn level(signal: &Signal, waiting: &Waiting, p: Option<(f64, f64)>, compared: usize) -> String {
    /// A cause counts as always present from this share of the time on.
    const ALWAYS: f64 = 0.95;
    let when = if waiting.present >= ALWAYS {
        "during the whole measured part".to_owned()
    } else {
        format!("during {} of the measured part", percent(waiting.present))
    };
    let tested = p.map_or_else(String::new, |(p, adjusted)| {
        format!(" (test by time: {})", probabilities(p, adjusted, compared))
    });
    format!(
        "{when}, {}: {} ms per request, {} of the mean response time{tested}",
        subject(signal),
        digits(waiting.per_request_ms),
        percent(waiting.share),
    )
}

/// The evidence of waiting that keeps the connections of a pool in use.
pub(crate) fn behind_pool(
    evidence: &str,
    (pool, waited): (&Signal, &Waiting),
    (locks_ms, in_use_ms): (f64, f64),
) -> String {
    format!(
        "{evidence}; this is {} of the {} ms for which a request uses a connection, so that {} for {} ms per request",
        percent((locks_ms / in_use_ms).min(1.0)),
        digits(in_use_ms),
        subject(pool),
        digits(waited.per_request_ms),
    )
}

/// The p value of the test of all requests, before and after correction.
fn probabilities(p: f64, adjusted: f64, compared: usize) -> String {
    let causes = if compared == 1 { "cause" } else { "causes" };
    format!(
        "{}, {} after correction for {compared} {causes}",
        probability(p),
        probability(adjusted).trim_start_matches("p = "),
    )
}

/// The evidence of waiting for CPUs that others use.
pub(crate) fn neighbour(waiting: &str, others: f64, own: f64) -> String {
    format!(
        "{waiting}; processes that are not watched used {} cores then, the system's own processes {} on average",
        digits(others),
        digits(own),
    )
}

/// The next measurement, which would decide the question or confirm the cause. `candidate` is the evidence for the most
/// likely cause if none is claimed.
pub(crate) fn next_step(cause: Cause, candidate: Option<&Evidence>, not_examined: &[Cause]) -> String {
    let confirm = match cause {
        Cause::Generator => "repeat the run with more cores for the generator, or a lower rate",
        Cause::Arrivals => "repeat the run with Poisson arrivals at the same rate",
        Cause::Steal => "repeat the run on a machine whose CPUs are not shared",
        Cause::CpuQuota => "repeat the run with a higher CPU quota",
        Cause::CpuNeighbour => {
            "repeat the run without the other processes, or pin the system to CPUs of its own"
        }
        Cause::MemoryPressure => "repeat the run with more memory, or smaller heaps",
        Cause::MemoryLeak => "compare class histograms of the JVM after rounds of equal load",
        Cause::GcPauses => "repeat the run with another heap size or collector",
        Cause::NetworkLoss => "repeat the run over another network path",
        Cause::DatabaseLock => {
            "look at the blocking sessions (pg_blocking_pids, sys.innodb_lock_waits) during a repetition of the run"
        }
        Cause::SlowDependency => "repeat the run with a stand-in for the server behind the system",
        Cause::Disk => "repeat the run with data on a faster or otherwise unused disk",
        Cause::PoolExhausted => "repeat the run with a larger pool",
        Cause::LockContention => "take thread dumps during a repetition of the run",
        Cause::DatabaseWork => {
            "look at the most expensive queries (pg_stat_statements, sys.statement_analysis)"
        }
        Cause::MemoryBandwidth => "repeat the run with the system alone on its socket",
        Cause::Errors => "look at the first exceptions of the log",
        Cause::CpuSaturation => "repeat the run at a lower rate, or with more CPUs",
        Cause::None => "",
    };
    if let Some(candidate) = candidate {
        let p = candidate.p.map_or_else(String::new, |p| format!(" ({} before correction)", probability(p)));
        return format!(
            "The most likely cause is {}{p}. To decide, make a longer run, or add --observe-interval 100ms.",
            candidate.cause.title()
        );
    }
    match (cause, not_examined.first()) {
        (Cause::None, Some(first)) => {
            format!("Watch more of the system. For {}: {}.", first.title(), first.needs())
        }
        (Cause::None, None) => "Take profiles of slow and of fast times.".to_owned(),
        _ => format!("This is an association in time. To prove the cause, {confirm}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [digits(0.001_234), digits(12.345), digits(1_234.5), digits(0.0)],
            ["0.00123", "12.3", "1234", "0"]
        );
        assert_eq!((percent(0.4567), probability(0.00001)), ("45.7 %".to_owned(), "p < 0.0001".to_owned()));
    }
}
