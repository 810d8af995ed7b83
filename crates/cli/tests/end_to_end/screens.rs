//! Tests the output of runs.

use insta::assert_snapshot;

use crate::plans::{get, group, plan};
use crate::program::Room;
use crate::servers::Server;

/// Replaces numbers by `#` and several blanks by one, so that the text does not depend on the machine.
fn redacted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            ' ' if out.ends_with(' ') => {}
            c => out.push(c),
        }
    }
    out.replace("#,#", "#").replace("#.#", "#")
}

/// Removes lines that depend on the speed of the machine: caveats, service times if they differ, the verdict on arrivals.
fn without_chance(text: &str) -> String {
    let chance = |part: &&str| part.starts_with("Caveats") || part.trim_start().starts_with("service time");
    let text = text.split("\n\n").filter(|part| !chance(part)).collect::<Vec<_>>().join("\n\n");
    // Service times are listed only if they differ from response times.
    let text = text.replace(" (from the intended start)", "");
    // The marks, and the sentence on arrivals.
    let verdict = |line: &str| {
        let words = line.trim_start_matches(['✓', '!', '✗', '·', ' ']);
        // The path of the report differs in each run.
        if let Some((before, after)) = line.split_once("file:///") {
            return format!("{before}file:///…/{}", after.rsplit('/').next().unwrap_or_default());
        }
        let is_verdict = |name: &&&str| words.starts_with(**name);
        ["Arrivals: ", "Generator: "]
            .iter()
            .find(is_verdict)
            .map_or(line.to_owned(), |name| format!("{name}…"))
    };
    text.lines().map(verdict).collect::<Vec<_>>().join("\n")
}

fn shown(arguments: &str) -> (String, String) {
    let server = Server::start(|stream, head| {
        let bad = head[0].contains("/bad");
        let status = if bad { "503 Service Unavailable" } else { "200 OK" };
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
        std::io::Write::write_all(stream, text.as_bytes()).is_ok()
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "3", &(get("first", "/") + &get("second", "/bad")))));
    let ended = room.run_line(&arguments.replace("PORT", &format!("-JPORT={}", server.port()))).expect(0);
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "no colours into a pipe");
    (redacted(&without_chance(&ended.stdout)), redacted(&ended.stderr))
}

#[test]
fn the_result_of_a_run_is_printed() {
    let (out, err) = shown("run plan.jmx PORT --dir here --observe none");
    assert_snapshot!(out, @r"
    Plan: # requests in # s, # % failed; half took at most # ms, # % at most # ms.
    # users, # requests/s, mean # ms, slowest # ms

    · Incidents: not searched: # whole seconds are too few to compare parts of the run (# are needed)
    Generator: …
    Arrivals: …
    Arrivals: …

     response time in ms
    label samples err % rate/s KiB/s in KiB/s out mean p# p# p# p# p# p# p# max
    first # # # # # # # # # # # # # #
    second # # # # # # # # # # # # # #
    Total # # # # # # # # # # # # # #

    Errors
    # # % #: Service Unavailable (second)

    wrote here/samples.jtl
    wrote here/summary.json
    wrote here/report.html
    wrote here/run.log
    Report file:///…/report.html
    ");
    assert_snapshot!(err, @"");
}

#[test]
fn the_result_with_jmeters_command_line_is_printed() {
    let (out, err) = shown("-n -t plan.jmx PORT -Jjmeterengine.nongui.port=0 --observe none");
    let out: Vec<_> = out.lines().filter(|line| !line.starts_with("Starting")).collect();
    assert_snapshot!(out.join("\n"), @r"
    Created the tree successfully using plan.jmx
    summary = # in #:#:# = #/s Avg: # Min: # Max: # Err: # (#%)
    Plan: # requests in # s, # % failed; half took at most # ms, # % at most # ms.
    # users, # requests/s, mean # ms, slowest # ms

    · Incidents: not searched: # whole seconds are too few to compare parts of the run (# are needed)
    Generator: …
    Arrivals: …
    Arrivals: …

     response time in ms
    label samples err % rate/s KiB/s in KiB/s out mean p# p# p# p# p# p# p# max
    first # # # # # # # # # # # # # #
    second # # # # # # # # # # # # # #
    Total # # # # # # # # # # # # # #

    Errors
    # # % #: Service Unavailable (second)

    wrote busyhour-runs/plan-#-#/samples.jtl
    wrote busyhour-runs/plan-#-#/summary.json
    wrote busyhour-runs/plan-#-#/report.html
    wrote busyhour-runs/plan-#-#/run.log
    Report file:///…/report.html
    ... end of run
    ");
    assert_snapshot!(err, @"");
}
