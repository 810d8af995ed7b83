//! Generated runs, which are summarised like any other run.

use busyhour_analysis::thresholds::{ThresholdResult, WorstWindow};
use busyhour_analysis::{HeatMap, RowSeries, RunFacts, SlowSample, Summary};
use busyhour_record::{OpenFacts, PlanNote, Recorder, RecorderConfig};
use busyhour_sample::{
    ActiveUsers, ArrivalCounts, CoreFacts, GeneratorFacts, Labels, Nanos, RunEnd, RunTotals, Sample,
    SampleFlags, SampleOutcome, SampleSizes, SampleTimes,
};

/// The properties of a generated run.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub labels: usize,
    pub requests: u64,
    pub seconds: u64,
    pub has_errors: bool,
    pub is_open: bool,
}

/// A label that would run as a script if it were not escaped.
pub const HOSTILE: &str =
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">";

/// A multiplicative generator with a fixed seed, so that the run is always the same.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }
}

fn names(count: usize) -> Vec<String> {
    let known = [
        "Home",
        "Search, \"all\"",
        HOSTILE,
        "Buy",
        "A very long label that somebody has made of a whole sentence, \
        with /a/path/that/has/no/place/where/it/could/be/broken/except/anywhere.html",
    ];
    (0..count)
        .map(|at| {
            known.get(at).map_or_else(|| format!("GET /api/v2/items/{at:03}"), |name| (*name).to_owned())
        })
        .collect()
}

/// The samples of the run, approximately in the order of their ends, as a record requires.
fn samples(wanted: Wanted) -> Vec<(usize, Sample<'static>)> {
    let mut draws = Draws(12_345);
    let gap_ns = wanted.seconds * 1_000_000_000 / wanted.requests.max(1);
    let slow = wanted.seconds * 5 / 10..wanted.seconds * 6 / 10;
    (0..wanted.requests)
        .map(|i| {
            let start = Nanos(i * gap_ns + (draws.uniform() * gap_ns as f64) as u64);
            let drawn = (draws.uniform() * draws.uniform() * wanted.labels as f64) as usize;
            // Each label occurs at least once.
            let label = if i < wanted.labels as u64 { i as usize } else { drawn };
            let is_slow = slow.contains(&start.second());
            // There are two kinds of responses: fast ones from a cache, and slower ones.
            let base = if draws.uniform() < 0.6 { 2.0 } else { 14.0 + label as f64 % 7.0 };
            let ms = base - draws.uniform().ln() * base * if is_slow { 3.0 } else { 0.35 };
            let tail = if draws.uniform() < 0.002 { 400.0 * draws.uniform() } else { 0.0 };
            let ns = ((ms + tail) * 1e6) as u64;
            let waited = if is_slow { (draws.uniform() * 60e6) as u64 } else { 0 };
            let bad = wanted.has_errors && (i % 83 == 5 || (is_slow && i % 7 == 0));
            let (code, message) = match (bad, i % 3) {
                (false, _) => ("200", "OK"),
                (true, 0) => ("Non HTTP response code: java.net.SocketTimeoutException", "Read timed out"),
                (true, _) => ("503", "Service Unavailable"),
            };
            let users = (start.second() * 10 / wanted.seconds.max(1)).min(5) as u32 * 20 + 20;
            let sample = Sample {
                outcome: SampleOutcome::new(code, message, !bad),
                times: SampleTimes {
                    intended: start - waited,
                    start,
                    end: start + ns,
                    latency_ns: ns / 2,
                    ..SampleTimes::default()
                },
                users: ActiveUsers { group: users, all: users },
                error_count: u32::from(bad),
                sizes: SampleSizes::of_row(2_000 + (label as u64 % 3) * 50_000, 300),
                ..Sample::default()
            };
            (label, sample)
        })
        .collect()
}

