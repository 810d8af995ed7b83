//! Reads recorded answers to diagnostic commands of JDK 11 to 25, and artificial ones.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use busyhour_observe::jvm::{
    ClassHistogram, ClassHistogramError, ThreadDump, ThreadState, VmFlag, VmFlagsError, WaitKind,
};
use flate2::read::GzDecoder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const JDKS: [&str; 4] = ["jdk11", "jdk17", "jdk21", "jdk25"];

fn recorded(jdk: &str, what: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/jvm/commands/{jdk}.{what}.gz"));
    let mut text = String::new();
    GzDecoder::new(File::open(&path).expect("the recording")).read_to_string(&mut text).expect("text");
    text
}

#[test]
fn histograms_of_all_jdks_are_read() {
    for jdk in JDKS {
        let text = recorded(jdk, "histogram");
        let histogram = ClassHistogram::parse(&text).unwrap_or_else(|error| panic!("{jdk}: {error}"));
        // The number of the last row is the number of rows.
        let last = text
            .lines()
            .rfind(|line| line.contains(':'))
            .and_then(|line| line.split(':').next())
            .expect("a row");
        assert_eq!(histogram.rows.len(), last.trim().parse::<usize>().expect("a number"), "{jdk}");
        assert_eq!(histogram.instances_of("Load$Kept"), 1_000, "{jdk}");
        let strings = histogram.rows.iter().find(|row| row.class == "java.lang.String").expect("strings");
        assert!(strings.module.as_deref().is_some_and(|module| module.starts_with("java.base@")), "{jdk}");
        assert_eq!(strings.bytes, 24 * strings.instances, "{jdk}");
        assert!(
            histogram
                .rows
                .iter()
                .find(|row| row.class == "Load$Kept")
                .is_some_and(|row| row.module.is_none())
        );
    }
}

#[test]
fn incomplete_histograms_are_refused() {
    let text = recorded("jdk17", "histogram");
    let cut = &text[..text.len() / 2];
    let error = ClassHistogram::parse(&cut[..=cut.rfind('\n').expect("lines")]).expect_err("no total");
    assert_eq!(error, ClassHistogramError::NoTotal);
    let without_a_row: String = text
        .lines()
        .filter(|line| !line.contains("Load$Kept "))
        .fold(String::new(), |text, line| text + line + "\n");
    let removed = text.len() > without_a_row.len() && !without_a_row.contains("Load$Kept\n");
    assert!(
        !removed || matches!(ClassHistogram::parse(&without_a_row), Err(ClassHistogramError::Total { .. }))
    );
    let eight = " num     #instances         #bytes  class name\n----------------------------------------------\n\
                 \x20  1:          2048         163840  [C\n   2:             1             24  a.B\nTotal          2049         163864\n";
    let histogram = ClassHistogram::parse(eight).expect("JDK 8");
    assert_eq!((histogram.rows.len(), histogram.instances_of("[C")), (2, 2048));
    let damaged = eight.replace("2048         163840", "x         163840");
    assert_eq!(
        ClassHistogram::parse(&damaged),
        Err(ClassHistogramError::Row { line: 3, text: "   1:          x         163840  [C".to_owned() })
    );
    assert_eq!(
        ClassHistogram::parse(&eight.replace("Total          2049", "Total          2050")),
        Err(ClassHistogramError::Total { rows: 2049, total: 2050 })
    );
    assert_eq!(ClassHistogram::parse(""), Err(ClassHistogramError::NoTotal));
}

