//! Tests Busyhour's command line: exit codes, flags, files.

use busyhour_standin::StandIn;

use crate::plans::{element, get, get_with, group, plan, text};
use crate::program::{Room, rows};
use crate::servers::Server;

#[test]
fn an_invalid_command_line_exits_with_2() {
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    for (line, printed) in [
        ("run", "<PLAN|URL>"),
        ("run plan.jmx --nonsense", "--nonsense"),
        ("run plan.jmx --seed many", "many"),
        ("run plan.jmx --cores 0", "--cores"),
        ("run plan.jmx -J =x", "without a name"),
        ("run plan.jmx -q missing.properties", "missing.properties"),
        ("run plan.jmx -p missing.properties", "missing.properties"),
        ("check", "<PLAN>"),
        ("check plan.jmx -J =x", "without a name"),
        ("demo --users 0", "--users"),
        ("lab server airline", "shop"),
        ("fly plan.jmx", "fly"),
        ("", "Usage"),
    ] {
        room.run_line(line).expect(2).reports(&[printed]);
    }
    assert!(!room.has_run_dir(), "nothing ran");
}

#[test]
fn failed_samples_do_not_change_the_exit_code() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "2", &get("missing", "/status/404"))));
    let port = server.port().to_string();
    let ended = room
        .run(["run", "plan.jmx", "-J", &format!("PORT={port}"), "--dir", "here", "--seed", "7"])
        .expect(0);
    ended.prints(&["404: Not Found", "here/samples.jtl", "here/report.html", "here/run.log"]);
    for file in [
        "run.json",
        "plan.jmx",
        "samples.jtl",
        "samples.bhs",
        "histograms.hlog",
        "summary.json",
        "report.html",
    ] {
        assert!(room.path().join("here").join(file).is_file(), "{file}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&room.read("here/run.json")).unwrap();
    assert_eq!(
        (manifest["seed"].as_u64(), manifest["properties"]["PORT"].as_str()),
        (Some(7), Some(port.as_str()))
    );
    // A run directory is never overwritten.
    let again = room.run(["run", "plan.jmx", "-J", &format!("PORT={port}"), "--dir", "here"]).expect(1);
    again.reports(&["here already contains a run"]);
    assert_eq!(server.take_requests().len(), 2);
}

#[test]
fn results_are_appended_unless_overwriting_is_requested() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    let run =
        |more: &str| room.run_line(&format!("run plan.jmx -l deep/out.jtl -JPORT={} {more}", server.port()));
    run("").expect(0);
    run("").expect(0);
    assert_eq!(rows(&room.read("deep/out.jtl")).len(), 2);
    run("-o report").expect(2).reports(&["deep/out.jtl is not empty", "-f"]);
    run("-f -o report").expect(0);
    assert_eq!(rows(&room.read("deep/out.jtl")).len(), 1);
    run("-f -o report").expect(0);
    room.file("deep/notes.txt", "not to be lost");
    run("-f -o deep").expect(2).reports(&["deep"]);
    assert_eq!(room.read("deep/notes.txt"), "not to be lost");
}

#[test]
fn unsupported_elements_can_be_skipped() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let steps = element("FTPSampler", "Files", "", "") + &get("a", "/a");
    room.file("plan.jmx", plan(&group("1", "1", &steps)));
    let line = format!("run plan.jmx -JPORT={}", server.port());
    room.run_line(&line).expect(3).reports(&["FTPSampler", "--allow-unsupported"]);
    assert!(server.take_requests().is_empty() && !room.has_run_dir());
    let ended = room.run_line(&format!("{line} --allow-unsupported")).expect(0);
    ended.reports(&["FTPSampler"]).prints(&["Caveats", "FTPSampler", "1 request"]);
    assert_eq!(server.take_requests().len(), 1);
    assert!(room.manifest().notes.iter().any(|note| note.message.contains("FTPSampler")));
}

#[test]
fn properties_come_from_files_and_flags() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let path = "/${__P(a)}/${__P(b)}/${__P(c)}/${__P(d,none)}/${__property(e)}";
    room.file("plan.jmx", plan(&group("1", "1", &get("x", path))));
    room.file("base.properties", "a=base\nb=base\nc=base\nd=base\n");
    room.file("more.properties", "# later files win\nb = more\nc : more\n");
    room.file("last.properties", "c=last\n");
    let port = server.port();
    let line = format!(
        "run plan.jmx -p base.properties -q more.properties -q last.properties -Jd=flag -JPORT={port}"
    );
    room.run_line(&line).expect(0);
    assert_eq!(server.take_requests()[0].request.target(), "/base/more/last/flag/e");
}

