use crate::{Collector, EventKind, GcLog, GcLogReader};

fn read(lines: &str) -> GcLog {
    let mut reader = GcLogReader::new();
    lines.lines().for_each(|line| reader.line(line));
    reader.finish()
}

fn kinds(log: &GcLog) -> Vec<EventKind> {
    log.events.iter().map(|event| event.kind).collect()
}

#[test]
fn a_collection_of_two_generations_is_full() {
    let log = read(
        "1.0: [GC 1.0: [DefNew: 64575K->959K(64576K), 0.04 secs] 196016K->133633K(261184K), 0.05 secs] [Times: user=0.0 sys=0.0, real=0.0 secs]
2.0: [GC 2.0: [DefNew: 64575K->64575K(64576K), 0.0000 secs]2.1: [Tenured: 1K->2K(3K), 0.5 secs] 9K->8K(10K), [Perm : 1K->1K(2K)], 0.6 secs]
3.0: [Full GC (System) 3.0: [Tenured: 1K->2K(3K), 0.5 secs] 9K->8K(10K), [Perm : 1K->1K(2K)], 0.7 secs]",
    );
    assert_eq!(kinds(&log), [EventKind::Young, EventKind::Full, EventKind::Full]);
    assert_eq!(log.collector, Some(Collector::Serial));
    assert_eq!(log.cause(&log.events[2]), Some("System"));
    assert_eq!(log.events[1].duration_s, Some(0.6));
    assert_eq!(log.events[1].heap.unwrap().before_kib, 9);
    assert_eq!(log.lines.damaged, 0);
}

#[test]
fn cms_has_short_pauses_concurrent_phases_and_failures() {
    let log = read(
        "1.0: [GC [1 CMS-initial-mark: 7664K(12288K)] 7666K(16320K), 0.0006855 secs]
1.1: [CMS-concurrent-mark-start]
1.5: [CMS-concurrent-mark: 0.1/0.4 secs] [Times: user=1.0 sys=0.0, real=0.4 secs]
2.0: [GC[YG occupancy: 10 K (20 K)]2.0: [Rescan (parallel) , 0.01 secs]2.1: [weak refs processing, 0.02 secs] [1 CMS-remark: 7664K(12288K)] 7666K(16320K), 0.05 secs]
3.0: [GC 3.0: [ParNew (promotion failed): 5K->5K(6K), 0.1 secs]3.1: [CMS3.2: [CMS-concurrent-sweep: 0.1/0.2 secs] [Times: user=0.0 sys=0.0, real=0.0 secs]
 (concurrent mode failure): 7K->3K(9K), 0.8 secs] 12K->3K(15K), [CMS Perm : 1K->1K(2K)], 0.9 secs]",
    );
    use EventKind::{Concurrent, ConcurrentStart, Full, InitialMark, Remark};
    assert_eq!(kinds(&log), [InitialMark, ConcurrentStart, Concurrent, Remark, Concurrent, Full]);
    let full = &log.events[5];
    assert!(full.is_failure);
    assert_eq!((full.stamp.uptime_s, full.duration_s), (Some(3.0), Some(0.9)));
    let spaces = full.spaces.as_ref().unwrap();
    assert_eq!((spaces.young.unwrap().before_kib, spaces.old.unwrap().after_kib), (5, 3));
    assert_eq!(log.lines.damaged, 0);
}

#[test]
fn a_young_collection_before_a_remark_is_an_event_of_its_own() {
    let log = read(
        "1.0: [GC (CMS Final Remark) [YG occupancy: 10451 K (47936 K)]1.1: [GC (CMS Final Remark) 1.1: [ParNew: 10K->5K(47K), 0.03 secs] 30K->25K(60K), 0.03 secs] [Times: user=0.0 sys=0.0, real=0.0 secs] 1.2: [Rescan (parallel) , 0.01 secs] [1 CMS-remark: 20K(40K)] 25K(60K), 0.05 secs]",
    );
    assert_eq!(kinds(&log), [EventKind::Young, EventKind::Remark]);
    assert!((log.events[1].duration_s.unwrap() - 0.02).abs() < 1e-12);
}

