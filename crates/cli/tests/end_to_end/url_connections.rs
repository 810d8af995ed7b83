//! Tests scripts that open URL connections.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use crate::program::{PATIENCE, Room};

/// The paths that were requested so far.
#[derive(Default)]
struct Requested {
    paths: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Requested {
    fn add(&self, path: String) {
        self.paths.lock().unwrap().push(path);
        self.changed.notify_all();
    }

    fn wait_for(&self, path: &str) {
        let paths = self.paths.lock().unwrap();
        let lacks = |paths: &mut Vec<String>| !paths.iter().any(|known| known == path);
        let (_paths, waited) = self.changed.wait_timeout_while(paths, PATIENCE, lacks).unwrap();
        assert!(!waited.timed_out(), "{path} is not requested");
    }
}

/// A server that responds to `/after/X` once `/X` has been requested, never responds to `/never`, and responds to all
/// other requests immediately.
fn server() -> (u16, Arc<Requested>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requested = Arc::new(Requested::default());
    let all = Arc::clone(&requested);
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let requested = Arc::clone(&all);
            std::thread::spawn(move || serve(stream, &requested));
        }
    });
    (port, requested)
}

fn serve(mut stream: TcpStream, requested: &Requested) {
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if !stream.read(&mut byte).is_ok_and(|read| read == 1) {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        requested.add(path.clone());
        if let Some(other) = path.strip_prefix("/after") {
            requested.wait_for(other);
        }
        if path == "/never" {
            continue;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }
}

fn group(children: &str) -> String {
    format!(
        r#"<ThreadGroup testclass="ThreadGroup" testname="g"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
</ThreadGroup><hashTree>{children}</hashTree>"#
    )
}

fn script(text: &str) -> String {
    format!(
        r#"<JSR223Sampler testclass="JSR223Sampler" testname="script"><stringProp name="scriptLanguage">groovy</stringProp>
<stringProp name="script">{text}</stringProp></JSR223Sampler><hashTree/>"#
    )
}

fn get(port: u16, path: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{path}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#
    )
}

fn plan(groups: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="p"/><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
    )
}

#[test]
fn other_users_of_the_core_go_on_while_a_script_waits_for_a_server() {
    let (port, requested) = server();
    let waiting = script(&format!(
        "vars.put('t', new URL('http://127.0.0.1:{port}/after/second').getText(readTimeout: 30000)); new URL('http://127.0.0.1:{port}/got/' + vars.get('t')).bytes"
    ));
    // This request is answered only while the script waits.
    let other = get(port, "/after/after/second") + &get(port, "/second");
    let room = Room::new();
    room.file("plan.jmx", plan(&(group(&waiting) + &group(&other))));
    let ended = room.run_line("run plan.jmx --cores 1 --seed 1");
    assert!(ended.status.success(), "{}\n{}", ended.stdout, ended.stderr);
    requested.wait_for("/got/hi");
}

#[test]
fn a_stop_ends_a_script_that_waits_for_a_server() {
    let (port, requested) = server();
    let room = Room::new();
    let waiting = script(&format!("new URL('http://127.0.0.1:{port}/never').text"));
    room.file("plan.jmx", plan(&group(&waiting)));
    let running = room.start(["run", "plan.jmx", "--cores", "1", "--seed", "1"]);
    requested.wait_for("/never");
    running.signal(rustix::process::Signal::INT);
    running.wait_for_stderr("repeat to stop now");
    running.signal(rustix::process::Signal::INT);
    running.end().expect(4).reports(&["stopping now"]);
}
