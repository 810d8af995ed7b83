//! Faults during runs on agents.

use rustix::process::Signal;

use crate::processes::{Site, code, start_hub, wait_for};

/// Samples that an agent sent before it was killed count, and the missing share is named.
#[test]
fn the_seconds_of_a_killed_agent_count_and_the_rest_is_named() {
    let Some(mut site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "100/s", "--for", "12s"]);
    run.says("2 agents start together");
    let seconds = || {
        let files = std::fs::read_dir(site.room.path().join("run/agents")).into_iter().flatten().flatten();
        let of_agent = files.filter(|file| file.file_name().to_string_lossy().starts_with("agent2"));
        of_agent.filter_map(|file| file.metadata().ok()).map(|facts| facts.len()).sum::<u64>()
    };
    wait_for("seconds of the second agent", || (seconds() > 2_000).then_some(()));
    site.agents[1].child.kill().unwrap();
    assert_eq!(code(&mut run), 12, "{}", run.err());
    assert!(run.err().contains("the agent agent2 is lost since"), "{}", run.err());
    assert!(
        run.err().contains("a part of the load is missing: the share 2/2 of the agent agent2"),
        "{}",
        run.err()
    );
    let cluster = site.json("run/cluster.json");
    let samples = |at: usize| cluster["agents"][at]["samples"].as_u64().unwrap();
    assert!(samples(1) > 0 && samples(1) < samples(0), "{cluster}");
    assert!(cluster["agents"][1]["record"].is_null());
    let total = site.json("run/summary.json")["total"]["samples"].as_u64().unwrap();
    assert_eq!(total, samples(0) + samples(1));
    // Requests of the last seconds were received but not reported.
    assert!(total <= site.server.take_requests().len() as u64);
    assert!(site.json("run/run.json")["notes"].to_string().contains("agent-lost"));
}

#[test]
fn a_lost_agent_can_stop_the_run() {
    let Some(mut site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "60s", "--on-agent-loss", "stop"]);
    run.says("2 agents start together");
    site.agents[0].child.kill().unwrap();
    assert_eq!(code(&mut run), 4, "{}", run.err());
    assert!(run.err().contains("the agent agent1 was lost"), "{}", run.err());
}

/// An agent that ends because of a signal leaves a share without load, which is named. Its record counts.
#[test]
fn the_share_of_an_interrupted_agent_is_named_and_its_record_counts() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "100/s", "--for", "10s"]);
    run.says("2 agents start together");
    let mut requests = 0;
    wait_for("requests of both agents", || {
        requests += site.server.take_requests().len();
        (requests >= 100).then_some(())
    });
    site.agents[1].signal(Signal::TERM);
    run.says("the agent agent2 was interrupted at");
    assert_eq!(code(&mut run), 12, "{}", run.err());
    let missing = "a part of the load is missing: the share 2/2 of the agent agent2 is missing from";
    assert!(run.err().contains(missing), "{}", run.err());
    assert!(run.err().contains("(the agent was interrupted)"), "{}", run.err());
    let agents = site.json("run/cluster.json")["agents"].clone();
    assert!(!agents[1]["record"].is_null(), "{agents}");
    let samples = |at: usize| agents[at]["samples"].as_u64().unwrap();
    assert!(samples(1) > 0 && samples(1) < samples(0), "{agents}");
}

#[test]
fn an_interrupted_agent_can_stop_the_run() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "60s", "--on-agent-loss", "stop"]);
    run.says("2 agents start together");
    site.agents[0].signal(Signal::INT);
    assert_eq!(code(&mut run), 4, "{}", run.err());
    assert!(run.err().contains("the agent agent1 was lost"), "{}", run.err());
}

