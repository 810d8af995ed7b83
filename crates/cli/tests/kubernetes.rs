//! Tests of `busyhour cluster manifests`: errors, the shipped examples, the schemas of Kubernetes, Kustomize and Helm, and a run
//! with the commands of the objects.

#![cfg(all(unix, feature = "cluster"))]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The oldest and the newest version of Kubernetes against which objects are checked, and some between.
const VERSIONS: [&str; 4] = ["1.29", "1.31", "1.34", "1.37"];

/// The root of the source tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn busyhour(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    command.current_dir(dir).stdin(Stdio::null());
    command
}

/// Runs a command and returns its output.
fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a command that must succeed, and returns its standard output.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    out.into_owned()
}

/// The path of a program that is optional: installed by the checks of the project, or in the PATH. Prints a note if it is missing.
fn tool(name: &str, in_tools: &str) -> Option<PathBuf> {
    let installed = root().join("target/tools").join(in_tools);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|dir| dir.join(name));
    let found = std::iter::once(installed).chain(in_path).find(|file| file.is_file());
    if found.is_none() {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: {name} is missing");
        }
    }
    found
}

fn validator() -> Option<PathBuf> {
    tool("kubernetes-validate", "kubernetes/bin/kubernetes-validate")
}

fn helm() -> Option<PathBuf> {
    tool("helm", "bin/helm")
}

/// Checks objects against the schemas of Kubernetes.
#[track_caller]
fn validate(validator: &Path, objects: &str) {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("objects.yaml");
    std::fs::write(&file, objects).unwrap();
    for version in VERSIONS {
        succeed(Command::new(validator).args(["--strict", "--quiet", "-k", version]).arg(&file));
    }
}

/// A directory with a plan, a data file and a hub.
fn room() -> tempfile::TempDir {
    let room = tempfile::tempdir().unwrap();
    succeed(busyhour(room.path()).args(["cluster", "init", "--dir", "hub", "--host", "busyhour-hub"]));
    let example = std::fs::read_to_string(root().join("deploy/example.jmx")).unwrap();
    std::fs::write(room.path().join("example.jmx"), &example).unwrap();
    let with_data = example.replace("/?n=", "${__FileToString(data/path.txt,,)}");
    std::fs::write(room.path().join("My Shop.jmx"), with_data).unwrap();
    std::fs::create_dir(room.path().join("data")).unwrap();
    std::fs::write(room.path().join("data/path.txt"), "/?n=").unwrap();
    room
}

/// The command for a plan, with more arguments.
fn manifests(room: &Path, plan: &str, more: &[&str]) -> Command {
    let mut command = busyhour(room);
    command.args([
        "cluster",
        "manifests",
        plan,
        "--hub-dir",
        "hub",
        "--image",
        "registry.example/busyhour:0.1.0",
    ]);
    command.args(["--agents", "4", "--for", "10min"]).args(more);
    command
}

/// The files below a directory, except for those of the hub, which contain keys.
fn files(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_owned();
            if path.is_dir() {
                dirs.extend((name != Path::new("hub")).then_some(path));
            } else {
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

const EXAMPLE_OPTIONS: [&str; 7] =
    ["--", "-J", "HOST=shop.example", "-J", "USERS=1000", "-J", "DURATION=300"];

/// Writes the example as a Kustomize directory or a Helm chart.
fn write_example(room: &Path, form: &str, dir: &str) {
    let form = [&["--name", "busyhour", form, dir], EXAMPLE_OPTIONS.as_slice()].concat();
    succeed(&mut manifests(room, "example.jmx", &form));
}

#[test]
fn the_shipped_examples_are_the_current_output() {
    let room = room();
    for (form, shipped) in [("--kustomize", "deploy/kustomize"), ("--helm", "deploy/helm/busyhour")] {
        write_example(room.path(), form, "written");
        let (written, shipped_files) = (files(&room.path().join("written")), files(&root().join(shipped)));
        let names = |files: &BTreeMap<PathBuf, String>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&written), names(&shipped_files), "deploy/README.md shows how {shipped} is written");
        for (name, text) in &written {
            let why = "differs from the output; deploy/README.md shows how it is written";
            assert_eq!(text, &shipped_files[name], "{shipped}/{} {why}", name.display());
        }
        #[cfg(unix)]
        {
            let key = std::fs::metadata(room.path().join("written/hub/server.key")).unwrap();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o077, 0);
        }
        std::fs::remove_dir_all(room.path().join("written")).unwrap();
    }
}

