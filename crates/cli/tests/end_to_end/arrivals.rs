//! Tests `busyhour arrivals`: the same tables for every format of a log, and errors with their position.

use std::fmt::Write as _;
use std::path::Path;

use insta::assert_snapshot;

use crate::program::Room;

/// Rows of a log (start, elapsed, label, thread) in the order of their ends, with arrivals every 50 ms on average.
fn rows() -> Vec<(u64, u64, &'static str, u32)> {
    let mut state = 11_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut at = 1_700_000_000_000;
    let mut rows: Vec<_> = (0..600)
        .map(|_| {
            at += random(101);
            let label = if random(3) == 0 { "Search, \"all\"" } else { "Home" };
            (at, random(120) + 3, label, random(20) as u32 + 1)
        })
        .collect();
    rows.sort_by_key(|(start, elapsed, ..)| start + elapsed);
    rows
}

fn ten_columns() -> String {
    let line = |(start, elapsed, label, thread): (u64, u64, &str, u32)| {
        let label =
            if label.contains('"') { format!("\"{}\"", label.replace('"', "\"\"")) } else { label.into() };
        let latency = elapsed / 2;
        format!("{start},{elapsed},{label},200,OK,Users 1-{thread},text,true,{},{latency}\n", elapsed * 10)
    };
    rows().into_iter().map(line).collect()
}

fn xml() -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n");
    for (start, elapsed, label, thread) in rows() {
        let label = label.replace('"', "&quot;");
        let _ = writeln!(
            out,
            "<httpSample t=\"{elapsed}\" lt=\"{}\" ts=\"{start}\" s=\"true\" lb=\"{label}\" rc=\"200\" rm=\"OK\" \
             tn=\"Users 1-{thread}\" by=\"{}\"><sample t=\"1\" ts=\"{start}\" lb=\"hop\"/></httpSample>",
            elapsed / 2,
            elapsed * 10
        );
    }
    out + "</testResults>\n"
}

