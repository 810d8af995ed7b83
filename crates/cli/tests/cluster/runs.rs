//! Complete runs on agents.

use std::collections::BTreeSet;

use busyhour_standin::StandIn;

use crate::processes::{Process, Site, code, nats_server, wait_for};

/// A plan with setUp and tearDown groups and users that send their numbers and a line of a file.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
  <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Cluster">
    <boolProp name="TestPlan.tearDown_on_shutdown">true</boolProp>
  </TestPlan>
  <hashTree>
    GROUPS
  </hashTree>
</hashTree></jmeterTestPlan>
"#;

/// A thread group with one request.
fn group(class: &str, gui: &str, users: u32, loops: u32, path: &str, inside: &str) -> String {
    format!(
        r#"<{class} guiclass="{gui}" testclass="{class}" testname="{class}">
      <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">{loops}</stringProp>
      </elementProp>
      <stringProp name="ThreadGroup.num_threads">{users}</stringProp>
      <stringProp name="ThreadGroup.ramp_time">1</stringProp>
    </{class}>
    <hashTree>
      {inside}
      <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{class}">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">${{__P(PORT)}}</stringProp>
        <stringProp name="HTTPSampler.path">{path}</stringProp>
        <stringProp name="HTTPSampler.method">GET</stringProp>
      </HTTPSamplerProxy>
      <hashTree/>
    </hashTree>"#
    )
}

const CSV: &str = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="names">
        <stringProp name="filename">data/names.csv</stringProp>
        <stringProp name="variableNames">name</stringProp>
        <boolProp name="recycle">true</boolProp>
      </CSVDataSet><hashTree/>"#;

/// Sets a property that users of all agents read.
const SETTER: &str = r#"<JSR223PreProcessor guiclass="TestBeanGUI" testclass="JSR223PreProcessor" testname="set">
        <stringProp name="scriptLanguage">groovy</stringProp>
        <stringProp name="script">props.put("token", "t42")</stringProp>
      </JSR223PreProcessor><hashTree/>"#;

fn write_plan(site: &Site) {
    let groups = [
        group("SetupThreadGroup", "SetupThreadGroupGui", 1, 1, "/prepare", SETTER),
        group(
            "ThreadGroup",
            "ThreadGroupGui",
            6,
            4,
            "/user/${__threadNum}/${name}/${__P(token,none)}?drawn=${__Random(1,1000000)}",
            CSV,
        ),
        group("PostThreadGroup", "PostThreadGroupGui", 1, 1, "/clean", ""),
    ];
    std::fs::create_dir(site.dir().join("data")).unwrap();
    std::fs::write(site.dir().join("data/names.csv"), "ada\n").unwrap();
    std::fs::write(site.dir().join("plan.jmx"), PLAN.replace("GROUPS", &groups.join("\n"))).unwrap();
}

