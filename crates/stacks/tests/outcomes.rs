//! The outcomes of comparisons, and the choice of the slow windows.

use busyhour_stacks::{
    SampledState, SampledThread, SampledWait, SampledWaitKind, StackDifference, StackDump, StackOutcome,
    StackRecord, StackWindowRule, StackWindows, StackWriter, compare_stacks,
};

const SECOND: u64 = 1_000_000_000;
/// Starts of slow windows of 3 s, in s.
const SLOW_S: [u64; 9] = [7, 19, 28, 46, 55, 73, 81, 97, 110];
const LENGTH_S: u64 = 120;

fn is_slow(time_ns: u64) -> bool {
    SLOW_S.iter().any(|from| (from * SECOND..(from + 3) * SECOND).contains(&time_ns))
}

fn thread(frames: &[&str], state: SampledState) -> SampledThread {
    let frames = frames.iter().map(|frame| (*frame).to_owned()).collect();
    SampledThread { name: "worker-1".to_owned(), state, frames, waits: None }
}

/// A record with a dump every 500 ms, of two workers and a timer; in slow windows, the timer holds a lock if `has_lock`.
fn record(has_lock: bool) -> StackRecord {
    let mut file = Vec::new();
    let mut writer = StackWriter::new(&mut file).unwrap();
    for number in 0..LENGTH_S * 2 {
        let time_ns = number * SECOND / 2;
        let is_held = has_lock && is_slow(time_ns);
        let mut threads = vec![match is_held {
            true => thread(
                &["java.lang.Thread.sleep", "shop.Prices.reload", "shop.Timer.run"],
                SampledState::Waiting,
            ),
            false => thread(&["java.lang.Thread.sleep", "shop.Timer.run"], SampledState::Waiting),
        }];
        for worker in 0..2 {
            threads.push(match (is_held, number * 7_919 % (5 + worker) < 2) {
                (true, _) => SampledThread {
                    waits: Some(SampledWait {
                        kind: SampledWaitKind::Enter,
                        lock: "shop.Prices".to_owned(),
                        owner: Some(0),
                    }),
                    ..thread(&["shop.Prices.price", "shop.Handler.handle"], SampledState::Blocked)
                },
                (false, true) => thread(&["shop.Search.find", "shop.Handler.handle"], SampledState::Runnable),
                (false, false) => thread(&["java.util.concurrent.Executor.take"], SampledState::Waiting),
            });
        }
        let dump = StackDump {
            source: "stacks:jvm:1",
            time_ns,
            took_ns: 2_000_000,
            stopped_ns: Some(1_000_000),
            threads: &threads,
        };
        writer.write(&dump).unwrap();
    }
    writer.finish().unwrap();
    StackRecord::read(&file[..]).unwrap()
}

fn seconds(starts_s: &[u64]) -> StackWindows {
    let windows = starts_s.iter().map(|from| (from * SECOND, (from + 3) * SECOND)).collect();
    StackWindows { rule: StackWindowRule::SlowSeconds, windows }
}

fn compared(record: &StackRecord, choices: &[StackWindows]) -> StackDifference {
    compare_stacks(record, record.sources()[0], (0, LENGTH_S * SECOND), choices)
}

#[test]
fn the_frames_at_a_lock_are_named_with_its_owner() {
    let found = compared(&record(true), &[seconds(&SLOW_S)]);
    assert_eq!(found.outcome, StackOutcome::Differs, "{}", found.sentence);
    let names: Vec<&str> = found.frames.iter().map(|frame| frame.frame.as_str()).collect();
    assert_eq!(names[..2], ["shop.Prices.price", "shop.Prices.reload"]);
    let waiting = found.frames[0].waiting.as_ref().unwrap();
    assert_eq!(waiting.what, "BLOCKED on a monitor of shop.Prices");
    assert_eq!(waiting.owner_frame.as_deref(), Some("shop.Prices.reload"));
    assert!((found.frames[1].held_up - 2.0).abs() < 1e-9, "{}", found.frames[1].held_up);
    assert_eq!(found.frames[0].stack, "shop.Handler.handle;shop.Prices.price");
    assert_eq!((found.dump_ms, found.stopped_ms), (2.0, Some(1.0)));
    assert_eq!((found.dumps_slow, found.dumps_fast), (54, 186));
}

#[test]
fn equal_stacks_have_no_difference_and_a_limit() {
    let found = compared(&record(false), &[seconds(&SLOW_S)]);
    let StackOutcome::NoDifference { smallest } = found.outcome else { panic!("{}", found.sentence) };
    assert!((0.001..0.5).contains(&smallest), "{smallest}");
    assert!(found.frames.is_empty() && !found.flame.nodes.is_empty());
}

#[test]
fn few_dumps_are_not_compared() {
    let found = compared(&record(true), &[seconds(&SLOW_S[..1])]);
    assert!(matches!(found.outcome, StackOutcome::TooFew { .. }));
    assert!(found.sentence.contains("6 dumps in slow windows"), "{}", found.sentence);
    let found = compared(&record(true), &[]);
    assert!(matches!(found.outcome, StackOutcome::TooFew { .. }));
}

#[test]
fn windows_of_the_cause_are_used_if_they_have_enough_dumps() {
    let cause = |windows| StackWindows {
        rule: StackWindowRule::Cause { cause: "gc-pauses".to_owned() },
        ..seconds(windows)
    };
    let record = record(true);
    let found = compared(&record, &[cause(&SLOW_S), seconds(&[1])]);
    assert_eq!(found.windows, StackWindowRule::Cause { cause: "gc-pauses".to_owned() });
    let found = compared(&record, &[cause(&[1]), seconds(&SLOW_S)]);
    assert_eq!((found.windows, found.outcome), (StackWindowRule::SlowSeconds, StackOutcome::Differs));
}
