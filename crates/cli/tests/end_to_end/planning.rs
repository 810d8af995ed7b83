//! Tests `plan-load`, `users` and the probe.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use insta::assert_snapshot;

use crate::program::Room;

#[test]
fn users_and_think_times_are_planned_for_a_rate() {
    let ended = Room::new().run_line("plan-load --rate 20 --response 50ms").expect(0);
    assert_snapshot!(ended.stdout, @r"
    20/s with a response time R of 0.05 s: Q = λR = 1.00 requests in the system

       N     Z s  N/Z /s   λ /s     R s     Q  Q/Z /s  R/(R+Z)   CoV
       2   0.050   40.00  20.00  0.0500  1.00   20.00    0.500  0.61
       3   0.100   30.00  20.00  0.0500  1.00   10.00    0.333  0.74
       6   0.250   24.00  20.00  0.0500  1.00    4.00    0.167  0.87
      11   0.500   22.00  20.00  0.0500  1.00    2.00    0.091  0.93
      21   1.000   21.00  20.00  0.0500  1.00    1.00    0.048  0.96
      51   2.500   20.40  20.00  0.0500  1.00    0.40    0.020  0.98
     101   5.000   20.20  20.00  0.0500  1.00    0.20    0.010  0.99  <- recommended
     201  10.000   20.10  20.00  0.0500  1.00    0.10    0.005  1.00
     501  25.000   20.04  20.00  0.0500  1.00    0.04    0.002  1.00
    1001  50.000   20.02  20.00  0.0500  1.00    0.02    0.001  1.00

    CoV: expected coefficient of variation of the gaps between arrivals (Poisson: 1), with think times
    uniform on [0, 2Z]. Found as the superposition of N independent users with response time R;
    waiting between users is unknown (use --demands).

    Recommended: N = 101 and Z = 5 s, the fewest users for which Q/Z is small.
    R/Z is at most 0.01: a system twice as slow lowers the rate by no more than 1 %; the CoV is within 0.05 of 1.
    More users with a longer Z are also suitable.
    In JMeter: 101 threads, a ramp-up of at least 5 s, and for each request a
      Uniform Random Timer with Random Delay Maximum 10000 ms and Constant Delay Offset 0 ms.
    Over times much longer than Z, counts vary less than those of a Poisson process for every N: their dispersion
    approaches 0.33 (with --think-law exponential: 1).
    For an open load: busyhour run PLAN --arrivals 'poisson(20/s) for 10min'
    A verdict on its arrivals needs 500 arrivals (25 s); 5200 arrivals (260 s) determine the CoV to ± 0.03.
    ");
}

#[test]
fn planned_pairs_equal_the_published_ones() {
    let ended =
        Room::new().run_line("plan-load --rate 20 --demands 0.05,0.04,0.03 --users 200,1000").expect(0);
    assert_snapshot!(ended.stdout, @r"
    20/s on stations with demands of 0.05, 0.04, 0.03 s: the busiest is busy all the time, so the rate
      is approached but not reached; all pairs have the same N/Z

       N     Z s  N/Z /s   λ /s     R s      Q  Q/Z /s  R/(R+Z)         CoV
     200  10.000   20.00  18.64  0.7291  13.59    1.36    0.068  1.00 ±0.01
    1000  50.000   20.00  19.44  1.4402  28.00    0.56    0.028  1.00 ±0.01

    CoV: expected coefficient of variation of the gaps between arrivals (Poisson: 1), with think times
    uniform on [0, 2Z]. Found as the superposition of N independent users where R/(R+Z) is at most 0.01;
    with ±, by simulation of the closed network (exponential service in order of arrival, seed 1),
    and its standard error.

    None of these is close to an open load. Recommended: N = 12000 and Z = 600 s, the fewest users for which Q/Z is small.
    R/Z is at most 0.01: a system twice as slow lowers the rate by no more than 1 %; the CoV is within 0.05 of 1.
    More users with a longer Z are also suitable.
    In JMeter: 12000 threads, a ramp-up of at least 600 s, and for each request a
      Uniform Random Timer with Random Delay Maximum 1200000 ms and Constant Delay Offset 0 ms.
    Over times much longer than Z, counts vary less than those of a Poisson process for every N: their dispersion
    approaches 0.33 (with --think-law exponential: 1).
    For an open load: busyhour run PLAN --arrivals 'poisson(20/s) for 10min'
    A verdict on its arrivals needs 500 arrivals (25 s); 5200 arrivals (260 s) determine the CoV to ± 0.03.
    ");
}

#[test]
fn a_plan_can_be_json_and_depends_only_on_the_seed() {
    let room = Room::new();
    let plan = |seed: &str| {
        let line = format!(
            "plan-load --rate 20 --demands 0.04 --think 2 --think-law exponential --json --seed {seed}"
        );
        let ended = room.run_line(&line).expect(0);
        serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap()
    };
    let one = plan("1");
    assert_eq!(one["version"], 1);
    assert_eq!(one["pairs"][0]["users"], 44);
    assert_eq!(one["pairs"][0]["gap_cov_method"], "simulation");
    assert_eq!(one, plan("1"));
    assert_ne!(one["pairs"][0]["gap_cov"], plan("2")["pairs"][0]["gap_cov"]);
}

#[test]
fn infeasible_rates_are_refused_with_a_hint() {
    let room = Room::new();
    for (line, printed) in [
        ("plan-load --rate 20", "--response"),
        ("plan-load --rate 20/year --response 1", "not a unit of a rate"),
        ("plan-load --rate 0 --response 1", "the rate must be greater than 0"),
        ("plan-load --rate 30 --demands 0.05", "use --rate 20.00 or less"),
        ("plan-load --rate 100 --response 0.5 --users 10", "use --users 50 or more"),
        ("plan-load --rate 20 --response 1 --demands 1", "cannot be used with"),
        ("plan-load --rate 1000000 --response 1 --think 100", "an open load needs no users"),
    ] {
        room.run_line(line).expect(2).reports(&[printed]);
    }
}

const MAP: &str = "[[page]]\nname = \"Home\"\nobjects = [\"home\", \"logo\"]\n[[page]]\nname = \"Search\"\nobjects = [\"search\"]\n";

/// A log with ten pages of two kinds in 10 s.
fn log() -> String {
    let mut text = String::from("timeStamp,elapsed,label,responseCode,success,threadName\n");
    for page in 0..10 {
        let at_ms = 1_600_000_000_000_u64 + page * 1_000;
        if page % 2 == 0 {
            text += &format!("{at_ms},40,home,200,true,T 1-1\n{},60,logo,200,true,T 1-1\n", at_ms + 40);
        } else {
            text += &format!("{at_ms},1000,search,200,true,T 1-1\n");
        }
    }
    text
}

#[test]
fn real_users_are_estimated() {
    let room = Room::new();
    room.file("map.toml", MAP);
    room.file("run.jtl", log());
    let ended = room.run_line("users --jtl run.jtl run.jtl --think 9.5,30 --pages map.toml").expect(0);
    assert_snapshot!(ended.stdout, @r"
    Real users N' = λ(R + Z') that generate the measured load, λ in pages/s
    Pages per object: counted in the log; each object of a page with n objects counts as 1/n page

    R of an object, as equation (15) was published:

    log      λ obj/s  pages/s  R obj ms  Z'=9.5 s  Z'=30 s
    run.jtl     1.50    1.000    366.67      9.87    30.37
    run.jtl     1.50    1.000    366.67      9.87    30.37

    R of a page, the sum over its objects:

    log      λ obj/s  pages/s  R page ms  Z'=9.5 s  Z'=30 s
    run.jtl     1.50    1.000     550.00     10.05    30.55
    run.jtl     1.50    1.000     550.00     10.05    30.55
    ");
    let ended =
        room.run_line("users --jtl run.jtl --think 9.5 --pages map.toml --json --window 0,4.5").expect(0);
    assert_snapshot!(ended.stdout, @r#"
    {
      "version": 1,
      "rounded_as_published": false,
      "window_s": [
        0.0,
        4.5
      ],
      "logs": [
        {
          "log": "run.jtl",
          "requests": 8,
          "objects_per_s": 1.951219512195122,
          "object_response_s": 0.2875,
          "pages_per_object": 0.625,
          "pages_per_s": 1.2195121951219512,
          "page_response_s": 0.45999999999999996,
          "real_users": [
            {
              "think_s": 9.5,
              "users_as_published": 11.935975609756097,
              "users": 12.146341463414634
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn real_users_are_not_estimated_without_data() {
    let room = Room::new();
    room.file("map.toml", format!("{MAP}[[page]]\nname = \"Help\"\nobjects = [\"help\"]\n"));
    room.file("run.jtl", log());
    room.file("half.toml", "[[page]]\nname = \"Home\"\nobjects = [\"home\"]\n");
    room.file("rubbish.toml", "pages are\n");
    room.run_line("users --jtl run.jtl --pages map.toml --think 10")
        .expect(0)
        .reports(&["the log has no requests for help"])
        .prints(&["unknown"]);
    room.run_line("users --jtl run.jtl --pages half.toml").expect(1).reports(&[
        "run.jtl",
        "\"logo\", \"search\"",
        "ignore",
    ]);
    room.run_line("users --jtl none.jtl --pages map.toml").expect(1).reports(&["none.jtl"]);
    room.run_line("users --jtl run.jtl --pages none.toml").expect(2).reports(&["none.toml"]);
    room.run_line("users --jtl run.jtl --pages rubbish.toml").expect(2).reports(&[
        "rubbish.toml",
        "line 1",
        "[[page]]",
    ]);
    room.run_line("users --jtl run.jtl --pages map.toml --window 100,105")
        .expect(1)
        .reports(&["no request of any page"]);
}

#[test]
fn run_1830_has_the_published_users() {
    let log = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/1830_AggRpt.csv");
    if !log.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: the published log is missing");
        return;
    }
    let room = Room::new();
    let page = |name: &str, objects: &str, visits: u32| {
        format!("[[page]]\nname = \"{name}\"\nobjects = [{objects}]\nvisits = {visits}\n")
    };
    room.file(
        "map.toml",
        page("Home", "\"010_Home\", \"012_Home_jpg\"", 4)
            + &page("Department", "\"020_Dept\", \"022_Dept_jpg\"", 2)
            + &page("Demographics", "\"030_Demographics\"", 2)
            + &page("Statistics", "\"040_Statistics\"", 1),
    );
    std::os::unix::fs::symlink(log, room.path().join("1830.csv")).unwrap();
    let ended = room
        .run_line("users --jtl 1830.csv --pages map.toml --window-for 120,1200 --compat-rounding")
        .expect(0);
    assert_snapshot!(ended.stdout, @r"
    Real users N' = λ(R + Z') that generate the measured load, λ in pages/s; λ and R rounded to two digits
    Pages per object: from the visits of the script

    R of an object, as equation (15) was published:

    log       λ obj/s  pages/s  R obj ms  Z'=10 s  Z'=20 s  Z'=30 s  Z'=40 s  Z'=50 s
    1830.csv    31.73   19.038     52.74   191.38   381.76   572.14   762.52   952.90

    R of a page, the sum over its objects:

    log       λ obj/s  pages/s  R page ms  Z'=10 s  Z'=20 s  Z'=30 s  Z'=40 s  Z'=50 s
    1830.csv    31.73   19.038      86.95   192.04   382.42   572.80   763.18   953.56
    ");
}

/// Starts a probe; returns it with its address and its output.
pub(crate) fn start_probe(room: &Room, how: &[&str]) -> (Child, String, BufReader<ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(["lab", "server", "probe", "--port", "0", "--stamps", "stamps.txt"])
        .args(how)
        .current_dir(room.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    (child, address, out)
}

#[test]
fn the_probe_prints_statistics() {
    let room = Room::new();
    let (mut child, address, mut out) = start_probe(&room, &["--until-stdin-closes"]);
    for _ in 0..4 {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    drop(child.stdin.take());
    let mut printed = String::new();
    out.read_to_string(&mut printed).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        printed.starts_with("4 requests on 4 connections in ") && printed.contains("CoV of gaps"),
        "{printed}"
    );
    let stamps = room.read("stamps.txt");
    assert!(stamps.starts_with("# busyhour probe stamps version 1\n"), "{stamps}");
    assert_eq!(stamps.lines().filter(|line| !line.starts_with('#')).count(), 4, "{stamps}");
}

#[test]
fn a_signal_ends_the_probe_without_loss_of_data() {
    let room = Room::new();
    let (mut child, _, mut out) = start_probe(&room, &[]);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .unwrap();
    let mut printed = String::new();
    out.read_to_string(&mut printed).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(printed.starts_with("0 requests"), "{printed}");
    assert!(room.read("stamps.txt").contains("# requests 0\n"));
}

#[test]
fn options_of_the_other_server_are_refused() {
    let room = Room::new();
    room.run_line("lab server probe --port 0 --full").expect(2).reports(&["not for the probe"]);
    room.run_line("lab server --port 0 --stall 2s@10s").expect(2).reports(&["lab server probe"]);
    room.run_line("lab server probe --port 0 --stall 2s").expect(2).reports(&["LENGTH@AFTER"]);
    room.run_line("lab server probe --port 0 --stall 5s@1s --stall 1s@2s")
        .expect(2)
        .reports(&["begins before"]);
    room.run_line("lab server probe --port 0 --stamps none/x").expect(1).reports(&["cannot write none/x"]);
}
