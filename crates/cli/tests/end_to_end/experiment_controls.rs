//! Tests the controls of an experiment, and their restoration after `kill -9`, signals and failures. Real control groups and
//! namespaces are used where they are permitted; a double of `pqos` is used everywhere.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::experiments::{DAEMON, RUN, experiment, journal, probe, trials, wait_for_load, wait_for_pids};
use crate::foreign_programs::free_port;
use crate::program::{Room, Running, wait_for};

/// The journal of controls.
const CONTROLS: &str = "out/controls.jsonl";

const CGROUP: &str =
    "[[treatment]]\nname = \"quota\"\nkind = \"cgroup\"\ntarget = \"system\"\ncpu-max = 0.9\n";

const PQOS: &str = "[[treatment]]\nname = \"ways\"\nkind = \"masks\"\ntarget = \"system\"\nl3 = \"0x3\"\nthrough = \"pqos\"\nclass = 1\n";

const MARK: &str = "[[treatment]]\nname = \"mark\"\nkind = \"command\"\napply = \"mkdir applied\"\nundo = \"rmdir applied\"\n";

/// A double of `pqos` with one class and one core. It keeps its state in the file `pqos.state`.
const PQOS_DOUBLE: &str = r#"#!/bin/sh
state="$(dirname "$0")/pqos.state"
[ -e "$state" ] || echo "0xff 0" > "$state"
read -r mask class < "$state"
case "$1" in
-s)
    echo "L3CA/MBA COS definitions for Socket 0:"
    echo "    L3CA COS0 => MASK 0xff"
    echo "    L3CA COS1 => MASK $mask"
    echo "Core information for socket 0:"
    echo "    Core 0, L2ID 0, L3ID 0 => COS$class, RMID0"
    ;;
-e) echo "${2##*=} $class" > "$state" ;;
-a) class="${2%%=*}"; echo "$mask ${class##*:}" > "$state" ;;
esac
"#;

/// A command of `busyhour` that finds the double of `pqos`.
fn command(room: &Room, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(room.path().join("bin")).chain(std::env::split_paths(&path));
    command.args(arguments).env("PATH", std::env::join_paths(dirs).unwrap());
    command
}

/// Writes a program in a separate process. If this process wrote it, a child that another thread starts at the same
/// time could hold the file open for writing.
fn write_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

/// Whether the experiment can be executed here; if not, the reason is printed.
fn is_available(room: &Room) -> bool {
    let ended = room.start_command(command(room, &["experiment", "run", "delay.toml", "--dry-run"])).end();
    if ended.status.success() {
        return true;
    }
    assert!(ended.stderr.contains("is not available"), "{}", ended.all());
    let mut err = std::io::stderr();
    let _ = err.write_all(format!("SKIPPED: {}\n", ended.stderr).as_bytes());
    false
}

/// An experiment whose cases both have these treatments, and change a file.
fn with_treatments(room: &Room, start: &str, trials: &str, names: &str, treatments: &str) {
    let port = free_port();
    let more =
        format!("treatments = [{names}]\npatch = [{{ file = \"conf\", find = \"old\", replace = \"new\" }}]");
    let start = start.replace("PROBE", &probe(port));
    let text = experiment(&start, port, trials, &more) + treatments;
    room.file("delay.toml", text.replace("[load]", "cores = \"0\"\n[load]"));
    room.file("conf", "an old value");
    write_program(&room.path().join("bin/pqos"), PQOS_DOUBLE);
}

const LONG: &str = "duration = \"30s\"\nrepetitions = 2";

/// Starts the experiment, waits until the load of the first trial has begun, and returns the trial.
fn start(room: &Room) -> (Running, String) {
    let running = room.start_command(command(room, &RUN));
    let first = wait_for("the first trial", || {
        let text = std::fs::read_to_string(room.path().join("out/journal.jsonl")).ok()?;
        let line: Value = serde_json::from_str(text.lines().nth(1)?).ok()?;
        Some(line["trial"].as_str()?.to_owned())
    });
    wait_for_load(room, &first);
    (running, first)
}

