//! Each line of the threat model in docs/cluster.md.

use std::process::Command;

use crate::processes::{Site, code};

/// Executes `busyhour`; returns the exit code and the messages.
fn fails(site: &Site, arguments: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(arguments)
        .current_dir(site.dir())
        .output()
        .unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn without_an_invitation_nobody_gets_in() {
    let Some(site) = Site::start(1) else { return };
    let url = site.json("hub/agent.json")["url"].as_str().unwrap().to_owned();
    // Without the certificate authority of the hub, and without a key.
    let (exit, message) = fails(&site, &["cluster", "list", "--on", &url]);
    assert_eq!(exit, Some(1), "{message}");
    assert!(message.contains("cannot connect to"), "{message}");
    let mut invitation = site.json("hub/controller.json");
    invitation.as_object_mut().unwrap().remove("seed");
    std::fs::write(site.dir().join("no-key.json"), invitation.to_string()).unwrap();
    let (exit, message) = fails(&site, &["cluster", "list", "--on", "no-key.json"]);
    assert_eq!(exit, Some(1), "{message}");
    assert!(message.to_lowercase().contains("authorization"), "{message}");
}

/// The key of an agent cannot start runs on other agents.
#[test]
fn an_agent_cannot_give_orders() {
    let Some(site) = Site::start(1) else { return };
    let url = site.url();
    let (exit, message) = fails(&site, &["run", &url, "--on", "hub/agent.json", "--for", "1s"]);
    assert_eq!(exit, Some(2), "{message}");
    assert!(message.contains("this is the invitation for agents"), "{message}");
    let (exit, message) = fails(&site, &["cluster", "list", "--on", "hub/agent.json"]);
    assert_eq!(exit, Some(2), "{message}");
    let (exit, message) = fails(&site, &["cluster", "agent", "--join", "hub/controller.json"]);
    assert_eq!(exit, Some(2), "{message}");
    assert!(message.contains("this is the invitation for controllers"), "{message}");
    // The server refuses the key of an agent whose invitation does not show its role.
    let mut invitation = site.json("hub/agent.json");
    invitation.as_object_mut().unwrap().remove("controllers");
    std::fs::write(site.dir().join("no-role.json"), invitation.to_string()).unwrap();
    let (exit, message) =
        fails(&site, &["run", &url, "--on", "no-role.json", "--wait-for-agents", "1s", "--for", "1s"]);
    assert!(matches!(exit, Some(1 | 3)), "{message}");
    assert!(
        message.contains("no agent is available") || message.to_lowercase().contains("permissions"),
        "{message}"
    );
    assert!(site.server.take_requests().is_empty());
}

#[test]
fn an_agent_refuses_hosts_that_are_not_allowed() {
    let Some(mut site) = Site::start(0) else { return };
    site.add_agent(1, &["--allow-host", "*.test.example"]);
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "10/s", "--for", "2s"]);
    assert_eq!(code(&mut run), 3, "{}", run.err());
    assert!(
        run.err().contains("agent1 refuses the run: the plan sends requests to 127.0.0.1"),
        "{}",
        run.err()
    );
    assert!(site.server.take_requests().is_empty());
}

/// A host that the plan computes while it runs is refused at that time.
#[test]
fn an_agent_refuses_computed_hosts_that_are_not_allowed() {
    let Some(mut site) = Site::start(0) else { return };
    site.add_agent(1, &["--allow-host", "127.0.0.1"]);
    let request = |host: &str| {
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{host}">
        <stringProp name="HTTPSampler.domain">{host}</stringProp>
        <stringProp name="HTTPSampler.port">${{__P(PORT)}}</stringProp>
        <stringProp name="HTTPSampler.path">/{host}</stringProp>
        <stringProp name="HTTPSampler.method">GET</stringProp>
      </HTTPSamplerProxy>
      <hashTree/>"#
        )
    };
    let plan = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
  <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Hosts"/>
  <hashTree>
    <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
      <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
      <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">1</stringProp>
      </elementProp>
      <stringProp name="ThreadGroup.num_threads">1</stringProp>
      <stringProp name="ThreadGroup.ramp_time">1</stringProp>
    </ThreadGroup>
    <hashTree>
      {}
      {}
    </hashTree>
  </hashTree>
</hashTree></jmeterTestPlan>
"#,
        request("127.0.0.1"),
        request("${__javaScript('local'+'host')}")
    );
    std::fs::write(site.dir().join("plan.jmx"), plan).unwrap();
    let mut run = site.run(&["plan.jmx", "-J", &site.port()]);
    run.ends();
    let rows = std::fs::read_to_string(site.dir().join("run/samples.jtl")).unwrap();
    assert!(rows.contains("this agent does not allow requests to localhost"), "{rows} {}", run.err());
    let received: Vec<String> = site.server.take_requests().iter().map(|r| r.request.target()).collect();
    assert_eq!(received, ["/127.0.0.1"]);
}

/// Without `--listen`, only this machine reaches the hub.
#[test]
fn the_hub_listens_on_this_machine_unless_asked() {
    let Some(site) = Site::start(0) else { return };
    let url = site.json("hub/agent.json")["url"].as_str().unwrap().to_owned();
    let port = url.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
    // The addresses of listening sockets, as the kernel lists them: 0100007F is 127.0.0.1.
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap()
        + &std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let local = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    let listening = |line: &&str| line.split_whitespace().nth(3) == Some("0A");
    let of_hub: Vec<String> = sockets
        .lines()
        .filter(listening)
        .filter_map(local)
        .filter(|at| at.ends_with(&format!(":{port:04X}")))
        .collect();
    assert_eq!(of_hub, [format!("0100007F:{port:04X}")]);
}

#[test]
fn keys_and_records_are_readable_only_by_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(site) = Site::start(1) else { return };
    let url = site.url();
    let mut run = site.run(&[
        &url,
        "--rate",
        "10/s",
        "--for",
        "1s",
        "-H",
        "Authorization: Bearer s3cret",
        "-J",
        "password=s3cret",
    ]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    for path in ["hub", "hub/agent.json", "hub/controller.json", "hub/server.key", "run", "run/agents"] {
        let mode = std::fs::metadata(site.dir().join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path} {mode:o}");
    }
    // Secrets of the request are in no file of the run, here and in the records of agents.
    let mut waiting = vec![site.dir().join("run")];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() {
                waiting.push(entry.path());
            } else {
                let text = std::fs::read(entry.path()).unwrap();
                let found = text.windows(6).any(|window| window == b"s3cret");
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
    assert_eq!(
        site.server.take_requests()[0].request.header("Authorization").as_deref(),
        Some("Bearer s3cret")
    );
}
