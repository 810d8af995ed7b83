//! Reads experiment files: the example, errors with their positions, large files.

use std::fmt::Write as _;
use std::path::Path;

use busyhour_diagnostic::Diagnostic;
use busyhour_experiment::{
    AllocationMasks, EXPERIMENT_BYTES_MAX, Experiment, ExperimentReport, JournalEntry, Repetitions,
    ReportedTrial, TreatmentAction, TrialCounts, TrialOrder, TrialOutcome, WayMask,
};

fn in_project(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

const HEAD: &str = "version = 1\nload.url = \"http://127.0.0.1/\"\ntrials.duration = \"10s\"\n";

fn errors(text: &str) -> String {
    let found = Experiment::read(text, "shop.toml").unwrap_err();
    found.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}

fn read(text: &str) -> Experiment {
    Experiment::read(text, "shop.toml").unwrap_or_else(|errors| panic!("{errors:?}")).experiment
}

#[test]
fn the_example_is_an_experiment() {
    let found = Experiment::read(&in_project("examples/experiment.toml"), "experiment.toml").unwrap();
    assert_eq!(found.warnings, []);
    let experiment = found.experiment;
    let design = experiment.design().unwrap();
    assert_eq!((design.cases().count(), design.trials_count()), (6, 38));
    assert_eq!(design.plan().order, TrialOrder::Mirrored);
    let TreatmentAction::Masks(AllocationMasks { target, l3, .. }) = &experiment.treatments[1].action else {
        panic!("{:?}", experiment.treatments[1]);
    };
    assert_eq!((target.as_str(), l3.as_ref().map(WayMask::bits)), ("stream", Some(3)));
}

#[test]
fn a_case_whose_requests_fail_is_not_only_faster() {
    let text = format!(
        "{HEAD}responses = [\"median\"]\ntrials.repetitions = 3\ntrials.warm-up = 0\n\
         [[factor]]\nname = \"d\"\nlevel = [{{ name = \"up\", users = 1 }}, {{ name = \"down\", users = 2 }}]\n"
    );
    let experiment = read(&text);
    let names: Vec<String> = experiment.responses.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["p50", "errors"], "errors are always compared");
    let design = experiment.design().unwrap();
    let trials = design.trials().map(|trial| {
        let is_down = trial.id.case == 2;
        let median = if is_down { 0.5 } else { 50.0 } + f64::from(trial.id.block) / 10.0;
        ReportedTrial {
            entry: JournalEntry { trial: trial.id, outcome: TrialOutcome::Finished },
            case_name: String::new(),
            seconds: 10.0,
            values: [
                ("p50".to_owned(), Some(median)),
                ("errors".to_owned(), Some(f64::from(u8::from(is_down)))),
            ]
            .into(),
            quantiles: Vec::new(),
            cause: None,
            failed_thresholds: Vec::new(),
            notes: Vec::new(),
            dir: String::new(),
            has_report: false,
        }
    });
    let trials: Vec<ReportedTrial> = trials.collect();
    let report = ExperimentReport::new(&experiment, &design, (TrialCounts::default(), Vec::new()), 0, trials);
    assert!(report.sentence.contains("lower with d=down than with d=up"), "{}", report.sentence);
    assert!(report.sentence.ends_with(" Requests failed: 100 % with d=down."), "{}", report.sentence);
    assert!(!report.responses[1].sentence.contains("Requests failed"), "{}", report.responses[1].sentence);
}

#[test]
fn the_schema_in_docs_is_current() {
    let written = in_project("docs/experiments.schema.json");
    let current = format!("{:#}\n", Experiment::schema());
    assert_eq!(
        written, current,
        "update it: cargo run -p busyhour-experiment --example schema > docs/experiments.schema.json"
    );
}

#[test]
fn the_experiments_in_docs_are_valid() {
    let page = in_project("docs/experiments.md");
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert_eq!(Experiment::read(block, "docs").unwrap().warnings, []);
    }
}

