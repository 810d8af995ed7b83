//! Summaries of whole logs: caveats, comparisons, rotated logs, and concurrent collectors.

use std::path::Path;

use busyhour_gclog::{
    BetterWhen, Collector, EventKind, FigureChange, GcCaveat, GcComparison, GcLog, GcLogReader, GcSummary,
    LeakVerdict, UnavailableReason, UndecidedReason, first_stamp, part_order,
};

fn read<'l>(lines: impl IntoIterator<Item = &'l str>) -> GcLog {
    let mut reader = GcLogReader::new();
    lines.into_iter().for_each(|line| reader.line(line));
    reader.finish()
}

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name)).unwrap()
}

fn summary(text: &str) -> GcSummary {
    GcSummary::of(&read(text.lines()))
}

fn value(summary: &GcSummary, name: &str) -> f64 {
    summary.figure(name).unwrap().value.unwrap_or_else(|| panic!("{name}: {:?}", summary.figure(name)))
}

fn caveat(summary: &GcSummary, is_wanted: impl Fn(&GcCaveat) -> bool) -> Option<&str> {
    summary.caveats.iter().find(|reported| is_wanted(&reported.caveat)).map(|reported| reported.text.as_str())
}

/// The numbers before `ms` at the end of lines that contain the word, s. This reading is independent of the tested one.
fn milliseconds_at_the_end(text: &str, word: &str) -> Vec<f64> {
    let lines = text.lines().filter(|line| line.contains(word));
    lines
        .filter_map(|line| line.rsplit(' ').next()?.strip_suffix("ms")?.parse().ok())
        .map(|ms: f64| ms / 1e3)
        .collect()
}

#[test]
fn pauses_of_generational_zgc_are_those_of_its_phases() {
    let text = text("jdk25_Z_star_start.log");
    let found = summary(&text);
    let expected = milliseconds_at_the_end(&text, ": Pause ");
    assert_eq!(found.collector, Some(Collector::GenerationalZgc));
    assert_eq!(value(&found, "singlePauseCount"), expected.len() as f64);
    assert!(expected.len() >= 12);
    assert!((value(&found, "accumPause") - expected.iter().sum::<f64>()).abs() < 1e-9);
    // 10M->2M, 20M->6M and 30M->10M.
    assert_eq!(value(&found, "freedMemory"), f64::from((8 + 14 + 20) << 20));
    assert_eq!(value(&found, "footprint"), f64::from(96 << 20));
    assert_eq!(value(&found, "gcPauseCount"), 3.0);
    assert!(value(&found, "throughput") < 100.0);
}

#[test]
fn cycles_without_their_pauses_have_no_throughput() {
    for name in ["jdk17_Z_default.log", "jdk25_Z_default.log"] {
        let found = summary(&text(name));
        for figure in ["accumPause", "throughput", "gcPerformance", "pauseMax", "singlePauseMax"] {
            assert_eq!(found.figure(figure).unwrap().value, None, "{name}: {figure}");
        }
        assert_eq!(value(&found, "gcPauseCount"), 13.0);
        assert!(
            caveat(&found, |caveat| *caveat == GcCaveat::CyclesWithoutPauses).unwrap().contains("gc+phases")
        );
        // Estimated from whole percent; the heap has 96 MiB.
        let footprint_mib = value(&found, "footprint") / f64::from(1 << 20);
        assert!((footprint_mib - 96.0).abs() < 0.5, "{name}: {footprint_mib}");
    }
}

#[test]
fn shenandoah_frees_memory_in_its_cleanups() {
    for name in [
        "jdk17_Shenandoah_default.log",
        "jdk25_Shenandoah_default.log",
        "jdk25_generational_Shenandoah_start.log",
    ] {
        let text = text(name);
        let found = summary(&text);
        assert_eq!(found.collector, Some(Collector::Shenandoah), "{name}");
        let expected = milliseconds_at_the_end(&text, ") Pause ");
        assert_eq!(value(&found, "pauseCount"), expected.len() as f64, "{name}");
        assert!((value(&found, "accumPause") - expected.iter().sum::<f64>()).abs() < 1e-9, "{name}");
        let freed_mib: f64 = text
            .lines()
            .filter(|line| line.contains(") Concurrent cleanup") && line.contains("->"))
            .map(|line| {
                let (before, after) = line.split_once("->").unwrap();
                let before: f64 = before.rsplit(' ').next().unwrap().trim_end_matches('M').parse().unwrap();
                before - after.split('M').next().unwrap().parse::<f64>().unwrap()
            })
            .sum();
        assert!(freed_mib > 10.0);
        assert_eq!(value(&found, "freedMemory") / f64::from(1 << 20), freed_mib, "{name}");
    }
}

