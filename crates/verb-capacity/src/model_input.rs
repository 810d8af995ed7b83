//! Reads models and prints messages about them for the user.

use std::path::Path;

use busyhour_capacity::{ModelFile, ModelFileError};
use busyhour_diagnostic::Diagnostic;
use busyhour_terminal::exit::{Exit, complain, say};

/// Reads a model and prints notes about its conversion. Prints errors and returns the exit code.
pub(super) fn read_model(path: &Path) -> Result<ModelFile, Exit> {
    match ModelFile::read(path) {
        Ok(model) => {
            say_all(&model.notes);
            Ok(model)
        }
        Err(ModelFileError::Invalid(findings)) => {
            say_all(&findings);
            Err(Exit::Refused)
        }
        Err(error @ ModelFileError::Unreadable { .. }) => Err(complain(Exit::Refused, &error.to_string())),
    }
}

/// Prints findings about a model.
pub(super) fn say_all(findings: &[Diagnostic]) {
    findings.iter().for_each(|finding| say(&finding.to_string()));
}