/// Users, random choices, files, properties of setUp groups and the order of phases are those of a run on one machine.
#[test]
fn agents_together_send_the_requests_of_one_machine() {
    let Some(site) = Site::start(3) else { return };
    write_plan(&site);
    let mut run = site.run(&["plan.jmx", "-J", &site.port(), "--seed", "7"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert!(run.err().contains("files for the agents: data/names.csv"), "{}", run.err());
    let targets =
        || -> Vec<String> { site.server.take_requests().iter().map(|r| r.request.target()).collect() };
    let on_agents = targets();
    assert_eq!(on_agents.first().map(String::as_str), Some("/prepare"));
    assert_eq!(on_agents.last().map(String::as_str), Some("/clean"));
    assert!(on_agents.iter().any(|target| target.starts_with("/user/6/ada/t42?")), "{on_agents:?}");
    let port = site.port();
    site.execute(&["run", "plan.jmx", "-J", &port, "--seed", "7", "--dir", "local", "--observe", "none"]);
    let sorted = |mut targets: Vec<String>| {
        targets.sort();
        targets
    };
    assert_eq!(sorted(on_agents), sorted(targets()));
    let threads = |dir: &str| -> BTreeSet<String> {
        let rows = std::fs::read_to_string(site.dir().join(dir).join("samples.jtl")).unwrap();
        let column = rows.lines().next().unwrap().split(',').position(|name| name == "threadName").unwrap();
        rows.lines().skip(1).map(|row| row.split(',').nth(column).unwrap().to_owned()).collect()
    };
    assert_eq!(threads("run"), threads("local"));
    // The agents have removed records that were fetched.
    assert!((1..=3).all(|n| std::fs::read_dir(site.dir().join(format!("work{n}"))).unwrap().count() <= 1));
}

/// If a run is stopped in its setUp groups, no main group starts, and none is announced.
#[test]
fn no_start_is_announced_after_a_stop_during_set_up() {
    let Some(site) = Site::start(2) else { return };
    let forever = |text: String| text.replace(r#"loops">1<"#, r#"loops">1000000<"#);
    let groups = [
        forever(group("SetupThreadGroup", "SetupThreadGroupGui", 1, 1, "/prepare", "")),
        group("ThreadGroup", "ThreadGroupGui", 2, 1, "/user", ""),
    ];
    std::fs::write(site.dir().join("plan.jmx"), PLAN.replace("GROUPS", &groups.join("\n"))).unwrap();
    let mut run = site.run(&["plan.jmx", "-J", &site.port()]);
    wait_for("setUp", || (!site.server.take_requests().is_empty()).then_some(()));
    run.signal(rustix::process::Signal::INT);
    assert_eq!(code(&mut run), 4, "{}", run.err());
    assert!(!run.err().contains("start together"), "{}", run.err());
    assert!(!run.err().contains("is missing"), "{}", run.err());
}

/// All figures of the run equal those of the agents' records read together, bit for bit.
#[test]
fn merged_figures_equal_those_of_all_samples() {
    let Some(site) = Site::start(3) else { return };
    let url = site.url();
    let load = [
        "--arrivals",
        "poisson(300/s) for 6s",
        "--threshold",
        "errors < 50%",
        "--threshold",
        "p95 < 10s over 2s",
    ];
    let mut run = site.run(&[&[url.as_str()], &load[..]].concat());
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let cluster = site.json("run/cluster.json");
    let agents = cluster["agents"].as_array().unwrap();
    assert_eq!(
        agents.iter().map(|agent| agent["share"].as_str().unwrap()).collect::<Vec<_>>(),
        ["1/3", "2/3", "3/3"]
    );
    let records: Vec<String> =
        agents.iter().map(|agent| format!("run/{}", agent["record"].as_str().unwrap())).collect();
    let mut arguments = vec!["report", "--json"];
    arguments.extend(records.iter().map(String::as_str));
    let together: serde_json::Value = serde_json::from_str(&site.execute(&arguments)).unwrap();
    let merged = site.json("run/summary.json");
    let received = site.server.take_requests().len() as u64;
    assert_eq!(merged["total"]["samples"].as_u64(), Some(received));
    assert!(received > 1_500, "{received}");
    for key in ["samples", "errors", "response", "service", "bytes", "sent_bytes", "distribution"] {
        assert!(!merged["total"][key].is_null(), "{key}");
        assert_eq!(merged["total"][key], together["total"][key], "{key}");
    }
    // The merged arrivals are judged like those of one generator.
    let arrivals = merged["arrivals"].as_array().unwrap();
    assert_eq!(arrivals.len(), 1, "{arrivals:?}");
    assert_eq!(arrivals[0]["schedule"]["arrivals"].as_u64(), arrivals[0]["observed"]["arrivals"].as_u64());
    let thresholds = merged["thresholds"].as_array().unwrap();
    assert!(thresholds.len() == 2 && thresholds.iter().all(|t| t["passed"] == true), "{thresholds:?}");
    let sum: u64 = agents.iter().map(|agent| agent["samples"].as_u64().unwrap()).sum();
    assert_eq!(sum, received);
}

#[test]
fn a_threshold_on_merged_seconds_stops_all_agents() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run =
        site.run(&[&url, "--rate", "100/s", "--for", "60s", "--fail-if", "hits > 60 for 2s, stop as failed"]);
    assert_eq!(code(&mut run), 7, "{}", run.err());
    let summary = site.json("run/summary.json");
    // Neither agent alone exceeds 60 per second.
    assert!(summary["total"]["samples"].as_u64().unwrap() < 3_000);
    for agent in site.json("run/cluster.json")["agents"].as_array().unwrap() {
        assert_eq!(agent["problem"], "");
    }
}

#[test]
fn agents_are_listed_selected_by_labels_and_refuse_other_runs() {
    let Some(mut site) = Site::start(0) else { return };
    let listed = site.execute(&["cluster", "list", "--on", "hub/controller.json"]);
    assert!(listed.starts_with("No agent answered. Start one on each machine"), "{listed}");
    site.add_agent(1, &["--label", "zone=eu"]);
    site.add_agent(2, &["--label", "zone=us"]);
    let listed = site.execute(&["cluster", "list", "--on", "hub/controller.json", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[1]["labels"]["zone"], "us");
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "20/s", "--for", "60s", "--where", "zone=us"]);
    run.says("1 agents start together");
    let other = [
        "run",
        &url,
        "--on",
        "hub/controller.json",
        "--agents",
        "1",
        "--where",
        "zone=us",
        "--wait-for-agents",
        "1s",
    ];
    let mut refused = std::process::Command::new(env!("CARGO_BIN_EXE_busyhour"));
    let refused = refused.args(other).current_dir(site.dir()).output().unwrap();
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(3), "{message}");
    assert!(message.contains("no agent is available; agent2 works for run-"), "{message}");
    run.signal(rustix::process::Signal::INT);
    assert_eq!(code(&mut run), 4, "{}", run.err());
    assert_eq!(site.json("run/run.json")["outcome"]["end"], "interrupted");
}

