//! Tests the verdict on a run's arrivals, which is computed from its record.

use busyhour_analysis::arrivals::{ArrivalVerdict, JudgedStarts};
use busyhour_analysis::{RunFacts, Summary};
use busyhour_arrivals::{Arrival, ArrivalProcess, RateChange, ScheduleChanges};
use busyhour_record::{
    MANIFEST_VERSION, Machine, Manifest, OpenFacts, PlanFile, Recorder, RecorderConfig, RunDir, RunOutcome,
};
use busyhour_report::{Look, RunShow, Written, claims, end_of_run, html_report};
use busyhour_results::summarise;
use busyhour_sample::{
    ActiveUsers, Aggregator, ArrivalCounts, ArrivalOutcome, ArrivalRecord, ChangedFrom, ControlEvent,
    GroupName, Labels, LoadChange, Nanos, RunEnd, RunNames, Sample, SampleTimes, TotalsSettings,
};
use busyhour_stats::Decision;

const MS: u64 = 1_000_000;
const SEED: u64 = 11;
const FIRST_NS: u64 = 20 * MS;

/// Records an open run of `text` on two cores, in which each arrival has the outcome `outcome`. Also records closed
/// thread groups with the names in `closed`. Returns the verdicts, the text for the terminal and the page.
fn verdicts(
    text: &str,
    outcome: impl Fn(u64, Nanos) -> ArrivalOutcome,
    closed: &[&str],
) -> (Vec<ArrivalVerdict>, String, String) {
    verdicts_until(u64::MAX, text, outcome, closed)
}

/// The verdicts on a run that was stopped after `stop_ns` nanoseconds of the schedule.
fn verdicts_until(
    stop_ns: u64,
    text: &str,
    outcome: impl Fn(u64, Nanos) -> ArrivalOutcome,
    closed: &[&str],
) -> (Vec<ArrivalVerdict>, String, String) {
    let schedule: Vec<Arrival> = ArrivalProcess::parse(text).unwrap().schedule(SEED).collect();
    verdicts_of(&schedule, &[], stop_ns, text, outcome, closed)
}

