//! Verbs of features that this program was built without. They only print an error message.

use std::ffi::OsString;

use busyhour_terminal::exit::{Exit, complain, hinted};
use clap::Args;

/// The command line of a verb that is not in this program.
#[derive(Debug, Args)]
pub(crate) struct MissingArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Ends a verb that needs a feature; `what` names the part that this program does not contain.
pub(crate) fn complain_of_verb(verb: &str, what: &str, feature: &str) -> Exit {
    let message = format!("this program was built without {what}, so it has no `busyhour {verb}`");
    complain(Exit::Usage, &hinted(message, &build_hint(feature)))
}

/// The hint how to build the program with a feature.
pub(crate) fn build_hint(feature: &str) -> String {
    format!("build it with the feature {feature}: cargo build --release --features {feature}")
}