/// A free agent takes over the share of a killed one, from the time at which it is ready.
#[test]
fn a_free_agent_takes_over_the_share_of_a_lost_one() {
    let Some(mut site) = Site::start(3) else { return };
    let url = site.url();
    let options = ["--agents", "2", "--on-agent-loss", "redistribute", "--agent-lease", "2s"];
    let mut run = site.run(&[&[&url, "--rate", "100/s", "--for", "16s"], &options[..]].concat());
    run.says("2 agents start together");
    let lost = ["agent1", "agent2", "agent3"]
        .iter()
        .position(|name| run.err().contains(&format!("the agent {name} generates the share 2/2")))
        .unwrap();
    wait_for("requests", || (!site.server.take_requests().is_empty()).then_some(()));
    site.agents[lost].child.kill().unwrap();
    run.says("takes over the share 2/2 from");
    let _before = site.server.take_requests();
    assert_eq!(code(&mut run), 12, "{}", run.err());
    let agents = site.json("run/cluster.json")["agents"].clone();
    assert_eq!(agents.as_array().unwrap().len(), 3, "{agents}");
    assert_eq!(agents[2]["replaces"], format!("agent{}", lost + 1));
    assert_eq!((agents[2]["share"].as_str(), agents[2]["problem"].as_str()), (Some("2/2"), Some("")));
    // Its part has about 50 requests per second until the end; the missing ones are named.
    let later = agents[2]["samples"].as_u64().unwrap();
    assert!(later > 100, "{agents}");
    let message = run.err();
    let missing = message.split("a part of the load is missing: ").nth(1).unwrap();
    assert!(missing.contains("of the agent") && missing.contains("requests at"), "{missing}");
    let samples: u64 =
        agents.as_array().unwrap().iter().map(|agent| agent["samples"].as_u64().unwrap()).sum();
    assert_eq!(site.json("run/summary.json")["total"]["samples"].as_u64(), Some(samples));
}

/// A lost agent that is started again in its directory takes its share over. An agent that cannot take it over leaves it to others.
#[test]
fn a_share_stays_vacant_until_an_agent_can_take_it_over() {
    let Some(mut site) = Site::start(2) else { return };
    let url = site.url();
    let options = ["--agents", "2", "--on-agent-loss", "redistribute", "--agent-lease", "2s"];
    let mut run = site.run(&[&[&url, "--rate", "50/s", "--for", "30s"], &options[..]].concat());
    run.says("2 agents start together");
    wait_for("requests", || (!site.server.take_requests().is_empty()).then_some(()));
    site.add_agent(3, &["--allow-host", "*.test.example"]);
    site.agents[1].child.kill().unwrap();
    run.says("the agent agent3 cannot take over a share");
    site.add_agent(2, &[]);
    run.says("the agent agent2 takes over the share 2/2 from");
    assert_eq!(code(&mut run), 12, "{}", run.err());
    let message = run.err();
    let missing = message.split("a part of the load is missing: ").nth(1).unwrap();
    assert_eq!(missing.matches("is missing from").count(), 1, "{missing}");
    assert!(!missing.contains("agent3"), "{missing}");
    let agents = site.json("run/cluster.json")["agents"].clone();
    assert!(agents[3]["samples"].as_u64().unwrap() > 0, "{agents}");
}

/// A paused agent is reported, and its record is complete when it continues.
#[test]
fn a_paused_agent_returns() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "14s"]);
    run.says("2 agents start together");
    site.agents[1].signal(Signal::STOP);
    run.says("the agent agent2 is lost since");
    site.agents[1].signal(Signal::CONT);
    run.says("the agent agent2 is back");
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let total = site.json("run/summary.json")["total"]["samples"].as_u64().unwrap();
    assert_eq!(total, site.server.take_requests().len() as u64);
    assert!(site.json("run/run.json")["notes"].to_string().contains("agent-silent"));
}

/// Neither users nor results depend on the NATS server during a run.
#[test]
fn a_restarted_nats_server_loses_nothing() {
    let Some(mut site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "100/s", "--for", "14s"]);
    run.says("2 agents start together");
    let address = site.json("hub/agent.json")["url"].as_str().unwrap().to_owned();
    let port: u16 = address.rsplit_once(':').unwrap().1.parse().unwrap();
    site.hub.signal(Signal::TERM);
    site.hub.ends();
    site.hub = start_hub(site.room.path(), port);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let total = site.json("run/summary.json")["total"]["samples"].as_u64().unwrap();
    assert_eq!(total, site.server.take_requests().len() as u64);
}

