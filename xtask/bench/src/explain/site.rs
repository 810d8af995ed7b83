//! A system under test with its processes, on which faults can be switched on and off.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use xtask_common::process::{free_port, tail};

use super::fault::{Fault, System};
use super::servers::{LAB_SERVER, TABLES};
use crate::machine::Cores;
use crate::process::{self, Running};

/// The time in which a server must start.
const PATIENCE: Duration = Duration::from_secs(60);

/// The user `nobody`: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// Programs and directories of the laboratory.
pub struct Tools {
    /// Directory with the compiled Java server.
    pub classes: PathBuf,
    /// Directory of PostgreSQL's programs.
    pub postgres: Option<PathBuf>,
    pub cores: Cores,
}

/// A running system.
pub struct Site {
    /// The URL to load.
    pub url: String,
    /// The sources to observe.
    pub observe: String,
    dir: PathBuf,
    address: String,
    upstream: Option<u16>,
    database: Option<String>,
    namespace: Option<String>,
    cgroup: Option<PathBuf>,
    postgres: Option<PathBuf>,
    cores: Cores,
    hog: Option<Running>,
    locker: Option<Client>,
    // The processes, which are dropped last.
    children: Vec<Running>,
}

impl Site {
    /// Starts a system; `fault` decides its settings.
    ///
    /// # Errors
    /// A program is missing, or a server does not start.
    pub fn start(tools: &Tools, system: System, fault: Option<(Fault, u64)>, dir: &Path) -> Result<Site> {
        fs::create_dir_all(dir)?;
        let mut site = Site {
            url: String::new(),
            observe: String::from("auto"),
            dir: dir.to_owned(),
            address: String::from("127.0.0.1"),
            upstream: None,
            database: None,
            namespace: None,
            cgroup: None,
            postgres: None,
            cores: tools.cores,
            hog: None,
            locker: None,
            children: Vec::new(),
        };
        match system {
            System::Java | System::Remote => site.start_java(tools, system, fault)?,
            System::Proxy => site.start_proxy()?,
            System::Orders => site.start_orders(tools)?,
        }
        site.wait_until_ready()?;
        Ok(site)
    }

    fn start_java(&mut self, tools: &Tools, system: System, fault: Option<(Fault, u64)>) -> Result<()> {
        let (pool, delay) = match fault {
            Some((Fault::SmallPool, delay)) => (1, delay),
            _ => (16, 3),
        };
        if system == System::Java {
            self.upstream = Some(self.start_server("upstream", &["--delay", &delay.to_string()])?);
        }
        let mut command = Command::new("java");
        if system == System::Remote {
            let name = self.make_namespace()?;
            command = Command::new("ip");
            command.args(["netns", "exec", &name, "java"]);
        }
        let live = if matches!(fault, Some((Fault::GcPauses, _))) { "150" } else { "10" };
        command
            .args(["-XX:+UseSerialGC", "-Xmx512m", "-Dsun.net.httpserver.nodelay=true"])
            .arg(format!("-Xlog:gc*:file={}", self.dir.join("gc.log").display()))
            .arg("-cp")
            .arg(&tools.classes)
            .arg("LabServer")
            .args([self.upstream.unwrap_or(0).to_string(), pool.to_string(), live.to_owned()]);
        let (pid, port) = self.start_child(command, "server.log")?;
        self.url = format!("http://{}:{port}/", self.address);
        let dir = self.dir.display();
        self.observe = format!("auto,gc:{dir}/gc.log,log:{dir}/server.log");
        if matches!(fault, Some((Fault::CpuQuota, _))) {
            self.join_cgroup("cpu", pid)?;
        }
        Ok(())
    }

    /// Moves a process into a control group of its own; its later children are in it, too.
    fn join_cgroup(&mut self, controller: &str, pid: u32) -> Result<()> {
        let group = PathBuf::from(format!("/sys/fs/cgroup/{controller}/busyhour-lab-{}", std::process::id()));
        fs::create_dir_all(&group).context("control groups of version 1 are needed")?;
        fs::write(group.join("cgroup.procs"), pid.to_string())?;
        self.cgroup = Some(group);
        Ok(())
    }

    /// Makes a network namespace that is connected with this one; returns its name.
    fn make_namespace(&mut self) -> Result<String> {
        let name = format!("bhlab{}", std::process::id());
        let (own, other) = (
            format!("bhl{}a", std::process::id() % 100_000),
            format!("bhl{}b", std::process::id() % 100_000),
        );
        self.namespace = Some(name.clone());
        for line in [
            format!("netns add {name}"),
            format!("link add {own} type veth peer name {other} netns {name}"),
            format!("addr add 10.231.7.1/24 dev {own}"),
            format!("link set {own} up"),
            format!("-n {name} addr add 10.231.7.2/24 dev {other}"),
            format!("-n {name} link set {other} up"),
            format!("-n {name} link set lo up"),
        ] {
            ip(&line)?;
        }
        self.address = String::from("10.231.7.2");
        Ok(name)
    }

