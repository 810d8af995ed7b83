//! Tests that a run that did not complete does not exit with 0.

use busyhour_sample::RunEnd;

use crate::plans::{element, get, group, plan, text};
use crate::program::Room;
use crate::servers::{ClosedPort, Server};

fn port(server: &Server) -> String {
    format!("-JPORT={}", server.port())
}

/// A CSV Data Set Config; `filename` may contain variables.
fn data(filename: &str) -> String {
    let properties = text("filename", filename)
        + &text("variableNames", "a")
        + &text("delimiter", ",")
        + &text("shareMode", "shareMode.all");
    element("CSVDataSet", "Data", &properties, "")
}

#[test]
fn an_invalid_number_of_users_starts_none_and_is_reported_with_its_position() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("${__P(USERS,2)}", "1", &get("a", "/"))));
    let run = |more: &str| room.run(["run", "plan.jmx", more, &port(&server)]);
    run("-JUSERS=abc").expect(10).reports(&["${__P(USERS,2)}", "\"abc\"", "not a number", "plan.jmx:"]);
    room.file("plan.jmx", plan(&group("${users}", "1", &get("a", "/"))));
    run("-Jx=").expect(10).reports(&["\"${users}\"", "not a number"]);
    // A word as the number of users in the group itself is the same error.
    room.file("plan.jmx", plan(&group("THREADS_COUNT", "1", &get("a", "/"))));
    run("-Jx=").expect(10).reports(&["\"THREADS_COUNT\"", "not a number", "placeholder"]);
    room.run_line("check plan.jmx").expect(0).prints(&["warning[bad-number]", "placeholder"]);
    assert_eq!(server.requests(), 0);
    room.run(["run", "plan.jmx", "-J", "USERS"]).expect(2).reports(&["-J USERS=VALUE"]);
}

#[test]
fn a_run_without_requests_has_its_own_exit_code() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("0", "1", &get("a", "/"))));
    room.run(["run", "plan.jmx", &port(&server)]).expect(10).reports(&["no request was sent"]);
    let never = "<boolProp name=\"IfController.useExpression\">true</boolProp>\n".to_owned()
        + &text("IfController.condition", "false");
    room.file("plan.jmx", plan(&group("1", "1", &element("IfController", "Never", &never, &get("a", "/")))));
    room.run(["run", "plan.jmx", &port(&server)]).expect(10).reports(&["no request was sent", "run.log"]);
}

#[test]
fn a_missing_data_file_given_by_a_property_is_reported() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &(data("${__P(DATA,nowhere)}/users.csv") + &get("a", "/")))));
    let warned = ["nowhere/users.csv cannot be read", "${__P(DATA,nowhere)}/users.csv", "plan.jmx:"];
    room.run(["check", "plan.jmx"]).expect(0).prints(&warned);
    room.run(["run", "plan.jmx", &port(&server)])
        .expect(4)
        .reports(&warned)
        .reports(&["stopped by an error"]);
    assert_eq!(server.requests(), 0);
    std::fs::create_dir(room.path().join("here")).unwrap();
    room.file("here/users.csv", "1\n");
    room.run(["check", "plan.jmx", "-JDATA=here"]).expect(0);
    room.run(["run", "plan.jmx", "-JDATA=here", &port(&server)]).expect(0);
    assert_eq!(server.requests(), 1);
}

#[test]
fn a_stop_by_an_error_fails_and_a_planned_stop_succeeds() {
    let room = Room::new();
    let nobody = ClosedPort::new();
    let on_error = |action: &str| {
        group("1", "3", &get("a", "/")).replace(
            &text("ThreadGroup.on_sample_error", "continue"),
            &text("ThreadGroup.on_sample_error", action),
        )
    };
    room.file("plan.jmx", plan(&on_error("stoptest")));
    let line = ["run", "plan.jmx", "--dir", "stopped", &format!("-JPORT={}", nobody.port())];
    room.run(line).expect(4).reports(&["stopped by an error", "\"a\" failed"]);
    let outcome = busyhour_record::RunDir::open(room.path().join("stopped")).read_manifest().unwrap().outcome;
    assert_eq!(outcome.unwrap().end, RunEnd::StoppedByError);
    // JMeter's Flow Control Action.
    let server = Server::quick();
    let stop = "<intProp name=\"ActionProcessor.action\">2</intProp>\n".to_owned()
        + "<intProp name=\"ActionProcessor.target\">2</intProp>\n"
        + &text("ActionProcessor.duration", "0");
    room.file(
        "plan.jmx",
        plan(&group("1", "-1", &(get("a", "/") + &element("TestAction", "Stop", &stop, "")))),
    );
    room.run(["run", "plan.jmx", &port(&server)]).expect(0);
}

#[test]
fn an_unused_property_raises_a_warning() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("${__P(USERS,1)}", "1", &get("a", "/"))));
    let ended = room.run(["run", "plan.jmx", "-JUSER=3", "-JUSERS=2", &port(&server)]).expect(0);
    // The warning before the run lists the properties that the plan reads.
    let before =
        "warning: the plan does not read the property USER of -J\n  hint: the plan reads HOST, PORT, USERS\n";
    assert!(ended.stderr.starts_with(before), "{}", ended.all());
    assert_eq!(ended.stderr.matches("of -J").count(), 1, "{}", ended.all());
    // A script can read any property, so the warning is printed after the run.
    let script = element(
        "JSR223PreProcessor",
        "Look",
        &(text("scriptLanguage", "groovy") + &text("script", "props.get('SEEN')")),
        "",
    );
    room.file("plan.jmx", plan(&group("1", "1", &(script + &get("a", "/")))));
    let ended = room.run(["run", "plan.jmx", "-JUSER=3", "-JSEEN=2", &port(&server)]).expect(0);
    let reported: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("of -J")).collect();
    assert_eq!(reported, ["warning: the property USER of -J was never used"], "{}", ended.all());
}

#[test]
fn a_thread_group_without_a_main_controller_is_refused() {
    let room = Room::new();
    let group = element("ThreadGroup", "Old", &text("ThreadGroup.num_threads", "1"), &get("a", "/"));
    room.file("plan.jmx", plan(&group));
    room.run(["check", "plan.jmx"]).expect(3).prints(&["no-main-controller", "plan.jmx:"]);
}
