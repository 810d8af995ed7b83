//! Compares the values of the texts in `jmeter/cases.txt` and `jmeter/scripts.txt` with recordings of JMeter 5.6.3.

mod world;

use std::collections::HashMap;

use busyhour_functions::{evaluate_text, parse};
use busyhour_program::symbols::Symbols;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use world::World;

/// Results of `jmeter/cases.txt`.
const TEXTS: &str = include_str!("jmeter/recorded.txt");

/// Results of `jmeter/scripts.txt`.
const SCRIPTS: &str = include_str!("jmeter/scripts-recorded.txt");

/// When a text is compiled.
#[derive(Clone, Copy)]
enum CompileTime {
    /// With the plan: names have slots.
    WithPlan,
    /// During the run: names are looked up.
    DuringRun,
}

#[test]
fn compiled_texts_evaluate_as_in_jmeter() {
    replay(TEXTS, CompileTime::WithPlan);
}

#[test]
fn texts_built_during_the_run_evaluate_as_in_jmeter() {
    replay(TEXTS, CompileTime::DuringRun);
}

#[test]
fn scripts_evaluate_as_in_jmeter() {
    replay(SCRIPTS, CompileTime::WithPlan);
    replay(SCRIPTS, CompileTime::DuringRun);
}

fn replay(recorded: &'static str, time: CompileTime) {
    let mut symbols = Symbols::default();
    let cases = recorded.lines().filter_map(|line| line.strip_prefix("< "));
    let templates: HashMap<&str, _> = cases.map(|case| (case, parse(case, &mut symbols))).collect();
    let mut world = match time {
        CompileTime::WithPlan => World::with(symbols, 1),
        CompileTime::DuringRun => World::new(),
    };
    let evaluate = |world: &mut World, case: &str| match (&templates[case], time) {
        (Err(problems), _) => Err(problems.clone()),
        (Ok(template), CompileTime::WithPlan) => Ok(world.render(template)),
        (Ok(_), CompileTime::DuringRun) => Ok(evaluate_text(case, &mut world.user)),
    };
    let in_utc = TimeZone::system().to_offset(Timestamp::UNIX_EPOCH) == Offset::UTC;
    let mut differences = Vec::new();
    let mut case = "";
    for line in recorded.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "<" => {
                case = rest;
                if let Some((name, value)) = rest.strip_prefix("put ").and_then(|put| put.split_once('=')) {
                    world.user.variables.set(name, value);
                } else if rest == "only UTC" && !in_utc {
                    break;
                }
            }
            _ if case.starts_with("put ") || case == "only UTC" => {}
            // JMeter threw. Here the text is rejected, or its value is empty and an error is logged.
            "!" => {
                if let Ok(text) = evaluate(&mut world, case)
                    && !text.is_empty()
                {
                    differences.push(format!("{case}\n  JMeter fails, here: {text}"));
                }
            }
            _ => {
                let found = match case.strip_prefix("get ") {
                    Some(name) => Ok(world.user.variables.get(name).unwrap_or("null").to_owned()),
                    None => evaluate(&mut world, case).map(|text| text.replace('\n', "\u{240a}")),
                };
                if found.as_deref() != Ok(rest) {
                    let log = world.log();
                    differences
                        .push(format!("{case}\n  JMeter: {rest}\n  here:   {found:?}\n  log:    {log:?}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}
