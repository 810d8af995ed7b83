//! Restores samples from the seconds of an agent whose record is lost.
//!
//! A second contains, for each label, the counts of samples, errors, codes and bytes, and histograms of the service and the
//! response times. The restored samples have the same counts and the same histograms, so that percentiles of the run are those
//! of the original samples. Other facts are lost: users, the order within the second, and which service time belongs to which
//! response time.

use std::time::Duration;

use busyhour_sample::{
    BatchWriter, Labels, Nanos, OutcomeTimes, Sample, SampleFlags, SampleKind, SampleOutcome, SampleSizes,
    SampleTimes, Snapshot, SnapshotRow, TimeCounts,
};

/// Pause while the recorder is behind.
const PAUSE: Duration = Duration::from_micros(200);

/// Records a sample; waits while the recorder is behind.
pub(super) fn record(writer: &mut BatchWriter, sample: &Sample<'_>) {
    while writer.record(sample).is_err() {
        std::thread::park_timeout(PAUSE);
    }
}

/// Records the samples of a second. Returns their number.
pub(super) fn restore(snapshot: &Snapshot, labels: &Labels, writer: &mut BatchWriter) -> u64 {
    let mut restored = 0;
    for row in &snapshot.rows {
        restored += restore_row(snapshot.second, row, labels, writer);
    }
    writer.flush(Nanos::from_secs(snapshot.second + 1));
    restored
}

fn restore_row(second: u64, row: &SnapshotRow, labels: &Labels, writer: &mut BatchWriter) -> u64 {
    let label = labels.intern(&row.label);
    let flags = match row.kind {
        SampleKind::Request => SampleFlags::NONE,
        SampleKind::Transaction => SampleFlags::TRANSACTION,
        SampleKind::SubResult => SampleFlags::SUB_RESULT,
    };
    let (service, response) = (ascending(&row.service), ascending(&row.response));
    let total = response.iter().map(|times| times.len() as u64).sum::<u64>().max(1);
    let [mut passed, mut failed] = outcomes(row);
    let mut number = 0;
    for (at, success) in [true, false].into_iter().enumerate() {
        for (index, response_ns) in response[at].iter().enumerate() {
            // The samples are spread evenly over the second.
            let end = Nanos(second * 1_000_000_000 + number * 1_000_000_000 / total);
            let service_ns = service[at].get(index).copied().unwrap_or(*response_ns).min(*response_ns);
            let (code, message) = if success { passed.next() } else { failed.next() }.unwrap_or_default();
            let sample = Sample {
                label,
                flags: flags | SampleFlags::NO_THREAD | SampleFlags::NO_URL,
                times: SampleTimes {
                    intended: end - *response_ns,
                    start: end - service_ns,
                    end,
                    connect_ns: row.connect_sum_ns / total,
                    latency_ns: row.latency_sum_ns / total,
                    idle_ns: 0,
                },
                outcome: SampleOutcome::new(code, message, success),
                sizes: SampleSizes::of_row(
                    share(row.bytes, number, total),
                    share(row.sent_bytes, number, total),
                ),
                sample_count: 1,
                error_count: u32::from(!success),
                ..Sample::default()
            };
            record(writer, &sample);
            number += 1;
        }
    }
    number
}

/// The part of a sum that belongs to sample `number` of `total`; all parts together are the sum.
fn share(sum: u64, number: u64, total: u64) -> u64 {
    sum / total + u64::from(number < sum % total)
}

/// The times in ascending order: those of successful and those of failed samples. The first and the last one are exact, the others
/// have the least value of their band.
fn ascending(times: &OutcomeTimes) -> [Vec<u64>; 2] {
    [&times.passed, &times.failed].map(expanded)
}

fn expanded(counts: &TimeCounts) -> Vec<u64> {
    let mut times = Vec::new();
    for (us, count) in counts.bands() {
        let ns = us.saturating_mul(1_000);
        times.extend(std::iter::repeat_n(ns, usize::try_from(*count).unwrap_or(usize::MAX)));
    }
    let exact = |ms: Option<f64>| ms.map(|ms| (ms * 1e6).round() as u64);
    if let (Some(first), Some(least)) = (times.first_mut(), exact(counts.min_ms())) {
        *first = least;
    }
    if let (Some(last), Some(largest)) = (times.last_mut(), exact(counts.max_ms())) {
        *last = largest;
    }
    times
}

/// Codes and messages of the successful and of the failed samples.
fn outcomes(row: &SnapshotRow) -> [Box<dyn Iterator<Item = (&str, &str)> + '_>; 2] {
    let many = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let passed = row.codes.iter().flat_map(move |code| {
        std::iter::repeat_n((code.code.as_str(), ""), many(code.samples.saturating_sub(code.errors)))
    });
    let failed = row.failures.iter().flat_map(move |failure| {
        std::iter::repeat_n((failure.code.as_str(), failure.message.as_str()), many(failure.errors))
    });
    [Box::new(passed), Box::new(failed)]
}
