//! Tests open loads for plans and URLs.

use std::collections::BTreeMap;

use busyhour_record::SamplesReader;
use busyhour_sample::ArrivalRecord;

use crate::plans::{element, get, get_with, group, named_group, plan, text};
use crate::program::{Room, rows};
use crate::servers::Server;

/// The recorded arrivals of the run, ordered by intended start.
fn arrivals(room: &Room) -> Vec<ArrivalRecord> {
    let mut all = Vec::new();
    let reader = SamplesReader::open(&room.run_dir().samples_path()).unwrap();
    reader.read_with_arrivals(|_, _| {}, |_, arrival| all.push(*arrival)).unwrap();
    all.sort_by_key(|arrival| arrival.scheduled);
    all
}

#[test]
fn a_url_receives_the_requested_arrivals() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/a?b=1", server.port());
    let ended =
        room.run(["run", &url, "--arrivals", "even(200/s) for 1s, pause 100ms, even(50/s) for 200ms"]);
    ended.expect(0).prints(&["210 sessions", "210 requests", "GET /a?b=1", "none failed"]);
    assert_eq!(server.requests(), 210);
    let counts = room.manifest().outcome.unwrap().arrivals.unwrap();
    assert_eq!((counts.scheduled, counts.begun, counts.dropped, counts.left_waiting), (210, 210, 0, 0));
    let all = arrivals(&room);
    let first = room.manifest().outcome.unwrap().open[0].first_ns;
    let at: Vec<u64> = all.iter().map(|arrival| (arrival.scheduled.0 - first) / 1_000).collect();
    let expected = (0..200).map(|n| n * 5_000).chain((0..10).map(|n| 1_100_000 + n * 20_000));
    assert_eq!(at, expected.collect::<Vec<_>>());
    assert!(all.iter().all(|arrival| arrival.started_at().unwrap() >= arrival.scheduled));
}

#[test]
fn the_same_seed_yields_the_same_schedule_on_any_number_of_cores() {
    let server = Server::quick();
    let url = format!("http://127.0.0.1:{}/?n=${{__Random(1,1000000)}}", server.port());
    let run = |more: &[&str]| {
        let room = Room::new();
        let line = ["run", &url, "-l", "out.jtl", "--arrivals", "poisson(400/s) for 500ms"];
        room.run(line.iter().chain(more)).expect(0);
        let first = room.manifest().outcome.unwrap().open[0].first_ns;
        let at: Vec<u64> = arrivals(&room).iter().map(|arrival| arrival.scheduled.0 - first).collect();
        let mut urls: Vec<String> =
            rows(&room.read("out.jtl")).iter().map(|row| row["URL"].clone()).collect();
        urls.sort();
        (at, urls)
    };
    let one = run(&["--seed", "7", "--cores", "1"]);
    assert_eq!(one, run(&["--seed", "7", "--cores", "2"]));
    assert_ne!(one, run(&["--seed", "8", "--cores", "1"]));
}

#[test]
fn arrivals_apply_to_any_plan_and_are_divided_between_groups_by_weight() {
    let server = Server::quick();
    let room = Room::new();
    let set_up = element(
        "SetupThreadGroup",
        "Before",
        &(text("ThreadGroup.num_threads", "1")
            + &text("ThreadGroup.ramp_time", "0")
            + "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\n\
               <boolProp name=\"LoopController.continue_forever\">false</boolProp>\n\
               <stringProp name=\"LoopController.loops\">1</stringProp></elementProp>\n"),
        &get("prepare", "/prepare"),
    );
    let groups = set_up
        + &named_group("Browse", "50", "-1", &(get("list", "/list") + &get("show", "/show")))
        + &named_group("Buy", "50", "-1", &get("buy", "/buy"));
    room.file("plan.jmx", plan(&groups));
    let port = format!("-JPORT={}", server.port());
    let line = ["run", "plan.jmx", &port, "-l", "out.jtl", "--arrivals", "even(500/s) for 1s"];
    room.run(line).expect(3).reports(&["2 thread groups", "--weight"]);
    room.run(line.iter().chain(&["--weight", "Browse=3"]))
        .expect(3)
        .reports(&["\"Buy\" has no weight", "--weight 'Buy=1'"]);
    assert!(!room.has_run_dir() && server.requests() == 0);
    let ended = room.run(line.iter().chain(&["--weight", "Browse=3", "--weight", "Buy=1"])).expect(0);
    assert!(
        !ended.stdout.contains("closed thread groups"),
        "requests of a setUp group are not part of the load:\n{}",
        ended.stdout
    );
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(&room.read("out.jtl")) {
        *labels.entry(row["label"].clone()).or_default() += 1;
    }
    assert_eq!(labels["prepare"], 1, "setUp groups run once");
    assert_eq!(labels["list"], labels["show"], "a session is one pass through the body");
    assert_eq!(labels["list"] + labels["buy"], 500);
    // Four standard errors of a binomial share of 3/4 are 8 %.
    assert!((335..=415).contains(&labels["list"]), "{labels:?}");
}

