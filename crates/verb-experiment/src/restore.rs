//! `busyhour experiment restore`.

use busyhour_diagnostic::io_hints::chain;
use busyhour_terminal::exit::{Exit, complain, hinted, print};
use busyhour_trials::{ExecuteError, JOURNAL_FILE_NAME, restore};

use super::args::RestoreArgs;

/// Runs the verb.
pub(super) fn main(args: &RestoreArgs) -> Exit {
    if !args.dir.join(JOURNAL_FILE_NAME).is_file() {
        let message = format!("{} contains no experiment", args.dir.display());
        let hint =
            "give the directory that `busyhour experiment run` wrote, such as busyhour-experiments/NAME";
        return complain(Exit::Refused, &hinted(message, hint));
    }
    let here = std::path::absolute(&args.dir).and_then(|dir| Ok((dir, std::env::current_exe()?)));
    let (dir, busyhour) = match here {
        Ok(here) => here,
        Err(error) => return complain(Exit::Internal, &format!("{}: {error}", args.dir.display())),
    };
    let restored = match restore(&dir, &busyhour) {
        Ok(restored) => restored,
        Err(error @ (ExecuteError::InUse(_) | ExecuteError::Journal { .. })) => {
            return complain(Exit::Refused, &chain(&error));
        }
        Err(error) => return complain(Exit::Internal, &chain(&error)),
    };
    if restored.done.is_empty() && restored.failed.is_empty() {
        print("Nothing was left to undo.\n");
    }
    if !restored.done.is_empty() {
        print(&format!("{}\n", restored.done.join("\n")));
    }
    if restored.failed.is_empty() {
        return Exit::Completed;
    }
    for reason in &restored.failed {
        complain(Exit::Internal, reason);
    }
    let message = format!("not everything was undone; the logs are in {}", dir.join("trials").display());
    complain(Exit::Internal, &hinted(message, "remove the causes, and run the same command again"))
}