/// Load does not outlive the controller that is responsible for it.
#[test]
fn agents_stop_without_their_controller_and_keep_the_record() {
    let Some(mut site) = Site::start(1) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "600s", "--agent-lease", "2s"]);
    run.says("1 agents start together");
    wait_for("requests", || (!site.server.take_requests().is_empty()).then_some(()));
    run.child.kill().unwrap();
    site.agents[0].says("was abandoned by its controller; its records remain in");
    let runs = std::fs::read_dir(site.room.path().join("work1")).unwrap().flatten();
    let record = runs.map(|run| run.path().join("record")).find(|path| path.is_dir()).unwrap();
    let record = record.display().to_string();
    let summary: serde_json::Value =
        serde_json::from_str(&site.execute(&["report", "--json", &record])).unwrap();
    assert!(summary["total"]["samples"].as_u64().unwrap() > 0);
    // The agent is free again.
    std::fs::remove_dir_all(site.room.path().join("run")).unwrap();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "2s"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
}

/// Another process takes over a run whose controller was killed, without losing anything.
#[test]
fn another_controller_takes_over() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[
        &url,
        "--rate",
        "100/s",
        "--for",
        "12s",
        "--threshold",
        "errors < 50%",
        "-J",
        "password=s3cret",
    ]);
    run.says("2 agents start together");
    wait_for("seconds", || {
        let files = std::fs::read_dir(site.dir().join("run/agents")).into_iter().flatten().flatten();
        (files.filter_map(|file| file.metadata().ok()).any(|facts| facts.len() > 2_000)).then_some(())
    });
    let attach = ["cluster", "attach", "run", "--on", "hub/controller.json"];
    let mut second = site.process("second", &attach);
    assert_eq!(code(&mut second), 3, "{}", second.err());
    assert!(second.err().contains("another process controls this run"), "{}", second.err());
    run.child.kill().unwrap();
    run.ends();
    let stored = std::fs::read_to_string(site.dir().join("run/attach.json")).unwrap();
    assert!(stored.contains("password") && !stored.contains("s3cret"));
    let mut attached = site.process("attached", &attach);
    attached.says("2 of 2 agents still work for the run");
    assert_eq!(code(&mut attached), 0, "{}", attached.err());
    let summary = site.json("run/summary.json");
    assert_eq!(summary["total"]["samples"].as_u64(), Some(site.server.take_requests().len() as u64));
    assert_eq!(summary["thresholds"][0]["passed"], true);
    assert!(attached.err().contains("not continued: the observation"), "{}", attached.err());
    assert!(!site.dir().join("run/sources.json").exists());
    assert_eq!(summary["arrivals"][0]["drops"], 0);
    assert!(site.dir().join("run/report.html").is_file());
    assert!(!site.dir().join("run/attach.json").exists());
    let mut again = site.process("again", &attach);
    assert_eq!(code(&mut again), 3);
    assert!(again.err().contains("there is no run with agents that has not ended"), "{}", again.err());
}

#[test]
fn a_second_interrupt_ends_the_run_at_once_on_all_agents() {
    let Some(site) = Site::start(2) else { return };
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "600s"]);
    run.says("2 agents start together");
    wait_for("requests", || (!site.server.take_requests().is_empty()).then_some(()));
    run.signal(Signal::INT);
    run.says("stopping");
    run.signal(Signal::INT);
    assert_eq!(code(&mut run), 4, "{}", run.err());
    assert!(site.dir().join("run/report.html").is_file());
    let agents = site.json("run/cluster.json");
    assert!(agents["agents"].as_array().unwrap().iter().all(|agent| agent["problem"] == ""), "{agents}");
}

#[test]
fn an_agent_without_its_hub_ends_on_a_signal() {
    let Some(mut site) = Site::start(1) else { return };
    site.hub.child.kill().unwrap();
    site.hub.ends();
    site.agents[0].says("the connection to the NATS server is lost");
    site.agents[0].signal(Signal::TERM);
    assert_eq!(code(&mut site.agents[0]), 0);
}

/// The default directory of all agents of a machine is the same.
#[test]
fn agents_can_share_a_directory() {
    let Some(site) = Site::start(1) else { return };
    let second = ["cluster", "agent", "--join", "hub/agent.json", "--name", "agent2", "--dir", "work1"];
    let mut second = site.process("agent2", &second);
    second.says("is waiting for work");
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "50/s", "--for", "2s"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let agents = site.json("run/cluster.json")["agents"].clone();
    assert_eq!(agents.as_array().unwrap().len(), 2, "{agents}");
    let total = site.json("run/summary.json")["total"]["samples"].as_u64().unwrap();
    assert_eq!(total, site.server.take_requests().len() as u64);
}