#[test]
fn timers_that_set_a_rate_are_refused_or_skipped() {
    let server = Server::quick();
    let room = Room::new();
    for class in
        ["ConstantThroughputTimer", "PreciseThroughputTimer", "kg.apc.jmeter.timers.VariableThroughputTimer"]
    {
        let timer = element(
            class,
            "Rate",
            &(text("throughput", "1") + "<intProp name=\"calcMode\">0</intProp>\n"),
            "",
        );
        room.file("plan.jmx", plan(&group("1", "1", &(timer + &get("get", "/")))));
        let port = format!("-JPORT={}", server.port());
        let line = ["run", "plan.jmx", &port, "--arrivals", "even(100/s) for 200ms"];
        room.run(line).expect(3).reports(&[class, "sets a different rate", "--ignore-rate-timers"]);
        let ended = room.run(line.iter().chain(&["--ignore-rate-timers"])).expect(0);
        ended.prints(&["20 requests", "it is ignored"]);
    }
}

#[test]
fn a_group_can_define_its_arrivals() {
    let server = Server::quick();
    let room = Room::new();
    let below = get_with("get", "/", "", "");
    let open = named_group("Open", "3", "-1", &below).replace(
        "<elementProp name=\"ThreadGroup.main",
        "<stringProp name=\"busyhour.arrivals\">even(${__P(rate,100)}/s) for 300ms</stringProp>\n\
         <stringProp name=\"busyhour.no_free_user\">queue</stringProp>\n<elementProp name=\"ThreadGroup.main",
    );
    room.file("plan.jmx", plan(&(open.clone() + &named_group("Closed", "2", "5", &get("closed", "/c")))));
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", &port, "-Jrate=200", "-l", "out.jtl"]).expect(0);
    let count = |label: &str| rows(&room.read("out.jtl")).iter().filter(|row| row["label"] == label).count();
    assert_eq!((count("get"), count("closed")), (60, 10));
    room.file("plan.jmx", plan(&open));
    room.run(["check", "plan.jmx", "-Jrate=x"]).expect(3).prints(&["even(x/s) for 300ms", "plan.jmx:"]);
}

#[test]
fn a_timer_that_sets_a_rate_is_refused_in_every_group_with_arrivals_from_the_command_line() {
    let room = Room::new();
    let timer = element(
        "ConstantThroughputTimer",
        "Rate",
        &(text("throughput", "1") + "<intProp name=\"calcMode\">0</intProp>\n"),
        "",
    );
    let schedule = text("OpenModelThreadGroup.schedule", "rate(1/s) random_arrivals(1 s)");
    room.file(
        "plan.jmx",
        plan(&element("OpenModelThreadGroup", "Open", &schedule, &(timer.clone() + &get("get", "/")))),
    );
    room.run(["run", "plan.jmx", "--arrivals", "even(9/s) for 1s"])
        .expect(3)
        .reports(&["sets a different rate"]);
    let arrivals = text("busyhour.arrivals", "even(9/s) for 1s");
    room.file("plan.jmx", plan(&element("ThreadGroup", "Open", &arrivals, &(timer + &get("get", "/")))));
    // The option applies only to arrivals from the command line.
    let refused =
        room.run(["run", "plan.jmx"]).expect(3).reports(&["sets a different rate", "remove the arrivals"]);
    assert!(!refused.stderr.contains("--ignore-rate-timers"), "{}", refused.stderr);
}

#[test]
fn a_weight_for_an_unknown_group_is_refused() {
    let room = Room::new();
    room.file("plan.jmx", plan(&(named_group("Buy", "1", "1", &get("get", "/")))));
    let line =
        ["run", "plan.jmx", "--arrivals", "even(9/s) for 1s", "--weight", "Buy=1", "--weight", "Brwose=9"];
    room.run(line).expect(3).reports(&["unknown-group", "\"Brwose\""]);
}

