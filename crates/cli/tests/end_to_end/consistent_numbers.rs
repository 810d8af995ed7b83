//! The same quantity has the same value wherever it is shown: headline, tiles, tables, captions and data of pages,
//! `summary.json`, text for the terminal, live page, exports, comparisons and capacity models.
//!
//! Pages mark numbers with their paths in the JSON (`data-quantity`, or `data-quantities` and `data-row` in tables), so
//! that every marked number is compared, not only the numbers that a test lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use busyhour_analysis::comparison::{Comparison, ComparisonSettings, Measure};
use busyhour_analysis::{Caveat, Summary};
use busyhour_live::LiveRun;
use busyhour_queueing::fit::{CapacityFit, CapacityModel, FitSettings, LoadPoint};
use busyhour_record::{
    MANIFEST_VERSION, Machine, Manifest, PlanFile, Recorder, RecorderConfig, ResultFileConfig, RunDir,
    RunOutcome, SampleFilter, SaveConfig,
};
use busyhour_report::numbers::{duration, ms, percent, rate, thousands};
use busyhour_report::{Look, RunShow, Written, capacity_html, comparison_html, end_of_run, html_report};
use busyhour_results::{
    ResultsInput, ResultsOptions, ResultsPart, RunReading, measure_loads, measure_run, read_snapshots,
    record_reading, summarise_results,
};
use busyhour_sample::{
    ActiveUsers, ArrivalOutcome, ArrivalRecord, GroupName, Labels, Nanos, RunEnd, RunNames, Sample,
    SampleOutcome, SampleSizes, SampleTimes, Snapshot,
};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// A request of a generated run.
#[derive(Clone)]
struct Request {
    intended_ns: u64,
    start_ns: u64,
    end_ns: u64,
    label: usize,
    group: u32,
    user: u32,
    failed: bool,
}

/// A generated run: requests, and changes of the number of users.
#[derive(Default)]
struct Load {
    requests: Vec<Request>,
    users: Vec<(u64, i64)>,
    /// Scheduled times of an open load.
    arrivals: Vec<u64>,
}

const LABELS: [&str; 4] = ["login", "search", "buy", "logout"];

/// A multiplicative random generator with a fixed seed, so that the runs are the same every time.
struct Draws(u64);

impl Draws {
    /// Uniform in 0..1.
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn exponential_ns(&mut self, mean_ms: f64) -> u64 {
        (-(1.0 - self.draw()).ln() * mean_ms * 1e6) as u64
    }
}

/// Arrivals at 60/s for `seconds`; nothing is answered during `stall`.
fn open_load(seconds: u64, stall: std::ops::Range<u64>, failing: f64) -> Load {
    let mut draws = Draws(7);
    let mut load = Load::default();
    let mut at = 40_000_000;
    while at < seconds * 1_000_000_000 {
        let start_ns = at + draws.exponential_ns(0.05);
        let mut end_ns = start_ns + 2_000_000 + draws.exponential_ns(20.0);
        if stall.contains(&(end_ns / 1_000_000_000)) {
            end_ns = stall.end * 1_000_000_000 + end_ns % 1_000_000_000 / 7;
        }
        load.arrivals.push(at);
        load.users.extend([(start_ns, 1), (end_ns, -1)]);
        load.requests.push(Request {
            intended_ns: at,
            start_ns,
            end_ns,
            label: load.requests.len() % 3,
            group: 0,
            user: load.requests.len() as u32 % 500 + 1,
            failed: draws.draw() < failing,
        });
        at += draws.exponential_ns(1_000.0 / 60.0);
    }
    load
}

/// Users of `groups` groups, each of whom thinks about 150 ms between requests.
fn closed_load(users: u32, groups: u32, seconds: u64, failing: f64) -> Load {
    let mut draws = Draws(11);
    let mut load = Load::default();
    for user in 0..users {
        let mut at = u64::from(user) * 70_000_000;
        load.users.push((at, 1));
        while at < seconds * 1_000_000_000 {
            let start_ns = at + 30_000;
            let end_ns = start_ns + 3_000_000 + draws.exponential_ns(15.0);
            load.requests.push(Request {
                intended_ns: at,
                start_ns,
                end_ns,
                label: load.requests.len() % 4,
                group: user % groups,
                user: user / groups + 1,
                failed: draws.draw() < failing,
            });
            at = end_ns + draws.exponential_ns(150.0);
        }
        load.users.push((at, -1));
    }
    load
}

