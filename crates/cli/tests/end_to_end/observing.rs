//! Tests the observation of a run: the sources that are found, the files, and marks.
#![cfg(target_os = "linux")]

use std::path::Path;

use busyhour_series::{MarkKind, SeriesQuery, SeriesSet, read_series};

use crate::plans::{group, plan};
use crate::program::{Room, wait_for};
use crate::servers::Server;

pub(crate) fn series(dir: &Path) -> SeriesSet {
    read_series(&dir.join("series.bho"), &SeriesQuery::default()).unwrap()
}

fn has_source(set: &SeriesSet, name: &str) -> bool {
    set.sources.iter().any(|source| source == name)
}

#[test]
fn a_run_observes_the_server_behind_its_url() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let ended = room.run(["run", &url, "--rate", "20/s", "--for", "3s", "--dir", "run"]).expect(0);
    // The server is a thread of this test.
    let process = format!("process:{}", std::process::id());
    assert!(
        ended.stderr.contains("observing os, stall") && ended.stderr.contains(&process),
        "{}",
        ended.stderr
    );
    let set = series(&room.path().join("run"));
    assert!(has_source(&set, &process) && has_source(&set, "os") && has_source(&set, "observe"));
    let cpu: Vec<_> = set.find(&process, "process_cpu_seconds_total", &[]).collect();
    assert!(cpu.iter().any(|series| series.last.is_some_and(|(_, value)| value > 0.0)), "{cpu:?}");
    let manifest = room.read("run/run.json");
    assert!(manifest.contains("\"file\": \"series.bho\""), "{manifest}");
    assert!(set.damaged_end.is_none());
}

#[test]
fn a_server_whose_address_the_plan_computes_is_found_under_load() {
    let server = Server::quick();
    let room = Room::new();
    let sampler = format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="get">
             <stringProp name="HTTPSampler.domain">127.0.0.${{__intSum(0,1)}}</stringProp>
             <stringProp name="HTTPSampler.port">{}</stringProp>
             <stringProp name="HTTPSampler.path">/</stringProp>
             <stringProp name="HTTPSampler.method">GET</stringProp>
             <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
           </HTTPSamplerProxy><hashTree/>
           <ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="think">
             <stringProp name="ConstantTimer.delay">50</stringProp>
           </ConstantTimer><hashTree/>"#,
        server.port()
    );
    room.file("plan.jmx", plan(&group("1", "100000", &sampler)));
    let running = room.start(["run", "plan.jmx", "--dir", "run"]);
    running.wait_for_stderr(&format!("observing process:{}", std::process::id()));
    running.signal(rustix::process::Signal::INT);
    running.end().expect(4);
    assert!(has_source(&series(&room.path().join("run")), &format!("process:{}", std::process::id())));
}

#[test]
fn the_observation_can_be_disabled() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let ended = room.run(["run", &url, "-n", "1", "--dir", "run", "--observe", "none"]).expect(0);
    assert!(!ended.stderr.contains("observing"), "{}", ended.stderr);
    assert!(!room.path().join("run/series.bho").exists() && !room.path().join("run/marks.txt").exists());
}

#[test]
fn named_sources_are_reported_one_by_one() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let sources = "os,process:999999999,jvm:no-such-jvm,prometheus:ftp://x,postgres://me:hunter2@127.0.0.1:1/shop,\
         mysql://me:hunter2@127.0.0.1:1/shop";
    let ended = room.run(["run", &url, "-n", "3", "--dir", "run", "--observe", sources]).expect(0);
    for line in [
        "observing os (this machine): watched",
        "observing process: not watched, because there is no process 999999999",
        "observing jvm: not watched, because no JVM is named \"no-such-jvm\"",
        "observing prometheus: not watched, because ",
        "observing postgres://127.0.0.1:1/shop: watched",
        "observing mysql://127.0.0.1:1/shop: watched",
    ] {
        assert!(ended.stderr.contains(line), "{line}\n{}", ended.stderr);
    }
    // The databases do not exist. The series record this, and no file contains the password.
    let set = series(&room.path().join("run"));
    assert!(set.states.iter().any(|state| matches!(state.state, busyhour_series::SourceState::Failed(_))));
    for file in ["run/run.json", "run/summary.json", "run/report.html"] {
        assert!(!room.read(file).contains("hunter2"), "{file}");
    }
    let bytes = std::fs::read(room.path().join("run/series.bho")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"));
}

