//! Tests the privacy of run directories: permissions, and secrets in files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use busyhour_standin::StandIn;

use crate::plans::{get, group, plan};
use crate::program::Room;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_owner_can_read_a_run_directory() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    let port = format!("PORT={}", server.port());
    room.run(["run", "plan.jmx", "-J", &port, "-l", "out.jtl", "-o", "dashboard"]).expect(0);
    let made = room.run_dir();
    assert_eq!(mode(made.path()), 0o700);
    let mut files = 0;
    for entry in std::fs::read_dir(made.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 6, "{files} files");
    // Files given by the user have default permissions.
    assert_eq!(mode(&room.path().join("out.jtl")), mode(&room.path().join("plan.jmx")));
    assert_eq!(mode(&room.path().join("dashboard/index.html")), mode(&room.path().join("plan.jmx")));
    // An existing directory keeps its mode; its files are private.
    std::fs::create_dir(room.path().join("there")).unwrap();
    let before = mode(&room.path().join("there"));
    room.run(["run", "plan.jmx", "-J", &port, "--dir", "there"]).expect(0);
    assert_eq!(mode(&room.path().join("there")), before);
    assert_eq!(mode(&room.path().join("there/run.json")), 0o600);
}

#[test]
fn secrets_on_the_command_line_are_not_stored() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/a?user=bob&token=SECRET1", server.port());
    let arguments = [
        "run",
        &url,
        "-c",
        "1",
        "--for",
        "1s",
        "-H",
        "Authorization: Bearer SECRET2",
        "-J",
        "db.password=SECRET3",
        "-J",
        "USERS=5",
        "-D",
        "javax.net.ssl.trustStorePassword=SECRET4",
    ];
    room.run(arguments.iter().chain(&["--dir", "hidden"])).expect(0);
    for file in ["run.json", "summary.json", "report.html", "run.log", "samples.jtl"] {
        let text = room.read(&format!("hidden/{file}"));
        for secret in ["SECRET1", "SECRET2", "SECRET3", "SECRET4"] {
            // As in JMeter, the results file contains the requested URL.
            assert!(
                !text.contains(secret) || (file, secret) == ("samples.jtl", "SECRET1"),
                "{file}: {secret}"
            );
        }
    }
    let manifest: serde_json::Value = serde_json::from_str(&room.read("hidden/run.json")).unwrap();
    assert_eq!(manifest["properties"]["db.password"], "[redacted]");
    assert_eq!(manifest["properties"]["USERS"], "5");
    room.run(arguments.iter().chain(&["--dir", "kept", "--keep-secrets"])).expect(0);
    let text = room.read("kept/run.json");
    for secret in ["SECRET1", "SECRET2", "SECRET3", "SECRET4"] {
        assert!(text.contains(secret), "{secret}");
    }
}
