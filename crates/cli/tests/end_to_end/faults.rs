//! Tests faults of the system: files that cannot be written, and limits that are reached.

use busyhour_results::replay_run;
use std::process::Command;

use busyhour_sample::RecorderEvent;

use crate::plans::{get, get_with, group, plan, text};
use crate::program::{Room, Running, rows, wait_for};
use crate::servers::{Gate, Server, answer};

/// Starts the program from a shell that first runs the command `before`.
fn under(room: &Room, before: &str, arguments: &str) -> Running {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_busyhour"))]);
    room.start_command(command)
}

#[allow(clippy::print_stderr, reason = "a test that is skipped prints why")]
#[test]
fn results_that_a_full_device_rejects_are_reported() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: there is no /dev/full");
        return;
    }
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "50", &get("a", "/"))));
    let ended = room.run_line(&format!("run plan.jmx -l /dev/full -JPORT={}", server.port())).expect(5);
    ended.prints(&["Total", "100", "/dev/full", "No space left on device", "none failed"]);
    assert_eq!(server.requests(), 100);
    // The record is complete.
    assert_eq!(replay_run(&room.run_dir()).unwrap().totals.total.samples, 100);
    assert!(!room.manifest().outcome.unwrap().recorder_events.is_empty());
}

#[test]
fn rows_before_the_disk_is_full_are_kept() {
    let server = Server::quick();
    let room = Room::new();
    let name = "a request with a rather long name so that the rows of the results file are long as well";
    room.file("plan.jmx", plan(&group("2", "3000", &get(name, "/"))));
    // The size of a file is limited to 600 blocks. Beyond the limit, the system sends SIGXFSZ, which would end the
    // program.
    let arguments = format!("run plan.jmx -l out.jtl -JPORT={}", server.port());
    let ended = under(&room, "ulimit -f 600", &arguments).end().expect(5);
    ended.prints(&["6,000", "out.jtl", "File too large", "report.html"]);
    assert_eq!(server.requests(), 6_000);
    // The file contains only complete rows.
    let rows = rows(&room.read("out.jtl"));
    assert!(!rows.is_empty() && rows.len() < 6_000);
    assert!(rows.iter().all(|row| row["success"] == "true" && row.contains_key("Connect")));
    // The number of lost rows is exact: the file contains all rows up to the limit.
    let events = room.manifest().outcome.unwrap().recorder_events;
    let lost: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            RecorderEvent::LostOutput { file, lost, .. } if file.ends_with("out.jtl") => Some(*lost),
            _ => None,
        })
        .collect();
    assert_eq!(lost, [6_000 - rows.len() as u64]);
    let (size, most) = (room.read("out.jtl").len(), 600 * 512);
    assert!(size <= most && size + 2 * (size / rows.len()) > most, "{size} of {most} bytes");
    let replay = replay_run(&room.run_dir()).unwrap();
    assert!(replay.totals.total.samples > 0);
}

#[test]
fn unwritable_paths_are_refused_before_the_first_request() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    room.file("file", "");
    let port = server.port();
    for (more, printed) in [
        ("--dir file", "file"),
        ("-l file/out.jtl", "file/out.jtl"),
        ("-l .", "."),
        ("-j file/run.log", "file/run.log"),
    ] {
        room.run_line(&format!("run plan.jmx -JPORT={port} {more}")).expect(1).reports(&["error: ", printed]);
    }
    let ended = room.run_line(&format!("run plan.jmx -JPORT={port} -o file/report"));
    assert_ne!(ended.status.code(), Some(0), "{}", ended.all());
    assert_eq!(server.requests(), 0, "no request is sent if its result cannot be written");
}

