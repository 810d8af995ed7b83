//! Commands to running JVMs.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use busyhour_observe::ProcRoot;
use busyhour_observe::jvm::{
    AttachError, AttachedJvm, HistogramScope, ProcessError, RecordingCommandError, RecordingError,
    RecordingSettings, ThreadState,
};

use crate::java::{Jdk, Load};

/// Long enough for a machine that compiles at the same time.
const TIMEOUT: Duration = Duration::from_secs(120);

fn connect(pid: u32) -> AttachedJvm {
    AttachedJvm::connect(&ProcRoot::live(), pid, TIMEOUT).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(pid: u32) -> AttachError {
    AttachedJvm::connect(&ProcRoot::live(), pid, TIMEOUT).map(drop).expect_err("refused")
}

/// A few commands that work for every JVM.
pub fn check_commands(pid: u32) {
    let jvm = connect(pid);
    assert!(jvm.version().expect("a version").contains("JDK "));
    let threads = jvm.thread_dump(false).expect("a dump");
    assert!(threads.threads.iter().any(|thread| thread.name == "main"));
}

#[test]
fn commands_work_for_every_jdk() {
    for jdk in Jdk::installed() {
        let mut load = Load::start(&jdk, &["-XX:+DisableExplicitGC"]);
        load.say("keep 1000");
        let jvm = connect(load.pid());
        let again = connect(load.pid());
        assert!(again.version().expect("a version").contains("JDK "));

        let live = jvm.class_histogram(HistogramScope::Live).expect("a histogram");
        assert_eq!(live.instances_of("Load$Kept"), 1_000);
        load.say("keep 10");
        let all = jvm.class_histogram(HistogramScope::All).expect("a histogram");
        assert!(all.instances_of("Load$Kept") >= 10);
        jvm.collect_garbage().expect("a collection");
        let live = jvm.class_histogram(HistogramScope::Live).expect("a histogram");
        assert_eq!(live.instances_of("Load$Kept"), 10);

        let flags = jvm.flags().expect("flags");
        let explicit = flags.iter().find(|flag| flag.name == "DisableExplicitGC").expect("the flag");
        assert_eq!((explicit.value.as_str(), explicit.origin.as_deref()), ("true", Some("command line")));

        let error = jvm.command("No.such").expect_err("unknown");
        assert!(
            matches!(&error, AttachError::Refused { text, .. } if text.contains("Unknown diagnostic command")),
            "{error}"
        );
        load.stop();
        assert!(matches!(jvm.version(), Err(AttachError::Socket { .. })));
    }
}

#[test]
fn a_thread_dump_names_the_holder_of_a_lock() {
    for jdk in Jdk::installed() {
        let mut load = Load::start(&jdk, &[]);
        load.say("hold");
        let jvm = connect(load.pid());
        let dump = jvm.thread_dump(false).expect("a dump");
        let blocked = dump.blocked();
        assert_eq!(blocked.len(), 2);
        assert!(blocked.iter().all(|blocked| blocked.owner.is_some_and(|owner| owner.name == "holder")));
        assert!(blocked.iter().all(|blocked| blocked.lock.class == "Load$Ledger"));
        assert!(dump.states().contains(&(ThreadState::Blocked, 2)));
        assert_eq!(jvm.thread_dump(true).expect("a dump").blocked().len(), 3);
        load.say("release");
        load.stop();
    }
}

#[test]
fn a_recording_is_started_and_written() {
    let dir = tempfile::tempdir().expect("a directory");
    for jdk in Jdk::installed() {
        let load = Load::start(&jdk, &[]);
        let jvm = connect(load.pid());
        let file = dir.path().join("my recording.jfr");
        jvm.start_recording("busyhour", RecordingSettings::Default).expect("a recording");
        jvm.dump_recording("busyhour", &file, true).expect("a file");
        assert!(std::fs::read(&file).expect("the file").starts_with(b"FLR\0"));
        jvm.stop_recording("busyhour").expect("the end");
        let error = jvm.dump_recording("busyhour", &file, false).expect_err("no recording");
        assert!(matches!(error, RecordingCommandError::Recording(RecordingError::Failed(_))), "{error}");
        load.stop();
    }
}

/// Version 2 of the protocol accepts long commands; version 1 cannot express them.
#[test]
fn long_commands_need_version_2() {
    for jdk in Jdk::installed() {
        let load = Load::start(&jdk, &[]);
        let jvm = connect(load.pid());
        let version = jvm.version().expect("a version");
        let feature = version
            .rsplit_once("JDK ")
            .and_then(|(_, version)| version.split(['.', '+', '-']).next()?.parse().ok());
        let has_version_2 = feature.is_some_and(|feature: u32| feature >= 24);
        let long = format!("help {}", "x".repeat(2_000));
        match jvm.command(&long) {
            Err(AttachError::Request { limit: 1024, .. }) => assert!(!has_version_2),
            Ok(_) | Err(AttachError::Refused { .. }) => assert!(has_version_2),
            Err(error) => panic!("{error}"),
        }
        load.stop();
    }
}

/// SIGQUIT would end these processes, or have another effect.
#[test]
fn other_processes_are_not_signalled() {
    let mut other = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat");
    assert!(matches!(refused(other.id()), AttachError::NotHotSpot { .. }));
    drop(other.stdin.take());
    assert!(other.wait().expect("cat").success(), "the signal was not sent");
    assert!(matches!(refused(other.id()), AttachError::Process(ProcessError::Missing { .. })));
    assert!(matches!(refused(u32::MAX), AttachError::Process(ProcessError::Missing { .. })));

    for jdk in Jdk::installed() {
        // With -Xrs, a JVM does not handle SIGQUIT, but listens from its start.
        let load = Load::start(&jdk, &["-Xrs"]);
        check_commands(load.pid());
        let tmp = ProcRoot::live().process(load.pid(), "root/tmp");
        std::fs::remove_file(tmp.join(format!(".java_pid{}", load.pid()))).expect("the socket");
        assert!(matches!(refused(load.pid()), AttachError::QuitNotHandled { .. }));
        load.stop();
        let load = Load::start(&jdk, &["-XX:+DisableAttachMechanism"]);
        assert!(matches!(refused(load.pid()), AttachError::TurnedOff { .. }));
        load.stop();
    }
}

#[test]
fn a_stopped_jvm_causes_a_timeout() {
    for jdk in Jdk::installed() {
        let load = Load::start(&jdk, &[]);
        load.signal("STOP");
        let error = AttachedJvm::connect(&ProcRoot::live(), load.pid(), Duration::from_millis(200))
            .map(drop)
            .expect_err("stopped");
        assert!(matches!(error, AttachError::Timeout { .. }), "{error}");
        let cwd = std::env::current_dir().expect("a directory");
        assert!(!cwd.join(format!(".attach_pid{}", load.pid())).exists(), "the file is deleted");
        load.signal("CONT");
        check_commands(load.pid());
        load.stop();
    }
}

#[test]
fn root_commands_the_jvm_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("note: the JVM of another user is not tested without root");
        return;
    }
    for jdk in Jdk::installed() {
        let mut command = Command::new(jdk.tool("java"));
        let is_readable = Command::new("test")
            .arg("-r")
            .arg(crate::java::classes().expect("compiled"))
            .uid(65_534)
            .gid(65_534)
            .status();
        if !is_readable.is_ok_and(|status| status.success()) {
            eprintln!("note: user 65534 cannot read the compiled program; skipped");
            return;
        }
        command.uid(65_534).gid(65_534).current_dir("/");
        let load = Load::start_command(command);
        check_commands(load.pid());
        assert!(
            !std::path::Path::new(&format!("/.attach_pid{}", load.pid())).exists(),
            "the file is deleted"
        );
        load.stop();
    }
}