/// Summarises such a run.
pub fn summary(wanted: Wanted) -> Summary {
    let labels = Labels::new();
    let config = RecorderConfig { labels: labels.clone(), batches: 4_000, ..RecorderConfig::default() };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut writer = writers.remove(0);
    let names = names(wanted.labels);
    let ids: Vec<_> = names.iter().map(|name| labels.intern(name)).collect();
    let transaction = labels.intern("Visit");
    let samples = samples(wanted);
    for (label, sample) in &samples {
        writer.record(&Sample { label: ids[*label], ..*sample }).unwrap();
        if *label == 0 && wanted.labels > 1 {
            let flags = SampleFlags::TRANSACTION;
            writer.record(&Sample { label: transaction, flags, ..*sample }).unwrap();
        }
    }
    writer.flush(Nanos::from_secs(wanted.seconds + 2));
    drop(writer);
    let totals: RunTotals = recorder.finish();
    let mut summary = Summary::new(facts(wanted), &totals);
    if wanted.requests > 0 && summary.heat.is_none() {
        over_time(&mut summary, wanted, &names, &samples);
    }
    if wanted.has_errors {
        summary.thresholds = thresholds();
    }
    summary
}

/// A threshold that passed, one that failed, and one without data.
fn thresholds() -> Vec<ThresholdResult> {
    let result = |text: &str, passed: Option<bool>, observed: Option<&str>| ThresholdResult {
        text: text.to_owned(),
        criterion: text.to_owned(),
        name: None,
        subject: "p95".to_owned(),
        scope: "total".to_owned(),
        label: None,
        window: "run".to_owned(),
        passed,
        fails_run: passed != Some(true),
        observed: None,
        limit: 800.0,
        unit: "ms".to_owned(),
        observed_text: observed.map(str::to_owned),
        worst: None,
        since_s: None,
        until_s: None,
        longest_s: None,
        windows: 1,
        failed_windows: 0,
        labels: None,
        failed_labels: None,
        stopped_run: false,
    };
    let worst = Some(WorstWindow { from_s: 30.0, to_s: 35.0, value: 12.5 });
    vec![
        result("p95 < 800ms", Some(true), Some("52.4 ms")),
        ThresholdResult {
            worst,
            windows: 56,
            failed_windows: 9,
            window: "over 5 s".to_owned(),
            ..result("errors < 5% over 5s", Some(false), Some("12.5 %"))
        },
        result("p99 of checkout < 2s", None, None),
    ]
}

fn facts(wanted: Wanted) -> RunFacts {
    let counts = ArrivalCounts {
        scheduled: wanted.requests,
        begun: wanted.requests.saturating_sub(3),
        waited: 41,
        dropped: 3,
        left_waiting: 0,
        not_offered: 0,
    };
    let command: &[&str] = if wanted.is_open {
        &["busyhour", "run", "shop <busy> hour.jmx", "--arrivals", "poisson(200/s) for 60s"]
    } else {
        &["busyhour", "-n", "-t", "shop.jmx", "-JUSERS=120"]
    };
    RunFacts {
        source: "plans/shop.jmx".into(),
        plan_name: "Ticket shop, <busy> hour".into(),
        plan_sha256: "ab".repeat(32),
        seed: Some(20_240_203),
        command_line: command.iter().map(|word| (*word).to_owned()).collect(),
        busyhour: "0.1.0".into(),
        hostname: "generator-1".into(),
        cpus: 4,
        wall_anchor_ms: 1_706_933_106_007,
        duration_s: Some(wanted.seconds as f64 + 0.2),
        end: Some(RunEnd::Completed),
        users_started: Some(if wanted.is_open { wanted.requests.saturating_sub(3) } else { 120 }),
        users_finished: Some(120),
        arrivals: (wanted.is_open && wanted.requests > 0).then_some(counts),
        open: wanted
            .is_open
            .then(|| OpenFacts {
                process: "poisson(200/s) for 1min".into(),
                groups: vec![0],
                ..OpenFacts::default()
            })
            .into_iter()
            .collect(),
        generator: GeneratorFacts {
            cores: vec![
                CoreFacts {
                    busy: Some(0.31),
                    busy_second_max: Some(0.52),
                    lag_ns_max: Some(2_000_000)
                };
                2
            ],
            memory_bytes_max: Some(31_457_280),
            ..GeneratorFacts::default()
        },
        notes: vec![PlanNote {
            code: "listener-ignored".into(),
            message: "the listener View Results Tree is not needed and was left out".into(),
            hint: None,
        }],
        has_manifest: true,
        ..RunFacts::default()
    }
}

