//! The variables `${NAME}` in texts of an experiment: free ports, and the directory of the trial.

use std::net::TcpListener;
use std::path::Path;

use busyhour_experiment::Command;

use crate::error::TrialError;

/// The environment variable with the path of this program, for all commands.
const BUSYHOUR: &str = "BUSYHOUR";

/// The environment variable with the directory of the trial, for all commands.
const TRIAL_DIR: &str = "TRIAL_DIR";

/// Environment variables of a trial. A text can contain their values as `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrialVariables(Vec<(String, String)>);

impl TrialVariables {
    /// This program, the directory of a trial, and different free ports on 127.0.0.1. The ports stay free until another program
    /// binds them, so the system should start soon.
    pub(crate) fn choose(
        busyhour: &Path,
        dir: &Path,
        ports: &[String],
    ) -> Result<TrialVariables, TrialError> {
        let failed = |error| TrialError::Failed(format!("no port is free on 127.0.0.1: {error}"));
        let mut listeners = Vec::new();
        let mut chosen = TrialVariables::of_paths(busyhour, dir);
        for name in ports {
            let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
            let port = listener.local_addr().map_err(failed)?.port();
            chosen.0.push((name.clone(), port.to_string()));
            // All listeners stay open until the last port is chosen, so that the ports differ.
            listeners.push(listener);
        }
        Ok(chosen)
    }

    /// Values for a check of the file, which executes nothing.
    pub(crate) fn example(ports: &[String]) -> TrialVariables {
        let mut example = TrialVariables::of_paths(Path::new("busyhour"), Path::new("trial"));
        example.0.extend(ports.iter().map(|name| (name.clone(), "1".to_owned())));
        example
    }

    fn of_paths(busyhour: &Path, dir: &Path) -> TrialVariables {
        let text = |path: &Path| path.display().to_string();
        TrialVariables(vec![(BUSYHOUR.to_owned(), text(busyhour)), (TRIAL_DIR.to_owned(), text(dir))])
    }

    /// The text with values instead of names.
    pub(crate) fn fill(&self, text: &str) -> String {
        let fill =
            |text: String, (name, value): &(String, String)| text.replace(&format!("${{{name}}}"), value);
        self.0.iter().fold(text.to_owned(), fill)
    }

    /// The command with values instead of names.
    pub(crate) fn fill_command(&self, command: &Command) -> Command {
        match command {
            Command::Shell(text) => Command::Shell(self.fill(text)),
            Command::Program(words) => Command::Program(words.iter().map(|word| self.fill(word)).collect()),
        }
    }

    /// The environment variables.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_replace_their_names() {
        let names = ["A".to_owned(), "B".to_owned()];
        let chosen = TrialVariables::choose(Path::new("/bin/b"), Path::new("/t"), &names).unwrap();
        let found: Vec<(String, String)> = chosen.environment().collect();
        let ports: Vec<&str> = found[2..].iter().map(|(_, value)| value.as_str()).collect();
        assert_ne!(ports[0], ports[1]);
        let filled = chosen.fill("http://a:${A}/${C}/${B}$A ${TRIAL_DIR} ${BUSYHOUR}");
        assert_eq!(filled, format!("http://a:{}/${{C}}/{}$A /t /bin/b", ports[0], ports[1]));
        assert_eq!(TrialVariables::default().fill("${A}"), "${A}");
    }
}