/// The verdicts on a run whose load was changed during the run.
fn verdicts_of(
    schedule: &[Arrival],
    events: &[ControlEvent],
    stop_ns: u64,
    text: &str,
    outcome: impl Fn(u64, Nanos) -> ArrivalOutcome,
    closed: &[&str],
) -> (Vec<ArrivalVerdict>, String, String) {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    let labels = Labels::new();
    let groups = ["Open"].iter().chain(closed);
    let groups = groups.zip(1..).map(|(name, number)| GroupName { name: (*name).into(), number }).collect();
    let names = RunNames { groups, ..RunNames::default() };
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        labels: labels.clone(),
        names,
        wall_anchor_ms: 1_706_933_106_007,
        writers: 2,
        batches: 4_000,
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut schedule: Vec<(Nanos, ArrivalOutcome)> = schedule
        .iter()
        .take_while(|arrival| arrival.at_ns < stop_ns)
        .map(|arrival| {
            let at = Nanos(FIRST_NS + arrival.at_ns);
            (at, outcome(arrival.index, at))
        })
        .collect();
    let begin = |(at, outcome): &(Nanos, ArrivalOutcome)| match outcome {
        ArrivalOutcome::Discarded => *at,
        ArrivalOutcome::Started { at } | ArrivalOutcome::Waited { until: at } => *at,
    };
    schedule.sort_by_key(begin);
    let (mut counts, mut second) = (ArrivalCounts::default(), 0);
    for (index, (scheduled, outcome)) in schedule.iter().enumerate() {
        let now = begin(&(*scheduled, *outcome));
        counts.scheduled += 1;
        counts.begun += u64::from(*outcome != ArrivalOutcome::Discarded);
        counts.dropped += u64::from(*outcome == ArrivalOutcome::Discarded);
        if now.second() > second {
            second = now.second();
            writers.iter_mut().for_each(|writer| writer.flush(now));
        }
        // The cores record arrivals in turn.
        let writer = &mut writers[index % 2];
        writer.record_arrival(&ArrivalRecord { group: 0, scheduled: *scheduled, outcome: *outcome }, now);
    }
    let label = labels.intern("get");
    for (group, _) in (1..).zip(closed) {
        for n in 0..2_000 {
            let start = Nanos(n * 5 * MS + u64::from(group) * MS);
            let end = start + MS;
            let sample = Sample {
                label,
                times: SampleTimes { start, intended: start, end, ..SampleTimes::default() },
                users: ActiveUsers { all: 2, ..ActiveUsers::default() },
                group,
                ..Sample::default()
            };
            writers[0].record(&sample).unwrap();
        }
    }
    drop(writers);
    let totals = recorder.finish();
    let open = OpenFacts { process: text.into(), groups: vec![0], first_ns: FIRST_NS, seed: SEED };
    let is_stopped = stop_ns < u64::MAX;
    counts.left_waiting = if is_stopped { 7 } else { 0 };
    let outcome = RunOutcome {
        end: if is_stopped { RunEnd::Interrupted } else { RunEnd::Completed },
        users_started: counts.begun + closed.len() as u64,
        open: vec![open],
        arrivals: Some(counts),
        duration_ns: 60_000 * MS,
        recorder_events: totals.events,
        ..RunOutcome::default()
    };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: "0.1.0".into(),
        plan: PlanFile { path: "plan.jmx".into(), name: "Plan".into(), sha256: String::new(), url: None },
        seed: 7,
        share: None,
        command_line: Vec::new(),
        properties: [].into(),
        machine: Machine { hostname: "gen".into(), os: "linux".into(), arch: "x86_64".into(), cpus: 2 },
        wall_anchor_ms: 1_706_933_106_007,
        notes: Vec::new(),
        rate_timers: Vec::new(),
        request_deadline: None,
        results_file: None,
        thresholds: Vec::new(),
        parts: Vec::new(),
        events: events.to_vec(),
        outcome: Some(outcome),
    };
    dir.write_manifest(&manifest).unwrap();
    let summary = summarise(&dir).unwrap();
    let text = end_of_run(
        &summary,
        RunShow { details: true, ..RunShow::default() },
        &Written::default(),
        Look { width: None, colour: false },
    );
    (summary.arrivals.clone(), text, html_report(&summary))
}

#[test]
fn a_delivered_poisson_load_is_called_poisson() {
    let begun = |_, at: Nanos| ArrivalOutcome::Started { at: at + 15_000 };
    let (verdicts, text, page) =
        verdicts("poisson(1000/s) for 30s, ramp(1000/s -> 2000/s) over 10s", begun, &[]);
    let [verdict] = verdicts.as_slice() else { panic!("{verdicts:?}") };
    assert_eq!((verdict.scope, verdict.of.as_deref()), (JudgedStarts::SessionStarts, None));
    assert!(verdict.line.ends_with(": Poisson"), "{}", verdict.line);
    let late = verdict.lateness.unwrap();
    assert!((14_900..15_200).contains(&late.p50_ns), "{late:?}");
    assert!(
        text.contains(&verdict.line) && text.contains("starts were late by 15 µs at the median"),
        "{text}"
    );
    assert!(text.contains("none waited for a free user; none dropped"));
    assert!(
        page.contains("<details class=\"chip good\"><summary>Arrivals: as requested</summary>")
            && page.contains("CoV of gaps")
    );
}