#[test]
fn objects_comply_with_the_schemas() {
    let Some(validator) = validator() else { return };
    let room = room();
    let variants: [&[&str]; 4] = [
        &[],
        &[
            "--namespace",
            "load",
            "--create-namespace",
            "--results-claim",
            "results",
            "--spread",
            "one-per-node",
        ],
        &["--egress", "10.0.0.0/8", "--priority-class", "low", "--label", "team=web", "--spread", "off"],
        &[
            "--image-pull-secret",
            "registry",
            "--node-label",
            "pool=load",
            "--toleration",
            "load=yes:NoSchedule",
            "--toleration",
            "spot",
            "--disk",
            "50Gi",
        ],
    ];
    for more in variants {
        let printed = succeed(&mut manifests(room.path(), "My Shop.jmx", more));
        validate(&validator, &printed);
    }
    // The check finds mistakes.
    let wrong =
        succeed(&mut manifests(room.path(), "example.jmx", &[])).replace("completions:", "completion:");
    std::fs::write(room.path().join("wrong.yaml"), wrong).unwrap();
    let found =
        output(Command::new(&validator).args(["--strict", "-k", "1.37"]).arg(room.path().join("wrong.yaml")));
    assert!(!found.status.success());
}

#[test]
fn kustomize_and_helm_make_valid_objects() {
    let room = room();
    if let Some(kubectl) = tool("kubectl", "bin/kubectl") {
        write_example(room.path(), "--kustomize", "kustomize");
        let made = succeed(Command::new(kubectl).arg("kustomize").arg(room.path().join("kustomize")));
        assert_eq!(made.matches("kind: Secret").count(), 2, "{made}");
        validator().inspect(|validator| validate(validator, &made));
    }
    if let Some(helm) = helm() {
        write_example(room.path(), "--helm", "chart");
        let chart = room.path().join("chart");
        succeed(Command::new(&helm).arg("lint").arg("--strict").arg(&chart));
        let template = |more: &[&str]| {
            let mut command = Command::new(&helm);
            command.args(["template", "shop"]).arg(&chart).args(["--namespace", "load"]).args(more);
            command
        };
        let made = succeed(&mut template(&["--set", "agents=9"]));
        for part in ["completions: 9\n", "namespace: \"load\"", "kind: Secret"] {
            assert!(made.replace('\'', "\"").contains(part), "{part}\n{made}");
        }
        validator().inspect(|validator| validate(validator, &made));
        std::fs::remove_file(chart.join("hub/agent.json")).unwrap();
        let failed = output(&mut template(&[]));
        assert!(String::from_utf8_lossy(&failed.stderr).contains("busyhour cluster init"), "{failed:?}");
    }
}

/// Compares the objects in YAML files; Secrets may be written in two ways, and a template sets the namespace itself.
const SAME_OBJECTS: &str = r#"
import base64, sys, yaml
def load(file):
    objects = {}
    for body in yaml.safe_load_all(open(file)):
        body["metadata"].pop("namespace", None)
        texts = body.pop("stringData", None) or {}
        if body["kind"] == "Secret":
            data = {key: base64.b64decode(value) for key, value in (body.get("data") or {}).items()}
            body["data"] = data | {key: value.encode() for key, value in texts.items()}
        objects[body["kind"], body["metadata"]["name"]] = body
    return objects
first, *others = [load(file) for file in sys.argv[1:]]
assert all(first == other for other in others), [key for other in others for key in first if first[key] != other.get(key)]
"#;

#[test]
fn all_forms_are_the_same_objects() {
    let tools = (tool("kubectl", "bin/kubectl"), helm(), tool("", "kubernetes/bin/python"));
    let (Some(kubectl), Some(helm), Some(python)) = tools else { return };
    let room = room();
    let path = |name: &str| room.path().join(name);
    std::fs::write(path("data/path.txt"), "/?n=\r\n{{ \u{e4} }} # 'x'\n\n  y \n\n").unwrap();
    let with = |form: &[&str]| {
        let options = ["--", "-J", "a={{ .Values.image }}", "-J", "b=\"x\" 'y' \\z $(POD_NAME) $$ no: #"];
        succeed(&mut manifests(room.path(), "My Shop.jmx", &[form, &options].concat()))
    };
    std::fs::write(path("printed.yaml"), with(&[])).unwrap();
    with(&["--kustomize", "kustomize"]);
    let made = succeed(Command::new(kubectl).arg("kustomize").arg(path("kustomize")));
    std::fs::write(path("kustomize.yaml"), made).unwrap();
    with(&["--helm", "chart"]);
    let made = succeed(Command::new(helm).args(["template", "shop"]).arg(path("chart")));
    std::fs::write(path("helm.yaml"), made).unwrap();
    let files = ["printed.yaml", "kustomize.yaml", "helm.yaml"].map(path);
    succeed(Command::new(python).args(["-c", SAME_OBJECTS]).args(files));
}