#[test]
fn thread_dumps_of_all_jdks_name_the_owner_of_a_lock() {
    for jdk in JDKS {
        let dump =
            ThreadDump::parse(&recorded(jdk, "threads")).unwrap_or_else(|error| panic!("{jdk}: {error}"));
        let blocked = dump.blocked();
        let names: Vec<&str> = blocked.iter().map(|blocked| blocked.thread.name.as_str()).collect();
        assert_eq!(names, ["blocked \"1\"", "blocked \"2\""], "{jdk}");
        for blocked in &blocked {
            assert_eq!(blocked.thread.state, ThreadState::Blocked, "{jdk}");
            assert_eq!(blocked.lock.class, "Load$Ledger", "{jdk}");
            assert_eq!(blocked.owner.expect("the holder").name, "holder", "{jdk}");
            assert!(blocked.thread.frames[0].starts_with("Load.lambda$hold$"), "{jdk}");
            assert!(blocked.thread.is_daemon && blocked.thread.native_id.is_some_and(|id| id > 1), "{jdk}");
        }
        let states = dump.states();
        assert_eq!(states.iter().map(|(_, count)| count).sum::<usize>(), dump.threads.len(), "{jdk}");
        assert_eq!(
            states.iter().find(|(state, _)| *state == ThreadState::Blocked),
            Some(&(ThreadState::Blocked, 2))
        );
        let main = dump.threads.iter().find(|thread| thread.name == "main").expect("main");
        assert_eq!((main.state, main.is_daemon), (ThreadState::Runnable, false), "{jdk}");
        let finalizer = dump.threads.iter().find(|thread| thread.name == "Finalizer").expect("the finalizer");
        assert!(matches!(&finalizer.waits_for, Some((WaitKind::Notification, _))), "{jdk}");
        assert!(finalizer.holds.is_empty(), "{jdk}: Object.wait has released the lock");
        assert!(dump.deadlocks().is_empty(), "{jdk}");
    }
}

#[test]
fn dumps_with_synchronizers_name_the_owner_of_a_reentrant_lock() {
    for jdk in JDKS {
        let dump =
            ThreadDump::parse(&recorded(jdk, "threads-l")).unwrap_or_else(|error| panic!("{jdk}: {error}"));
        let blocked = dump.blocked();
        let parked =
            blocked.iter().find(|blocked| blocked.thread.name == "parked").expect("the parked thread");
        assert_eq!(parked.owner.expect("the holder").name, "holder", "{jdk}");
        assert_eq!(parked.lock.class, "java.util.concurrent.locks.ReentrantLock$NonfairSync", "{jdk}");
        assert_eq!(blocked.len(), 3, "{jdk}: the holder waits for a latch that nobody owns");
    }
}

#[test]
fn flags_of_all_jdks_are_read() {
    for jdk in JDKS {
        let flags =
            VmFlag::parse_all(&recorded(jdk, "flags-all")).unwrap_or_else(|error| panic!("{jdk}: {error}"));
        assert!(flags.len() > 400, "{jdk}: {}", flags.len());
        let flag = |name: &str| {
            flags.iter().find(|flag| flag.name == name).unwrap_or_else(|| panic!("{jdk}: {name}"))
        };
        let heap = flag("MaxHeapSize");
        assert_eq!(
            (heap.value.as_str(), heap.origin.as_deref()),
            ("67108864", Some("command line")),
            "{jdk}"
        );
        let path = flag("HeapDumpPath");
        assert_eq!((path.kind.as_str(), path.value.as_str()), ("ccstr", ""), "{jdk}");
        assert_eq!(path.origin.as_deref(), Some("default"), "{jdk}");
        let collectors = flags.iter().filter(|flag| {
            flag.name.starts_with("Use")
                && flag.name.ends_with("GC")
                && flag.name != "UseMaximumCompactionOnSystemGC"
                && flag.value == "true"
        });
        let collectors: Vec<_> =
            collectors.map(|flag| flag.name.as_str()).filter(|name| !name.contains("Adaptive")).collect();
        assert_eq!(collectors.len(), 1, "{jdk}: {collectors:?}");
    }
    let eight = "[Global flags]\n    uintx MaxHeapSize                              := 67108864                            {product}\n\
                 \x20    bool UseG1GC                                   = false                               {product}\n";
    let flags = VmFlag::parse_all(eight).expect("JDK 8");
    assert_eq!((flags[0].value.as_str(), flags[0].origin.as_deref()), ("67108864", None));
    assert_eq!((flags[1].value.as_str(), flags[1].origin.as_deref()), ("false", Some("default")));
    assert_eq!(VmFlag::parse_all("nothing"), Err(VmFlagsError));
}