#[test]
fn bursts_discarded_arrivals_and_waits_are_reported() {
    // A timer with a tick of 5 ms.
    let ticks = |_, at: Nanos| ArrivalOutcome::Started { at: Nanos((at.0 / (5 * MS) + 1) * 5 * MS) };
    let (bunched, text, _) = verdicts("poisson(1000/s) for 20s", ticks, &[]);
    assert!(bunched[0].line.contains("and not delivered: "), "{}", bunched[0].line);
    assert!(text.contains("Caveats"));
    let some = |index: u64, at: Nanos| match index % 10 {
        0 => ArrivalOutcome::Discarded,
        1 => ArrivalOutcome::Waited { until: at + 3 * MS },
        _ => ArrivalOutcome::Started { at },
    };
    let (some, text, _) = verdicts("even(100/s) for 20s", some, &[]);
    assert!(text.contains("; 200 arrivals dropped"), "{text}");
    assert_eq!((some[0].discarded, some[0].waited), (Some(200), Some(200)));
    assert!(text.contains("200 arrivals waited for a free user (3.0"), "{text}");
}

#[test]
fn laws_without_a_theory_are_compared_with_their_schedule() {
    let met = |_, at: Nanos| ArrivalOutcome::Started { at };
    for text in
        ["mmpp(200/s for 1s, 2000/s for 500ms) for 60s", "poisson(500/s) for 20s, even(500/s) for 20s"]
    {
        let (verdicts, ..) = verdicts(text, met, &[]);
        assert_eq!(verdicts[0].decision, Decision::Inside, "{}", verdicts[0].line);
        let cov = verdicts[0].observed.cov.unwrap();
        let mut summary = Summary::new(
            RunFacts::default(),
            &Aggregator::new(Labels::new(), TotalsSettings::default()).finish(Vec::new()),
        );
        summary.arrivals = verdicts;
        let claims = claims(&summary);
        let claim = claims.iter().find(|claim| claim.kind == "arrivals").unwrap();
        let interval = claim.interval.unwrap();
        assert_eq!((claim.estimate, interval.low, interval.high), (Some(cov.value), cov.low, Some(cov.high)));
        assert!(interval.low < cov.value && interval.confidence > 0.9, "{interval:?}");
        assert_eq!(claim.sentence.matches("Arrivals: ").count(), 1, "{}", claim.sentence);
    }
}

