use crate::{Collector, EventKind, GcLog, GcLogReader};

fn read(lines: &str) -> GcLog {
    let mut reader = GcLogReader::new();
    lines.lines().for_each(|line| reader.line(line));
    reader.finish()
}

#[test]
fn a_collection_of_g1_has_the_sizes_of_its_regions() {
    let log = read(
        "[0.007s][info][gc,init] Heap Region Size: 1M
[0.122s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[0.124s][info][gc,phases   ] GC(0)   Evacuate Collection Set: 1.8ms
[0.124s][info][gc,heap     ] GC(0) Eden regions: 6->0(9)
[0.124s][info][gc,heap     ] GC(0) Survivor regions: 0->1(1)
[0.124s][info][gc,heap     ] GC(0) Old regions: 1->2
[0.124s][info][gc,heap     ] GC(0) Humongous regions: 3->3
[0.124s][info][gc,metaspace] GC(0) Metaspace: 89K(320K)->88K(320K) NonClass: 84K(192K)->84K(192K)
[0.124s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 10M->6M(96M) 2.396ms
[0.124s][info][gc,cpu      ] GC(0) User=0.01s Sys=0.00s Real=0.00s",
    );
    assert_eq!(log.collector, Some(Collector::G1));
    let [event] = &log.events[..] else { panic!("{:?}", log.events) };
    assert_eq!((event.kind, log.cause(event)), (EventKind::Young, Some("G1 Evacuation Pause")));
    let spaces = event.spaces.as_ref().unwrap();
    let (young, old) = (spaces.young.unwrap(), spaces.old.unwrap());
    assert_eq!((young.before_kib, young.after_kib, young.capacity_kib), (6 << 10, 1 << 10, Some(10 << 10)));
    assert_eq!((old.before_kib, old.after_kib, old.capacity_kib), (4 << 10, 5 << 10, None));
    assert_eq!(spaces.metaspace.unwrap().after_kib, 88);
    assert_eq!(log.phases_s, [0.0018]);
    assert_eq!((log.lines.events, log.lines.details, log.lines.total), (1, 9, 10));
}

#[test]
fn a_major_collection_of_zgc_contains_the_pauses_of_both_generations() {
    let log = read(
        "[0.112s][info][gc] Using The Z Garbage Collector
[0.401s][info][gc          ] GC(1) Major Collection (Warmup)
[0.401s][info][gc,phases   ] GC(1) Y: Young Generation
[0.402s][info][gc,phases   ] GC(1) Y: Pause Mark Start (Major) 0.019ms
[0.402s][info][gc,phases   ] GC(1) Y: Pause Mark End 0.015ms
[0.402s][info][gc,heap     ] GC(1) Y: Max Capacity: 96M(100%)
[0.402s][info][gc,heap     ] GC(1) Y:  Capacity:  96M (100%)  96M (100%)  96M (100%)  94M (100%)  96M (100%)  96M (100%)
[0.403s][info][gc,phases   ] GC(1) O: Pause Mark End 0.012ms
[0.404s][info][gc,phases   ] GC(1) O: Concurrent Relocate 0.041ms
[0.404s][info][gc          ] GC(1) Major Collection (Warmup) 20M(21%)->6M(6%) 0.007s",
    );
    assert_eq!(log.collector, Some(Collector::GenerationalZgc));
    assert_eq!(log.heap_max_kib, Some(96 << 10));
    let cycle = log.events.last().unwrap();
    assert_eq!((cycle.kind, log.cause(cycle)), (EventKind::MajorCycle, Some("Warmup")));
    assert!((cycle.cycle_pauses_s.unwrap() - 46e-6).abs() < 1e-12);
    assert_eq!(cycle.duration_s, Some(0.007));
    assert_eq!(cycle.heap.unwrap().capacity_kib, Some(94 << 10));
    assert_eq!(log.events.iter().filter(|event| event.kind == EventKind::CyclePause).count(), 3);
}

#[test]
fn the_sizes_of_shenandoah_are_on_its_cleanup() {
    let log = read(
        "[0.296s][info][gc] GC(0) Pause Init Mark (unload classes) 0.024ms
[0.298s][info][gc] GC(0) Pause Final Mark (unload classes) 0.045ms
[0.298s][info][gc] GC(0) Concurrent cleanup 24M->14M(96M) 0.019ms
[0.300s][info][gc] GC(0) Pause Init Update Refs 0.006ms
[0.300s][info][gc,stats] Pause Init Mark (G)    111 us
[0.4s][info][gc] GC(1) Pause Degenerated GC (Outside of Cycle) 95M->14M(96M) 12.5ms",
    );
    let kinds: Vec<_> = log.events.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [
            EventKind::InitialMark,
            EventKind::Remark,
            EventKind::Concurrent,
            EventKind::ShortPause,
            EventKind::Degenerated
        ]
    );
    assert_eq!(log.events[2].heap.unwrap().freed_kib(), 10 << 10);
    assert!(log.events[4].is_failure);
    assert_eq!(log.collector, Some(Collector::Shenandoah));
}

#[test]
fn interleaved_and_cut_off_lines_are_counted() {
    let log = read(
        "[0.1s][info][gc] GC(0) Concurrent Mark Cyc[0.2s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.0ms
[0.3s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(9
[0.4s][info][gc] GC(99999999999999999999) Pause Young
[0.5s][info][os] something else",
    );
    assert_eq!(log.lines.interleaved, 1);
    assert_eq!(log.lines.damaged, 2);
    assert_eq!(log.examples[0].line, 2);
    assert_eq!(log.lines.other, 1);
    assert_eq!(log.events.iter().filter(|event| event.kind.is_pause()).count(), 1);
}

#[test]
fn safepoints_are_added_up() {
    let log = read(
        "[1.0s][info][safepoint] Safepoint \"ICBufferFull\", Time since last: 1 ns, Reaching safepoint: 1000 ns, At safepoint: 500 ns, Total: 1500 ns
[1.1s][info][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 1 ns, Reaching safepoint: 1000 ns, Cleanup: 10 ns, At safepoint: 500 ns, Total: 2500 ns
[1.2s][info][safepoint] Total time for which application threads were stopped: 0,0067930 seconds, Stopping threads took: 0,0000270 seconds",
    );
    let safepoints = log.safepoints.unwrap();
    assert_eq!(safepoints.count, 2);
    assert!((safepoints.total_s - 4e-6).abs() < 1e-15);
    assert_eq!((log.events[0].kind, log.events[0].duration_s), (EventKind::Safepoint, Some(0.006_793)));
}

#[test]
fn failed_evacuations_are_marked() {
    let log = read(
        "[0.2s][info][gc] GC(1) To-space exhausted
[0.2s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(96M) 4.0ms
[0.3s][info][gc] GC(2) Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Pinned) 6M->6M(96M) 4.0ms
[0.4s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(96M) 4.0ms",
    );
    let failures: Vec<_> = log.events.iter().map(|event| event.is_failure).collect();
    assert_eq!(failures, [true, true, false]);
    assert_eq!(log.events[1].kind, EventKind::Mixed);
}