#[test]
fn every_format_yields_the_same_tables() {
    let room = Room::new();
    room.file("plain", ten_columns());
    let names =
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency\n";
    room.file("named", names.to_owned() + &ten_columns());
    room.file("xml", xml());
    let table = |log: &str| {
        let ended = room.run([
            "--quiet",
            "arrivals",
            "--csv",
            "--by-threads",
            "1,2,...,20",
            "--histogram",
            "10",
            log,
        ]);
        let ended = ended.expect(0);
        assert_eq!(ended.stderr, "");
        ended.stdout.replace(&format!("{log},"), "")
    };
    let expected = table("plain");
    assert_eq!(expected.lines().filter(|line| line.starts_with("by-threads,")).count(), 20);
    assert_eq!(table("named"), expected);
    assert_eq!(table("xml"), expected);
    let text = room.run(["arrivals", "--window", "1,21", "--compat-percentiles", "plain"]).expect(0).stdout;
    assert_snapshot!(text, @r#"
    plain: Arrivals: 404: no verdict below 500
      CSV without names, 10 columns, 404 of 600 samples, from 1 s to 21 s after the first start

    Inter-arrival time, ms
    label            n    tps  median    mean    sdev    cv  p90  p95  p99  min   max
    Home           270  13.55      66   73.75   58.06  0.79  142  172  254    0   509
    Search, "all"  132   6.66     100  149.44  149.22  1.00  286  371  766    0  1217
    Total          403  20.20      51   49.46   29.02  0.59   87   94   99    0   100

    Response time from the actual start (elapsed), ms
    label            n    tps  median   mean   sdev    vmr  p90  p95  p99  min  max  %error  KB/sec
    Home           271  13.60      56  58.25  37.66  24.34  110  117  122    3  122    0.00    7.92
    Search, "all"  133   6.71      61  60.42  33.34  18.39  108  116  122    3  122    0.00    4.05
    Total          404  20.25      57  58.97  36.26  22.30  110  117  122    3  122    0.00   11.94

    Size, bytes
    label            n    tps  median    mean    sdev     vmr   p90   p95   p99  min   max
    Home           271  13.60     560  582.55  376.55  243.40  1100  1170  1220   30  1220
    Search, "all"  133   6.71     610  604.21  333.37  183.94  1080  1160  1220   30  1220
    Total          404  20.25     570  589.68  362.63  223.01  1100  1170  1220   30  1220

    Time to first byte, ms
    label            n    tps  median   mean   sdev    vmr  p90  p95  p99  min  max
    Home           271  13.60      28  28.89  18.84  12.29   55   58   61    1   61
    Search, "all"  133   6.71      30  29.94  16.69   9.30   54   58   61    1   61
    Total          404  20.25      28  29.23  18.15  11.27   55   58   61    1   61

    Arrivals per cell of time: mean count and index of dispersion
    cell     cells    mean  dispersion  95 % of Poisson
    0.001 s  19938  0.0202        0.99     0.98 to 1.02
    0.01 s    1993  0.2022        0.89     0.94 to 1.06
    0.1 s      199    2.03        0.45     0.81 to 1.21
    1 s         19   19.95        0.19     0.46 to 1.75

    quantiles: the web-generator-toolkit's rule
    "#);
}

#[test]
fn several_logs_have_a_line_each_and_unreadable_ones_are_reported() {
    let room = Room::new();
    room.file("a.jtl", ten_columns());
    room.file("b.jtl", xml());
    room.file("page.html", "<html><body/></html>");
    room.file("words.csv", "these,are,words\n");
    room.file("bad.csv", "timeStamp,elapsed,label\n".to_owned() + &"1,soon,a\n".repeat(9));
    std::fs::create_dir(room.path().join("empty")).unwrap();
    let logs = ["a.jtl", "page.html", "words.csv", "bad.csv", "empty", "gone.jtl", "b.jtl"];
    let ended = room.run(["report", "--arrivals"].into_iter().chain(logs)).expect(3);
    assert_snapshot!(ended.stderr, @r#"
    error[log]: the XML is not a JTL: its root element is <html> instead of <testResults>
      --> page.html
    error[log]: line 1, column 1: neither JMeter's column names nor a row that starts with a time stamp
      --> words.csv
      hint: add a first line with the column names, as JMeter does with jmeter.save.saveservice.print_field_names=true; `busyhour report`, `compare` and `trend` also take the properties jmeter.save.saveservice.* with which the file was written, as -J NAME=VALUE or -q FILE
    error[log]: 9 of 9 rows cannot be read; the first: line 2, column elapsed: "soon" is not a duration in ms
      --> bad.csv
      hint: check that the file is a JTL of a single run and that its column names are correct
    error[log]: the directory contains no samples.bhs, so it is not a run directory
      --> empty
      hint: specify a run directory, or the result files in this directory, for example DIRECTORY/*.jtl
    error[log]: cannot read the file
      --> gone.jtl
      cause: No such file or directory (os error 2)
    "#);
    let lines = |name: &str| ended.stdout.lines().filter(|line| line.starts_with(name)).count();
    // The one-line summary, and a row in each of the four tables.
    assert_eq!((lines("a.jtl"), lines("b.jtl"), lines("page")), (5, 5, 0));
    room.run_line("arrivals words.csv").expect(3);
    room.run_line("arrivals a.jtl --label Gone")
        .expect(3)
        .reports(&["no sample has the label \"Gone\"", "Home"]);
    room.run_line("arrivals a.jtl --window 100,105").expect(3).reports(&["no sample starts in the window"]);
    room.run_line("arrivals a.jtl --window 5").expect(2).reports(&["FROM,TO"]);
    room.run_line("arrivals a.jtl --by-threads 1,...,5")
        .expect(2)
        .reports(&["expected two sizes before the dots"]);
    room.run_line("arrivals").expect(2);
}

#[test]
fn a_log_that_was_cut_off_is_read_with_a_warning() {
    let room = Room::new();
    let mut text = ten_columns();
    text.insert_str(0, "17000000,not a row\n");
    text.truncate(text.len() - 5);
    // The first row determines the columns, so it must be complete.
    let text = ten_columns().lines().next().unwrap_or_default().to_owned() + "\n" + &text;
    room.file("cut.jtl", text);
    let ended = room.run_line("arrivals --json cut.jtl").expect(0);
    let ended = ended.reports(&["skipped 1 row that cannot be read", "line 2", "the log ends within a row"]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let log = &json["logs"][0];
    assert_eq!((&log["bad_rows"], &log["cut_off"], &log["selected"]), (&1.into(), &true.into(), &600.into()));
    assert!(log["arrivals"][0]["line"].as_str().is_some_and(|line| line.starts_with("Arrivals: ")));
}

#[test]
fn plots_are_written_to_separate_files() {
    let room = Room::new();
    room.file("log.jtl", ten_columns());
    let line = "arrivals log.jtl --by-threads 1,5,10,20 --plot plots/new";
    room.run_line(line).expect(0).reports(&["wrote plots/new/arrivals.html"]);
    let svg = room.read("plots/new/log-cov-by-threads.svg");
    assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"));
    assert!(room.read("plots/new/arrivals.html").contains("Gaps between arrivals"));
    room.file("taken", "");
    room.run_line("arrivals log.jtl --plot taken").expect(1).reports(&["cannot write taken"]);
}

#[test]
fn the_tables_of_the_published_log_equal_the_published_ones() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let Ok(expected) = std::fs::read_to_string(shared.join("oracles/wgt/expected_1830.txt")) else {
        // Visible with `cargo test -- --nocapture`, and when the test fails.
        let words = b"SKIPPED: the published log and its tables are missing\n";
        std::io::Write::write_all(&mut std::io::stderr(), words).unwrap();
        return;
    };
    let log = shared.join("data/1830_AggRpt.csv").display().to_string();
    let sizes = "1,2,...,10,15,...,50,75,...,200";
    let arguments =
        ["arrivals", "--window-for", "120,1200", "--compat-percentiles", "--by-threads", sizes, &log];
    let ended = Room::new().run(arguments).expect(0);
    let printed: Vec<String> =
        ended.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(",")).collect();
    let rows = expected.lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        assert!(printed.iter().any(|line| line == row), "{row:?} is not in\n{}", ended.stdout);
    }
}
