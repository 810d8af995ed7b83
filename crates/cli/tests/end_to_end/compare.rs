//! Tests `compare` and `trend`: changes are found without false alarms, and runs that cannot be compared are refused.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::plans::{get, group, plan};
use crate::program::{Ended, Room};
use crate::servers::Server;

/// Reproducible random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately standard normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

/// Parameters of a generated log.
#[derive(Clone, Copy)]
struct Made {
    seed: u64,
    /// Start of the run, in s since 1970.
    start_s: u64,
    /// Factor of the times of "Search".
    search: f64,
    /// Number of requests per failed request.
    fails: Option<u64>,
    labels: &'static [&'static str],
    users: u64,
    /// Relative standard deviation of times between runs.
    between: f64,
}

const MADE: Made = Made {
    seed: 1,
    start_s: 1_700_000_000,
    search: 1.0,
    fails: None,
    labels: &["Home", "Search", "Book"],
    users: 20,
    between: 0.01,
};

/// Two minutes with about 30 requests per second, whose times are correlated within each second.
fn log(made: &Made) -> String {
    let mut dice = Dice(made.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let of_run = 1.0 + made.between * dice.normal();
    let mut rows = Vec::new();
    let mut wave = 0.0;
    for slot in 0..3_600_u64 {
        if slot % 30 == 0 {
            wave = 0.6 * wave + 0.1 * dice.normal();
        }
        let start = made.start_s * 1_000 + slot * 120_000 / 3_600 + (dice.roll() * 30.0) as u64;
        let label = made.labels[(dice.roll() * made.labels.len() as f64) as usize];
        let factor = if label == "Search" { made.search } else { 1.0 };
        let elapsed = (80.0 * of_run * factor * (wave + 0.4 * dice.normal()).exp()) as u64;
        let fails = made.fails.is_some_and(|one_in| slot % one_in == 0);
        rows.push((start, elapsed, label, slot % made.users + 1, !fails));
    }
    rows.sort_by_key(|(start, elapsed, ..)| start + elapsed);
    let mut text = String::from("timeStamp,elapsed,label,responseCode,threadName,success\n");
    for (start, elapsed, label, user, success) in rows {
        let code = if success { 200 } else { 500 };
        let _ = writeln!(text, "{start},{elapsed},{label},{code},Users 1-{user},{success}");
    }
    text
}

/// Writes the logs of several runs, called `name`-1 and so on.
fn logs(room: &Room, name: &str, runs: u64, made: &Made) -> String {
    let files: Vec<String> = (1..=runs)
        .map(|run| {
            let file = format!("{name}-{run}.jtl");
            let seed = made.seed * 1_000 + run;
            room.file(&file, log(&Made { seed, start_s: made.start_s + run * 86_400, ..*made }));
            file
        })
        .collect();
    files.join(" ")
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stdout))
}

/// The effect on one measure of one label.
fn effect<'v>(comparison: &'v Value, label: &str, measure: &str) -> &'v Value {
    let mut rows = comparison["labels"].as_array().unwrap().iter().chain([&comparison["total"]]);
    let row = rows.rfind(|row| row["label"] == label).unwrap();
    row["effects"].as_array().unwrap().iter().find(|effect| effect["measure"] == measure).unwrap()
}

