//! Tests that the commands in the documentation work.

use std::path::Path;
use std::process::Command;

use crate::plans::{get, group, plan};
use crate::program::Room;
use crate::servers::{ClosedPort, Server};

/// The contents of all fenced code blocks of a page in this language.
fn blocks(page: &str, language: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(word) => inside = !inside && word == language,
            None if inside => out += &format!("{line}\n"),
            None => {}
        }
    }
    out
}

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Runs every command on a page in a directory with the files that they use. None of them may be refused.
fn run_commands_of_page(name: &str) {
    let (room, server, nobody) = (Room::new(), Server::quick(), ClosedPort::new());
    let page = page(name);
    let labels = get("checkout", "/") + &get("IndexPage", "/index");
    let plan = plan(&group("2", "5", &labels)).replace("${__P(PORT)}", &server.port().to_string());
    room.file("plan.jmx", plan);
    room.file("thresholds.toml", blocks(&page, "toml"));
    room.run(["run", "plan.jmx", "--dir", "before", "--threshold", "errors < 1%"]).expect(0);
    let dir = |name: &str| room.path().join(name);
    for name in [
        "after",
        "before-1",
        "before-2",
        "before-3",
        "after-1",
        "after-2",
        "after-3",
        "busyhour-runs/shop-20260101-120000",
    ] {
        copy(&dir("before"), &dir(name));
    }
    for name in ["results.jtl", "before-a.jtl", "before-b.jtl", "after-a.jtl", "after-b.jtl"] {
        std::fs::copy(dir("before/samples.jtl"), dir(name)).unwrap();
    }
    let mut typed = 0;
    for line in blocks(&page, "").lines().filter(|line| line.starts_with("busyhour ")) {
        // Ports of servers on the page are replaced by one that refuses connections, ports to listen on by a free one.
        let mut line = line.replace("127.0.0.1:9646", "127.0.0.1:0");
        for port in ["9090", "4318", "8086", "2003"] {
            line = line.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", nobody.port()));
        }
        if line.starts_with("busyhour -n") {
            line += " -Jjmeterengine.nongui.port=0";
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("busyhour() {{ \"$BUSYHOUR\" \"$@\"; }}; {line}")]);
        shell.env("BUSYHOUR", env!("CARGO_BIN_EXE_busyhour")).env_remove("GITHUB_STEP_SUMMARY");
        let ended = room.start_command(shell).end();
        let sent = line.starts_with("busyhour export") && line.contains("://");
        let allowed: &[i32] = if sent { &[0, 1] } else { &[0, 6, 8] };
        assert!(
            ended.status.code().is_some_and(|code| allowed.contains(&code)),
            "{line}\nended with {}\n{}\n{}",
            ended.status,
            ended.stdout,
            ended.stderr
        );
        typed += 1;
    }
    assert!(typed > 3, "{typed} commands on {name}");
}

#[test]
fn the_commands_on_the_page_on_exports_work() {
    run_commands_of_page("export.md");
}

#[test]
fn the_commands_on_the_page_on_thresholds_work() {
    run_commands_of_page("thresholds.md");
}

#[test]
fn the_commands_on_the_page_on_comparisons_work() {
    run_commands_of_page("comparing-runs.md");
}

/// The output below each `$ busyhour …` on the page must equal the output of the command. A line in parentheses represents the
/// rest of the output.
#[test]
fn the_outputs_on_the_page_on_models_are_current() {
    let page = page("capacity-models.md");
    let mut shown = 0;
    for block in page.split("```\n$ busyhour ").skip(1) {
        let block = block.split("\n```").next().unwrap().replace("\\\n", " ");
        let (line, wanted) = block.split_once('\n').unwrap();
        let wanted: Vec<&str> = wanted.lines().take_while(|line| !line.starts_with('(')).collect();
        let ended = Command::new(env!("CARGO_BIN_EXE_busyhour"))
            .args(line.split_whitespace())
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .output()
            .unwrap();
        let printed = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        let printed: Vec<&str> = printed.lines().take(wanted.len()).collect();
        assert_eq!(printed.join("\n"), wanted.join("\n"), "busyhour {line}");
        shown += 1;
    }
    assert!(shown >= 6, "{shown} commands with their output");
}