#[test]
fn errors_have_a_position_a_cause_and_a_hint() {
    let two = "[[factor]]\nname = \"heap\"\nlevel = [{ name = \"1g\" }, { name = \"2g\", users = 3 }]\n";
    let texts = [
        "version = 1\n[load\n".to_owned(),
        format!("{HEAD}[[factr]]\nname = \"heap\"\n"),
        format!("{HEAD}[[factor]]\nname = \"heap\"\nlevel = [{{ name = \"1g\" }}, {{ nam = \"2g\" }}]\n"),
        format!("version = 1\nload.url = \"http://127.0.0.1/\"\ntrials.duration = \"10 parsecs\"\n{two}"),
        format!("{HEAD}responses = [\"p95\", \"meen of checkout\"]\n{two}"),
        format!(
            "{HEAD}{two}[[treatment]]\nname = \"t\"\nkind = \"masks\"\ntarget = \"system\"\nl3 = \"0x5\"\n"
        ),
        format!(
            "{HEAD}{two}[[treatment]]\nname = \"t\"\nkind = \"network\"\nnamespace = \"n\"\nworkload = \"cpu\"\n"
        ),
        format!("{HEAD}{two}[[treatment]]\nname = \"t\"\nkind = \"command\"\napply = \"sync\"\n"),
        format!("{HEAD}system.start = 5\n{two}"),
        format!(
            "{HEAD}{two}[[treatment]]\nname = \"t\"\nkind = \"cgroup\"\ntarget = \"sytem\"\ncpu-max = 0.5\n"
        ),
        format!(
            "{HEAD}{two}[[treatment]]\nname = \"t\"\nkind = \"cgroup\"\ntarget = \"system\"\ncpu-max = nan\n"
        ),
    ];
    let all: Vec<String> = texts.iter().map(|text| errors(text)).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn contradictions_are_found_with_their_position() {
    let text = r#"version = 2
responses = ["mean", "throughput", "rate"]
collect = ["logs/*.log", " "]

[system]
start = "./start.sh"

[load]
plan = "shop.jmx"
url = "http://127.0.0.1/"

[trials]
duration = "10s"
ramp-up = "20s"
repetitions = 1
max = 5

[[factor]]
name = "heap"
base = "1gb"
level = [
    { name = "1g", environment = { HEAP = "1g" } },
    { name = "2g", environment = { HEAP = "2g" }, treatments = ["neighbor"] },
    { name = "2g", users = 0 },
]

[[factor]]
name = "pool"
[[factor.level]]
name = "10 "
[[factor.level]]
name = "50"
environment = { HEAP = "4g" }
patch = [{ file = "server.xml", find = "a" }]

[[treatment]]
name = "neighbour"
kind = "neighbour"
workload = "cpu"
"#;
    insta::assert_snapshot!(errors(text));
}

#[test]
fn impossible_designs_have_a_position() {
    let level = |name: &str| format!("[[factor.level]]\nname = \"{name}\"\nusers = {}\n", name.len());
    let texts = [
        HEAD.to_owned(),
        format!("{HEAD}[[factor]]\nname = \"a\"\n{}", level("x")),
        format!(
            "{HEAD}trials.design = \"paired\"\n[[factor]]\nname = \"a\"\n{}{}{}",
            level("x"),
            level("xx"),
            level("xxx")
        ),
        format!("{HEAD}limits.time = \"1min\"\n[[factor]]\nname = \"a\"\n{}{}", level("x"), level("xx")),
        format!(
            "{HEAD}trials.until = \"5%\"\ntrials.order = \"sequential\"\n[[factor]]\nname = \"a\"\n{}{}",
            level("x"),
            level("xx")
        ),
    ];
    let all: Vec<String> = texts.iter().map(|text| errors(text)).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn equal_levels_unused_treatments_and_few_blocks_give_warnings() {
    let text = format!(
        "{HEAD}trials.repetitions = 4\ntrials.order = \"interleaved\"\n[[factor]]\nname = \"a\"\nlevel = [{{ name = \"x\" }}, {{ name = \"y\" }}]\n\
         [[treatment]]\nname = \"t\"\nkind = \"neighbour\"\nworkload = \"cpu\"\n"
    );
    let warnings = Experiment::read(&text, "shop.toml").unwrap().warnings;
    insta::assert_snapshot!(warnings.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n"));
}

/// A file with this many factors of two levels, or this many levels of one factor.
fn many(count: usize, of_factors: bool) -> String {
    let mut text = HEAD.to_owned();
    if !of_factors {
        text += "[[factor]]\nname = \"f\"\n";
    }
    for at in 0..count {
        if of_factors {
            writeln!(
                text,
                "[[factor]]\nname=\"f{at}\"\nlevel=[{{name=\"a\"}},{{name=\"b\",properties={{p{at}=\"1\"}}}}]"
            )
            .unwrap();
        } else {
            writeln!(text, "[[factor.level]]\nname=\"l{at}\"\nproperties={{p=\"{at}\"}}").unwrap();
        }
    }
    text
}

#[test]
fn experiments_with_too_many_trials_are_refused() {
    for (count, of_factors) in [(10, true), (1_000, true), (10_000, true), (1_000, false), (100_000, false)] {
        let found = errors(&many(count, of_factors));
        assert!(found.contains("trials (") && found.contains("more than the limit of 1000"), "{found}");
        assert!(found.contains("shop.toml:4:") && found.contains("one-at-a-time"), "{found}");
        assert!(found.len() < 1_000, "{found}");
    }
    let found = errors(&many(1_000_000, true));
    assert!(found.contains(&format!("more than the limit of {EXPERIMENT_BYTES_MAX}")), "{found}");
}

#[test]
fn a_design_with_one_factor_at_a_time_may_have_many_factors() {
    let text = many(1_000, true).replace(
        "trials.duration",
        "limits.trials = 20000\ntrials.design = \"one-at-a-time\"\ntrials.duration",
    );
    assert_eq!(read(&text).design().unwrap().cases().count(), 1_001);
}

#[test]
fn long_and_strange_texts_are_shortened() {
    let long = "x".repeat(1_000_000);
    for text in [
        format!("{HEAD}[[factor]]\nname = \"{long}\"\nlevel = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n"),
        format!("{HEAD}responses = [\"{long}\"]\n"),
        format!("version = 1\nload.url = \"u\"\ntrials.duration = \"{long}\"\n"),
        format!("{HEAD}{long} = 1\n"),
        format!("{HEAD}observe = {}", "[".repeat(1_000_000)),
        format!("{HEAD}observe = {}", "{ a = ".repeat(1_000_000)),
    ] {
        let found = errors(&text);
        assert!(found.len() < 2_000, "{}", found.len());
    }
    assert!(!Experiment::read("\u{0}\u{1b}[2J", "shop.toml").unwrap_err().is_empty());
}

#[test]
fn repetitions_are_fixed_or_end_with_a_narrow_interval() {
    let factor = "[[factor]]\nname = \"a\"\nlevel = [{ name = \"x\" }, { name = \"y\", users = 2 }]\n";
    let repetitions = |trials: &str| read(&format!("{HEAD}{trials}\n{factor}")).trials.repetitions();
    assert_eq!(repetitions(""), Repetitions::Fixed(6));
    assert_eq!(
        repetitions("trials.until = \"5%\""),
        Repetitions::Until { half_width: 0.05, min: 6, max: 30 }
    );
    let narrow = repetitions("trials.until = \"5%\"\ntrials.max = 3");
    assert_eq!(narrow, Repetitions::Until { half_width: 0.05, min: 3, max: 3 });
}

#[test]
fn the_fingerprint_changes_with_the_trials_only() {
    let text = in_project("examples/experiment.toml");
    let fingerprint = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read(&text.replacen(from, to, 1)).fingerprint()
    };
    let same = read(&text).fingerprint();
    assert_eq!(fingerprint("repetitions = 6", "repetitions = 9"), same);
    assert_eq!(fingerprint("errors < 1%", "errors < 2%"), same);
    assert_eq!(fingerprint("repetitions = 6", "repetitions = 6\nattempts = 6"), same);
    for (from, to) in [
        ("-Xmx1g", "-Xmx2g"),
        ("50/s", "60/s"),
        ("0x3", "0x1"),
        ("\"os\", ", ""),
        ("warm-up = 2", "warm-up = 1"),
    ] {
        assert_ne!(fingerprint(from, to), same, "{from}");
    }
}