#[test]
fn mistakes_in_the_list_of_sources_are_named() {
    let room = Room::new();
    room.run_line("run http://127.0.0.1:1/ --observe vm")
        .expect(2)
        .reports(&["--observe: \"vm\" is not a source"]);
    room.run_line("run http://127.0.0.1:1/ --observe gc:")
        .expect(2)
        .reports(&["--observe: gc needs a value"]);
    room.run_line("run http://127.0.0.1:1/ --observe-interval 10ms").expect(2).reports(&["at least 100ms"]);
    room.run_line("observe").expect(2).reports(&["no source to observe is given", "--pid"]);
    room.run_line("observe --target 8080 --for 1s").expect(2).reports(&["--target", "HOST:PORT"]);
    room.run_line("observe --pid 999999999 --for 1s").expect(2).reports(&["there is no process 999999999"]);
}

#[test]
fn a_mark_of_the_user_is_recorded() {
    let server = Server::quick();
    let room = Room::new();
    room.run_line("observe mark early").expect(2).reports(&["busyhour-runs"]);
    let url = format!("http://127.0.0.1:{}/", server.port());
    let running = room.start(["run", &url, "--rate", "20/s", "--for", "1h"]);
    wait_for("the run directory", || room.has_run_dir().then_some(()));
    let dir = room.run_dir().path().to_owned();
    wait_for("the file of marks", || dir.join("marks.txt").is_file().then_some(()));
    room.run(["observe", "mark", "deployed 1.4"]).expect(0).reports(&["marked in"]);
    let is_marked = || {
        let set = series(&dir);
        let mut marks = set.marks.iter();
        marks.any(|(_, mark)| mark.kind == MarkKind::User && mark.text == "deployed 1.4").then_some(())
    };
    wait_for("the mark", is_marked);
    running.signal(rustix::process::Signal::INT);
    running.end().expect(4);
    room.run_line("observe mark late").expect(2).reports(&["no observed run is in progress"]);
}

#[test]
fn a_process_is_watched_without_a_run() {
    let room = Room::new();
    let pid = std::process::id().to_string();
    room.run(["observe", "--pid", &pid, "--for", "300ms", "--interval", "100ms", "--dir", "watch"])
        .expect(0)
        .reports(&["observing os (this machine): watched", "watching for 0.3 s"]);
    let set = series(&room.path().join("watch"));
    assert!(has_source(&set, &format!("process:{pid}")));
    room.run_line("report watch").expect(0).prints(&["System under test", "CPU utilization"]);
    room.run_line("observe mark --dir watch late").expect(2).reports(&["the observation in watch has ended"]);
    room.run(["observe", "--pid", &pid, "--for", "300ms", "--dir", "watch"]).expect(2).reports(&["watch"]);
}

/// Data that was recorded before `kill -9` is readable.
#[test]
fn series_are_readable_after_the_process_was_killed() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = ["run", &url, "--rate", "20/s", "--for", "1h", "--dir", "run", "--observe-interval", "100ms"];
    let running = room.start(line);
    let dir = room.path().join("run");
    let points = || {
        // The file does not exist yet, or has no head.
        let set = read_series(&dir.join("series.bho"), &SeriesQuery::default()).ok()?;
        set.find("os", "node_memory_MemAvailable_bytes", &[]).next().map(|series| series.points.len())
    };
    wait_for("some readings", || points().filter(|points| *points >= 3));
    running.signal(rustix::process::Signal::KILL);
    drop(running);
    assert!(points().is_some_and(|points| points >= 3));
    // The manifest of the killed run states no outcome, but nothing reads a mark.
    room.run_line("observe mark --dir run late")
        .expect(2)
        .reports(&["the run in run no longer reads marks: its process has ended or was killed"]);
    assert_eq!(room.read("run/marks.txt"), "");
}