/// The manifest of a run that has not ended.
fn manifest() -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        busyhour: "0.1.0".into(),
        plan: PlanFile { path: "shop.jmx".into(), name: "Shop".into(), sha256: "ab".repeat(32), url: None },
        rate_timers: Vec::new(),
        results_file: None,
        seed: 7,
        share: None,
        command_line: ["busyhour", "run", "shop.jmx"].map(String::from).to_vec(),
        properties: BTreeMap::new().into_iter().collect(),
        machine: Machine { hostname: "gen".into(), os: "linux".into(), arch: "x86_64".into(), cpus: 4 },
        wall_anchor_ms: 1_706_933_106_007,
        notes: Vec::new(),
        request_deadline: None,
        thresholds: Vec::new(),
        parts: Vec::new(),
        events: Vec::new(),
        outcome: None,
    }
}

/// Records `load` as a run directory with its result file.
fn record(dir: &Path, load: &Load, xml: bool) -> PathBuf {
    let dir = RunDir::create(dir.to_owned()).unwrap();
    let is_open = !load.arrivals.is_empty();
    let mut manifest = manifest();
    dir.write_manifest(&manifest).unwrap();
    let labels = Labels::new();
    let names = ["Buyers", "Sellers", "Visitors"].map(|name| GroupName { name: name.into(), number: 1 });
    let names = names.into_iter().zip(1..).map(|(name, number)| GroupName { number, ..name });
    let main = ResultFileConfig {
        path: dir.jtl_path(),
        config: SaveConfig { xml, ..SaveConfig::default() },
        filter: SampleFilter::All,
    };
    let (recorder, mut writers) = Recorder::start(RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: RunNames { groups: names.collect(), ..RunNames::default() },
        labels: labels.clone(),
        wall_anchor_ms: manifest.wall_anchor_ms,
        batches: 400,
        main: Some(main),
        ..RecorderConfig::default()
    })
    .unwrap();
    let mut writer = writers.remove(0);
    let mut requests = load.requests.clone();
    requests.sort_by_key(|request| request.end_ns);
    let mut users = load.users.clone();
    users.sort_unstable();
    let (mut users, mut active) = (users.into_iter().peekable(), 0i64);
    let mut arrivals = load.arrivals.iter().peekable();
    let mut flushed = 0;
    for request in &requests {
        while let Some(scheduled) = arrivals.next_if(|at| **at <= request.end_ns) {
            let scheduled = Nanos(*scheduled);
            let outcome = ArrivalOutcome::Started { at: scheduled };
            writer.record_arrival(&ArrivalRecord { group: 0, scheduled, outcome }, scheduled);
        }
        // A user that ends with the request is still active at its end.
        while let Some((at, change)) = users.next_if(|(at, _)| *at < request.end_ns) {
            active += change;
            writer.record_users(change, Nanos(at));
        }
        let all = u32::try_from(active).unwrap();
        let sample = Sample {
            label: labels.intern(LABELS[request.label]),
            times: SampleTimes {
                intended: Nanos(request.intended_ns),
                start: Nanos(request.start_ns),
                end: Nanos(request.end_ns),
                latency_ns: (request.end_ns - request.start_ns) / 2,
                ..SampleTimes::default()
            },
            users: ActiveUsers { group: all, all },
            group: request.group,
            user: request.user,
            outcome: SampleOutcome::new(
                if request.failed { "503" } else { "200" },
                if request.failed { "Service Unavailable" } else { "OK" },
                !request.failed,
            ),
            error_count: u32::from(request.failed),
            sizes: SampleSizes::of_row(2_000, 300),
            ..Sample::default()
        };
        while writer.record(&sample).is_err() {
            // The recorder takes a batch in the meantime.
            std::thread::yield_now();
        }
        if request.end_ns / 100_000_000 != flushed {
            flushed = request.end_ns / 100_000_000;
            writer.flush(Nanos(request.end_ns));
        }
    }
    for (at, change) in users {
        writer.record_users(change, Nanos(at));
    }
    let last = requests.last().map_or(0, |request| request.end_ns);
    writer.flush(Nanos(last));
    drop(writer);
    let totals = recorder.finish();
    let sessions = load.arrivals.len() as u64;
    manifest.outcome = Some(RunOutcome {
        end: RunEnd::Completed,
        duration_ns: last + 900_000_000,
        users_started: load.users.iter().filter(|(_, change)| *change > 0).count() as u64,
        arrivals: is_open.then(|| busyhour_sample::ArrivalCounts {
            scheduled: sessions,
            begun: sessions,
            ..busyhour_sample::ArrivalCounts::default()
        }),
        recorder_events: totals.events.clone(),
        ..RunOutcome::default()
    });
    dir.write_manifest(&manifest).unwrap();
    dir.path().to_owned()
}

