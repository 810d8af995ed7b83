//! Tests the journal with a program that prints what `journalctl` of systemd 252 prints.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use busyhour_series::{SeriesQuery, SourceState, read_series};
use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Room, wait_for};
use crate::servers::Server;

/// The first time, it prints three records and fails; afterwards, it prints one record and keeps running.
///
/// A message with other than printable characters is an array of bytes, here with bytes that are not UTF-8, and with a second line.
/// A message that is too long is null.
const JOURNALCTL: &str = r#"#!/bin/sh
echo "$@" >> calls
us=$(($(date +%s%N) / 1000))
record() {
    printf '{"_SOURCE_REALTIME_TIMESTAMP":"%s","PRIORITY":"3","_BOOT_ID":"325278ca226c41f88707eb32c095e143",' "$us"
    printf '"_PID":"26823","__REALTIME_TIMESTAMP":"%s","__MONOTONIC_TIMESTAMP":"5942704099",' "$us"
    printf '"SYSLOG_IDENTIFIER":"shop","_SYSTEMD_UNIT":"shop.service","MESSAGE":%s,"__CURSOR":"s=77e5;i=15b"}\n' "$1"
}
if [ "$(wc -l < calls)" -eq 1 ]; then
    record '"no seat failed"'
    record '[110,111,32,115,101,97,116,32,255,254,32,102,97,105,108,101,100,10,115,101,99,111,110,100,32,108,105,110,101]'
    record null
    echo "Failed to get journal fields: Bad message" >&2
    exit 1
fi
record '"no seat failed"'
exec sleep 3600
"#;

#[test]
fn a_journal_that_fails_is_read_again_and_arrays_of_bytes_are_decoded() {
    let (room, server) = (Room::new(), Server::quick());
    fs::create_dir(room.path().join("bin")).unwrap();
    let program = room.file("bin/journalctl", JOURNALCTL);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    command.args(["run", &url, "--rate", "20/s", "--for", "1h", "--dir", "run"]);
    command.args(["--observe", "journal:shop.service"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", room.path().join("bin").display()));
    let running = room.start_command(command);
    let states = || {
        let set = read_series(&room.path().join("run/series.bho"), &SeriesQuery::default()).ok()?;
        let position = set.sources.iter().position(|source| source == "journal:shop.service")?;
        let changes = set.states.into_iter().filter(|change| change.source as usize == position);
        Some(changes.map(|change| change.state).collect::<Vec<_>>())
    };
    // It is started again 10 s after the first start.
    let found = wait_for("the second start", || states().filter(|states| states.len() >= 2));
    running.signal(Signal::INT);
    let ended = running.end().expect(4);
    assert!(ended.stderr.contains("observing journal:shop.service: watched"), "{}", ended.stderr);
    let SourceState::Failed(reason) = &found[0] else { panic!("{found:?}") };
    for part in ["the journal: `journalctl` ended with exit status: 1", "Bad message"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(found[1..], [SourceState::Watching]);
    let calls = room.read("calls");
    let since: Vec<f64> = calls
        .lines()
        .map(|call| {
            for argument in ["--follow", "--output=json", "--all", "--unit=shop.service"] {
                assert!(call.contains(argument), "{call}");
            }
            call.split("--since=@").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
        })
        .collect();
    assert!(since.len() == 2 && since[0] < since[1], "{calls}");
    let logs: Value = serde_json::from_str(&room.read("run/logs.json")).unwrap();
    let counts = &logs["sources"][0]["counts"];
    let templates: Vec<(&str, u64)> = counts["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| (template["text"].as_str().unwrap(), template["count"].as_u64().unwrap()))
        .collect();
    assert!(templates.contains(&("no seat failed", 2)), "{templates:?}");
    assert!(
        templates.iter().any(|(text, _)| text.starts_with("no seat") && text.contains('\u{fffd}')),
        "{templates:?}"
    );
}