#[test]
fn jmeters_open_model_keeps_its_fixed_count() {
    let server = Server::quick();
    let room = Room::new();
    let schedule = "rate(100/s) random_arrivals(500 ms) pause(100 ms) even_arrivals(200 ms)";
    let open = element(
        "OpenModelThreadGroup",
        "Open",
        &text("OpenModelThreadGroup.schedule", schedule),
        &get("get", "/"),
    );
    room.file("plan.jmx", plan(&open));
    let port = format!("-JPORT={}", server.port());
    let ended = room.run(["run", "plan.jmx", &port]).expect(0);
    ended.prints(&["70 sessions", "70 requests", "fixed number of arrivals"]);
}

#[test]
fn discarded_arrivals_are_counted_and_reported() {
    let gate = crate::servers::Gate::default();
    let server = {
        let gate = gate.clone();
        Server::start(move |stream, _| {
            gate.wait();
            crate::servers::answer(stream)
        })
    };
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let arrivals =
        ["--arrivals", "even(100/s) for 500ms", "--no-free-user", "drop", "-c", "2", "--cores", "1"];
    let running = room.start(["run", url.as_str()].iter().chain(&arrivals));
    // Two users are busy with the first two arrivals until the schedule is over.
    crate::program::wait_for("the end of the schedule", || {
        let all = SamplesReader::open(
            &room.path().join("busyhour-runs").read_dir().ok()?.next()?.ok()?.path().join("samples.bhs"),
        );
        let mut seen = 0;
        all.ok()?.read_with_arrivals(|_, _| {}, |_, _| seen += 1).ok()?;
        (seen == 50).then_some(())
    });
    gate.open();
    running.end().expect(0).prints(&["2 sessions"]);
    let counts = room.manifest().outcome.unwrap().arrivals.unwrap();
    assert_eq!((counts.scheduled, counts.begun, counts.dropped), (50, 2, 48));
}

#[test]
fn few_users_serve_a_slow_load_on_one_core() {
    let server = Server::quick();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let run = |arrivals: &str, cores: &str| {
        let room = Room::new();
        let line =
            ["run", &url, "--arrivals", arrivals, "--no-free-user", "queue", "-c", "1", "--cores", cores];
        let ended = room.run(line).expect(0);
        let rows = std::fs::read_to_string(room.run_dir().jtl_path()).unwrap();
        let mut threads: Vec<_> = rows.lines().skip(1).filter_map(|row| row.split(',').nth(5)).collect();
        threads.sort_unstable();
        threads.dedup();
        (ended, room.manifest().outcome.unwrap(), threads.len())
    };
    for cores in ["1", "2"] {
        let (ended, outcome, threads) = run("even(50/s) for 100ms", cores);
        assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
        let counts = outcome.arrivals.unwrap();
        assert_eq!((counts.scheduled, counts.begun, counts.dropped), (5, 5, 0));
        assert_eq!(threads, 1, "one user serves all arrivals");
    }
    let (fast, _, threads) = run("even(5000/s) for 100ms", "2");
    fast.reports(&["warning: using 2 users instead of 1", "--cores 1"]);
    assert_eq!(threads, 2);
}

#[test]
fn sessions_without_requests_raise_a_caveat() {
    let server = Server::quick();
    let room = Room::new();
    let never = "<stringProp name=\"IfController.condition\">false</stringProp>\
                 <boolProp name=\"IfController.useExpression\">true</boolProp>";
    let body = element("IfController", "Never", never, &get("get", "/"));
    room.file("plan.jmx", plan(&group("1", "1", &body)));
    let port = format!("PORT={}", server.port());
    let line = ["run", "plan.jmx", "-J", &port, "--arrivals", "even(100/s) for 100ms"];
    room.run(line).expect(10).prints(&["at least 10 of 10 sessions ended without a request"]);
}

#[test]
fn bodies_are_built_as_by_curl() {
    let server = Server::quick();
    let room = Room::new();
    room.file("body.txt", "b=2&\r\nc=3\n");
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line =
        ["run", &url, "-d", "a=1", "-d", "@body.txt", "--arrivals", "even(9/s) for 100ms", "--keep-secrets"];
    room.run(line).expect(0).prints(&["POST /"]);
    let plan = std::fs::read_to_string(room.run_dir().plan_path()).unwrap();
    assert!(plan.contains("\"Argument.value\">a=1&amp;b=2&amp;c=3<"), "{plan}");
}

