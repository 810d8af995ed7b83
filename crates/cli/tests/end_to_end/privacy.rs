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

/// The arguments of a run of a URL with secrets in all options of the request, and in other options.
fn with_secrets(url: &str) -> Vec<&str> {
    let mut arguments = vec![
        "run",
        url,
        "-c",
        "1",
        "--think",
        "50ms",
        "--for",
        "1s",
        "-d",
        r#"{"otp":"SECRET0","pin":"SECRET1"}"#,
    ];
    for header in
        ["Authorization: Bearer SECRET2", "X-Custom: SECRET3", "Cookie: a=SECRET4", "Accept: text/plain"]
    {
        arguments.extend(["-H", header]);
    }
    for property in ["db.password=SECRET5", "greeting=Bearer SECRET6", "USERS=5"] {
        arguments.extend(["-J", property]);
    }
    arguments.extend(["-D", "javax.net.ssl.trustStorePassword=SECRET7"]);
    arguments
}

const STORED: [&str; 7] =
    ["run.json", "summary.json", "report.html", "run.log", "samples.jtl", "samples.bhs", "plan.jmx"];

#[test]
fn secrets_on_the_command_line_are_not_stored() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/a?user=bob&token=SECRET8&signature=SECRET9", server.port());
    let arguments = with_secrets(&url);
    let ended = room.run(arguments.iter().chain(&["--dir", "hidden"])).expect(0);
    assert!(
        !ended.stdout.contains("SECRET") && !ended.stderr.contains("SECRET"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert!(!ended.stderr.contains("busyhour.request"), "{}", ended.stderr);
    for file in STORED {
        let bytes = std::fs::read(room.path().join("hidden").join(file)).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"SECRET"), "{file}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&room.read("hidden/run.json")).unwrap();
    assert_eq!(manifest["properties"]["db.password"], "[redacted]");
    assert_eq!(manifest["properties"]["USERS"], "5");
    assert_eq!(manifest["properties"]["busyhour.request.header.x-custom"], "[redacted]");
    // The request contained all secrets.
    let request = server.take_requests().remove(0).request;
    let head = format!("{}{}", request.target(), String::from_utf8_lossy(&request.headers.concat()));
    for secret in ["Bearer SECRET2", "X-Custom: SECRET3", "a=SECRET4", "token=SECRET8", "signature=SECRET9"] {
        assert!(head.contains(secret), "{secret}: {head}");
    }
    assert_eq!(String::from_utf8_lossy(&request.body), r#"{"otp":"SECRET0","pin":"SECRET1"}"#);
    room.run(arguments.iter().chain(&["--dir", "kept", "--keep-secrets"])).expect(0);
    let text = room.read("kept/run.json");
    for number in 0..=9 {
        assert!(text.contains(&format!("SECRET{number}")), "{number}");
    }
}

#[test]
fn plans_differ_if_bodies_differ_but_not_if_secrets_differ() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/a", server.port());
    let bodies = [r#"{"item":1,"otp":"a"}"#, r#"{"item":1,"otp":"b"}"#, r#"{"item":2,"otp":"b"}"#];
    let hash = |body: &str| {
        let _ = std::fs::remove_dir_all(room.path().join("here"));
        room.run(["run", &url, "-n", "1", "-d", body, "--dir", "here"]).expect(0);
        let manifest: serde_json::Value = serde_json::from_str(&room.read("here/run.json")).unwrap();
        manifest["plan"]["sha256"].to_string()
    };
    let [first, other_secret, other_item] = bodies.map(hash);
    assert!(first == other_secret && first != other_item);
}

#[test]
fn the_plan_of_a_url_is_repeated_with_the_values_of_its_properties() {
    let server = StandIn::start().unwrap();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/a", server.port());
    room.run(["run", &url, "--think", "50ms", "--for", "1s", "-H", "X-Custom: SECRET3", "--dir", "first"])
        .expect(0);
    let refused = room.run(["run", "first/plan.jmx"]).expect(3);
    refused.reports(&["-J busyhour.request.header.x-custom=VALUE"]);
    room.file("values.properties", "busyhour.request.header.x-custom=SECRET5\n");
    room.run(["run", "first/plan.jmx", "-q", "values.properties", "--dir", "again"]).expect(0);
    assert!(!room.read("again/run.json").contains("SECRET5"));
    let last = server.take_requests().pop().unwrap().request;
    assert_eq!(last.header("x-custom").as_deref(), Some("SECRET5"));
}