#[test]
fn each_law_of_a_mixture_is_judged_by_its_own_theory() {
    let text =
        "poisson(1000/s) for 20s, ramp(1000/s -> 2000/s) over 10s poisson, pause 2s, even(500/s) for 20s";
    let met = |_, at: Nanos| ArrivalOutcome::Started { at };
    let (all, shown, page) = verdicts(text, met, &[]);
    let of = |verdicts: &[ArrivalVerdict]| -> Vec<String> {
        let line = |verdict: &ArrivalVerdict| {
            let line = verdict.line.split_once(": ").map_or("", |(_, line)| line);
            format!("{} | {:?} | {line}", verdict.of.as_deref().unwrap_or("all"), verdict.decision)
        };
        verdicts.iter().map(line).collect()
    };
    insta::assert_snapshot!(of(&all).join("\n"), @r"
    all | Inside | 869.3/s, CoV 0.88 ± 0.06: a mixture of processes, as requested
    Poisson from 0 to 30 s | Inside | 1,173.4/s, CoV 1.00 ± 0.01: Poisson
    even from 32 to 52 s | Inside | 500.0/s, CoV 0.00: even, as requested
    ");
    assert!(shown.contains("Poisson from 0 to 30 s: ") && page.contains("even from 32 to 52 s: "), "{shown}");
    // There are bursts only in the Poisson stretch, so only the verdict on that stretch changes.
    let ticks = |_, at: Nanos| {
        let in_poisson = at.0 < FIRST_NS + 30_000 * MS;
        ArrivalOutcome::Started { at: if in_poisson { Nanos((at.0 / (5 * MS) + 1) * 5 * MS) } else { at } }
    };
    let (bunched, ..) = verdicts(text, ticks, &[]);
    let decisions: Vec<Decision> = bunched.iter().map(|verdict| verdict.decision).collect();
    assert_eq!(decisions[1..], [Decision::Outside, Decision::Inside]);
    // Parts with the same law are judged together.
    assert_eq!(verdicts("poisson(100/s) for 20s, pause 1s, poisson(50/s) for 20s", met, &[]).0.len(), 1);
}

#[test]
fn groups_with_their_own_users_are_also_judged_by_group() {
    let met = |_, at: Nanos| ArrivalOutcome::Started { at };
    let (verdicts, text, _) = verdicts("poisson(1000/s) for 10s", met, &["A", "B"]);
    let of: Vec<_> = verdicts.iter().map(|verdict| (verdict.scope, verdict.of.as_deref())).collect();
    let samplers = JudgedStarts::SamplerStarts;
    assert_eq!(
        of,
        [
            (JudgedStarts::SessionStarts, Some("Open")),
            (samplers, Some("closed thread groups")),
            (samplers, Some("A")),
            (samplers, Some("B"))
        ]
    );
    assert_eq!(verdicts[2].observed.arrivals, 2_000);
    assert!(verdicts[3].line.contains("more even than"), "{}", verdicts[3].line);
    assert!(text.contains("\nA: Arrivals: 200.0/s"), "{text}");
}

#[test]
fn a_run_stopped_in_its_ramp_is_compared_with_the_offered_part() {
    let begun = |_, at: Nanos| ArrivalOutcome::Started { at: at + 15_000 };
    let text = "ramp(0/s -> 2000/s) over 40s poisson";
    let (verdicts, text, page) = verdicts_until(10_000 * MS, text, begun, &["Closed"]);
    let verdict = &verdicts[0];
    // Half of 10 s at 500/s: 2,500 arrivals in 10 s.
    let rate = verdict.observed.rate_per_s.unwrap();
    assert!(rate.low < 250.0 && rate.high > 250.0 && rate.value < 270.0, "{rate:?}");
    assert!(!text.contains("the requested rate"), "{text}");
    assert!(text.contains(" sessions, 1 user, 7 arrivals not started, "), "{text}");
    assert!(text.contains("at most; none dropped"), "the number that waited is missing: {text}");
    assert!(text.contains("7 arrivals still waited for a user when the run was stopped"), "{text}");
    assert!(page.contains(" sessions · 1 user · 7 arrivals not started"), "{page}");
}

#[test]
fn a_load_changed_during_the_run_is_judged_by_the_changed_request() {
    let text = "poisson(500/s) for 40s";
    let s = |seconds: u64| seconds * 1_000 * MS;
    let mut changes = ScheduleChanges::default();
    changes.change_rate(RateChange { at_ns: s(10), factor: 3.0 });
    changes.pause(s(20), s(25));
    changes.change_rate(RateChange { at_ns: s(30), factor: 0.5 });
    let event = |at_s: u64, change: LoadChange| ControlEvent {
        at_ns: Nanos(FIRST_NS + s(at_s)),
        change,
        from: ChangedFrom::Page,
    };
    let events = [
        event(10, LoadChange::Rate { factor: 3.0 }),
        event(20, LoadChange::Pause),
        event(25, LoadChange::Resume),
        event(30, LoadChange::Rate { factor: 0.5 }),
    ];
    let schedule: Vec<Arrival> = changes.schedule(&ArrivalProcess::parse(text).unwrap(), SEED).collect();
    let begun = |_, at: Nanos| ArrivalOutcome::Started { at: at + 15_000 };
    let (verdicts, text_shown, page) = verdicts_of(&schedule, &events, u64::MAX, text, begun, &[]);
    assert_eq!(verdicts[0].decision, Decision::Inside, "{text_shown}");
    // The requested rate over the run is 750 per second, so the rate is not missed.
    assert!(!format!("{:?}", verdicts[0]).contains("RateMissed"), "{:?}", verdicts[0]);
    for words in ["3 times the configured rate", "paused", "resumed", "0.5 times"] {
        assert!(page.contains(words), "{words} is not in the page");
    }
    // Without the changes, the arrivals are not a Poisson process with the requested rate.
    let (without_changes, ..) = verdicts_of(&schedule, &[], u64::MAX, text, begun, &[]);
    assert_eq!(without_changes[0].decision, Decision::Outside);
}
