//! Outputs of the figures of the system under test.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use busyhour_analysis::comparison::{ComparisonSettings, MeasuredRun};
use busyhour_analysis::system::{Figure, FigureKind, SubjectKind, SystemFigures, SystemSubject};
use busyhour_analysis::{Comparison, Summary};
use busyhour_report::{
    ComparisonShow, Look, RunShow, Written, comparison_csv, comparison_html, comparison_percent,
    comparison_table, end_of_run, summary_markdown,
};
use busyhour_results::{RunReading, measure_run, summarise_jtl};

/// A subject whose other figures are unavailable.
fn subject(kind: SubjectKind, source: &str, known: &[(FigureKind, f64)]) -> SystemSubject {
    let mut figures: BTreeMap<FigureKind, Figure> =
        FigureKind::of(kind).map(|figure| (figure, Figure::unavailable("it was not recorded"))).collect();
    figures.extend(known.iter().map(|(kind, value)| (*kind, Figure::known(*value))));
    SystemSubject {
        kind,
        source: source.into(),
        name: None,
        observed_s: 9.0,
        restarts: 0,
        disk: None,
        pauses_at_least: false,
        figures,
    }
}

fn system() -> SystemFigures {
    let machine = SystemSubject {
        name: Some("sut".into()),
        disk: Some("sda".into()),
        ..subject(
            SubjectKind::Machine,
            "os",
            &[
                (FigureKind::CpuUtilizationMean, 0.431),
                (FigureKind::CpuUtilizationMax, 0.71),
                (FigureKind::CpuSteal, 0.034),
                (FigureKind::MemoryUsedMax, 2.1e9),
                (FigureKind::MemoryTotal, 8.2e9),
                (FigureKind::DiskBusy, 0.02),
                (FigureKind::ListenOverflows, 3.0),
            ],
        )
    };
    let process = SystemSubject {
        name: Some("shop.jar".into()),
        restarts: 1,
        observed_s: 4.0,
        ..subject(
            SubjectKind::Process,
            "process:4711",
            &[
                (FigureKind::CpuSeconds, 8.2),
                (FigureKind::CpuPerRequest, 0.001_82),
                (FigureKind::CoresMean, 0.91),
                (FigureKind::ResidentMax, 536_870_912.0),
            ],
        )
    };
    let jvm = SystemSubject {
        name: Some("shop.jar".into()),
        ..subject(
            SubjectKind::Jvm,
            "jvm:4711",
            &[
                (FigureKind::AllocatedPerRequest, 12_600.0),
                (FigureKind::GcShare, 0.008),
                (FigureKind::GcPauseMax, 0.035),
            ],
        )
    };
    let database = subject(
        SubjectKind::Database,
        "postgres://db:5432/shop",
        &[(FigureKind::TransactionsPerRequest, 2.5), (FigureKind::SessionsMax, 12.0)],
    );
    let cost = subject(SubjectKind::Observation, "observe", &[(FigureKind::ObservationCores, 0.004)]);
    SystemFigures {
        from_s: 0.0,
        to_s: 10.0,
        requests: 1_000,
        subjects: vec![machine, process, jvm, database, cost],
        incomplete: None,
    }
}

/// A results file in a temporary directory.
fn results() -> (tempfile::TempDir, std::path::PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("results.jtl");
    let mut rows = String::from("timeStamp,elapsed,label,responseCode,success\n");
    for row in 0..1_000 {
        writeln!(rows, "{},5,Home,200,true", 1_800_000_000_000_u64 + row * 10).unwrap();
    }
    std::fs::write(&file, rows).unwrap();
    (temp, file)
}

fn summary() -> Summary {
    let (_temp, file) = results();
    let mut summary = summarise_jtl(&file).unwrap();
    // The path differs from run to run.
    summary.run.source = "results.jtl".into();
    summary
}

fn end(summary: &Summary, details: bool, width: Option<usize>) -> String {
    let show = RunShow { details, ..RunShow::default() };
    end_of_run(summary, show, &Written::default(), Look { width, colour: false })
}