/// Computes the data that a recorder collects in addition to totals.
fn over_time(summary: &mut Summary, wanted: Wanted, names: &[String], samples: &[(usize, Sample<'_>)]) {
    let ms = |sample: &Sample<'_>| sample.times.end.since(sample.times.intended) as f64 / 1e6;
    let band = |ms: f64| (ms.log10() * 16.0).floor() as i32;
    let (low, high) = samples
        .iter()
        .map(|(_, sample)| band(ms(sample)))
        .fold((i32::MAX, i32::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let slices = wanted.seconds as usize + 2;
    let mut cells = vec![std::collections::BTreeMap::<u16, u64>::new(); slices];
    for (_, sample) in samples {
        *cells[sample.times.end.second() as usize].entry((band(ms(sample)) - low) as u16).or_default() += 1;
    }
    summary.heat = Some(HeatMap {
        from_s: 0.0,
        step_s: 1.0,
        edges_ms: (low..=high + 1).map(|at| 10_f64.powf(f64::from(at) / 16.0)).collect(),
        columns: cells.into_iter().map(|column| column.into_iter().collect()).collect(),
    });
    for row in &mut summary.labels {
        let mut times = vec![Vec::new(); slices];
        let mut errors = vec![0; slices];
        for (label, sample) in samples {
            if names[*label] == row.label {
                times[sample.times.end.second() as usize].push(ms(sample));
                errors[sample.times.end.second() as usize] += u64::from(!sample.outcome.success);
            }
        }
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        row.series = Some(RowSeries {
            from_s: 0.0,
            step_s: 1.0,
            requests: times.iter().map(|times| times.len() as u64).collect(),
            errors,
            response_mean: times
                .iter()
                .map(|times| (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64))
                .collect(),
            response_p95: times
                .iter()
                .map(|times| times.get(times.len().saturating_sub(1) * 95 / 100).copied())
                .collect(),
        });
    }
    let mut slowest: Vec<&(usize, Sample<'_>)> = samples.iter().collect();
    slowest.sort_by(|a, b| ms(&b.1).total_cmp(&ms(&a.1)));
    summary.slowest = slowest
        .into_iter()
        .take(20)
        .map(|(label, sample)| SlowSample {
            label: names[*label].clone(),
            start_s: sample.times.start.as_secs_f64(),
            response_ms: ms(sample),
            service_ms: sample.times.end.since(sample.times.start) as f64 / 1e6,
            code: sample.outcome.code.to_owned(),
            message: sample.outcome.message.to_owned(),
            success: sample.outcome.success,
        })
        .collect();
}

/// A result file of a minute whose times are `factor` times as long. Different seeds give different runs.
pub fn jtl(seed: u64, factor: f64, labels: usize) -> String {
    let mut draws = Draws(seed);
    let names = names(labels);
    let mut rows = String::from(
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n",
    );
    for at in 0..12_000_u64 {
        let name = names[(at % labels as u64) as usize].replace('"', "\"\"");
        let elapsed = (20.0 - 15.0 * draws.uniform().ln()) * factor;
        let ok = draws.uniform() > 0.004;
        let code = if ok { "200,OK" } else { "503,Service Unavailable" };
        let stamp = 1_706_933_106_007 + at * 5;
        rows += &format!("{stamp},{elapsed:.0},\"{name}\",{code},Users 1-{},{ok},2000,20\n", at % 20 + 1);
    }
    rows
}