#[test]
fn alike_runs_show_no_difference() {
    let room = Room::new();
    let base = logs(&room, "before", 5, &MADE);
    let new = logs(&room, "after", 5, &Made { seed: 2, ..MADE });
    let ended = room.run_line(&format!("compare {base} -- {new}")).expect(0);
    assert_snapshot!("alike_runs", ended.stdout);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_slower_label_is_found_and_fails() {
    let room = Room::new();
    let base = logs(&room, "before", 5, &MADE);
    let new = logs(&room, "after", 5, &Made { seed: 2, search: 1.5, fails: Some(20), ..MADE });
    let ended = room.run_line(&format!("compare {base} -- {new}")).expect(8);
    assert_snapshot!("a_slower_label", ended.stdout);
    let ended = room.run_line(&format!("compare --json --fail-on none {base} -- {new}")).expect(0);
    let found = json(&ended);
    assert_eq!(found["version"], 1);
    assert_eq!(effect(&found, "Search", "mean")["verdict"], "worse");
    assert_eq!(effect(&found, "Search", "mean")["method"], "runs");
    assert_eq!(effect(&found, "Total", "error_share")["verdict"], "worse");
    for measure in ["mean", "p50", "p95"] {
        assert!(
            ["alike", "not_seen", "too_little_data"]
                .contains(&effect(&found, "Home", measure)["verdict"].as_str().unwrap()),
            "{measure}: {found}"
        );
        let ratio = &effect(&found, "Search", measure)["ratio"];
        let (low, high) = (ratio["low"].as_f64().unwrap(), ratio["high"].as_f64().unwrap());
        assert!(low < 1.5 && 1.5 < high, "{measure} {ratio}");
    }
    assert_eq!(found["base"]["runs"].as_array().unwrap().len(), 5);
    // With both sides exchanged, the label is faster. Only `--fail-on any` treats this as a failure.
    room.run_line(&format!("compare {new} -- {base}"))
        .expect(0)
        .prints(&["faster: median", "labels are better: Search"]);
    room.run_line(&format!("compare --fail-on any {new} -- {base}")).expect(8);
    // The same seed yields the same result.
    let again = room.run_line(&format!("compare --json --fail-on none {base} -- {new}")).expect(0);
    assert_eq!(json(&again), found);
    let csv = room.run_line(&format!("compare --csv --fail-on none {base} -- {new}")).expect(0).stdout;
    assert_eq!(csv.lines().count(), 1 + 4 * (7 + 2), "{csv}");
    let search: Vec<&str> =
        csv.lines().find(|line| line.starts_with("Search,request,p95,")).unwrap().split(',').collect();
    assert_eq!((search[13], search[14]), ("runs", "worse"));
    assert_eq!(search[15].split(';').count(), 5);
}

/// With a single label, the total has its values.
#[test]
fn a_single_label_is_not_repeated_in_the_headline() {
    let room = Room::new();
    let single = Made { labels: &["Search"], ..MADE };
    let base = logs(&room, "before", 3, &single);
    let new = logs(&room, "after", 3, &Made { seed: 2, search: 2.0, ..single });
    let ended = room.run_line(&format!("compare -o compared.html {base} -- {new}")).expect(8);
    let headline = ended.stdout.lines().find(|line| line.starts_with("After, ")).unwrap();
    assert!(headline.contains("slower: median "), "{headline}");
    assert!(!headline.contains("label") && !headline.contains("Search"), "{headline}");
    // The percentiles of the table are those of each run.
    let caption =
        "The requests of all runs of a side pooled; the percentiles in the tables are means over the runs.";
    assert!(room.read("compared.html").contains(caption));
}

#[test]
fn one_run_each_is_compared_with_a_warning() {
    let room = Room::new();
    room.file("before.jtl", log(&MADE));
    room.file("after.jtl", log(&Made { seed: 2, search: 1.6, ..MADE }));
    let ended = room.run_line("compare before.jtl after.jtl").expect(8);
    assert_snapshot!("one_run_each", ended.stdout);
    let ended = room.run_line("compare --as percent --fail-on none before.jtl after.jtl").expect(0);
    assert_snapshot!("one_run_each_in_percent", ended.stdout);
    let paged = room.run_line("compare --fail-on none -o compared.html before.jtl after.jtl").expect(0);
    paged.reports(&["wrote compared.html"]);
    let page = room.read("compared.html");
    assert!(
        page.starts_with("<!doctype html>") && page.contains("Before and after") && page.contains("slower")
    );
    room.run_line("compare -o no/such/folder/compared.html before.jtl after.jtl")
        .expect(1)
        .reports(&["no/such/folder/compared.html"]);
    let whole = json(&room.run_line("compare --json before.jtl before.jtl").expect(0));
    let part = json(&room.run_line("compare --json --window 30s,90s before.jtl before.jtl").expect(0));
    let requests = |found: &Value| found["total"]["base"]["samples"].as_u64().unwrap();
    assert_eq!(requests(&whole), 3_600);
    assert!((1_700..1_900).contains(&requests(&part)), "{}", requests(&part));
    assert_eq!(effect(&whole, "Total", "mean")["method"], "blocks");
}

/// The same rows as XML.
fn xml(log: &str) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n");
    for row in log.lines().skip(1) {
        let [stamp, elapsed, label, code, thread, success] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let _ = writeln!(
            text,
            "<httpSample t=\"{elapsed}\" ts=\"{stamp}\" s=\"{success}\" lb=\"{label}\" rc=\"{code}\" tn=\"{thread}\"/>"
        );
    }
    text + "</testResults>\n"
}

