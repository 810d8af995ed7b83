//! Properties of the schedules of thread groups and timers for arbitrary tables. Used by the tests here and by the
//! fuzz target.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use busyhour_compile::{Options, compile, start};
use busyhour_diagnostic::has_errors;
use busyhour_http::TlsPolicy;
use busyhour_program::clock::Clock;
use busyhour_program::population::lifetimes::USERS_MAX;
use busyhour_program::population::{Lifetimes, Population};
use busyhour_program::run::JmeterProperties;
use busyhour_program::user::UserState;

/// Settings of the Stepping Thread Group, in their order.
const STEPPING: [&str; 9] = [
    "ThreadGroup.num_threads",
    "Threads initial delay",
    "Start users count burst",
    "Start users count",
    "Start users period",
    "rampUp",
    "flighttime",
    "Stop users count",
    "Stop users period",
];

/// Settings of the Concurrency and the Arrivals Thread Group.
const LEVEL: [&str; 5] = ["TargetLevel", "RampUp", "Steps", "Hold", "Unit"];

/// Checks plans in which the lines of a text are the rows of every table, and its cells are settings.
///
/// # Panics
/// If a schedule violates one of the properties.
pub fn check(source: &[u8]) {
    let text: String =
        String::from_utf8_lossy(source).chars().filter(|c| !c.is_control() || *c == '\n').collect();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let plan = plan(&text, &rows);
    check_plan(&plan, JmeterProperties::default());
    // The same text as properties, which replace the tables.
    let properties = ["threads_schedule", "load_profile"].map(|name| (name.to_owned(), text.clone()));
    check_plan(&plan, JmeterProperties::new(properties));
}

fn check_plan(text: &str, properties: JmeterProperties) {
    let (plan, findings) = busyhour_plan::parse(text.as_bytes(), "any.jmx");
    assert!(!has_errors(&findings), "{findings:?}");
    let properties = Arc::new(properties);
    let options = Options {
        properties: Arc::clone(&properties),
        base_dir: PathBuf::new(),
        allow_unsupported: true,
        tls: TlsPolicy::default(),
        proxy: None,
        request_deadline: None,
        open: None,
    };
    let (compiled, findings) = compile(&plan, &options);
    for finding in &findings {
        assert!(!finding.message.is_empty() && finding.span.is_some(), "{finding}");
    }
    assert_eq!(compiled.is_none(), has_errors(&findings), "a plan runs, or there is an error: {findings:?}");
    let Some(compiled) = compiled else { return };
    let started = start(compiled, 1, Clock::start(), &properties, Box::new(|_, _| ()));
    for (index, group) in (0..).zip(&started.program.groups) {
        if let Some(Population::Lifetimes(lifetimes)) = group.population.as_deref() {
            let mut user = UserState::new(Arc::clone(&started.shared), None, index, 0);
            check_lifetimes(lifetimes, &mut user);
        }
    }
}

fn check_lifetimes(lifetimes: &Lifetimes, user: &mut UserState) {
    match lifetimes.of(user) {
        Ok(all) => {
            assert!(all.len() <= USERS_MAX as usize);
            assert!((0..).zip(&all).all(|(number, lifetime)| lifetime.number == number));
        }
        Err(why) => assert!(!why.message().is_empty()),
    }
}

/// A plan with every group and timer that has a schedule.
fn plan(text: &str, rows: &[Vec<&str>]) -> String {
    let cells: Vec<&str> = rows.iter().flatten().copied().collect();
    let table = |name: &str| {
        let mut out = format!("<collectionProp name=\"{name}\">");
        for row in rows {
            out.push_str("<collectionProp name=\"row\">");
            row.iter().for_each(|cell| property(&mut out, "cell", cell));
            out.push_str("</collectionProp>");
        }
        out + "</collectionProp>"
    };
    let settings = |names: &[&str]| {
        let mut out = String::new();
        names.iter().zip(&cells).for_each(|(name, cell)| property(&mut out, name, cell));
        out
    };
    let mut schedule = String::new();
    property(&mut schedule, "OpenModelThreadGroup.schedule", text);
    let timer = format!(
        "<kg.apc.jmeter.timers.VariableThroughputTimer testname=\"shape\">{}</kg.apc.jmeter.timers.VariableThroughputTimer>",
        table("load_profile")
    );
    let mut plan =
        String::from("<jmeterTestPlan><hashTree><TestPlan guiclass=\"a\" testname=\"p\"/><hashTree>");
    for (class, properties) in [
        ("kg.apc.jmeter.threads.UltimateThreadGroup", table("ultimatethreadgroupdata")),
        ("kg.apc.jmeter.threads.SteppingThreadGroup", settings(&STEPPING)),
        ("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", settings(&LEVEL)),
        ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", settings(&LEVEL)),
        ("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", table("Schedule")),
        ("OpenModelThreadGroup", schedule),
    ] {
        write!(
            plan,
            "<{class} guiclass=\"a\" testname=\"g\">{properties}</{class}><hashTree>{timer}<hashTree/></hashTree>"
        )
        .expect("a string");
    }
    plan + "</hashTree></hashTree></jmeterTestPlan>"
}

fn property(out: &mut String, name: &str, text: &str) {
    out.push_str("<stringProp name=\"");
    out.push_str(name);
    out.push_str("\">");
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out.push_str("</stringProp>");
}
