//! Errors of distributed runs as exit codes and messages.

use busyhour_cluster::ClusterError;
use busyhour_diagnostic::io_hints::chain;
use busyhour_terminal::exit::{Exit, hinted};

/// The exit code and the message for an error.
pub(crate) fn failure(error: &ClusterError) -> (Exit, String) {
    let exit = match error {
        ClusterError::Invitation(_) => Exit::Usage,
        ClusterError::Agents(_)
        | ClusterError::Rows(_)
        | ClusterError::Refused { .. }
        | ClusterError::Attach { .. } => Exit::Refused,
        ClusterError::Stopped => Exit::Stopped,
        _ => Exit::Internal,
    };
    (exit, hinted(chain(error), error.hint()))
}
