//! A network of namespaces: a hub with a controller in one of them, and agents in others, connected by a bridge.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use busyhour_standin::StandIn;
use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{Process, nats_server, wait_for};
use crate::relay::{Link, enter_namespace};

/// The address of the hub in its namespace.
const HUB: &str = "10.77.0.1";

/// Numbers the networks of this process.
static NETWORKS: AtomicU32 = AtomicU32::new(0);

/// A network namespace, which is removed at the end.
struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// Executes `ip` with arguments. Returns the error, if any.
fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}

impl Namespace {
    fn create(name: String) -> Result<Namespace, String> {
        ip(&["netns", "add", &name])?;
        let namespace = Namespace(name);
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Executes `ip` in the namespace.
    fn ip(&self, arguments: &[&str]) -> Result<(), String> {
        ip(&[&["-n", self.0.as_str()][..], arguments].concat())
    }

    /// Starts `busyhour` in the namespace.
    fn start(&self, dir: &Path, name: &str, arguments: &[&str]) -> Process {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0, env!("CARGO_BIN_EXE_busyhour")]).args(arguments);
        Process::spawn(dir, name, &mut command)
    }

    fn path(&self) -> PathBuf {
        Path::new("/var/run/netns").join(&self.0)
    }

    /// Opens a listener in the namespace.
    fn listen(&self, address: SocketAddr) -> TcpListener {
        let path = self.path();
        // Only this thread enters the namespace.
        let listen = move || {
            enter_namespace(&path);
            TcpListener::bind(address).unwrap()
        };
        std::thread::spawn(listen).join().unwrap()
    }
}

/// A hub, agents in namespaces of their own, and a server under test.
///
/// Every agent reaches the server at the same address of its own namespace, over a relay. A fault of the network between an agent
/// and the hub therefore does not affect its requests.
pub(crate) struct Network {
    pub(crate) hub: Process,
    pub(crate) agents: Vec<Process>,
    pub(crate) server: StandIn,
    center: Namespace,
    outer: Vec<Namespace>,
    mounts: Vec<Mount>,
    pub(crate) room: TempDir,
}

/// A mounted file system, which is unmounted at the end.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Processes end before their namespaces and file systems.
        for process in self.agents.iter_mut().chain([&mut self.hub]) {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
        self.mounts.clear();
    }
}

impl Network {
    /// Starts a hub and agents. `None`, with a message, if this machine cannot do it.
    pub(crate) fn start(agents: usize) -> Option<Network> {
        nats_server()?;
        let prefix = format!("bh{}n{}", std::process::id(), NETWORKS.fetch_add(1, Ordering::Relaxed));
        let center = match Network::center(&prefix) {
            Ok(center) => center,
            Err(reason) => {
                let _ = writeln!(
                    std::io::stderr(),
                    "SKIPPED: no network namespaces (root and iproute2): {reason}"
                );
                return None;
            }
        };
        let room = tempfile::tempdir().unwrap();
        let hub_arguments = ["cluster", "hub", "--dir", "hub", "--port", "0", "--listen", HUB];
        let mut hub = center.start(room.path(), "hub", &hub_arguments);
        hub.says("Ctrl-C ends the hub");
        let server = StandIn::start_application().unwrap();
        let (outer, mounts) = (Vec::new(), Vec::new());
        let mut network = Network { room, hub, agents: Vec::new(), server, center, outer, mounts };
        network.serve(&network.center);
        for number in 1..=agents {
            network.add_namespace(&prefix, number);
        }
        Some(network)
    }

    /// The namespace with the bridge.
    fn center(prefix: &str) -> Result<Namespace, String> {
        let center = Namespace::create(format!("{prefix}c"))?;
        center.ip(&["link", "add", "br0", "type", "bridge"])?;
        center.ip(&["addr", "add", &format!("{HUB}/24"), "dev", "br0"])?;
        center.ip(&["link", "set", "br0", "up"])?;
        Ok(center)
    }

    fn add_namespace(&mut self, prefix: &str, number: usize) {
        let outer = Namespace::create(format!("{prefix}a{number}")).unwrap();
        let (port, address) = (format!("v{number}"), format!("10.77.0.{}/24", 10 + number));
        let pair = ["type", "veth", "peer", "name", "eth0", "netns", &outer.0];
        self.center.ip(&[&["link", "add", &port][..], &pair].concat()).unwrap();
        self.center.ip(&["link", "set", &port, "master", "br0", "up"]).unwrap();
        outer.ip(&["addr", "add", &address, "dev", "eth0"]).unwrap();
        outer.ip(&["link", "set", "eth0", "up"]).unwrap();
        self.serve(&outer);
        self.outer.push(outer);
    }