#[test]
fn errors_in_a_schedule_have_a_position() {
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("get", "/"))));
    let cases: [(&[&str], &[&str]); 11] = [
        (&["run", "http://a/", "--arrivals", "even(1/s) for 1s", "--for", "3s"], &["--for has no effect"]),
        (
            &["run", "http://a/", "--arrivals", "poison(1/s) for 1s"],
            &["  poison(1/s) for 1s\n  ^", "did you mean `poisson`?"],
        ),
        (&["run", "http://a/", "--arrivals", "even(1) for 1s"], &["hint:"]),
        (&["run", "http://a/", "--arrivals", "even(1/s)", "--for", "3"], &["`3` has no unit"]),
        (&["run", "http://a/", "--think", "gamma(1s)"], &["constant, uniform, exponential or lognormal"]),
        (
            &["run", "http://a/", "--arrivals", "even(1/s) for 1s", "-c", "5"],
            &["--no-free-user queue or drop"],
        ),
        (&["run", "http://a/", "-d", "@none.txt"], &["-d @none.txt", "No such file"]),
        (&["run", "plan.jmx", "-c", "5"], &["-c is for a URL", "-J NAME=VALUE"]),
        (&["run", "plan.jmx", "--weight", "a=1"], &["--weight needs --arrivals"]),
        (
            &["run", "http://a/", "--arrivals", "even(1/s) for 1s", "--no-free-user", "wait"],
            &["'queue', 'drop' or"],
        ),
        (&["run", "http://a/", "--arrivals", "replay(none.jtl)"], &["replay(none.jtl)", "No such file"]),
    ];
    for (line, says) in cases {
        room.run(line).expect(2).reports(says);
    }
    assert!(!room.has_run_dir());
}

#[test]
fn a_log_is_replayed_with_its_gaps() {
    let server = Server::quick();
    let room = Room::new();
    room.file(
        "log.jtl",
        "timeStamp,elapsed,label,success\n1000,5,a,true\n1100,5,a,true\n1130,5,a,true\n1400,5,a,true\n",
    );
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "--arrivals", "replay(log.jtl) speed 2"]).expect(0);
    let at: Vec<u64> = arrivals(&room).iter().map(|arrival| arrival.scheduled.0 / 1_000).collect();
    let gaps: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [50_000, 15_000, 135_000]);
}

#[test]
fn users_of_a_url_have_think_times_and_the_plan_is_stored_for_jmeter() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/x", server.port());
    let think =
        ["-c", "20", "--think", "exponential(50ms)", "--for", "1s", "-H", "X-A: b", "-d", "k=v", "-X", "PUT"];
    room.run(["run", url.as_str(), "-l", "out.jtl"].iter().chain(&think))
        .expect(0)
        .prints(&["20 users", "PUT /x"]);
    let rows = rows(&room.read("out.jtl"));
    // 20 users at 50 ms each for a second send 400 requests, within five standard deviations, or fewer on a busy machine.
    assert!((100..=500).contains(&rows.len()), "{}", rows.len());
    let plan = std::fs::read_to_string(room.run_dir().plan_path()).unwrap();
    assert!(
        plan.contains("<stringProp name=\"ConstantTimer.delay\">50</stringProp>") && plan.contains("X-A")
    );
}

#[test]
fn percentages_of_throughput_controllers_are_counted_over_sessions() {
    let server = Server::quick();
    let room = Room::new();
    let percent = text("ThroughputController.percentThroughput", "25")
        + "<intProp name=\"ThroughputController.style\">1</intProp>\n\
           <boolProp name=\"ThroughputController.perThread\">true</boolProp>\n";
    let below =
        element("ThroughputController", "Some", &percent, &get("some", "/some")) + &get("all", "/all");
    room.file("plan.jmx", plan(&group("1", "1", &below)));
    let port = format!("-JPORT={}", server.port());
    let line = ["run", "plan.jmx", &port, "-l", "out.jtl", "--arrivals", "even(400/s) for 500ms"];
    room.run(line).expect(0).prints(&["200 sessions", "they are counted over all sessions"]);
    let some = rows(&room.read("out.jtl")).iter().filter(|row| row["label"] == "some").count();
    assert_eq!(some, 50, "a quarter of the sessions");
}