/// Splits a log into two parts with every second row, each with the header line.
fn parts(log: &str) -> [String; 2] {
    let (names, rows) = log.split_once('\n').unwrap();
    [0, 1].map(|part| {
        let rows = rows.lines().enumerate().filter(|(at, _)| at % 2 == part);
        rows.fold(format!("{names}\n"), |text, (_, row)| text + row + "\n")
    })
}

#[test]
fn results_of_every_format_yield_the_same_comparison() {
    use std::io::Write as _;
    let room = Room::new();
    let (base, new) = (log(&MADE), log(&Made { seed: 2, search: 1.5, ..MADE }));
    room.file("before.jtl", &base);
    room.file("after.jtl", &new);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(base.as_bytes()).unwrap();
    room.file("before.jtl.gz", gzip.finish().unwrap());
    room.file("after.xml.zst", zstd::encode_all(xml(&new).as_bytes(), 1).unwrap());
    let [one, two] = parts(&base);
    room.file("one.jtl", one);
    room.file("two.jtl", two);
    let compared = |line: &str| {
        let found = json(&room.run_line(&format!("compare --json --fail-on none {line}")).expect(0));
        (
            found["total"]["effects"].clone(),
            found["labels"].clone(),
            found["base"]["runs"][0]["users"].clone(),
        )
    };
    let plain = compared("before.jtl after.jtl");
    assert_eq!(plain.2, 20);
    assert_eq!(compared("before.jtl.gz after.xml.zst"), plain);
    // The files of two generators are one run with the users of both.
    let (total, _, users) = compared("--allow-unlike one.jtl,two.jtl after.jtl");
    let mean = |effects: &Value| effects[0]["base"].as_f64().unwrap();
    assert!((mean(&total) / mean(&plain.0) - 1.0).abs() < 1e-9, "{total} {}", plain.0);
    assert_eq!(users, 40, "all twenty names are in each file");
    // Compressed files in a directory are runs, too.
    std::fs::create_dir(room.path().join("nightly")).unwrap();
    for file in ["before.jtl.gz", "after.xml.zst", "one.jtl"] {
        std::fs::copy(room.path().join(file), room.path().join("nightly").join(file)).unwrap();
    }
    let found = json(&room.run_line("trend nightly --json").expect(0));
    assert_eq!(found["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn ramps_are_excluded_from_each_run() {
    let room = Room::new();
    // In the first half minute there are a third of the requests, with four times the response time.
    let ramped = |seed: u64| {
        let rows = (0..3_600_u64).filter(|slot| *slot >= 900 || slot % 3 == 0).map(|slot| {
            let start_ms = MADE.start_s * 1_000 + slot * 100 / 3;
            let elapsed_ms = (60 + (slot * 37 + seed) % 41) * if slot < 900 { 4 } else { 1 };
            format!("{start_ms},{elapsed_ms},Home,200,Users 1-{},true\n", slot % 20 + 1)
        });
        rows.fold("timeStamp,elapsed,label,responseCode,threadName,success\n".to_owned(), |text, row| {
            text + &row
        })
    };
    room.file("before.jtl", ramped(1));
    room.file("after.jtl", ramped(2));
    let mean = |line: &str| {
        let found = json(
            &room.run_line(&format!("compare --json --fail-on none {line} before.jtl after.jtl")).expect(0),
        );
        (effect(&found, "Total", "mean")["base"].as_f64().unwrap(), found["settings"]["steady"].clone())
    };
    let ((whole, is_steady), (window, _)) = (mean(""), mean("--window 30s,120s"));
    assert_eq!(is_steady, false);
    let (steady, is_steady) = mean("--steady auto");
    assert_eq!(is_steady, true);
    assert!(whole > 1.2 * window && (steady / window - 1.0).abs() < 0.02, "{whole} {window} {steady}");
    room.run_line("compare --fail-on none --steady auto before.jtl after.jtl")
        .expect(0)
        .prints(&["Only the steady part of each run is included: before.jtl from 3"]);
    room.run_line("compare --steady auto --window 1s,2s before.jtl after.jtl")
        .expect(2)
        .reports(&["--steady"]);
    room.run_line("trend --steady auto before.jtl after.jtl").expect(0).prints(&["2 runs"]);
}

#[test]
fn skipped_rows_are_reported() {
    let room = Room::new();
    room.file("before.jtl", log(&MADE));
    room.file("after.jtl", log(&Made { seed: 2, ..MADE }) + "what,is,this\nnot a row at all\n");
    room.run_line("compare --fail-on none before.jtl after.jtl")
        .expect(0)
        .reports(&["warning: skipped 2 rows of after.jtl that cannot be read; the first: line 3602"]);
}

#[test]
fn different_runs_are_refused_unless_allowed() {
    let room = Room::new();
    room.file("before.jtl", log(&MADE));
    room.file("labels.jtl", log(&Made { labels: &["Home", "Search", "Pay"], ..MADE }));
    room.file("users.jtl", log(&Made { users: 40, ..MADE }));
    room.run_line("compare before.jtl labels.jtl").expect(3).reports(&[
        "too different",
        "only before: \"Book\"",
        "only after: \"Pay\"",
        "--allow-unlike",
    ]);
    room.run_line("compare before.jtl users.jtl")
        .expect(3)
        .reports(&["users.jtl had 40", "before.jtl had 20"]);
    room.run_line("compare --allow-unlike --fail-on none before.jtl labels.jtl")
        .expect(0)
        .prints(&["Only before: Book", "the labels differ"]);
}

#[test]
fn runs_that_cannot_be_compared_are_reported() {
    let room = Room::new();
    room.file("before.jtl", log(&MADE));
    room.file("empty.jtl", "timeStamp,elapsed,label\n");
    for (line, code, printed) in [
        ("compare before.jtl", 2, "busyhour compare BASE NEW"),
        ("compare before.jtl before.jtl before.jtl", 2, "with --: busyhour compare"),
        (
            "compare before.jtl -- before.jtl -o page.html",
            2,
            "options go before the runs: busyhour compare -o",
        ),
        ("compare before.jtl ./before.jtl -- before.jtl", 2, "given twice"),
        ("compare before.jtl none.jtl", 3, "none.jtl"),
        ("compare before.jtl empty.jtl", 3, "empty.jtl"),
        ("compare before.jtl before.jtl --window 500s,600s", 3, "starts in the window"),
        ("compare before.jtl before.jtl --window 90s,30s", 2, "later than the beginning"),
        ("compare before.jtl before.jtl --margin 5", 2, "5%"),
        ("compare --power 0% before.jtl", 2, "greater than 0"),
        ("trend none", 3, "none"),
        ("compare before.jtl,none.jtl before.jtl", 3, "cannot read none.jtl"),
        ("compare --steady never before.jtl before.jtl", 2, "auto"),
    ] {
        room.run_line(line).expect(code).reports(&[printed]);
    }
}

#[test]
fn the_number_of_runs_is_planned() {
    let room = Room::new();
    let runs = logs(&room, "run", 4, &Made { between: 0.05, ..MADE });
    let ended = room.run_line(&format!("compare --power 5% {runs}")).expect(0);
    assert_snapshot!("runs_needed", ended.stdout);
    let found = json(&room.run_line(&format!("compare --power 5% --json {runs}")).expect(0));
    let needs = found["rows"][0]["needs"].as_array().unwrap();
    let runs = |need: &Value| need["runs"].as_u64().unwrap();
    assert!(needs.chunks(2).all(|pair| runs(&pair[1]) >= runs(&pair[0])), "{found}");
    let one = room.run_line("compare --power 5% run-1.jtl").expect(0);
    one.prints(&["≥ ", "unknown", "the calculation is based on one run"]);
}

#[test]
fn the_run_with_a_regression_is_found() {
    let room = Room::new();
    std::fs::create_dir(room.path().join("nightly")).unwrap();
    for run in 0..30_u64 {
        // Runs are ordered by time, not by name.
        let name = format!("nightly/{:02}.jtl", (run * 7) % 30);
        let search = if run < 20 { 1.0 } else { 1.4 };
        let start_s = MADE.start_s + run * 86_400;
        room.file(&name, log(&Made { seed: 100 + run, start_s, search, ..MADE }));
    }
    let slower = format!("nightly/{:02}.jtl", 20 * 7 % 30);
    let ended = room.run_line("trend nightly --fail-on regression").expect(8);
    let text = ended.stdout.replace(&slower, "[the run that is slower]");
    assert!(text.contains("slower from [the run that is slower] on"), "{text}");
    assert_snapshot!("a_history", text);
    let found = json(&room.run_line("trend nightly --json").expect(0));
    let series = found["series"].as_array().unwrap();
    let of = |label: &str, measure: &str| {
        series.iter().find(|series| series["label"] == label && series["measure"] == measure).unwrap()
    };
    assert_eq!(of("Search", "mean")["changes"].as_array().unwrap().len(), 1);
    assert_eq!(of("Search", "mean")["changes"][0]["at"], 20);
    assert_eq!(of("Search", "mean")["changes"][0]["verdict"], "worse");
    assert_eq!(of("Book", "mean")["changes"].as_array().unwrap().len(), 0);
    assert_eq!(found["runs"][20]["name"], slower);
}

#[test]
fn a_history_that_is_too_short_is_not_judged() {
    let room = Room::new();
    let runs = logs(&room, "run", 6, &MADE);
    let ended = room.run_line(&format!("trend --fail-on regression {runs}")).expect(11);
    assert!(!ended.stdout.contains("No regression"), "{}", ended.stdout);
    ended.prints(&["Not judged: ", " runs are needed, there are 6."]);
    room.run_line(&format!("trend {runs}")).expect(0).prints(&["Not judged: "]);
    room.run_line(&format!("trend --false-alarms 0% {runs}")).expect(2).reports(&["--false-alarms"]);
}

/// Starts a probe that responds after `delay`; returns it with its port.
struct Probe(Child, String);

impl Probe {
    fn start(delay: &str) -> Probe {
        use std::io::{BufRead as _, BufReader};
        let mut child = Command::new(env!("CARGO_BIN_EXE_busyhour"))
            .args(["lab", "server", "probe", "--port", "0", "--until-stdin-closes", "--delay", delay])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().to_owned();
        Probe(child, port)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn runs_of_a_slower_server_are_distinguished_from_runs_of_the_same_server() {
    let room = Room::new();
    let plan: PathBuf = room.file("plan.jmx", plan(&group("8", "40", &get("Home", "/"))));
    let plan = plan.display().to_string();
    let run = |name: &str, probe: &Probe, plan: &str| {
        let property = format!("PORT={}", probe.1);
        room.run(["run", plan, "-J", &property, "--dir", name, "--seed", "1"]).expect(0);
    };
    let (quick, slow) = (Probe::start("20ms"), Probe::start("60ms"));
    for name in ["a1", "a2", "b1", "b2"] {
        run(name, &quick, &plan);
    }
    run("c1", &slow, &plan);
    run("c2", &slow, &plan);
    // A response takes 20 ms by the probe's timer, so that other delays are small in comparison.
    let same = room.run_line("compare --json --fail-on none --margin 50% a1 a2 -- b1 b2").expect(0);
    assert_ne!(effect(&json(&same), "Total", "p50")["verdict"], "worse");
    assert_eq!(effect(&json(&same), "Total", "p50")["method"], "runs");
    // The variation between runs depends on the machine, and so does the verdict, which is tested with generated logs. Here only the
    // measured values are checked.
    let slower = json(&room.run_line("compare --json --fail-on none a1 a2 -- c1 c2").expect(0));
    for label in ["Home", "Total"] {
        let median = effect(&slower, label, "p50");
        assert!(median["new"].as_f64() > median["base"].as_f64(), "{median}");
    }
    let service = room.run_line("compare --json --fail-on none --clock service a1 c1").expect(0);
    assert_eq!(json(&service)["settings"]["clock"], "service");
    // Runs of another plan cannot be compared.
    let other = room.file("other.jmx", crate::plans::plan(&group("8", "40", &get("Home", "/other"))));
    run("d1", &quick, &other.display().to_string());
    room.run_line("compare a1 d1").expect(3).reports(&["the plans differ", "--allow-unlike"]);
}

#[test]
fn runs_of_a_url_on_another_server_are_compared() {
    let (one, other) = (Server::quick(), Server::quick());
    let room = Room::new();
    for (name, server, path) in [("a", &one, "shop"), ("b", &other, "shop"), ("c", &one, "cart")] {
        let url = format!("http://127.0.0.1:{}/{path}", server.port());
        room.run(["run", &url, "--arrivals", "even(200/s) for 200ms", "--dir", name]).expect(0);
    }
    let compared = room.run_line("compare --fail-on none a b").expect(0);
    assert!(compared.all().contains("the servers differ"), "{}", compared.all());
    room.run_line("compare a c").expect(3).reports(&["the plans differ"]);
}