/// Each row of a file that is read once is used by one user of one agent.
#[test]
fn rows_of_a_file_are_dealt() {
    let Some(site) = Site::start(3) else { return };
    let once = CSV.replace(r#"name="recycle">true"#, r#"name="recycle">false"#);
    let group = group("ThreadGroup", "ThreadGroupGui", 6, 2, "/row/${name}", &once);
    std::fs::create_dir(site.dir().join("data")).unwrap();
    let rows: Vec<String> = (0..12).map(|row| format!("r{row:02}")).collect();
    std::fs::write(site.dir().join("data/names.csv"), rows.join("\n")).unwrap();
    std::fs::write(site.dir().join("plan.jmx"), PLAN.replace("GROUPS", &group)).unwrap();
    let mut run = site.run(&["plan.jmx", "-J", &site.port()]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert!(
        run.err().contains("the rows of data/names.csv are dealt to the agents in turn"),
        "{}",
        run.err()
    );
    let mut received: Vec<String> = site.server.take_requests().iter().map(|r| r.request.target()).collect();
    received.sort();
    assert_eq!(received, rows.iter().map(|row| format!("/row/{row}")).collect::<Vec<_>>());
    assert!(!site.dir().join("run/csv-rows").exists());
    std::fs::remove_dir_all(site.dir().join("run")).unwrap();
    let again = std::fs::read_to_string(site.dir().join("plan.jmx")).unwrap();
    let again = again.replace(r#"name="recycle">false"#, r#"name="recycle">true"#);
    std::fs::write(site.dir().join("again.jmx"), again).unwrap();
    let mut refused = site.run(&["again.jmx", "-J", &site.port(), "--csv", "unique"]);
    assert_eq!(code(&mut refused), 3, "{}", refused.err());
    assert!(
        refused.err().contains("--csv unique: data/names.csv is read again after its end"),
        "{}",
        refused.err()
    );
}

/// The controller and the agents observe the system behind the plan's hosts, but not the hub's server, to which they are connected.
#[test]
fn the_hub_is_no_part_of_the_observed_system() {
    let Some(site) = Site::start(1) else { return };
    // The server runs in a separate process, because all other processes of this test are connected to the hub.
    let mut server = site.process("server", &["lab", "server", "probe", "--port", "0"]);
    server.says("listening on http://");
    let said = server.out() + &server.err();
    let url = said.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    // The search for further processes is repeated after 2 s.
    let load = ["--arrivals", "even(20/s) for 4s", "--on", "hub/controller.json", "--dir", "run", "-v"];
    let mut run = Process::start(site.dir(), "run", &[&["run", url.as_str()], &load[..]].concat());
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let sources = site.json("run/sources.json").to_string();
    assert!(sources.contains(&format!("process:{}", server.child.id())), "{sources}");
    assert!(!sources.contains("nats-server"), "{sources}");
    assert!(!run.err().contains("nats-server"), "{}", run.err());
    for agent in site.json("run/cluster.json")["agents"].as_array().unwrap() {
        let record = agent["record"].as_str().unwrap();
        let sources = site.json(&format!("run/{record}/sources.json")).to_string();
        assert!(sources.contains("process:") && !sources.contains("nats-server"), "{sources}");
    }
}

/// As with JMeter's remote engines, each agent has all users of the plan, but with different numbers.
#[test]
fn users_can_be_multiplied() {
    let Some(site) = Site::start(2) else { return };
    let group = group("ThreadGroup", "ThreadGroupGui", 3, 2, "/user/${__threadNum}", "");
    std::fs::write(site.dir().join("plan.jmx"), PLAN.replace("GROUPS", &group)).unwrap();
    let mut run = site.run(&["plan.jmx", "-J", &site.port(), "--agents", "2", "--users-per-agent"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let mut received: Vec<String> = site.server.take_requests().iter().map(|r| r.request.target()).collect();
    received.sort();
    let expected: Vec<String> =
        (1..=6).flat_map(|user| [format!("/user/{user}"), format!("/user/{user}")]).collect();
    assert_eq!(received, expected);
    std::fs::remove_dir_all(site.dir().join("run")).unwrap();
    let url = site.url();
    let mut refused =
        site.run(&[&url, "--rate", "10/s", "--for", "1s", "--agents", "2", "--users-per-agent"]);
    assert_eq!(code(&mut refused), 2, "{}", refused.err());
    assert!(refused.err().contains("cannot be multiplied"), "{}", refused.err());
}

/// Records can stay on the agents; the figures then come from the seconds that they sent.
#[test]
fn records_can_stay_on_the_agents() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "100/s", "--for", "5s", "--leave-records"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let left: Vec<String> = site.json("run/cluster.json")["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| {
            assert!(agent["record"].is_null() && agent["problem"] == "", "{agent}");
            agent["left_at"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut arguments = vec!["report", "--json"];
    arguments.extend(left.iter().map(String::as_str));
    let together: serde_json::Value = serde_json::from_str(&site.execute(&arguments)).unwrap();
    let merged = site.json("run/summary.json");
    assert_eq!(merged["total"]["samples"].as_u64(), Some(site.server.take_requests().len() as u64));
    for key in ["samples", "errors", "distribution", "bytes"] {
        assert_eq!(merged["total"][key], together["total"][key], "{key}");
    }
}

/// Agents observe their machines, and their reports show it.
#[test]
fn agents_observe_their_machines() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "4s", "--observe-agents", "os"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    for agent in site.json("run/cluster.json")["agents"].as_array().unwrap() {
        let record = format!("run/{}", agent["record"].as_str().unwrap());
        let summary = site.json(&format!("{record}/summary.json"));
        assert!(!summary["system"].is_null(), "{summary}");
        let page = std::fs::read_to_string(site.dir().join(&record).join("report.html")).unwrap();
        assert!(page.contains("id=\"system\""), "{record}");
    }
}

/// A NATS server of one's own, without authentication, is enough.
#[test]
fn runs_work_over_a_server_without_authentication() {
    let Some(program) = nats_server() else { return };
    let room = tempfile::tempdir().unwrap();
    let ports = room.path().display().to_string();
    let arguments = ["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", &ports];
    let server = Process::of(&program, room.path(), "nats", &arguments);
    let file = room.path().join(format!("nats-server_{}.ports", server.child.id()));
    let url = wait_for("the port of the server", || {
        let ports: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
        Some(ports["nats"][0].as_str()?.to_owned())
    });
    let start = |name: &str, arguments: &[&str]| Process::start(room.path(), name, arguments);
    let mut agent = start("agent", &["cluster", "agent", "--nats", &url, "--cores", "1", "--dir", "work"]);
    agent.says("is waiting for work");
    let tested = StandIn::start_application().unwrap();
    let target = format!("http://127.0.0.1:{}/", tested.port());
    let options = ["--rate", "50/s", "--for", "2s", "--on", &url, "--dir", "run", "--observe", "none"];
    let mut run = start("run", &[&["run", &target], &options[..]].concat());
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(room.path().join("run/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["total"]["samples"].as_u64(), Some(tested.take_requests().len() as u64));
}
