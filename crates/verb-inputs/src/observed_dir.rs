//! Shows a directory that an observation without a run has written.

use std::path::Path;

use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_report::{neighbour_text, observation_html, observation_text, observed_logs_text};
use busyhour_results::{SystemObservation, read_observation};
use busyhour_terminal::exit::{Exit, complain, note, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind};

/// Prints the figures, and writes them into files.
pub fn show(dir: &Path, details: bool, files: &[OutputFile]) -> Exit {
    let Some(observed) = read_observation(dir) else {
        return complain(Exit::Refused, &format!("{} has no observation", dir.display()));
    };
    let out = Output::of_stdout();
    if let Some(system) = &observed.summary.system {
        print(&observation_text(system, details || !out.is_terminal, out.look));
    }
    print(&observed_logs_text(&observed.record, out.look));
    print(&neighbour_text(&observed.summary, out.look));
    for file in files {
        let text = match text_of(&observed, file.kind) {
            Some(text) => text,
            None => {
                let message = format!(
                    "-o {}: an observation without a run is written as .html or .json\n  hint: busyhour export --series writes .csv",
                    file.path.display()
                );
                return complain(Exit::Usage, &message);
            }
        };
        if let Err(error) = RunDir::write_whole(&file.path, text.as_bytes()) {
            return complain(Exit::Internal, &chain(&error));
        }
        note(&format!("wrote {}", file.path.display()));
    }
    Exit::Completed
}

fn text_of(observed: &SystemObservation, kind: OutputKind) -> Option<String> {
    match kind {
        OutputKind::Html => Some(observation_html(&observed.summary, &observed.record)),
        OutputKind::Json => Some(observed.summary.to_json()),
        OutputKind::Csv
        | OutputKind::Markdown
        | OutputKind::Junit
        | OutputKind::Parquet
        | OutputKind::Toml
        | OutputKind::Dashboard => None,
    }
}