    fn start_proxy(&mut self) -> Result<()> {
        let upstream = self.start_server("upstream", &["--delay", "2"])?;
        self.upstream = Some(upstream);
        let port = free_port()?;
        let dir = self.dir.display();
        let configuration = format!(
            "daemon off; pid {dir}/nginx.pid; worker_processes 1; error_log {dir}/error.log;\n\
            events {{ worker_connections 1024; }}\n\
            http {{ access_log off; client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir}; \
            uwsgi_temp_path {dir}; scgi_temp_path {dir};\n\
            upstream back {{ server 127.0.0.1:{upstream}; keepalive 64; }}\n\
            server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://back; proxy_http_version 1.1; \
            proxy_set_header Connection \"\"; }} }} }}\n"
        );
        let file = self.dir.join("nginx.conf");
        fs::write(&file, configuration)?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&file).arg("-e").arg(self.dir.join("error.log"));
        let child = process::start(command, self.cores.server, &self.cores, &self.dir.join("nginx.log"))?;
        self.children.push(child);
        self.url = format!("http://127.0.0.1:{port}/");
        Ok(())
    }

    fn start_orders(&mut self, tools: &Tools) -> Result<()> {
        let programs =
            tools.postgres.clone().context("there is no PostgreSQL server in /usr/lib/postgresql")?;
        fs::set_permissions(&self.dir, fs::Permissions::from_mode(0o777))?;
        self.postgres = Some(programs);
        let data = self.dir.join("data");
        self.run_postgres("initdb", &["--auth=trust", "--username=postgres", "--no-sync"], &data)?;
        let port = free_port()?;
        let options = format!("-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories=");
        let log = self.dir.join("postgres.log").display().to_string();
        fs::write(&log, "")?;
        chown(&log, Some(NOBODY), Some(NOBODY))?;
        self.run_postgres("pg_ctl", &["--wait", "--log", &log, "--options", &options, "start"], &data)?;
        let pid = fs::read_to_string(data.join("postmaster.pid"))?;
        let pid =
            pid.lines().next().and_then(|line| line.parse().ok()).context("PostgreSQL has no process")?;
        self.join_cgroup("blkio", pid)?;
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Client::connect(&url, NoTls)?.batch_execute(TABLES)?;
        let port = self.start_server("orders", &["--database", &url])?;
        self.observe = format!("auto,{url}");
        self.database = Some(url);
        self.url = format!("http://127.0.0.1:{port}/");
        Ok(())
    }

    fn run_postgres(&self, program: &str, arguments: &[&str], data: &Path) -> Result<()> {
        let programs = self.postgres.as_ref().context("no PostgreSQL")?;
        let mut command = Command::new(programs.join(program));
        command.arg("--pgdata").arg(data).args(arguments).current_dir("/").uid(NOBODY).gid(NOBODY);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        ensure!(status.success(), "{program} failed");
        Ok(())
    }

    /// Starts a server of this program; returns its port.
    fn start_server(&mut self, name: &str, arguments: &[&str]) -> Result<u16> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(LAB_SERVER).args(arguments);
        Ok(self.start_child(command, &format!("{name}.log"))?.1)
    }

    /// Starts a server that prints its port into its log.
    fn start_child(&mut self, command: Command, log: &str) -> Result<(u32, u16)> {
        let log = self.dir.join(log);
        let child = process::start(command, self.cores.server, &self.cores, &log)?;
        let pid = child.pid();
        self.children.push(child);
        let started = Instant::now();
        loop {
            let text = fs::read_to_string(&log)?;
            let port = text.lines().find_map(|line| line.strip_prefix("port ")?.trim().parse().ok());
            if let Some(port) = port {
                return Ok((pid, port));
            }
            ensure!(started.elapsed() < PATIENCE, "a server did not start:\n{}", tail(&log));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn wait_until_ready(&self) -> Result<()> {
        let started = Instant::now();
        while let Err(error) = get(&self.url) {
            ensure!(started.elapsed() < PATIENCE, "the system does not respond: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Switches a fault on. `generator` is the process of the generator.
    ///
    /// # Errors
    /// The system does not respond, or permission is missing.
    pub fn switch_on(&mut self, fault: Fault, level: u64, generator: u32) -> Result<()> {
        match fault {
            Fault::GcPauses | Fault::Lock | Fault::OwnCpu | Fault::LogStorm => self.set_java(fault, level)?,
            Fault::SmallPool => {}
            Fault::RowLocks => {
                let mut client = Client::connect(self.database.as_deref().unwrap_or_default(), NoTls)?;
                client
                    .batch_execute(&format!("BEGIN; SELECT * FROM stock WHERE id <= {level} FOR UPDATE"))?;
                self.locker = Some(client);
            }
            Fault::CpuHog => self.start_hog(&["--cpu", &level.to_string()], self.cores.server)?,
            Fault::SlowDisk => self.set_write_limit(level)?,
            Fault::CpuQuota => self.set_quota(&(level * 100).to_string())?,
            Fault::PacketLoss => {
                let name = self.namespace.clone().unwrap_or_default();
                let link = format!("bhl{}b", std::process::id() % 100_000);
                let down = format!("ip -n {name} link set {link}");
                let script = format!(
                    "while :; do {down} down; sleep {}; {down} up; sleep {}; done",
                    level as f64 / 1e3,
                    (1_000 - level.min(900)) as f64 / 1e3
                );
                let mut command = Command::new("sh");
                command.args(["-c", &script]);
                let log = self.dir.join("hog.log");
                self.hog = Some(process::start(command, self.cores.generator, &self.cores, &log)?);
            }
            Fault::SlowDependency => self.set_delay(level)?,
            Fault::StoppedGenerator => {
                let pid = Pid::from_raw(i32::try_from(generator)?).context("no generator")?;
                kill_process(pid, Signal::STOP)?;
                std::thread::sleep(Duration::from_millis(level));
                kill_process(pid, Signal::CONT)?;
            }
        }
        Ok(())
    }

    /// Switches a fault off.
    ///
    /// # Errors
    /// The system does not respond, or permission is missing.
    pub fn switch_off(&mut self, fault: Fault) -> Result<()> {
        match fault {
            Fault::GcPauses | Fault::Lock | Fault::OwnCpu | Fault::LogStorm => self.set_java(fault, 0)?,
            Fault::SmallPool | Fault::StoppedGenerator => {}
            Fault::RowLocks => self.locker = None,
            Fault::CpuHog => self.end_hog(),
            Fault::SlowDisk => self.set_write_limit(0)?,
            Fault::CpuQuota => self.set_quota("-1")?,
            Fault::PacketLoss => {
                self.hog = None;
                let name = self.namespace.clone().unwrap_or_default();
                ip(&format!("-n {name} link set bhl{}b up", std::process::id() % 100_000))?;
            }
            Fault::SlowDependency => self.set_delay(2)?,
        }
        Ok(())
    }

    fn set_java(&self, fault: Fault, level: u64) -> Result<()> {
        let name = match fault {
            Fault::GcPauses => "gc",
            Fault::Lock => "lock",
            Fault::OwnCpu => "burn",
            _ => "errors",
        };
        get(&format!("{}fault?{name}={level}", self.url))
    }

    fn set_delay(&self, delay: u64) -> Result<()> {
        get(&format!("http://127.0.0.1:{}/delay/{delay}", self.upstream.unwrap_or_default()))
    }

    fn set_quota(&self, quota: &str) -> Result<()> {
        let group = self.cgroup.as_ref().context("no control group")?;
        Ok(fs::write(group.join("cpu.cfs_quota_us"), quota)?)
    }

    /// Limits the writes per second of PostgreSQL; 0 for no limit.
    fn set_write_limit(&self, writes_per_s: u64) -> Result<()> {
        let group = self.cgroup.as_ref().context("no control group")?;
        let device = fs::metadata(&self.dir)?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let limit = format!("{major}:{minor} {writes_per_s}");
        Ok(fs::write(group.join("blkio.throttle.write_iops_device"), limit)?)
    }

    fn start_hog(&mut self, arguments: &[&str], core: usize) -> Result<()> {
        let mut command = Command::new("stress-ng");
        command.args(arguments).arg("--quiet");
        self.hog = Some(process::start(command, core, &self.cores, &self.dir.join("hog.log"))?);
        Ok(())
    }

    /// Ends stress-ng, which ends its own children.
    fn end_hog(&mut self) {
        let Some(hog) = self.hog.take() else { return };
        if let Some(pid) = i32::try_from(hog.pid()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.end_hog();
        self.locker = None;
        if self.postgres.is_some() {
            let data = self.dir.join("data");
            let _ = self.run_postgres("pg_ctl", &["--mode", "immediate", "stop"], &data);
        }
        if let Some(name) = &self.namespace {
            // `ip netns exec` replaces itself, so that the child is the server.
            self.children.clear();
            let _ = ip(&format!("netns del {name}"));
        }
        // nginx ends its workers if it is asked to.
        for child in &self.children {
            if let Some(pid) = i32::try_from(child.pid()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
        self.children.clear();
        if let Some(group) = &self.cgroup {
            let _ = fs::remove_dir(group);
        }
    }
}

/// Runs `ip` with these arguments.
fn ip(line: &str) -> Result<()> {
    let status = Command::new("ip").args(line.split(' ')).status()?;
    ensure!(status.success(), "`ip {line}` failed");
    Ok(())
}

/// Requests a URL and ignores the response, except for its status.
fn get(url: &str) -> Result<()> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream
        .write_all(format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    if &answer[9..] != b"200" {
        bail!("{url} answers {}", String::from_utf8_lossy(&answer));
    }
    Ok(())
}