/// The lines that `with` has and `without` does not.
fn added(with: &str, without: &str) -> String {
    let known: Vec<&str> = without.lines().collect();
    with.lines().filter(|line| !known.contains(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_output_has_the_figures_of_the_system() {
    let plain = summary();
    let observed = Summary { system: Some(system()), ..plain.clone() };
    for (name, width, details) in [("screen", Some(80), false), ("details", Some(100), true)] {
        let text = added(&end(&observed, details, width), &end(&plain, details, width));
        insta::assert_snapshot!(name, text);
        assert!(text.lines().all(|line| line.chars().count() <= width.unwrap()), "{text}");
    }
    insta::assert_snapshot!("markdown", added(&summary_markdown(&observed), &summary_markdown(&plain)));
    assert_eq!(Summary::from_json(&observed.to_json()).unwrap(), observed);
    assert!(!plain.to_json().contains("\"system\""));
}

#[test]
fn a_screen_has_at_most_twenty_three_lines() {
    let observed = Summary { system: Some(system()), ..summary() };
    assert!(end(&observed, false, Some(40)).lines().count() <= 23);
}

#[test]
fn names_of_programs_cannot_control_the_terminal_or_the_table() {
    let mut system = system();
    system.subjects[0].name = Some("\u{1b}[31mred|**x**".into());
    let observed = Summary { system: Some(system), ..summary() };
    for text in [end(&observed, true, None), end(&observed, false, None), summary_markdown(&observed)] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    assert!(summary_markdown(&observed).contains("red\\|\\*\\*x"), "{}", summary_markdown(&observed));
}

#[test]
fn a_series_file_without_figures_is_mentioned() {
    let system = SystemFigures { incomplete: Some("not a series file".into()), ..SystemFigures::default() };
    let observed = Summary { system: Some(system), ..summary() };
    assert!(end(&observed, false, None).contains("System   incomplete: not a series file"));
    let observed = Summary { system: Some(SystemFigures::default()), ..summary() };
    assert!(end(&observed, false, None).contains("System   observed, but without any figure"));
}

/// A run whose process used the CPU time `cpu_s` per request; `None` for a run that was not observed.
fn run(name: &str, cpu_s: Option<f64>) -> MeasuredRun {
    let (_temp, file) = results();
    let mut run = measure_run(&[file], &RunReading { seed: Some(1), ..RunReading::default() }).unwrap();
    run.name = name.into();
    run.system = cpu_s.map(|cpu_s| {
        let mut system = system();
        system.subjects[1].figures.insert(FigureKind::CpuPerRequest, Figure::known(cpu_s));
        system
    });
    run
}

fn compare(base: &[MeasuredRun], new: &[MeasuredRun]) -> Comparison {
    Comparison::new(base, new, ComparisonSettings::default(), Vec::new()).unwrap()
}

fn table(comparison: &Comparison, details: bool) -> String {
    let text =
        comparison_table(comparison, ComparisonShow { details }, Look { width: Some(130), colour: false });
    let (_, system) = text.split_once("\nSystem under test").unwrap();
    format!("System under test{}", system.split("\nCaveats").next().unwrap())
}

#[test]
fn two_runs_are_compared_without_a_test() {
    let base = [run("before", Some(0.002))];
    let mut after = run("after", Some(0.003));
    let jvm = &mut after.system.as_mut().unwrap().subjects[2];
    jvm.figures.insert(FigureKind::GcShare, Figure::known(0.02));
    jvm.figures
        .insert(FigureKind::GcPauseMax, Figure::unavailable("several pauses are between two readings"));
    let comparison = compare(&base, &[after]);
    insta::assert_snapshot!("comparison", table(&comparison, false));
    let csv = comparison_csv(&comparison);
    let line = csv.lines().find(|line| line.contains("cpu_per_request_seconds")).unwrap();
    assert_eq!(
        line,
        "shop.jar (process:4711),process,cpu_per_request_seconds,0.002,0.003,1.5,,,0.001,,,,,,,0.002,0.003"
    );
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
    let page = comparison_html(&comparison);
    assert!(page.contains("Process shop.jar (process:4711)") && page.contains(">+50.0 %</td>"), "{page}");
    assert!(page.contains("differences without a test"));
    let percent = comparison_percent(&comparison, Look::default());
    assert!(percent.contains("CPU time per request"), "{percent}");
    assert_eq!(serde_json::from_str::<Comparison>(&comparison.to_json()).unwrap(), comparison);
}

#[test]
fn several_runs_have_ranges_and_missing_observations_are_counted() {
    let base = [run("a", Some(0.002)), run("b", Some(0.004)), run("c", None)];
    let new = [run("d", Some(0.003)), run("e", Some(0.003))];
    insta::assert_snapshot!("comparison_of_several", table(&compare(&base, &new), true));
    let unobserved = compare(&[run("a", None)], &[run("b", None)]);
    assert_eq!(table(&unobserved, false).trim(), "System under test: not observed.");
    assert!(comparison_html(&unobserved).contains("<p>Not observed.</p>"));
    let half = table(&compare(&[run("a", None)], &[run("b", Some(0.1))]), false);
    assert!(half.contains("The run before was not observed."), "{half}");
    assert!(!half.contains("Observed only after"), "{half}");
}
