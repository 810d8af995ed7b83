//! Properties of the readers of a JVM's counters and answers that hold for any bytes. Shared with the fuzz target `jvm`.

use busyhour_observe::jvm::counters::{CounterIndex, CounterValue};
use busyhour_observe::jvm::{ClassHistogram, JvmIdentity, JvmMetrics, ThreadDump, VmFlag};

/// Reads bytes as a counter file, and as the answer to each command.
pub fn check(bytes: &[u8]) {
    check_counters(bytes);
    check_answers(&String::from_utf8_lossy(bytes));
}

fn check_counters(bytes: &[u8]) {
    let Ok(index) = CounterIndex::parse(bytes) else { return };
    assert!(index.describes(bytes));
    let mut names = 0;
    for (id, counter) in index.counters() {
        names += counter.name().len();
        assert!(index.find(counter.name()).is_some());
        match index.value(bytes, id) {
            Some(CounterValue::Text(text)) => assert!(text.len() <= 3 * bytes.len()),
            Some(CounterValue::Long(_)) => {}
            None => panic!("{} is outside the file that it was found in", counter.name()),
        }
        // If the file has shrunk since the index was built, reading a value must not panic.
        let _ = index.value(&bytes[..bytes.len() / 2], id);
    }
    // Entries do not overlap; a byte that is not UTF-8 becomes three.
    assert!(names <= 3 * bytes.len());
    let identity = JvmIdentity::read(&index, bytes);
    assert!(identity.name.as_ref().is_none_or(|name| !name.is_empty() && name.chars().count() <= 200));
    let metrics = JvmMetrics::plan(&index, bytes, &identity);
    for value in metrics.values(&index, bytes) {
        assert!(value.value.is_finite(), "{} = {}", value.metric.name, value.value);
    }
    for (metric, reason) in metrics.unavailable() {
        assert!(!reason.is_empty(), "{}", metric.name);
    }
}

fn check_answers(text: &str) {
    if let Ok(histogram) = ClassHistogram::parse(text) {
        let instances = histogram.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.instances));
        assert_eq!(instances, histogram.instances);
    }
    if let Ok(dump) = ThreadDump::parse(text) {
        assert!(!dump.threads.is_empty());
        assert_eq!(dump.states().iter().map(|(_, count)| count).sum::<usize>(), dump.threads.len());
        assert!(dump.blocked().len() <= dump.threads.len());
        for circle in dump.deadlocks() {
            assert!(circle.len() >= 2);
        }
    }
    if let Ok(flags) = VmFlag::parse_all(text) {
        assert!(flags.iter().all(|flag| !flag.name.is_empty() && !flag.kind.is_empty()));
    }
}
