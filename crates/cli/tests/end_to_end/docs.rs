//! Tests that the commands in the documentation work.

use std::path::{Path, PathBuf};
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

/// A comment before a code block whose commands cannot run in a test, with the reason.
const PARSED_ONLY: &str = "<!-- parsed only: ";

/// A page without the code blocks whose commands cannot run.
fn runnable_part(page: &str) -> String {
    let (mut out, mut is_left_out, mut fences) = (String::new(), false, 0);
    for line in page.lines() {
        is_left_out |= line.starts_with(PARSED_ONLY);
        if !is_left_out {
            out += &format!("{line}\n");
        } else if line.starts_with("```") {
            fences += 1;
            is_left_out = fences % 2 == 1;
        }
    }
    out
}

/// All commands in the code blocks of a page, with their continuation lines joined.
fn commands(page: &str) -> Vec<String> {
    let page = page.replace("\\\n", " ");
    let lines = blocks(&page, "") + &blocks(&page, "sh");
    let command = |line: &str| line.trim_start().trim_start_matches("$ ").to_owned();
    lines.lines().map(command).filter(|line| line.starts_with("busyhour ")).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page of the documentation.
fn page(name: &str) -> String {
    let folder = if name == "README.md" { root() } else { root().join("docs") };
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A line with short times for a test: `for 10min` becomes `for 1s`.
fn shortened(line: &str) -> String {
    let mut out = line.to_owned();
    for word in ["for ", "over ", "pause "] {
        let mut from = 0;
        while let Some(at) = out[from..].find(word).map(|at| from + at + word.len()) {
            let digits = out[at..].bytes().take_while(u8::is_ascii_digit).count();
            let unit = out[at + digits..].bytes().take_while(u8::is_ascii_lowercase).count();
            if digits > 0 && unit > 0 {
                out.replace_range(at..at + digits + unit, "1s");
            }
            from = at;
        }
    }
    out
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Runs every command on a page in a directory with the files that they use. None of them may be refused.
fn run_commands_of_page(name: &str, least: usize) {
    let (room, server, nobody) = (Room::new(), Server::quick(), ClosedPort::new());
    let page = runnable_part(&page(name));
    let labels = get("checkout", "/") + &get("IndexPage", "/index");
    let plan = plan(&group("2", "5", &labels)).replace("${__P(PORT)}", &server.port().to_string());
    room.file("plan.jmx", plan);
    let thresholds = Some(blocks(&page, "toml")).filter(|toml| !toml.is_empty());
    room.file("thresholds.toml", thresholds.unwrap_or_else(|| "require = [\"errors < 100%\"]\n".into()));
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
    for name in [
        "results.jtl",
        "generator-1.jtl.gz",
        "generator-2.jtl.gz",
        "before-a.jtl",
        "before-b.jtl",
        "after-a.jtl",
        "after-b.jtl",
    ] {
        std::fs::copy(dir("before/samples.jtl"), dir(name)).unwrap();
    }
    let mut typed = 0;
    std::fs::create_dir(room.path().join("plans")).unwrap();
    std::fs::copy(dir("plan.jmx"), dir("plans/plan.jmx")).unwrap();
    // A server and the demo do not end by themselves within the time of a test.
    let ends =
        |line: &&String| !["busyhour demo", "busyhour lab server"].iter().any(|verb| line.starts_with(verb));
    for line in commands(&page).iter().filter(ends) {
        let line = shortened(line).replace("127.0.0.1:8080", &format!("127.0.0.1:{}", server.port()));
        // Ports of servers on the page are replaced by a port that refuses connections, and ports to listen on by a
        // free port.
        let mut line = line.replace("plans/models", &root().join("plans/models").display().to_string());
        line = line.replace("127.0.0.1:9646", "127.0.0.1:0");
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
    assert!(typed >= least, "{typed} commands on {name}");
}

/// Every command in the documentation: its verb and its options exist, and their values can be read.
#[test]
fn every_command_in_the_documentation_is_understood() {
    let room = Room::new();
    let mut pages = vec!["README.md".to_owned()];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        pages.extend((name.ends_with(".md")).then_some(name));
    }
    let mut understood = 0;
    for name in pages {
        for line in commands(&page(&name)) {
            // Loop variables are replaced by numbers. `--help` is added at the end, so that all options before it are
            // parsed.
            let line = line.replace(" -- ", " --help -- ");
            let shell = format!(
                "users=10; busyhour() {{ \"$BUSYHOUR\" \"$@\" --help; }}; {}",
                line.trim_end_matches('&')
            );
            let mut command = Command::new("sh");
            command.args(["-c", &shell]).env("BUSYHOUR", env!("CARGO_BIN_EXE_busyhour"));
            let ended = room.start_command(command).end();
            assert!(ended.status.success(), "{name}: {line}\n{}", ended.all());
            understood += 1;
        }
    }
    assert!(understood > 80, "{understood} commands");
}

#[test]
fn times_in_commands_are_shortened() {
    assert_eq!(
        shortened("run --for 60s --arrivals 'ramp(1/s -> 2/s) over 5min, pause 10s' for rent"),
        "run --for 1s --arrivals 'ramp(1/s -> 2/s) over 1s, pause 1s' for rent"
    );
}

#[test]
fn the_commands_on_the_first_page_work() {
    run_commands_of_page("README.md", 6);
}

#[test]
fn the_commands_on_the_page_on_live_control_work() {
    run_commands_of_page("live.md", 1);
}

#[test]
fn the_commands_on_the_page_on_urls_work() {
    run_commands_of_page("url-runs.md", 4);
}

#[test]
fn the_commands_on_the_page_on_reports_work() {
    run_commands_of_page("reports.md", 3);
}

#[test]
fn the_commands_on_the_page_on_exports_work() {
    run_commands_of_page("export.md", 4);
}

#[test]
fn the_commands_on_the_page_on_thresholds_work() {
    run_commands_of_page("thresholds.md", 4);
}

#[test]
fn the_commands_on_the_page_on_comparisons_work() {
    run_commands_of_page("comparing-runs.md", 4);
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