/// The control groups that the journal of controls names.
fn groups(room: &Room) -> Vec<PathBuf> {
    let text = room.read(CONTROLS);
    let values = text.split('"').filter(|text| text.starts_with("/sys/fs/cgroup"));
    let created = values.filter(|text| text.rsplit('/').next().unwrap().starts_with("busyhour-"));
    let found: std::collections::BTreeSet<PathBuf> = created.map(PathBuf::from).collect();
    found.into_iter().collect()
}

/// The control groups of the process whose ID is the first one in the file `pids`.
fn groups_of_system(room: &Room) -> String {
    let pid = room.read("pids").lines().next().unwrap().to_owned();
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap()
}

fn kill(room: &Room, running: Running) {
    running.signal(Signal::KILL);
    assert!(running.end().status.code().is_none());
    assert!(room.path().join(CONTROLS).is_file() && room.path().join("applied").is_dir());
    assert_eq!(room.read("conf"), "an new value");
}

fn expect_restored(room: &Room) {
    assert_eq!(room.read("conf"), "an old value");
    assert!(!room.path().join("applied").exists() && !room.path().join(CONTROLS).exists());
    room.run_line("experiment restore out").expect(0).prints(&["Nothing was left to undo."]);
}

#[test]
fn real_control_groups_are_restored_after_a_kill() {
    let room = Room::new();
    with_treatments(&room, "PROBE", LONG, "\"quota\", \"mark\"", &format!("{CGROUP}{MARK}"));
    if !is_available(&room) {
        return;
    }
    let (running, first) = start(&room);
    let created = groups(&room);
    let is_in =
        |group: &PathBuf| groups_of_system(&room).contains(group.file_name().unwrap().to_str().unwrap());
    assert!(!created.is_empty() && created.iter().all(|group| group.is_dir() && is_in(group)), "{created:?}");
    let busy = room.run_line("experiment restore out").expect(3);
    assert!(busy.stderr.contains("is in use by another process"), "{}", busy.all());
    kill(&room, running);
    room.run_line("experiment restore out").expect(0).prints(&[
        "undid the control: ",
        "undid the treatment \"mark\" of the interrupted trial",
        "restored ",
        &format!("the trial {first} was interrupted and is repeated"),
    ]);
    assert!(!created.iter().any(|group| group.exists()), "{created:?}");
    assert_eq!(wait_for_pids(room.path()), 1);
    expect_restored(&room);
}

#[test]
fn classes_of_pqos_are_restored_after_a_kill() {
    let room = Room::new();
    with_treatments(&room, "PROBE", LONG, "\"ways\", \"mark\"", &format!("{PQOS}{MARK}"));
    assert!(is_available(&room));
    let (running, _) = start(&room);
    assert_eq!(room.read("bin/pqos.state"), "0x3 1\n");
    kill(&room, running);
    let ended = room.start_command(command(&room, &["experiment", "restore", "out"])).end().expect(0);
    ended.prints(&["undid the control: ", "undid the treatment \"mark\""]);
    assert_eq!(room.read("bin/pqos.state"), "0xff 0\n");
    expect_restored(&room);
}

#[test]
fn a_continued_experiment_restores_and_repeats_its_warm_up() {
    let room = Room::new();
    with_treatments(&room, "PROBE", LONG, "\"ways\", \"mark\"", &format!("{PQOS}{MARK}"));
    let text = room.read("delay.toml").replace("warm-up = 0", "warm-up = 1");
    room.file("delay.toml", text);
    let (running, first) = start(&room);
    assert!(first.starts_with("b00") && first.ends_with("a1"), "{first}");
    kill(&room, running);
    let running = room.start_command(command(&room, &RUN));
    running.wait_for_stderr("undid the control: ");
    running.wait_for_stderr("so the warm-up trials are executed again");
    let second = wait_for("the second trial", || {
        let text = std::fs::read_to_string(room.path().join("out/journal.jsonl")).ok()?;
        let line = text.lines().filter(|line| line.contains("\"event\":\"begun\"")).nth(1)?;
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line["trial"].as_str()?.to_owned())
    });
    assert!(second.starts_with("b00") && second.ends_with("a2"), "{second}");
    wait_for_load(&room, &second);
    running.signal(Signal::TERM);
    running.end().expect(4);
    assert!(journal(&room).iter().any(|line| line["event"] == "continued"));
    assert_eq!(trials(&room, "interrupted"), [first, second]);
    assert_eq!(room.read("bin/pqos.state"), "0xff 0\n");
    expect_restored(&room);
}

