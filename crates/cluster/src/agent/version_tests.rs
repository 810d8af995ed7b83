//! Agents and controllers of different versions, connected by a real server.

use std::path::PathBuf;
use std::time::Duration;

use super::{AgentSettings, AgentStop, serve_agent};
use crate::connection::{Role, connect};
use crate::hub::{Hub, HubSettings, find_server};
use crate::invitation::Invitation;
use crate::list::call;
use crate::messages::{AgentAnswer, AgentRequest, PROTOCOL};
use crate::orders::{Orders, signing_key};

/// The server, or `None` with a message.
fn server() -> Option<PathBuf> {
    let dirs = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];
    let found = find_server(&std::env::join_paths(dirs).unwrap());
    if found.is_none() {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: nats-server is not installed");
    }
    found
}

#[test]
fn an_agent_refuses_controllers_of_other_versions() {
    let Some(server) = server() else { return };
    let room = tempfile::tempdir().unwrap();
    let settings = HubSettings {
        dir: room.path().join("hub"),
        listen: [127, 0, 0, 1].into(),
        port: 0,
        hosts: Vec::new(),
    };
    let hub = Hub::start(&server, &settings).unwrap();
    let read = |path: PathBuf| Invitation::read(&path.display().to_string()).unwrap();
    let stop = AgentStop::default();
    let agent = AgentSettings {
        invitation: read(hub.files.agent()),
        name: "agent".into(),
        labels: Default::default(),
        cores: Some(1),
        dir: room.path().join("agent"),
        allowed_hosts: Vec::new(),
        is_for_one_run: false,
        observe: None,
    };
    let serving = std::thread::spawn({
        let stop = stop.clone();
        move || serve_agent(agent, &stop, |_| {})
    });
    let controller = read(hub.files.controller());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(async {
        let key = signing_key(&controller).unwrap();
        let client =
            connect(&controller, Role::Controller, "test", std::sync::Arc::new(|_: &str| {})).await.unwrap();
        let orders = Orders { client, key, run: "run".into() };
        let id = loop {
            if let Some(agent) = call(&orders.client).await.unwrap().first() {
                break agent.id.clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let own = env!("CARGO_PKG_VERSION");
        let mut answers = Vec::new();
        for (version, protocol) in [("0.0.1", PROTOCOL), (own, PROTOCOL + 1), (own, PROTOCOL)] {
            let claim = AgentRequest::Claim { run: "run".into(), version: version.into(), protocol };
            answers.push(orders.ask(&id, &claim).await.unwrap());
        }
        answers
    });
    stop.request();
    stop.request();
    serving.join().unwrap().unwrap();
    for (answer, version) in answers.iter().zip(["0.0.1", env!("CARGO_PKG_VERSION")]) {
        let AgentAnswer::Refused { reason } = answer else { panic!("{answer:?}") };
        assert!(reason.contains(&format!("the controller {version}")), "{reason}");
        assert!(reason.contains("use the same version of busyhour"), "{reason}");
    }
    assert!(matches!(answers[2], AgentAnswer::Claimed), "{:?}", answers[2]);
}