/// A thread that holds lock `holds` and waits to enter lock `waits`.
fn thread(text: &mut String, number: usize, holds: usize, waits: usize) {
    write!(
        text,
        "\"t{number}\" #{number} prio=5 os_prio=0 tid=0x1 nid=0x2 waiting for monitor entry [0x3]\n   \
         java.lang.Thread.State: BLOCKED (on object monitor)\n\tat A.b(A.java:1)\n\t- waiting to lock <0x{waits:x}> (a A)\n\t- locked <0x{holds:x}> (a A)\n\n"
    )
    .expect("text");
}

#[test]
fn deadlocks_are_circles() {
    let mut text = String::new();
    // 1 → 2 → 3 → 1, and 5 → 4 → 1 leads into this circle. 6 waits for a lock that nobody owns. 7 ↔ 8.
    for (number, holds, waits) in
        [(1, 1, 2), (2, 2, 3), (3, 3, 1), (4, 4, 1), (5, 5, 4), (6, 6, 99), (7, 7, 8), (8, 8, 7)]
    {
        thread(&mut text, number, holds, waits);
    }
    text.push_str("\nFound one Java-level deadlock:\n=============================\n\"t1\":\n  waiting to lock monitor\n");
    let dump = ThreadDump::parse(&text).expect("threads");
    assert_eq!(dump.threads.len(), 8);
    let circles: Vec<Vec<u64>> =
        dump.deadlocks().iter().map(|circle| circle.iter().map(|thread| thread.id).collect()).collect();
    assert_eq!(circles, [vec![1, 2, 3], vec![7, 8]]);
    let sixth = dump.blocked().into_iter().find(|blocked| blocked.thread.id == 6).expect("blocked");
    assert!(sixth.owner.is_none());
}

#[test]
fn long_chains_and_deep_stacks_take_linear_time() {
    let mut text = String::new();
    let threads = 100_000;
    for number in 1..=threads {
        thread(&mut text, number, number, number + 1);
    }
    // The last one closes the circle.
    thread(&mut text, threads + 1, threads + 1, 1);
    text.push_str(&"\tat A.b(A.java:1)\n".repeat(200_000));
    text.push_str(&"\t- locked <0xffffff> (a A)\n".repeat(200_000));
    let dump = ThreadDump::parse(&text).expect("threads");
    assert_eq!(dump.threads.len(), threads + 1);
    assert_eq!(dump.threads[threads].frames.len(), 64);
    assert_eq!(dump.threads[threads].holds.len(), 1 + 1);
    assert_eq!(dump.blocked().len(), threads + 1);
    assert_eq!(dump.states(), [(ThreadState::Blocked, threads + 1)]);
    assert!(dump.deadlocks()[0].len() == threads + 1);

    let mut histogram = String::from("---\n");
    for number in 1..=100_000 {
        writeln!(histogram, "{number}: 1 16 C{number} (m@1)").expect("text");
    }
    histogram.push_str("Total 100000 1600000\n");
    assert_eq!(ClassHistogram::parse(&histogram).expect("rows").rows.len(), 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(31), failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Answers that were cut, or in which lines were exchanged, are read or refused, without a panic.
    #[test]
    fn damaged_answers_do_not_panic(
        jdk in 0_usize..4,
        what in prop::sample::select(vec!["histogram", "threads-l", "flags-all"]),
        lines in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..120), 1..20),
    ) {
        let text = recorded(JDKS[jdk], what);
        let mut parts: Vec<String> = text.lines().map(str::to_owned).collect();
        for (first, second, length) in lines {
            let (first, second) = (first.index(parts.len()), second.index(parts.len()));
            parts.swap(first, second);
            let cut: String = parts[first].chars().take(length).collect();
            parts[first] = cut;
        }
        let text = parts.join("\n");
        if let Ok(histogram) = ClassHistogram::parse(&text) {
            prop_assert_eq!(histogram.rows.iter().map(|row| row.instances).sum::<u64>(), histogram.instances);
        }
        if let Ok(dump) = ThreadDump::parse(&text) {
            prop_assert!(dump.blocked().len() <= dump.threads.len());
            let in_circles: usize = dump.deadlocks().iter().map(Vec::len).sum();
            prop_assert!(in_circles <= dump.threads.len());
        }
        let _ = VmFlag::parse_all(&text);
    }
}