/// A page's numbers: the path of each in the JSON, and the text that is shown.
fn quantities(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let attribute = |tag: &str, name: &str| {
        let value = tag.split_once(&format!("{name}=\"")).map(|(_, rest)| rest);
        value.and_then(|rest| rest.split_once('"')).map(|(value, _)| value.to_owned())
    };
    let text_after = |rest: &str| rest.split('<').next().unwrap_or_default().trim().to_owned();
    for part in page.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { continue };
        if let Some(path) = attribute(tag, "data-quantity") {
            found.push((path, text_after(text)));
        }
    }
    for table in page.split("<table").skip(1) {
        let (table, _) = table.split_once("</table>").unwrap();
        let (head, _) = table.split_once('>').unwrap();
        let Some(names) = attribute(head, "data-quantities") else { continue };
        for row in table.split("<tr").skip(1) {
            let (head, cells) = row.split_once('>').unwrap();
            let Some(path) = attribute(head, "data-row") else { continue };
            let cells = cells.split("<td").skip(1).filter_map(|cell| cell.split_once('>'));
            let cells: Vec<String> =
                cells.filter(|(tag, _)| !tag.contains("spark")).map(|(_, text)| text_after(text)).collect();
            let names: Vec<&str> = names.split(' ').collect();
            assert_eq!(names.len(), cells.len(), "{path}: {cells:?}");
            for (name, text) in names.into_iter().zip(cells).filter(|(name, _)| *name != "-") {
                found.push((format!("{path}.{name}"), text));
            }
        }
    }
    found
}

fn at<'v>(json: &'v Value, path: &str) -> &'v Value {
    let step = |value: Option<&'v Value>, key: &str| match key.parse::<usize>() {
        Ok(index) => value?.get(index),
        Err(_) => value?.get(key),
    };
    path.split('.').fold(Some(json), step).unwrap_or_else(|| panic!("{path} is not in the JSON"))
}

/// Whether `text` is a formatted form of `value`.
fn shows(value: f64, text: &str) -> bool {
    let text = text.trim_end_matches(" %");
    let mut ways = vec![ms(value), rate(value), percent(value), percent(value * 100.0), duration(value)];
    ways.extend([format!("{value:.2}"), thousands(value.round() as u64)]);
    ways.iter().any(|way| way == text)
}

/// Compares all marked numbers of a page with its JSON; returns how often each of them is shown.
fn check_page(name: &str, page: &str, json: &Value) -> BTreeMap<String, usize> {
    let mut places = BTreeMap::new();
    for (path, text) in quantities(page) {
        let value = at(json, &path);
        match value.as_f64() {
            Some(value) => {
                assert!(text == "–" || shows(value, &text), "{name}: {path} = {value} is {text:?}")
            }
            None => assert!(value.is_null() && text == "–", "{name}: {path} = {value} is {text:?}"),
        }
        *places.entry(path).or_insert(0) += 1;
    }
    places
}