#[test]
fn certificates_are_verified_on_request() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let secure = plan(&group("1", "1", &get("a", "/a")));
    room.file(
        "plan.jmx",
        secure.replace(&text("HTTPSampler.protocol", "http"), &text("HTTPSampler.protocol", "https")),
    );
    let line = format!("run plan.jmx -JPORT={} -f -l out.jtl", server.tls_port());
    room.run_line(&line).expect(0);
    assert_eq!(rows(&room.read("out.jtl"))[0]["success"], "true");
    room.run_line(&format!("{line} --verify-tls")).expect(0);
    let row = &rows(&room.read("out.jtl"))[0];
    assert_eq!(row["success"], "false");
    assert!(row["responseCode"].contains("javax.net.ssl.SSL"), "{row:?}");
}

#[test]
fn a_plan_with_many_samplers_is_read_in_linear_time() {
    let room = Room::new();
    let many = (0..3_000).map(|n| get(&format!("request {n}"), "/${__P(x)}")).collect::<String>();
    room.file("plan.jmx", plan(&group("1", "1", &many)));
    // In quadratic time this would take half a minute.
    let ended = room.run_line("check plan.jmx").expect(0);
    assert!(ended.stdout.lines().count() > 3_000);
}

#[test]
fn a_port_in_use_is_reported() {
    let server = Server::quick();
    let room = Room::new();
    let ended = room.run_line(&format!("lab server shop --port {}", server.port())).expect(1);
    ended.reports(&[&format!("127.0.0.1:{}", server.port()), "--port"]);
}

#[test]
fn invalid_numbers_in_a_plan_are_reported() {
    let room = Room::new();
    let timeout = text("HTTPSampler.response_timeout", "soon");
    let timer = element("ConstantTimer", "Pause", &text("ConstantTimer.delay", "1s"), "");
    let steps = timer + &get_with("a", "/", &timeout, "");
    room.file("plan.jmx", plan(&group("ten", "1", &steps)));
    let ended = room.run_line("check plan.jmx").expect(0);
    let ended = ended.prints(&["warning[bad-number]", "\"ten\"", "\"soon\"", "\"1s\""]);
    assert!(ended.stdout.contains("in: Plan > Group > a"), "{}", ended.all());
    room.run_line("run plan.jmx")
        .expect(10)
        .reports(&["\"ten\"", "no request was sent"])
        .prints(&["\"ten\""]);
}

#[test]
fn help_is_printed_to_standard_output() {
    let room = Room::new();
    for line in
        ["--help", "run --help", "check --help", "demo --help", "lab server --help", "help run", "--version"]
    {
        let ended = room.run_line(line).expect(0);
        assert!(ended.stderr.is_empty() && !ended.stdout.is_empty(), "{}", ended.all());
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 110), "{}", ended.stdout);
    }
}

#[test]
fn help_fits_into_80_columns_and_examples_can_be_copied() {
    let room = Room::new();
    let help = room.run(["--help"]).expect(0).stdout;
    let verbs = help.lines().skip_while(|line| *line != "Load:").take_while(|line| *line != "Options:");
    let verbs = verbs.filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    let mut verbs: Vec<String> = verbs.map(str::to_owned).collect();
    let nested = [
        "capacity fit",
        "capacity what-if",
        "capacity solve",
        "capacity simulate",
        "capacity verify",
        "capacity convert",
        "capacity users",
        "capacity plan",
        "capacity find",
        "lab server",
        "lab neighbour",
        "lab neighbour stream",
        "lab neighbour cpu",
        "lab neighbour cache",
        "lab neighbour memory",
        "lab neighbour disk",
        "lab neighbour network",
        "cluster hub",
        "cluster init",
        "cluster agent",
        "cluster list",
        "cluster manifests",
    ];
    verbs.extend(nested.map(str::to_owned));
    assert!(verbs.len() > 10, "{verbs:?}");
    for verb in verbs.iter().filter(|verb| *verb != "help") {
        let help = room.run_line(&format!("{verb} --help")).expect(0).stdout;
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{verb}: {line}");
        }
        let mut examples = help.lines().skip_while(|line| !line.starts_with("Examples")).skip(1).peekable();
        assert!(examples.peek().is_some(), "{verb} has no examples");
        for line in examples.take_while(|line| !line.is_empty() && line.starts_with("  ")) {
            assert!(line.contains("busyhour "), "{verb}: this continues the previous line: {line}");
        }
    }
}

#[test]
fn a_url_without_a_scheme_is_reported() {
    let room = Room::new();
    for target in ["127.0.0.1:8971", "localhost/a", "127.0.0.1:8971 --for 5s"] {
        let url = target.split(' ').next().unwrap();
        let hint = format!("for a URL, add the scheme: http://{url}");
        room.run_line(&format!("run {target}")).expect(2).reports(&[&hint]);
    }
    assert!(!room.has_run_dir());
}