    /// Makes the server available in a namespace.
    fn serve(&self, namespace: &Namespace) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()));
        Arc::<Link>::default().relay(namespace.listen(address), address, None);
    }

    /// Starts the agent number `number` (from 1) with an invitation, and waits until it is ready.
    pub(crate) fn add_agent(&mut self, number: usize, invitation: &str) {
        let (name, dir) = (format!("agent{number}"), format!("work{number}"));
        let arguments =
            ["cluster", "agent", "--join", invitation, "--name", &name, "--dir", &dir, "--cores", "1"];
        let mut agent = self.outer[number - 1].start(self.room.path(), &name, &arguments);
        agent.says("is waiting for work");
        self.agents.push(agent);
    }

    /// Connects the agent number `number` (from 1) with the bridge, or disconnects it.
    pub(crate) fn set_connected(&self, number: usize, is_connected: bool) {
        let state = if is_connected { "up" } else { "down" };
        self.center.ip(&["link", "set", &format!("v{number}"), state]).unwrap();
    }

    /// Relays the hub over a link. Returns the name of the invitation of agents that use it.
    pub(crate) fn relay_hub(&self, link: &Arc<Link>) -> &'static str {
        let mut invitation = self.json("hub/agent.json");
        let url = invitation["url"].as_str().unwrap().to_owned();
        let hub: SocketAddr = url.split_once("://").unwrap().1.parse().unwrap();
        let listener = self.center.listen(SocketAddr::new(hub.ip(), 0));
        let port = listener.local_addr().unwrap().port();
        link.relay(listener, hub, Some(self.center.path()));
        invitation["url"] = format!("tls://{HUB}:{port}").into();
        std::fs::write(self.room.path().join("relayed.json"), invitation.to_string()).unwrap();
        "relayed.json"
    }

    /// Mounts a small file system at a directory.
    pub(crate) fn limit_disk(&mut self, dir: &str, bytes: u64) -> Result<(), String> {
        let path = self.room.path().join(dir);
        std::fs::create_dir_all(&path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(&path);
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        self.mounts.push(Mount(path));
        Ok(())
    }

    /// Starts a run on the agents; its directory is `run`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Process {
        let url = format!("http://127.0.0.1:{}/", self.server.port());
        let mut all = vec!["run", &url];
        all.extend(arguments);
        all.extend(["--on", "hub/controller.json", "--dir", "run", "--observe", "none"]);
        self.process("run", &all)
    }

    /// Starts `busyhour` in the namespace of the hub. `name` is the name of its output files.
    pub(crate) fn process(&self, name: &str, arguments: &[&str]) -> Process {
        self.center.start(self.room.path(), name, arguments)
    }

    /// Opens a listener with this port in each namespace.
    pub(crate) fn listen_everywhere(&self, port: u16) -> Vec<TcpListener> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        std::iter::once(&self.center).chain(&self.outer).map(|namespace| namespace.listen(address)).collect()
    }

    /// Waits until this number of seconds of an agent has arrived at the controller since the call.
    pub(crate) fn wait_for_seconds(&self, agent: &str, number: usize) {
        let before = self.seconds(agent);
        let what = format!("{number} seconds of {agent}");
        wait_for(&what, || (self.seconds(agent) >= before + number).then_some(()));
    }

    /// Number of seconds of an agent that the controller has stored.
    fn seconds(&self, agent: &str) -> usize {
        let files = std::fs::read_dir(self.room.path().join("run/agents")).into_iter().flatten().flatten();
        let of_agent = files.map(|file| file.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(&format!("{agent}-")) && name.ends_with(".seconds")
        });
        let bytes = of_agent.and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let (mut rest, mut seconds) = (&bytes[..], 0);
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let Some(next) = after.get(u32::from_le_bytes(*length) as usize..) else { break };
            (rest, seconds) = (next, seconds + 1);
        }
        seconds
    }

    /// Executes `busyhour` and returns its standard output.
    pub(crate) fn execute(&self, arguments: &[&str]) -> String {
        let mut process = self.center.start(self.room.path(), "verb", arguments);
        let status = process.ends();
        assert!(status.success(), "{arguments:?}: {status} {}", process.err());
        process.out()
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.room.path().join(file)).unwrap()).unwrap()
    }
}
