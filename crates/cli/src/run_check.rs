//! Checks the command line of a run without executing it.

use std::ffi::OsString;

use busyhour_terminal::command_error::CommandError;
use clap::{Args as _, FromArgMatches as _};

use crate::args::RunArgs;

/// Checks the command line of a run, which begins with the word `run`.
pub(crate) fn check(words: Vec<OsString>) -> Result<(), CommandError> {
    check_with_length(words).map(drop)
}

/// Checks the command line of a run, which begins with the word `run`. Returns the text of `--for`, if it is given.
pub(crate) fn check_with_length(words: Vec<OsString>) -> Result<Option<String>, CommandError> {
    let mut command = RunArgs::augment_args(clap::Command::new("busyhour run"));
    let parsed = command
        .try_get_matches_from_mut(words)
        .and_then(|matches| Ok((RunArgs::from_arg_matches(&matches)?, matches)));
    let (run, matches) = parsed.map_err(|error| {
        let text = error.to_string();
        let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        CommandError::from(first.join(" ").trim_start_matches("error: ").to_owned())
    })?;
    run.into_command()?;
    Ok(matches.get_one::<String>("length").cloned())
}
