//! Shows a file of another tool that contains percentiles and no samples.

use std::path::Path;

use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_report::{percentiles_html, percentiles_json, percentiles_text};
use busyhour_results::read_percentiles;
use busyhour_terminal::exit::{Exit, complain, note, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind};

/// Prints the percentiles, and writes them into files. Returns `None` if the file at `path` is of another kind.
/// `judges` states whether thresholds or a part of the run are requested; both need samples.
pub(crate) fn show(path: &Path, json: bool, judges: bool, files: &[OutputFile]) -> Option<Exit> {
    let name = path.display().to_string();
    let result = match read_percentiles(path) {
        Ok(None) => return None,
        Ok(Some(result)) => result,
        Err(error) => return Some(complain(Exit::Refused, &format!("{name}: {}", chain(&error)))),
    };
    if judges {
        let message = format!(
            "{name}: this is a {}; it contains no samples, which thresholds and parts of a run need\n  hint: {}",
            result.format, "let the tool write samples (docs/other-tools.md)"
        );
        return Some(complain(Exit::Refused, &message));
    }
    print(&if json {
        percentiles_json(&name, &result)
    } else {
        percentiles_text(&name, &result, Output::of_stdout().look)
    });
    for file in files {
        let text = match file.kind {
            OutputKind::Html => percentiles_html(&name, &result),
            OutputKind::Json => percentiles_json(&name, &result),
            OutputKind::Csv
            | OutputKind::Markdown
            | OutputKind::Junit
            | OutputKind::Parquet
            | OutputKind::Toml
            | OutputKind::Dashboard => {
                let message =
                    format!("-o {}: percentiles are written as .html or .json", file.path.display());
                return Some(complain(Exit::Usage, &message));
            }
        };
        if let Err(error) = RunDir::write_whole(&file.path, text.as_bytes()) {
            return Some(complain(Exit::Internal, &chain(&error)));
        }
        note(&format!("wrote {}", file.path.display()));
    }
    Some(Exit::Completed)
}
