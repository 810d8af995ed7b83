//! Reads the command line of a run, as its directory stores it, for the experiment that repeats its load.

use std::ffi::OsString;

use busyhour_terminal::command_error::CommandError;
use busyhour_verb_experiment::RecordedCommand;
use clap::parser::ValueSource;

use crate::{jmeter_args, old_names, verbs};

/// Parses a command line, which begins with the name of the program, with the options of `busyhour run` or in JMeter's form.
pub(crate) fn parse(words: &[String]) -> Result<RecordedCommand, CommandError> {
    let arguments: Vec<OsString> = words.iter().map(Into::into).collect();
    let arguments = match jmeter_args::is_jmeter_style(&arguments) {
        true => jmeter_args::run_words(&arguments)?,
        false => old_names::with_json_files(arguments),
    };
    let mut command = verbs::command();
    let matches = command.try_get_matches_from_mut(&arguments).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })?;
    let Some(("run", run)) = matches.subcommand() else {
        return Err("it is not the command line of `busyhour run`".into());
    };
    let Some(verb) = command.find_subcommand("run") else { return Err("there is no verb run".into()) };
    let mut found = RecordedCommand { target: String::new(), options: Vec::new() };
    for argument in verb.get_arguments() {
        let id = argument.get_id().as_str();
        if run.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        let takes_values = argument.get_action().takes_values();
        let values: Vec<String> = match run.try_get_raw(id) {
            Ok(Some(values)) if takes_values => values.map(text).collect(),
            Ok(_) | Err(_) => Vec::new(),
        };
        match (argument.get_long(), argument.get_short()) {
            (Some(long), _) => found.options.push((format!("--{long}"), values)),
            (None, Some(short)) => found.options.push((format!("-{short}"), values)),
            (None, None) => found.target = values.into_iter().next().unwrap_or_default(),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> RecordedCommand {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        parse(&words).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn options_are_recognized_wherever_they_are() {
        let url = "http://127.0.0.1:1/";
        for line in [
            format!("busyhour|run|{url}|--rate|20/s|-z|3s|-J|A=1"),
            format!("busyhour|run|--rate=20/s|--for|3s|-JA=1|{url}"),
            format!("busyhour|--quiet|run|-z3s|{url}|--rate|20/s|-J|A=1"),
        ] {
            let found = parsed(&line);
            assert_eq!((found.target.as_str(), found.value("--rate")), (url, Some("20/s")), "{line}");
            assert_eq!(found.words_without(&["--rate", "--for", "--quiet"]), ["-J", "A=1"], "{line}");
        }
        let users = parsed(&format!("busyhour|run|-c5|--think|1s|{url}|-H|A: -b|--spin"));
        assert_eq!(users.value("--users"), Some("5"));
        let mut kept = users.words_without(&["--users"]);
        kept.sort();
        assert_eq!(kept, ["--header=A: -b", "--spin", "--think=1s"]);
    }

    #[test]
    fn the_form_of_jmeter_is_a_run() {
        let found =
            parsed("busyhour|-n|-t|plan.jmx|-l|x.jtl|-JHOST=a|--jmeterproperty|B=2|-DC=3|--seed|7|-e|-o|out");
        assert_eq!(found.target, "plan.jmx");
        assert_eq!(found.words_without(&["--seed"]), ["-J", "HOST=a", "-J", "B=2", "-D", "C=3"]);
        assert_eq!(found.value("--seed"), Some("7"));
    }

    #[test]
    fn other_command_lines_are_refused() {
        for line in ["busyhour|report|runs/a", "busyhour|run|a.jmx|--no-such-option", "busyhour"] {
            let words: Vec<String> = line.split('|').map(str::to_owned).collect();
            assert!(parse(&words).is_err(), "{line}");
        }
    }
}