#[test]
fn epsilon_shows_the_use_of_the_heap() {
    let found = summary(&text("jdk17_Epsilon_star.log"));
    assert_eq!(found.collector, Some(Collector::Epsilon));
    assert_eq!(value(&found, "footprint"), f64::from(64 << 20));
    for figure in ["freedMemory", "gcPerformance", "avgGCPause", "gcPauseMax", "avgfootprintAfterGC"] {
        let row = found.figure(figure).unwrap();
        assert_eq!((row.value, row.unavailable), (None, Some(UnavailableReason::NoCollections)), "{figure}");
    }
    assert!(value(&found, "allocationRate") > 0.0);
    assert!(caveat(&found, |caveat| *caveat == GcCaveat::Epsilon).is_some());
}

#[test]
fn mixed_collections_and_their_causes_are_distinguished() {
    let text = text("jdk17_G1_mixed_start.log");
    let log = read(text.lines());
    let count = |kind| log.events.iter().filter(|event| event.kind == kind).count();
    let lines = |word: &str| text.lines().filter(|line| line.contains(word) && line.ends_with("ms")).count();
    assert_eq!(count(EventKind::Mixed), lines("Pause Young (Mixed)"));
    assert_eq!(count(EventKind::YoungConcurrentStart), lines("Pause Young (Concurrent Start)"));
    assert!(count(EventKind::Mixed) > 0);
    let found = GcSummary::of(&log);
    let by_cause: usize = found.statistics.by_cause.iter().map(|group| group.pauses.n).sum();
    assert_eq!(by_cause, lines("Pause Young") + lines("Pause Full"));
}

#[test]
fn parts_of_a_rotated_log_are_ordered_by_their_first_stamp() {
    let text = text("jdk17_G1_default.log");
    let lines: Vec<&str> = text.lines().collect();
    // The current part is the newest, and part 0 was overwritten last.
    let parts = [&lines[10..], &lines[5..10], &lines[..5]];
    let stamps: Vec<_> = parts.iter().map(|part| first_stamp(part.iter().copied())).collect();
    let order = part_order(&stamps);
    assert_eq!(order, [2, 1, 0]);
    let joined = read(order.iter().flat_map(|part| parts[*part].iter().copied()));
    assert_eq!(GcSummary::of(&joined), summary(&text));
    let without_start = read(parts[0].iter().copied());
    assert_eq!((without_start.first_gc_id, without_start.missing_collections), (Some(9), 0));
    let sentence = GcSummary::of(&without_start);
    let sentence = caveat(&sentence, |caveat| *caveat == GcCaveat::MissingStart { first: 9 }).unwrap();
    assert!(sentence.starts_with("the log begins with collection 9"));
    let wrong = summary(&parts.concat().join("\n"));
    assert!(caveat(&wrong, |caveat| matches!(caveat, GcCaveat::Restarts { .. })).is_some());
}

#[test]
fn missing_parts_of_a_rotated_log_are_noticed() {
    let line = |id| {
        format!(
            "[{id}.0s][info][gc] GC({id}) Pause Young (Normal) (G1 Evacuation Pause) 90M->10M(96M) 1.000ms\n"
        )
    };
    let found = summary(&(0..20).chain(50..70).map(line).collect::<String>());
    let wanted = GcCaveat::MissingCollections { count: 30 };
    assert_eq!(
        caveat(&found, |caveat| *caveat == wanted),
        Some("30 collections are missing inside the log; give all parts of a rotated log")
    );
    // A concurrent cycle writes its first line before a collection that began earlier.
    let found = summary(&[0, 1, 3, 2, 4, 5].map(line).concat());
    assert_eq!(caveat(&found, |caveat| matches!(caveat, GcCaveat::MissingCollections { .. })), None);
}