#[test]
fn signals_undo_controls() {
    let room = Room::new();
    with_treatments(&room, "PROBE", LONG, "\"quota\", \"ways\", \"mark\"", &format!("{CGROUP}{PQOS}{MARK}"));
    if !is_available(&room) {
        return;
    }
    let (running, first) = start(&room);
    let created = groups(&room);
    assert_eq!(room.read("bin/pqos.state"), "0x3 1\n");
    running.signal(Signal::INT);
    running.end().expect(4);
    assert_eq!((trials(&room, "interrupted"), wait_for_pids(room.path())), (vec![first], 1));
    assert!(!created.is_empty() && !created.iter().any(|group| group.exists()), "{created:?}");
    assert_eq!(room.read("bin/pqos.state"), "0xff 0\n");
    expect_restored(&room);
}

#[test]
fn processes_without_a_keeper_are_ended_by_restore() {
    let room = Room::new();
    let daemon = format!("{DAEMON}PROBE");
    with_treatments(&room, &daemon, LONG, "\"ways\", \"mark\"", &format!("{PQOS}{MARK}"));
    let (running, _) = start(&room);
    wait_for("both processes", || (room.read("pids").lines().count() == 2).then_some(()));
    // Without its keeper, nothing ends the system and its daemon. The keeper of the system is the parent of one of them.
    for pid in room.read("pids").lines() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let parent: i32 =
            stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap();
        let line = std::fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        if line.contains("\0keep\0") {
            running.signal(Signal::STOP);
            kill_process(Pid::from_raw(parent).unwrap(), Signal::KILL).unwrap();
        }
    }
    kill(&room, running);
    let ended = room.start_command(command(&room, &["experiment", "restore", "out"])).end().expect(0);
    ended.prints(&["ended ", " processes of the experiment"]);
    assert_eq!(wait_for_pids(room.path()), 2);
    expect_restored(&room);
}

#[test]
fn children_that_a_system_leaves_in_its_group_are_ended() {
    let room = Room::new();
    let daemon = format!("{DAEMON}PROBE");
    let short = "duration = \"1s\"\nrepetitions = 2";
    with_treatments(&room, &daemon, short, "\"quota\", \"mark\"", &format!("{CGROUP}{MARK}"));
    if !is_available(&room) {
        return;
    }
    let running = room.start_command(command(&room, &RUN));
    let created = wait_for("a control group", || {
        let is_there = room.path().join(CONTROLS).is_file();
        is_there.then(|| std::fs::read_to_string(room.path().join(CONTROLS)).unwrap_or_default())?;
        let found = std::panic::catch_unwind(|| groups(&room)).unwrap_or_default();
        (!found.is_empty()).then_some(found)
    });
    wait_for("the end of all trials", || running.stdout().contains("trials finished").then_some(()));
    running.end().expect(0);
    assert!(!created.iter().any(|group| group.exists()), "{created:?}");
    assert!(wait_for_pids(room.path()) >= 8, "two processes of each trial");
    expect_restored(&room);
}