#[test]
fn the_sizes_of_g1_follow_the_pause() {
    let log = read(
        "2015-05-14T18:55:12.588+0200: 0.5: [GC pause (G1 Evacuation Pause) (young) (initial-mark) 0.5: [G1Ergonomics (CSet Construction) x]
, 0,0032067 secs]
   [Parallel Time: 1.1 ms, GC Workers: 4]
0.502: [GC concurrent-root-region-scan-start]
   [Eden: 8192.0K(8192.0K)->0.0B(7168.0K) Survivors: 0.0B->1024.0K Heap: 9.0M(16.0M)->3.5M(16.0M)]
 [Times: user=0.0 sys=0.0, real=0.0 secs]
0.6: [GC remark 0.6: [GC ref-proc, 0.0000070 secs], 0.0005297 secs]
0.7: [GC cleanup 10M->9M(16M), 0.0001 secs]
0.8: [Full GC (System.gc()) 9M->1M(16M), 0.01 secs]
   [Eden: 1024.0K(7168.0K)->0.0B(8192.0K) Survivors: 1024.0K->0.0B Heap: 9.0M(16.0M)->1.0M(16.0M)], [Metaspace: 3K->3K(10K)]",
    );
    use EventKind::{Cleanup, ConcurrentStart, Full, Remark, YoungConcurrentStart};
    assert_eq!(kinds(&log), [ConcurrentStart, YoungConcurrentStart, Remark, Cleanup, Full]);
    let young = &log.events[1];
    assert_eq!((young.duration_s, young.heap.unwrap().after_kib), (Some(0.003_206_7), 3584));
    let sizes = young.spaces.as_ref().unwrap().young.unwrap();
    assert_eq!((sizes.before_kib, sizes.after_kib, sizes.capacity_kib), (8192, 1024, Some(8192)));
    assert_eq!(log.events[4].spaces.as_ref().unwrap().metaspace.unwrap().capacity_kib, Some(10));
    assert_eq!(log.lines.damaged, 0);
}

#[test]
fn lines_of_other_options_are_dropped_inside_an_event() {
    let log = read(
        "{Heap before GC invocations=0 (full 0):
 par new generation   total 6K, used 5K [0x0, 0x1, 0x2)
}
1.0: [GC 1.0: [ParNew
Desired survivor size 3342336 bytes, new threshold 1 (max 32)
- age   1:  6684672 bytes,  6684672 total
: 52471K->22991K(75776K), 1.07 secs] 60000K->30000K(90000K), 1.08 secs]",
    );
    assert_eq!(kinds(&log), [EventKind::Young]);
    assert_eq!(log.events[0].duration_s, Some(1.08));
    assert_eq!((log.lines.damaged, log.lines.total), (0, 7));
}

#[test]
fn cut_off_events_are_counted_as_damaged() {
    let log = read(
        "1.0: [GC 1.0: [ParNew: 5K->
2.0: [GC 2.0: [ParNew: 5K->1K(6K), 0.1 secs] 9K->4K(10K), 0.2 secs]
3.0: [GC 3.0: [ParNew: 5K->1K(6K), 0.1 secs] 9K->4K(10K), 0.",
    );
    assert_eq!(kinds(&log), [EventKind::Young]);
    assert_eq!(log.lines.damaged, 2);
    assert_eq!(log.lines.events + log.lines.details + log.lines.other + log.lines.damaged, log.lines.total);
}

#[test]
fn logs_without_stamps_have_events() {
    let log =
        read("[GC 30463K->3108K(1571712K), 0.1282309 secs]\n[Full GC 35206K->6176K(1571712K), 0.4 secs]");
    assert_eq!(kinds(&log), [EventKind::Young, EventKind::Full]);
    assert!(!log.has_stamps);
}

#[test]
fn safepoints_follow_the_pause_they_contain() {
    let log = read(
        "1.0: [GC pause (young), 0.005 secs]
   [ 8192K->4096K(64M)]
Total time for which application threads were stopped: 0.0060000 seconds",
    );
    assert_eq!(kinds(&log), [EventKind::Young, EventKind::Safepoint]);
    assert_eq!(log.events[0].heap.unwrap().after_kib, 4096);
}