#[test]
fn a_heap_that_stays_full_is_reported() {
    let log = |after: u32| {
        let line = |id| {
            format!(
                "[{id}.0s][info][gc] GC({id}) Pause Full (G1 Compaction Pause) 95M->{after}M(96M) 90.000ms\n"
            )
        };
        summary(&(0..8).map(line).collect::<String>())
    };
    let is_full = |caveat: &GcCaveat| matches!(caveat, GcCaveat::HeapNearlyFull { .. });
    assert!(caveat(&log(94), is_full).unwrap().starts_with("at the end, 98 % of the heap is used"));
    assert_eq!(caveat(&log(60), is_full), None);
}

#[test]
fn cpu_times_are_added_up_and_waits_are_reported() {
    let found = summary(
        "[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 90M->50M(96M) 800.000ms
[1.0s][info][gc,cpu] GC(0) User=0.05s Sys=0.02s Real=0.80s
[2.0s][info][gc] GC(1) Concurrent Mark 900.000ms
[2.0s][info][gc,cpu] GC(1) User=0.10s Sys=0.00s Real=0.90s
[3.0s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 90M->50M(96M) 200.000ms
[3.0s][info][gc,cpu] GC(2) User=0.38s Sys=0.01s Real=0.20s",
    );
    assert!((value(&found, "gcCpuTime") - 0.56).abs() < 1e-9);
    let sentence = caveat(&found, |caveat| matches!(caveat, GcCaveat::CollectorWaited { .. })).unwrap();
    assert!(
        sentence.starts_with("in 1 pause (0.8 s) the collector ran for less than half of the time"),
        "{sentence}"
    );
    let earlier = summary(
        "1.0: [GC 1.0: [ParNew: 5K->1K(6K), 0.1 secs] 9K->4K(10K), 0.2 secs] [Times: user=0.30 sys=0.10, real=0.20 secs]
2.0: [CMS-concurrent-abortable-preclean: 0.1/5.0 secs] [Times: user=0.20 sys=0.00, real=5.00 secs]",
    );
    assert!((value(&earlier, "gcCpuTime") - 0.6).abs() < 1e-9);
    assert_eq!(earlier.cpu.unwrap().waited, 0);
    assert_eq!(summary(&text("jdk17_G1_default.log")).figure("gcCpuTime").unwrap().value, None);
}

/// Young collections each second, with a pause of 50 ms each, from 0 to 60 s and from 1000 to 1060 s.
fn log_with_idle_time() -> String {
    let times = (1..=60).chain(1_000..=1_060);
    let line = |(id, time_s): (usize, i32)| {
        format!(
            "[{time_s}.000s][info][gc] GC({id}) Pause Young (Normal) (G1 Evacuation Pause) 90M->10M(96M) 50.000ms\n"
        )
    };
    times.enumerate().map(line).collect()
}

#[test]
fn idle_time_is_reported_with_the_throughput_without_it() {
    let found = summary(&log_with_idle_time());
    let sentence = caveat(&found, |caveat| matches!(caveat, GcCaveat::IdleTime { .. })).unwrap();
    // 121 pauses of 50 ms in 1059.05 s, which include 940 s of idle time.
    assert_eq!(
        sentence,
        "89 % of the time has no collections (gaps of 940 s and more), which inflates throughput: it is 94.92 % without this time \
         instead of 99.43 %"
    );
    let steady = summary(&log_with_idle_time().lines().take(60).collect::<Vec<_>>().join("\n"));
    assert_eq!(caveat(&steady, |caveat| matches!(caveat, GcCaveat::IdleTime { .. })), None);
}

#[test]
fn a_full_collection_that_freed_nothing_is_reported() {
    let found = summary(
        "[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 90M->50M(96M) 5.000ms
[400.0s][info][gc] GC(1) Pause Full (G1 Compaction Pause) 92M->91M(96M) 450.000ms",
    );
    let sentence =
        caveat(&found, |caveat| matches!(caveat, GcCaveat::FullCollectionsFreedLittle { .. })).unwrap();
    assert!(sentence.starts_with(
        "1 of 1 full collections freed almost nothing (the worst 1.1 % of the used heap in 0.45 s)"
    ));
    assert!(caveat(&found, |caveat| *caveat == GcCaveat::FewFullCollections { count: 1 }).is_some());
    assert_eq!(caveat(&found, |caveat| matches!(caveat, GcCaveat::ShortLog { .. })), None);
    assert_eq!(caveat(&found, |caveat| matches!(caveat, GcCaveat::ExplicitFull { .. })), None);
    assert!(
        caveat(&summary(&text("jdk17_G1_default.log")), |caveat| *caveat
            == GcCaveat::ExplicitFull { count: 1, of: 1 })
        .is_some()
    );
}

#[test]
fn comparisons_take_the_better_direction_into_account() {
    let before = summary(
        "[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 90M->50M(96M) 10.000ms
[2.0s][info][gc] GC(1) Pause Full (G1 Compaction Pause) 92M->30M(96M) 400.000ms
[11.0s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 92M->30M(96M) 10.000ms",
    );
    let after = summary(
        "[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 180M->50M(192M) 10.000ms
[11.0s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 182M->60M(192M) 15.000ms",
    );
    let found = GcComparison::of(&before, &after);
    let figure = |name: &str| found.figures.iter().find(|figure| figure.name == name).unwrap();
    let is = |name: &str| (figure(name).better_when, figure(name).change);
    assert_eq!(is("accumPause"), (BetterWhen::Lower, FigureChange::Better));
    assert_eq!(is("throughput"), (BetterWhen::Higher, FigureChange::Better));
    assert_eq!(is("footprint"), (BetterWhen::Lower, FigureChange::Worse));
    assert_eq!(figure("footprint").percent, Some(100.0));
    assert_eq!((figure("footprint").before.as_str(), figure("footprint").after.as_str()), ("96 M", "192 M"));
    assert_eq!(is("freedMemory"), (BetterWhen::Neither, FigureChange::Different));
    assert_eq!(is("fullGcPauseCount").1, FigureChange::Better);
    assert_eq!(is("fullGCPerformance").1, FigureChange::Unknown);
    assert_eq!(is("pauseMedian").1, FigureChange::Same);
    let worse: Vec<_> = found.worse_by(50.0).map(|figure| figure.name).collect();
    assert!(worse.contains(&"footprint") && !worse.contains(&"accumPause"), "{worse:?}");
    assert!((found.length_ratio.unwrap() - 10.015 / 10.01).abs() < 1e-9);
}

#[test]
fn the_table_has_its_figures_in_order_and_json_has_gcviewers_names() {
    let found = summary(&text("jdk17_G1_default.log"));
    let table: Vec<String> =
        found.key_figures().iter().map(|key| format!("{} {}", key.label, key.figure.with_unit())).collect();
    assert_eq!(
        table,
        [
            "Footprint 96 M",
            "Freed memory 601 M",
            "Freed memory/min 7,230.806 M/min",
            "Total time 4 s",
            "Acc pauses 0.07 s",
            "Throughput 98.51 %",
            "Number of full GCs 1",
            "Full GC performance 4,251.417 M/s",
            "Number of GCs 14",
            "GC performance 8,845.999 M/s",
        ]
    );
    let json = serde_json::to_value(&found).unwrap();
    let rows = json["figures"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "freedMemoryPerMin").unwrap();
    assert_eq!((row["text"].as_str(), row["unit"].as_str()), (Some("7,230.806"), Some("M/min")));
    assert_eq!(json["collector"], "g1");
    assert_eq!(json["leak"]["verdict"], "undecided");
    assert!(found.to_csv().contains("\nthroughput; 98.51; %\n"));
}

#[test]
fn a_short_log_is_undecided_about_leaks() {
    let found = summary(&text("jdk17_Serial_star.log"));
    let LeakVerdict::Undecided {
        reason: UndecidedReason::TooFewCollections { found: 1, needed },
        growth: None,
    } = found.leak
    else {
        panic!("{:?}", found.leak);
    };
    assert!(needed >= 16);
}

#[test]
fn events_of_a_followed_log_are_available_while_it_grows() {
    let text = text("jdk17_G1_default.log");
    let mut reader = GcLogReader::new();
    let mut counts = Vec::new();
    for line in text.lines() {
        reader.line(line);
        counts.push(reader.events().len());
    }
    assert_eq!(counts[..4], [0, 1, 2, 3]);
    assert_eq!(reader.lines().total, counts.len() as u64);
}
