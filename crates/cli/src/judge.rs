//! `busyhour judge`: thresholds on a run that was made before, by whatever tool.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, Meaning, Subject, ThresholdReport};
use busyhour_record::RunDir;
use busyhour_report::{Look, judge_record, run_dir_hint, summarise, summarise_jtl, threshold_table};
use clap::Args;

use crate::exit::{Exit, TABLE, complain, hinted, print, say};
use crate::progress;
use crate::run::chain;
use crate::thresholds::{ThresholdArgs, Thresholds};

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour judge busyhour-runs/shop-20260101-120000 --threshold 'p95 of checkout < 800ms'\n  \
     busyhour judge results.jtl --thresholds thresholds.toml --junit thresholds.xml\n\n{TABLE}"
))]
pub(crate) struct JudgeArgs {
    /// A run directory, or a result file in JMeter's CSV or XML format.
    #[arg(value_name = "DIR|FILE", required_unless_present = "schema")]
    source: Option<PathBuf>,
    /// Print the JSON schema of what --thresholds-json writes.
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    thresholds: ThresholdArgs,
}

pub(crate) fn main(args: JudgeArgs) -> Exit {
    let JudgeArgs { source, thresholds, schema } = args;
    let Some(source) = source.filter(|_| !schema) else {
        print(&format!("{:#}\n", ThresholdReport::schema()));
        return Exit::Completed;
    };
    let mut thresholds = match thresholds.read() {
        Ok(thresholds) => thresholds,
        Err(message) => return complain(Exit::Usage, &message),
    };
    match judge(&source, &mut thresholds) {
        Ok(summary) => {
            tell_what_is_missing(&source, &summary);
            tell(&source, &thresholds, &summary)
        }
        Err((exit, message)) => complain(exit, &message),
    }
}

/// The summary of what lies at `source` with its thresholds judged.
fn judge(source: &Path, thresholds: &mut Thresholds) -> Result<Summary, (Exit, String)> {
    if !source.exists() {
        return Err((
            Exit::Refused,
            format!("there is no run directory and no result file {}", source.display()),
        ));
    }
    let is_dir = source.is_dir();
    if is_dir && thresholds.criteria.is_empty() {
        let manifest = RunDir::open(source)
            .read_manifest()
            .map_err(|error| (Exit::Refused, hinted(chain(&error), run_dir_hint(&error))))?;
        for text in &manifest.thresholds {
            let criterion = Criterion::parse(text, Meaning::Require).map_err(|error| {
                (Exit::Refused, format!("the manifest's threshold `{text}` cannot be read: {error}"))
            })?;
            thresholds.criteria.push(criterion);
        }
    }
    if thresholds.criteria.is_empty() {
        let text = "there are no thresholds to judge by: give --threshold CRITERION or --thresholds FILE";
        return Err((Exit::Usage, text.to_owned()));
    }
    let mut summary = if is_dir { summarise(&RunDir::open(source)) } else { summarise_jtl(source) }
        .map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))?;
    let judged = judge_record(source, &summary, thresholds.criteria.clone());
    summary.thresholds = judged.map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))?;
    Ok(summary)
}

/// What was judged may be less than the run.
fn tell_what_is_missing(source: &Path, summary: &Summary) {
    let source = source.display();
    if summary.run.record_cut {
        say(&format!(
            "warning: {source} is cut off or damaged at its end; judged is what stands before that"
        ));
    }
    for input in summary.run.inputs.iter().filter(|input| input.bad_rows > 0) {
        let first = input.first_bad.first().map(|bad| format!("; the first: {bad}")).unwrap_or_default();
        say(&format!(
            "warning: rows of {source} that cannot be read and are left out: {}{first}",
            input.bad_rows
        ));
    }
}

fn tell(source: &Path, thresholds: &Thresholds, summary: &Summary) -> Exit {
    let on_terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let colour = on_terminal && std::env::var_os("NO_COLOR").is_none();
    let look = Look { width: if on_terminal { progress::columns() } else { None }, colour };
    print(&threshold_table(summary, look));
    let asks_cov = thresholds.criteria.iter().any(|criterion| criterion.subject == Subject::ArrivalsCov);
    if asks_cov && summary.arrivals.iter().any(|verdict| verdict.observed.is_too_coarse()) {
        say(
            "note: arrivals-cov cannot be told here: stamps are whole milliseconds, and gaps are shorter than two of them \
             on average; a run directory has nanoseconds",
        );
    }
    let (written, failed) = thresholds.write(source, summary);
    for path in written {
        say(&format!("wrote {}", path.display()));
    }
    for error in &failed {
        say(&format!("error: {error}"));
    }
    if Thresholds::failed(summary) {
        Exit::ThresholdFailed
    } else if failed.is_empty() {
        Exit::Completed
    } else {
        Exit::ResultsLost
    }
}