fn model(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"model\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Checks that the data of the plots agree with the numbers in the text.
fn check_model(name: &str, page: &str, summary: &Summary) {
    let model = model(page);
    let numbers = |path: &str| -> Vec<f64> {
        at(&model, path).as_array().unwrap().iter().map(|value| value.as_f64().unwrap_or(0.0)).collect()
    };
    let curve_at = |path: &str, percentile: f64| {
        let found = numbers(&format!("{path}.percentile")).iter().position(|at| *at == percentile);
        found.map(|at| numbers(&format!("{path}.response_ms"))[at])
    };
    let step_s = at(&model, "over_time.step_s").as_f64().unwrap();
    let (ended, users) = (numbers("over_time.ended"), numbers("over_time.users"));
    let drawn: f64 = ended.iter().map(|per_s| per_s * step_s).sum();
    let of_series: u64 = summary.series.requests.iter().sum();
    let not_drawn = of_series as f64 - drawn;
    let last = summary.series.requests.last().copied().unwrap_or(0);
    assert!(not_drawn.abs() < 0.01 || (not_drawn - last as f64).abs() < 0.01, "{name}: {not_drawn}");
    assert!(users.iter().all(|users| *users <= f64::from(summary.users_max)), "{name}");
    if summary.window.is_none() && summary.total.samples >= 20 {
        assert_eq!(curve_at("curve", 95.0), Some(summary.total.response.p95), "{name}");
        for (at, row) in summary.labels.iter().enumerate().filter(|(_, row)| row.samples >= 20) {
            assert_eq!(curve_at(&format!("labels.{at}.curve"), 95.0), Some(row.response.p95), "{name}");
        }
    }
}

/// Checks a live view of the run, and its exports second by second.
fn check_live(name: &str, summary: &Summary, snapshots: &[Snapshot], is_whole: bool) {
    let mut live = LiveRun::new();
    snapshots.iter().for_each(|snapshot| live.take(snapshot, &[]));
    let total = live.total();
    assert_eq!((total.completed, total.failed), (summary.total.samples, summary.total.errors), "{name}");
    // Summaries are rounded to three decimals.
    let is_same = |found: Option<f64>, value: f64| found.is_some_and(|found| (found - value).abs() < 6e-4);
    assert!(is_same(total.response.quantile_ms(0.95), summary.total.response.p95), "{name}");
    assert!(is_same(total.response.mean_ms(), summary.total.response.mean), "{name}");
    if !is_whole {
        return;
    }
    assert_eq!(total.users, Some(summary.users_max).filter(|users| *users > 0), "{name}");
    let series = &summary.series;
    for (at, second) in series.second.iter().enumerate() {
        let Some(snapshot) = snapshots.iter().find(|snapshot| snapshot.second == *second) else { continue };
        let total = snapshot.total();
        assert_eq!(
            (total.samples, total.errors),
            (series.requests[at], series.errors[at]),
            "{name} {second}"
        );
        assert_eq!(snapshot.users.map(|users| users.at_end), series.users[at], "{name} {second}");
        assert_eq!(total.response.all().quantile_ms(0.95).is_some(), series.response_p95[at].is_some());
    }
}

/// Checks the run as one side of a comparison.
fn check_measured(name: &str, paths: &[PathBuf], part: ResultsPart, summary: &Summary) {
    let reading = RunReading { part, ..RunReading::default() };
    let run = || [measure_run(paths, &reading).unwrap()];
    let comparison = Comparison::new(&run(), &run(), ComparisonSettings::default(), Vec::new()).unwrap();
    let side = &comparison.base.runs[0];
    assert_eq!((side.requests, side.errors), (summary.total.samples, summary.total.errors), "{name}");
    let found = comparison.total.effect(Measure::Throughput).and_then(|effect| effect.base_runs[0]);
    if let Some(per_s) = found {
        assert!(
            (per_s / summary.total.rate_per_s - 1.0).abs() < 2e-3,
            "{name}: {per_s} {}",
            summary.total.rate_per_s
        );
    }
}

/// A recorded run, and the part of it that is measured.
struct Case {
    name: &'static str,
    inputs: Vec<PathBuf>,
    part: ResultsPart,
}

fn cases(dir: &Path) -> Vec<Case> {
    let stall = record(&dir.join("stall"), &open_load(20, 8..12, 0.0), false);
    let closed = record(&dir.join("closed"), &closed_load(12, 1, 25, 0.0), false);
    let case = |name, inputs: &[PathBuf], part| Case { name, inputs: inputs.to_vec(), part };
    let whole = ResultsPart::Whole;
    let jtl = |dir: &Path| RunDir::open(dir.to_owned()).jtl_path();
    let groups = record(&dir.join("groups"), &closed_load(9, 3, 15, 0.02), false);
    let failures = record(&dir.join("failures"), &open_load(15, 0..0, 0.2), false);
    let all_failed = record(&dir.join("all-failed"), &open_load(6, 0..0, 1.1), false);
    let short = record(&dir.join("short"), &closed_load(1, 1, 1, 0.0), true);
    let xml = record(&dir.join("xml"), &closed_load(7, 2, 14, 0.01), true);
    vec![
        case("open", &[record(&dir.join("open"), &open_load(25, 0..0, 0.0), false)], whole),
        case("closed", std::slice::from_ref(&closed), whole),
        case("several groups", &[groups], whole),
        case("failures", &[failures], whole),
        case("all failed", &[all_failed], whole),
        case("stall", std::slice::from_ref(&stall), whole),
        case("stall as CSV", &[jtl(&stall)], whole),
        case("XML", &[jtl(&xml)], whole),
        case("short", &[short], whole),
        case("window", std::slice::from_ref(&stall), ResultsPart::Window(5.0, 15.0)),
        case("window of CSV", &[jtl(&stall)], ResultsPart::Window(2.0, 7.5)),
        case("steady", std::slice::from_ref(&closed), ResultsPart::Steady),
        case("two generators", &[closed, stall], whole),
    ]
}

#[test]
fn equal_names_have_equal_values_in_all_outputs_of_a_run() {
    let temp = tempfile::tempdir().unwrap();
    for Case { name, inputs, part } in cases(temp.path()) {
        let options = ResultsOptions { part, ..ResultsOptions::default() };
        let paths = inputs;
        let inputs: Vec<ResultsInput> = paths.iter().map(ResultsInput::path).collect();
        let again = || ResultsInput::try_clone_all(&inputs).unwrap();
        let summary = summarise_results(again(), &options, &mut |_, _| {}).unwrap();
        let json: Value = serde_json::from_str(&summary.to_json()).unwrap();
        let page = html_report(&summary);
        let places = check_page(name, &page, &json);
        // The headline, tiles, tables and captions show these numbers. The list is not complete; it shows that numbers
        // are marked.
        let wanted =
            [("total.samples", 3), ("total.response.p95", 3), ("total.rate_per_s", 3), ("span_s", 3)];
        for (path, least) in wanted {
            let all_failed = usize::from(name == "all failed");
            assert!(
                places.get(path).is_some_and(|count| count + all_failed >= least),
                "{name}: {path} {places:?}"
            );
        }
        check_model(name, &page, &summary);
        for details in [false, true] {
            let show = RunShow { details, ..RunShow::default() };
            let terminal = end_of_run(&summary, show, &Written::default(), Look::default());
            for text in [thousands(summary.total.samples), rate(summary.total.rate_per_s)] {
                assert!(terminal.contains(&text), "{name}: {text} is not in\n{terminal}");
            }
        }
        // Rate, requests and time of the same line agree.
        let counted = summary.total.samples as f64 / summary.span_s;
        assert!((counted / summary.total.rate_per_s - 1.0).abs() < 1e-3, "{name}");

        let mut snapshots = Vec::new();
        let reading = record_reading(&inputs, &options).unwrap();
        let source = read_snapshots(&again(), &reading, |snapshot| snapshots.push(snapshot)).unwrap();
        assert_eq!(source.wall_anchor_ms, summary.run.wall_anchor_ms, "{name}");
        check_live(name, &summary, &snapshots, part == ResultsPart::Whole);
        check_measured(name, &paths, part, &summary);
        if inputs.len() == 1 && summary.window.is_none() {
            let input = again().remove(0);
            let loads = measure_loads(name, input, &options, false, &mut |_, _| {}).unwrap();
            let point = &loads[0].point;
            let off = |value: f64, other: f64| (value / other - 1.0).abs();
            assert!(off(point.throughput_per_s, summary.total.rate_per_s) < 1e-3, "{name}: {point:?}");
            assert!(
                off(point.response_s.unwrap() * 1e3, summary.total.service.mean) < 1e-3,
                "{name}: {point:?}"
            );
        }
    }
}

#[test]
fn users_accumulate_while_nothing_completes() {
    let temp = tempfile::tempdir().unwrap();
    let dir = record(&temp.path().join("stall"), &open_load(20, 8..12, 0.0), false);
    let of = |path: PathBuf| {
        summarise_results(vec![ResultsInput::path(path)], &ResultsOptions::default(), &mut |_, _| {}).unwrap()
    };
    let summary = of(dir.clone());
    let in_flight = |second: u64| {
        let end = (second + 1) * 1_000_000_000;
        let load = open_load(20, 8..12, 0.0);
        load.requests.iter().filter(|one| one.start_ns < end && end <= one.end_ns).count() as u32
    };
    let at = |summary: &Summary, second: u64| {
        let at = summary.series.second.iter().position(|at| *at == second).unwrap();
        summary.series.users[at]
    };
    for second in 0..20 {
        assert_eq!(at(&summary, second), Some(in_flight(second)), "{second}");
    }
    assert!(in_flight(8) > 40 && in_flight(11) > 200);
    // The result file has a caveat about its missing intended starts. Its users and totals agree with those of the run.
    let file = of(RunDir::open(dir).jtl_path());
    assert_eq!(file.caveats[0].caveat, Caveat::OnlyActualStarts);
    for second in 9..11 {
        let (exact, found) = (in_flight(second), at(&file, second).unwrap());
        assert!(found.abs_diff(exact) <= 5, "{second}: {found} for {exact}");
    }
    let labels =
        |summary: &Summary| -> Vec<String> { summary.labels.iter().map(|row| row.label.clone()).collect() };
    assert_eq!(labels(&file), labels(&summary));
    assert_eq!((file.total.samples, file.total.errors), (summary.total.samples, summary.total.errors));
    assert!((file.total.rate_per_s / summary.total.rate_per_s - 1.0).abs() < 1e-3);
}

#[test]
fn a_comparison_has_the_numbers_of_its_runs() {
    let temp = tempfile::tempdir().unwrap();
    let load = |failing| closed_load(8, 1, 20, failing);
    let paths: Vec<PathBuf> = (0..4)
        .map(|at| {
            let load = if at < 2 { load(0.0) } else { load(0.1 * f64::from(at)) };
            record(&temp.path().join(format!("{at}")), &load, false)
        })
        .collect();
    let measured: Vec<_> = paths
        .iter()
        .map(|path| measure_run(std::slice::from_ref(path), &RunReading::default()).unwrap())
        .collect();
    let settings = ComparisonSettings::default();
    for (base, new) in [(&measured[..1], &measured[2..3]), (&measured[..2], &measured[2..])] {
        let comparison = Comparison::new(base, new, settings, Vec::new()).unwrap();
        let json = serde_json::to_value(&comparison).unwrap();
        let page = comparison_html(&comparison);
        let places = check_page("comparison", &page, &json);
        assert!(places.len() > 20, "{places:?}");
        for (side, path) in [(&comparison.base, &paths[0]), (&comparison.new, &paths[2])] {
            let options = ResultsOptions::default();
            let inputs = vec![ResultsInput::path(path)];
            let summary = summarise_results(inputs, &options, &mut |_, _| {}).unwrap();
            let run = &side.runs[0];
            assert_eq!((run.requests, run.errors), (summary.total.samples, summary.total.errors));
            let values = [
                (Measure::Throughput, summary.total.rate_per_s, 1e-3),
                (Measure::Mean, summary.total.response.mean, 1e-3),
                (Measure::P50, summary.total.response.p50, 5e-3),
                (Measure::P95, summary.total.response.p95, 5e-3),
            ];
            let is_base = side.name == comparison.base.name;
            for (measure, value, tolerance) in values {
                let effect = comparison.total.effect(measure).unwrap();
                let runs = if is_base { &effect.base_runs } else { &effect.new_runs };
                let found = runs[0].unwrap();
                assert!((found / value - 1.0).abs() < tolerance, "{measure:?}: {found} for {value}");
            }
        }
    }
}

#[test]
fn a_capacity_page_has_one_interval_of_the_capacity() {
    let truth = CapacityModel::Queue { servers: 2, service_s: 0.004, latency_s: 0.001 };
    let point = |users: f64, off: f64| {
        let response_s = truth.predict(users, 0.2).response_s * off;
        let throughput_per_s = users / (response_s + 0.2);
        LoadPoint {
            name: format!("{users} users"),
            users,
            throughput_per_s,
            response_s: Some(response_s),
            throughput_error: Some(0.01 * throughput_per_s),
            response_error_s: Some(0.02 * response_s),
            think_s: Some(0.2),
            ..LoadPoint::default()
        }
    };
    let points = [point(20.0, 1.01), point(60.0, 0.98), point(100.0, 1.02), point(160.0, 0.99)];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let fit = CapacityFit::new(&points, &FitSettings::default(), &mut random).unwrap();
    let page = capacity_html(&fit, "Shop");
    let places = check_page("capacity", &page, &fit.to_json());
    let shown = |path: &str| places.get(path).copied().unwrap_or(0);
    assert!(
        shown("headroom.capacity_per_s.value") >= 2 && shown("headroom.capacity_per_s.low") >= 2,
        "{places:?}"
    );
    let capacity = fit.headroom.capacity_per_s.unwrap();
    let model = model(&page);
    let ends = |end: &str| -> Vec<f64> {
        let values = at(&model, &format!("curve.throughput.{end}")).as_array().unwrap().iter();
        values.map(|value| value.as_f64().unwrap()).collect()
    };
    let (value, low, high) = (ends("value"), ends("low"), ends("high"));
    let last = value.len() - 1;
    assert!(
        high[last] <= capacity.high.unwrap_or(f64::INFINITY) * (1.0 + 1e-9),
        "{} {capacity:?}",
        high[last]
    );
    let least = capacity.low.unwrap() * value[last] / capacity.value;
    assert!(low[last] >= least * (1.0 - 1e-9), "{} {capacity:?}", low[last]);
}
