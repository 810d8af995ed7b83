//! Reads the file and reports errors with their positions.

use busyhour_diagnostic::{Diagnostic, Span, nearest_name};
use toml::de::DeTable;

use super::experiment::Experiment;
use super::response::ResponseVariable;
use super::validate::findings;

/// Largest length of a file in bytes.
pub const EXPERIMENT_BYTES_MAX: usize = 16 << 20;

/// Largest number of reported findings.
const FINDINGS_MAX: usize = 50;

/// Largest number of characters of a message of the parser, which can contain texts of the file.
const MESSAGE_CHARS_MAX: usize = 400;

/// The hint for texts that cannot be parsed.
const HINT: &str = "docs/experiments.md describes the notation, docs/experiments.schema.json is its schema";

/// An experiment, and warnings about it.
#[derive(Debug, Clone)]
pub struct ReadExperiment {
    /// The experiment. It has been validated.
    pub experiment: Experiment,
    /// Parts that probably do not mean what their author intended.
    pub warnings: Vec<Diagnostic>,
}

impl Experiment {
    /// Reads an experiment from the text of a file; `name` is the name of the file for messages.
    ///
    /// # Errors
    /// The text is not a valid experiment. Each diagnostic has the position and the cause.
    pub fn read(text: &str, name: &str) -> Result<ReadExperiment, Vec<Diagnostic>> {
        if text.len() > EXPERIMENT_BYTES_MAX {
            let message =
                format!("the file has {} bytes, more than the limit of {EXPERIMENT_BYTES_MAX}", text.len());
            let hint = "an experiment of this size has too many trials; reduce factors and levels";
            return Err(vec![Diagnostic::error("experiment-file", message).in_file(name).with_hint(hint)]);
        }
        let mut experiment: Experiment =
            toml::from_str(text).map_err(|error| vec![unreadable(text, name, &error)])?;
        let found = findings(&experiment);
        if found.is_empty() {
            add_errors(&mut experiment.responses);
            return Ok(ReadExperiment { experiment, warnings: Vec::new() });
        }
        let table = DeTable::parse(text).map_err(|error| vec![unreadable(text, name, &error)])?;
        let diagnostics: Vec<Diagnostic> = found
            .iter()
            .filter(|finding| finding.is_error())
            .chain(found.iter().filter(|finding| !finding.is_error()))
            .take(FINDINGS_MAX)
            .map(|finding| finding.diagnostic(text, table.get_ref(), name))
            .collect();
        if found.iter().any(super::finding::Finding::is_error) {
            return Err(diagnostics);
        }
        add_errors(&mut experiment.responses);
        Ok(ReadExperiment { experiment, warnings: diagnostics })
    }
}

/// Adds the share of failed requests: without it, a case that fails fast would look like a fast one.
fn add_errors(responses: &mut Vec<ResponseVariable>) {
    let errors = ResponseVariable::errors();
    if !responses.contains(&errors) {
        responses.push(errors);
    }
}

/// Converts an error of the parser to a diagnostic with its position and, for an unknown key, a suggestion.
fn unreadable(text: &str, name: &str, error: &toml::de::Error) -> Diagnostic {
    let at = error.span().unwrap_or_default();
    let message = error.message();
    let hint =
        near_key(message).map_or_else(|| HINT.to_owned(), |near| format!("did you mean `{near}`? {HINT}"));
    let shown: String = match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    };
    Diagnostic::error("experiment-file", shown)
        .in_file(name)
        .at(Span::locate(text, at.start, at.len()))
        .with_hint(hint)
}

/// The expected key that is most similar to the unknown one, from a message such as "unknown field `x`, expected one of `a`,
/// `b`".
fn near_key(message: &str) -> Option<&str> {
    let (unknown, known) = message.strip_prefix("unknown ")?.split_once(", expected")?;
    let unknown = unknown.split('`').nth(1)?;
    nearest_name(unknown, known.split('`').skip(1).step_by(2))
}
