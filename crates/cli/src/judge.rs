//! `busyhour judge`: checks finished runs of any tool against thresholds.

use std::path::PathBuf;

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, Meaning, MeasuredQuantity, ThresholdReport};
use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_report::{Look, threshold_table};
use busyhour_results::{ResultsOptions, judge_results, run_dir_hint};
use busyhour_terminal::exit::{Exit, REPORT_TABLE, complain, hinted, note, print, say};
use busyhour_terminal::output::width;
use busyhour_verb_inputs::inputs::{Inputs, names, warn_about_unfinished_runs};
use busyhour_verb_inputs::reading::with_progress;
use busyhour_verb_inputs::results_args::ResultsArgs;
use busyhour_verb_inputs::thresholds::{ThresholdArgs, ThresholdFiles, has_failed};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour judge busyhour-runs/shop-20260101-120000\n  \
     busyhour judge results.jtl --threshold 'p95 of checkout < 800ms'\n  \
     busyhour judge results.jtl --thresholds thresholds.toml --junit thresholds.xml\n  \
     busyhour judge generator-*.jtl.gz --threshold 'errors < 1%'\n  \
     busyhour judge results.jtl --steady auto --threshold 'p99 of each < 2s'\n\n{REPORT_TABLE}"
))]
pub(crate) struct JudgeArgs {
    /// Run directories and JTL files; several are merged as results of one test; - is standard input.
    #[arg(value_name = "FILE|DIR", required_unless_present = "schema")]
    inputs: Vec<PathBuf>,
    /// Print the JSON schema of --thresholds-json.
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten, next_help_heading = "Reading results")]
    results: ResultsArgs,
}

pub(crate) fn main(args: JudgeArgs) -> Exit {
    if args.schema {
        print(&format!("{:#}\n", ThresholdReport::schema()));
        return Exit::Completed;
    }
    let (criteria, files) = match args.thresholds.read() {
        Ok(read) => read,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let options = match args.results.options() {
        Ok(options) => options,
        Err(message) => return complain(Exit::Usage, &message),
    };
    match judge(&args.inputs, &options, criteria) {
        Ok((criteria, summary)) => {
            warn_about_missing_parts(&args.inputs, &summary);
            print_results(&args.inputs, &criteria, &files, &summary)
        }
        Err((exit, message)) => complain(exit, &message),
    }
}

/// Reads the results at `paths` and evaluates thresholds: those on the command line or, if there are none, those stored in
/// the run directories.
fn judge(
    paths: &[PathBuf],
    options: &ResultsOptions,
    mut criteria: Vec<Criterion>,
) -> Result<(Vec<Criterion>, Summary), (Exit, String)> {
    let inputs = Inputs::kept(paths)?;
    if criteria.is_empty() {
        criteria = stored_criteria(paths)?;
    }
    let judged = criteria.clone();
    with_progress(inputs.all, |inputs, progress| judge_results(inputs, options, judged, progress))
        .map(|summary| (criteria, summary))
        .map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))
}

/// The thresholds stored in the run directories of `paths`. It is an error if there are none.
pub(crate) fn stored_criteria(paths: &[PathBuf]) -> Result<Vec<Criterion>, (Exit, String)> {
    let mut criteria = Vec::new();
    for dir in paths.iter().filter(|path| path.is_dir()) {
        add_stored_criteria(&RunDir::open(dir), &mut criteria)?;
    }
    if criteria.is_empty() {
        let text = "no thresholds; add --threshold CRITERION or --thresholds FILE";
        return Err((Exit::Usage, text.to_owned()));
    }
    Ok(criteria)
}

/// Adds the thresholds stored in a run directory. The generators of one test store the same thresholds, so duplicates are
/// skipped.
fn add_stored_criteria(dir: &RunDir, criteria: &mut Vec<Criterion>) -> Result<(), (Exit, String)> {
    let manifest =
        dir.read_manifest().map_err(|error| (Exit::Refused, hinted(chain(&error), run_dir_hint(&error))))?;
    for text in &manifest.thresholds {
        let criterion = Criterion::parse(text, Meaning::Require).map_err(|error| {
            (Exit::Refused, format!("the manifest's threshold `{text}` cannot be read: {error}"))
        })?;
        if !criteria.iter().any(|known| known.portable() == criterion.portable()) {
            criteria.push(criterion);
        }
    }
    Ok(())
}

/// Warns about parts of the run that were not evaluated.
pub(crate) fn warn_about_missing_parts(paths: &[PathBuf], summary: &Summary) {
    let inputs = &summary.run.inputs;
    warn_about_unfinished_runs(paths, "judged");
    if summary.run.record_tail_missing {
        let text = "cut off or damaged at the end; the thresholds were evaluated on the readable part";
        let cut: Vec<_> =
            inputs.iter().filter(|input| input.cut_off).map(|input| input.name.as_str()).collect();
        let named = if cut.is_empty() { names(paths) } else { cut.join(", ") };
        say(&format!("warning: {named}: {text}"));
    }
    for input in inputs.iter().filter(|input| input.bad_rows > 0) {
        let first = input.first_bad.first().map(|bad| format!("; the first: {bad}")).unwrap_or_default();
        say(&format!("warning: {} unreadable rows of {} were skipped{first}", input.bad_rows, input.name));
    }
    if let Some(window) = &summary.window {
        note(&format!("evaluated only a part of the run: {}", window.reason));
    }
}

fn print_results(
    paths: &[PathBuf],
    criteria: &[Criterion],
    files: &ThresholdFiles,
    summary: &Summary,
) -> Exit {
    let on_terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let colour = on_terminal && std::env::var_os("NO_COLOR").is_none();
    let look = Look { width: if on_terminal { width() } else { None }, colour };
    print(&threshold_table(summary, look));
    write_outcome(paths, criteria, files, summary)
}

/// Writes the files with the outcome of thresholds, and returns the exit code for the outcome.
pub(crate) fn write_outcome(
    paths: &[PathBuf],
    criteria: &[Criterion],
    files: &ThresholdFiles,
    summary: &Summary,
) -> Exit {
    if criteria.is_empty() {
        return Exit::Completed;
    }
    let asks_cov = criteria.iter().any(|criterion| criterion.subject == MeasuredQuantity::ArrivalsCov);
    if asks_cov && summary.arrivals.iter().any(|verdict| verdict.observed.is_too_coarse()) {
        note(
            "note: arrivals-cov is unavailable: the time stamps are whole milliseconds, and the mean gap is below 2 ms; judge \
             a run directory instead, whose timestamps are in nanoseconds",
        );
    }
    let (written, failed) = files.write(&names(paths), summary);
    for path in written {
        note(&format!("wrote {}", path.display()));
    }
    for error in &failed {
        say(&format!("error: {error}"));
    }
    if has_failed(summary) {
        Exit::ThresholdFailed
    } else if failed.is_empty() {
        Exit::Completed
    } else {
        Exit::ResultsLost
    }
}