#[test]
fn a_treatment_that_cannot_be_undone_is_named_with_the_command_that_restores() {
    let room = Room::new();
    let stubborn = MARK.replace("rmdir applied", "test -e allowed && rmdir applied");
    let short = "duration = \"1s\"\nrepetitions = 2";
    with_treatments(&room, "PROBE", short, "\"ways\", \"mark\"", &format!("{PQOS}{stubborn}"));
    let dir = room.path().join("out");
    let ended = room.start_command(command(&room, &RUN)).end().expect(1).reports(&[
        "was not undone completely: the treatment \"mark\" could not be undone: its command `undo` ended with exit code 1",
        "system.log",
        &format!("busyhour experiment restore {}", dir.display()),
    ]);
    assert!(ended.stderr.contains("the trial b01-c0"), "{}", ended.all());
    // The failure does not prevent the rest.
    assert_eq!(
        (room.read("conf").as_str(), room.read("bin/pqos.state").as_str()),
        ("an old value", "0xff 0\n")
    );
    room.run_line("experiment restore out")
        .expect(1)
        .reports(&["the treatment \"mark\" could not be undone", "not everything was undone"]);
    room.file("allowed", "");
    room.run_line("experiment restore out").expect(0).prints(&["undid the treatment \"mark\""]);
    expect_restored(&room);
}

#[test]
fn a_delay_of_the_network_is_an_effect() {
    let room = Room::new();
    let port = free_port();
    let start = format!("exec python3 -m http.server --bind 0.0.0.0 {port}");
    let text = experiment(&start, port, "duration = \"2s\"\nrepetitions = 2", "")
        .replace("127.0.0.1", "198.18.0.2")
        .replace("name = \"80ms\"", "name = \"80ms\"\ntreatments = [\"far\"]");
    let namespace = format!("bh-test-{}", std::process::id());
    let far = format!(
        "[[treatment]]\nname = \"far\"\nkind = \"network\"\nnamespace = \"{namespace}\"\ndelay = \"80ms\"\n"
    );
    room.file("delay.toml", text.replace("environment = { DELAY = \"80ms\" }", "") + &far);
    if Command::new("python3").arg("--version").output().is_err() {
        let _ = std::io::stderr().write_all(b"SKIPPED: there is no python3 to serve files\n");
        return;
    }
    if !is_available(&room) {
        return;
    }
    let running = room.start(RUN);
    let has_ended = || {
        let text = running.stdout();
        ["trials finished", "trial finished", " failed"].iter().any(|end| text.contains(end)).then_some(())
    };
    wait_for("the end of the experiment", has_ended);
    let is_gone =
        || !Path::new("/run/netns").join(&namespace).exists() && !room.path().join(CONTROLS).exists();
    if running.stderr().contains("qdisc kind is unknown") {
        let _ = std::io::stderr().write_all(b"SKIPPED in part: the kernel has no netem\n");
        running.end().expect(1);
        // Trials without emulation also start the system in the namespace.
        let base: Vec<String> =
            ["finished", "spoiled"].iter().flat_map(|outcome| trials(&room, outcome)).collect();
        assert!(!base.is_empty() && base.iter().all(|trial| trial.contains("-c01-")), "{base:?}");
        assert!(is_gone());
        return;
    }
    let ended = running.end().expect(0);
    let change = ended.stdout.lines().find(|line| line.contains("delay=80ms  +")).unwrap_or_default();
    assert!(!change.is_empty(), "{}", ended.all());
    assert!(is_gone());
}

#[test]
fn unavailable_controls_are_named_before_the_first_trial() {
    let room = Room::new();
    let treatments =
        "[[treatment]]\nname = \"none\"\nkind = \"cgroup\"\ntarget = \"/no/such/group\"\ncpu-max = 0.5\n";
    with_treatments(&room, "PROBE", LONG, "\"none\"", treatments);
    room.run(RUN).expect(3).reports(&["treatment \"none\" (cgroup) is not available: "]);
    assert!(!room.path().join("out/journal.jsonl").exists());
    let text = room.read("delay.toml").replace("[load]", "cgroup = \"/no/such/group\"\n[load]");
    room.file("delay.toml", text);
    room.run(RUN).expect(3).reports(&["`cgroup` of [system] is not available: "]);
    room.run_line("experiment restore out").expect(3).reports(&["contains no experiment"]);
}