#[test]
fn connections_beyond_the_limit_of_open_files_fail() {
    let gate = Gate::default();
    let at_server = gate.clone();
    let server = Server::start(move |stream, _| {
        at_server.wait();
        answer(stream)
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group("250", "1", &get("a", "/"))));
    let arguments = format!("run plan.jmx -l out.jtl -JPORT={}", server.port());
    let running = under(&room, "ulimit -n 200", &arguments);
    // The record is written to disk every second. Wait until every user has failed or waits for the server.
    wait_for("every user has tried", || {
        let replay = room.has_run_dir().then(|| replay_run(&room.run_dir()).ok()).flatten()?;
        (replay.totals.total.errors + server.requests() as u64 >= 250).then_some(())
    });
    gate.open();
    let ended = running.end().expect(0);
    let ended = ended
        .reports(&["warning: the plan has 250 users, but this process may open only 200 files", "ulimit -n"]);
    ended.prints(&["java.net.SocketException", "Too many open files"]);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 250);
    let failed: Vec<_> = rows.iter().filter(|row| row["success"] == "false").collect();
    assert!(failed.len() >= 50 && failed.len() < 250, "{}", failed.len());
    for row in failed {
        assert_eq!(row["responseCode"], "Non HTTP response code: java.net.SocketException");
        assert_eq!(row["responseMessage"], "Non HTTP response message: Too many open files");
    }
}

#[test]
fn too_few_open_files_for_the_maximum_number_of_users_raise_a_warning() {
    let server = Server::quick();
    let url = format!("run http://127.0.0.1:{}/ --arrivals 'even(100/s) for 100ms'", server.port());
    let printed =
        |more: &str| under(&Room::new(), "ulimit -n 200", &format!("{url} {more}")).end().expect(0).stderr;
    assert!(printed("").contains("warning: arrivals may create up to 10000 users"));
    assert!(printed("--no-free-user queue -c 250").contains("warning: the plan has 250 users"));
    assert!(!printed("--no-free-user 'grow to 20'").contains("warning"));
}

/// The number of users that arrivals need is not known before the run, so the warning contains no number of users.
#[test]
fn very_few_open_files_for_arrivals_raise_a_warning() {
    let server = Server::quick();
    let url = format!("run http://127.0.0.1:{}/ --arrivals 'even(100/s) for 100ms' --cores 1", server.port());
    let ended = under(&Room::new(), "ulimit -n 32", &url).end();
    let ended =
        ended.reports(&["warning: this process may open only 32 files, and each connection needs one"]);
    assert!(!ended.stderr.contains("0 users"), "{}", ended.all());
}

/// The users would start over a hundred days, so the test stops the run.
#[cfg(target_os = "linux")]
#[test]
fn too_few_local_ports_are_predicted() {
    let server = Server::quick();
    let room = Room::new();
    let slowly = plan(&group("70000", "1", &get("a", "/")))
        .replace(&text("ThreadGroup.ramp_time", "0"), &text("ThreadGroup.ramp_time", "8640000"));
    room.file("plan.jmx", slowly);
    let running = room.start(["run", "plan.jmx", &format!("-JPORT={}", server.port())]);
    running.wait_for_stderr("local ports");
    running.wait_for_stderr("70000 users");
    wait_for("the first user's request", || (server.requests() > 0).then_some(()));
    running.signal(rustix::process::Signal::INT);
    running.end().expect(4);
}

/// A sampler that uploads a file, and a second sampler after it.
fn upload(file: &str) -> String {
    let files = format!(
        "<elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\">\n\
         <collectionProp name=\"HTTPFileArgs.files\">\n<elementProp name=\"{file}\" elementType=\"HTTPFileArg\">\n\
         <stringProp name=\"File.path\">{file}</stringProp>\n<stringProp name=\"File.paramname\">f</stringProp>\n\
         <stringProp name=\"File.mimetype\">text/plain</stringProp>\n</elementProp>\n</collectionProp>\n</elementProp>\n"
    );
    get_with("upload", "/", &files, "").replace(">GET<", ">POST<") + &get("next", "/")
}

#[test]
fn an_upload_that_cannot_be_read_is_a_failed_sample() {
    let server = Server::quick();
    // A device may have no end, so it is refused.
    for (file, message) in [("nowhere.bin", "nowhere.bin"), ("/dev/null", "it is not a regular file")] {
        let room = Room::new();
        room.file("plan.jmx", plan(&group("1", "1", &upload(file))));
        room.run_line(&format!("run plan.jmx -l out.jtl -JPORT={}", server.port())).expect(0);
        let rows = rows(&room.read("out.jtl"));
        assert_eq!(rows[0]["success"], "false");
        assert!(rows[0]["responseMessage"].contains(message), "{rows:?}");
        assert_eq!(rows[1]["success"], "true");
    }
}
