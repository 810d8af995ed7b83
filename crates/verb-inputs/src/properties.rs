//! Reads the properties of a verb's options. Its errors are messages for the user.

use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{LoadedProperties, PropertySources, assignment};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::say;

/// Reads the files and applies the flags.
pub fn loaded(sources: &PropertySources) -> Result<LoadedProperties, CommandError> {
    let loaded = sources.load(0).map_err(|error| chain(&error))?;
    for path in &loaded.missing {
        say(&format!("warning: the properties file {} does not exist", path.display()));
    }
    Ok(loaded)
}

/// The properties that `-J` and `-q` set, for verbs that read results or plans.
pub fn of_flags(
    jmeter: &[String],
    additional: &[std::path::PathBuf],
) -> Result<LoadedProperties, CommandError> {
    let mut sources = PropertySources { additional: additional.to_vec(), ..PropertySources::default() };
    for text in jmeter {
        sources.jmeter.push(assignment("-J", text).map_err(|error| error.to_string())?);
    }
    loaded(&sources)
}