#[test]
fn errors_name_the_cause() {
    let room = room();
    let fails = |plan: &str, more: &[&str], code: i32, parts: &[&str]| {
        let output = output(&mut manifests(room.path(), plan, more));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    };
    fails("missing.jmx", &[], 3, &["cannot read missing.jmx"]);
    fails("example.jmx", &["--name", "Shop_1"], 3, &["the name \"Shop_1\"", "lower-case"]);
    fails("example.jmx", &["--namespace", "a.b"], 3, &["the namespace \"a.b\""]);
    fails("example.jmx", &["--memory", "1 GB"], 3, &["the memory \"1 GB\"", "1Gi"]);
    fails("example.jmx", &["--keep-results", "10"], 2, &["--keep-results", "10s"]);
    fails("example.jmx", &["--label", "team"], 2, &["--label", "NAME=VALUE"]);
    std::fs::write(room.path().join("data/path.txt"), vec![b'x'; 2 << 20]).unwrap();
    fails("My Shop.jmx", &[], 3, &["data/path.txt with 2097152 bytes", "at most 1048576"]);
    std::fs::remove_dir_all(room.path().join("hub")).unwrap();
    fails("example.jmx", &[], 3, &["agent.json", "busyhour cluster init"]);
    succeed(busyhour(room.path()).args(["cluster", "init", "--dir", "hub"]));
    fails("example.jmx", &[], 3, &["tls://127.0.0.1:4222", "not that of a Service"]);
}

/// A process that is killed when this is dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Process {
        Process(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that answers every request, on a free port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut request = [0; 8192];
                while stream.read(&mut request).is_ok_and(|length| length > 0) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
                }
            });
        }
    });
    port
}

/// The arguments of the first container in an object, with the paths of its pod replaced.
fn arguments(object: &str, replaced: &[(&str, &str)]) -> Vec<String> {
    let after = object.split_once("args:\n").unwrap().1;
    let entries = after.lines().map_while(|line| line.trim_start().strip_prefix("- "));
    let value = |entry: &str| {
        let entry = entry.trim_matches(['"', '\'']).to_owned();
        replaced.iter().fold(entry, |entry, (from, to)| entry.replace(from, to))
    };
    entries.map(value).collect()
}

#[test]
fn the_commands_of_the_objects_execute_a_run() {
    let Some(nats) = tool("nats-server", "bin/nats-server")
        .or_else(|| Some(PathBuf::from("/usr/sbin/nats-server")).filter(|file| file.is_file()))
    else {
        return;
    };
    let room = room();
    let dir = room.path().to_str().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    std::fs::remove_dir_all(room.path().join("hub")).unwrap();
    let init = ["cluster", "init", "--dir", "hub", "--host", "busyhour-hub", "--port", &port.to_string()];
    succeed(busyhour(room.path()).args(init));
    let options = [format!("PORT={}", server()), "DURATION=1".into(), "THINK=5".into(), "USERS=4".into()];
    let mut command =
        manifests(room.path(), "My Shop.jmx", &["--kustomize", "written", "--name", "shop", "--cores", "1"]);
    command.arg("--").args(options.iter().flat_map(|option| ["-J", option]));
    succeed(&mut command);
    let read = |path: &str| std::fs::read_to_string(room.path().join("written").join(path)).unwrap();
    // Outside of a cluster, the Service has no name, and the files are elsewhere.
    for invitation in ["hub/agent.json", "hub/controller.json"] {
        let local = read(invitation).replace("tls://busyhour-hub", "tls://127.0.0.1");
        std::fs::write(room.path().join("written").join(invitation), local).unwrap();
    }
    let hub = room.path().join("written/hub");
    let config =
        read("nats.conf").replace("/etc/nats", hub.to_str().unwrap()).replace("http_port: 8222\n", "");
    assert!(config.contains(&format!("port: {port}")) && !config.contains("8222"), "{config}");
    std::fs::write(hub.join("nats.conf"), config).unwrap();
    let log = std::fs::File::create(room.path().join("nats.log")).unwrap();
    let mut nats = Process::start(Command::new(nats).arg("-c").arg(hub.join("nats.conf")).stderr(log));
    let connects = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    while !connects() {
        assert!(
            matches!(nats.0.try_wait(), Ok(None)),
            "{}",
            std::fs::read_to_string(room.path().join("nats.log")).unwrap()
        );
        std::thread::yield_now();
    }
    let hub = hub.to_str().unwrap();
    let object = read("resources/shop-agents-job.yaml");
    let mut agents = Vec::new();
    for pod in ["shop-agents-0", "shop-agents-1", "shop-agents-2", "shop-agents-3"] {
        let records = format!("{dir}/{pod}");
        let replaced = [
            ("/etc/busyhour", hub),
            ("/var/lib/busyhour", &records),
            ("$(POD_NAME)", pod),
            ("$(NODE_NAME)", "node-1"),
            ("$(ZONE)", ""),
        ];
        agents.push(Process::start(busyhour(room.path()).args(arguments(&object, &replaced))));
    }
    let replaced = [("/etc/busyhour", hub), ("/plan", dir), ("/results", dir), ("$(POD_NAME)", "result")];
    let arguments = arguments(&read("resources/shop-controller-job.yaml"), &replaced);
    let run = output(busyhour(room.path()).args(&arguments));
    let messages = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{messages}");
    for part in ["files for the agents: data/path.txt", "the agent shop-agents-3 generates the share"] {
        assert!(messages.contains(part), "{part:?} is not in {messages}");
    }
    assert!(room.path().join("result/summary.json").is_file());
    // The agents end by themselves after the run.
    for mut agent in agents {
        assert!(agent.0.wait().unwrap().success());
    }
}
