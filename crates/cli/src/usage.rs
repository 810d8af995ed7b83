//! Errors of the command line, with advice.

use std::ffi::OsString;

use busyhour_terminal::exit::{Exit, complain};
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::verbs;

/// Names of options in other programs, each with the corresponding name in Busyhour.
const SYNONYMS: &[(&str, &str)] = &[
    ("concurrency", "users"),
    ("connections", "users"),
    ("vus", "users"),
    ("threads", "users"),
    ("num-requests", "requests"),
    ("count", "requests"),
    ("qps", "rate"),
    ("rps", "rate"),
    ("method", "request"),
    ("body", "data"),
    ("timeout", "request-deadline"),
    ("ramp-up", "ramp"),
    ("rampup", "ramp"),
    ("exit-on-failure", "threshold"),
];

/// Words that users may write instead of a verb, each with the verb that is meant.
const VERBS_MEANT: &[(&str, &str)] = &[
    ("completions", "config completions"),
    ("completion", "config completions"),
    ("man", "config man"),
    ("schema", "config schema"),
    ("server", "lab server"),
    ("probe", "lab server probe"),
    ("cells", "lab server cells"),
    ("broker", "lab server broker"),
    ("neighbour", "lab neighbour"),
    ("neighbor", "lab neighbour"),
    ("fit", "capacity fit"),
    ("solve", "capacity solve"),
    ("simulate", "capacity simulate"),
    ("what-if", "capacity what-if"),
    ("verify", "capacity verify"),
    ("convert", "capacity convert"),
    ("history", "compare --history"),
    ("diff", "compare"),
    ("summary", "report"),
    ("start", "run"),
    ("test", "run"),
    ("validate", "check"),
];

/// Minimum length of the common prefix of two names for which one is suggested instead of the other.
const BEGINNING_MIN: usize = 4;

/// Prints an error of the command line, or the requested help.
pub(crate) fn explain(mut error: clap::Error, arguments: &[OsString]) -> Exit {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Completed;
    }
    // The parser's own suggestions are removed: they are only similar in spelling.
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::Suggested] {
        error.remove(kind);
    }
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    if error.kind() == ErrorKind::UnknownArgument {
        // The parser's usage text contains its own suggestion, so it is replaced.
        let mut cli = verbs::command();
        cli.build();
        let usage = verb(&cli, &words).clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    if let Some(tip) = tip(&error, &words) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    let _ = error.print();
    Exit::Usage
}

/// Rejects options before the verb that look like JMeter's command line but do not name a plan.
pub(crate) fn refuse_options_before_verb(arguments: &[OsString]) -> Option<Exit> {
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let is_jmeters = |word: &&str| {
        let is_short =
            ["-n", "-t", "-g"].iter().any(|flag| word.starts_with(flag)) && !word.starts_with("--");
        is_short || ["--nongui", "--testfile", "--reportonly"].iter().any(|flag| word.starts_with(flag))
    };
    let asks_for_help = |word: &&str| matches!(*word, "--help" | "-h" | "--version" | "-V");
    if has_own_option_first(&words) {
        return None;
    }
    if !words.first()?.starts_with('-') || words.iter().any(|word| is_jmeters(word) || asks_for_help(word)) {
        return None;
    }
    let at = words.iter().position(|word| is_verb(word))?;
    let verb = words[at];
    let rest = words[at + 1..].join(" ");
    let option = words[0];
    let quiet = if option == "-q" { "; -q FILE is a properties file, as in JMeter" } else { "" };
    let text = format!(
        "the option {option} is before the verb {verb}{quiet}\n  hint: write busyhour {verb} {rest}, with options after the verb"
    );
    Some(complain(Exit::Usage, text.trim_end()))
}

/// Whether the words begin with an option that all verbs have, followed by a verb.
pub(crate) fn has_own_option_first(words: &[&str]) -> bool {
    let options = words.iter().take_while(|word| matches!(**word, "-v" | "--verbose" | "--quiet")).count();
    options > 0 && words.get(options).is_some_and(|word| is_verb(word))
}

fn is_verb(word: &str) -> bool {
    verbs::command().get_subcommands().any(|verb| verb.get_name() == word)
}

/// Advice on how to correct an error.
fn tip(error: &clap::Error, words: &[&str]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            if looks_like_plan_or_url(word) {
                return Some(format!("to run it: busyhour run {word}"));
            }
            let cli = verbs::command();
            let verbs = verb(&cli, words).get_subcommands().filter(|verb| !verb.is_hide_set());
            let names: Vec<&str> = verbs.map(Command::get_name).collect();
            if let Some((_, meant)) = VERBS_MEANT.iter().find(|(theirs, _)| *theirs == word) {
                return Some(format!("did you mean 'busyhour {meant}'?"));
            }
            nearest(word, &names).map(|name| format!("did you mean '{name}'?"))
        }
        ErrorKind::UnknownArgument => {
            let word = text(ContextKind::InvalidArg)?;
            let Some(name) = word.strip_prefix("--") else { return tip_for_value(word, words) };
            let name = name.split('=').next().unwrap_or(name);
            let cli = verbs::command();
            let arguments = verb(&cli, words).get_arguments();
            let shown = arguments.filter(|argument| !argument.is_hide_set());
            let names: Vec<&str> = shown.filter_map(clap::Arg::get_long).collect();
            nearest(name, &names).map(|name| format!("did you mean '--{name}'?"))
        }
        _ => None,
    }
}

/// Advice on a value that does not belong to an option.
fn tip_for_value(word: &str, words: &[&str]) -> Option<String> {
    let at = words.iter().position(|other| *other == word)?;
    let before = words[..at].last().unwrap_or(&"");
    let target = words.iter().find(|word| looks_like_plan_or_url(word));
    if let (Some(target), false) = (target, words.iter().any(|word| is_verb(word))) {
        return Some(format!("to run it: busyhour run {target} …, with options after it"));
    }
    (*before == "--live").then(|| format!("write --live={word}, with an equals sign"))
}

/// The command that `words` select, including subcommands.
fn verb<'c>(cli: &'c Command, words: &[&str]) -> &'c Command {
    let mut command = cli;
    for word in words {
        let Some(next) = command.find_subcommand(word) else { break };
        command = next;
    }
    command
}

/// Whether a word in the place of a verb is a test plan or a URL.
pub(crate) fn looks_like_plan_or_url(word: &str) -> bool {
    let is_plan =
        std::path::Path::new(word).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
    is_plan || word.contains("://")
}

/// The name that `word` probably means: one with the same meaning, the same prefix, or nearly the same spelling.
fn nearest<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let word = word.to_ascii_lowercase();
    let known = |name: &str| names.iter().copied().find(|known| *known == name);
    let synonym = SYNONYMS.iter().find(|(theirs, _)| *theirs == word).and_then(|(_, ours)| known(ours));
    let same_beginning = || {
        let begins = |name: &&&str| {
            name.len().min(word.len()) >= BEGINNING_MIN
                && (name.starts_with(&word) || word.starts_with(**name))
        };
        names.iter().find(begins).copied()
    };
    synonym.or_else(|| busyhour_arrivals::nearest(&word, names)).or_else(same_beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_in_spelling_or_meaning() {
        let names =
            ["grace", "data", "rate", "for", "users", "request-deadline", "thresholds", "think", "arrivals"];
        for (word, expected) in [
            ("thershold", Some("thresholds")),
            ("threshold", Some("thresholds")),
            ("arivals", Some("arrivals")),
            ("concurrency", Some("users")),
            ("qps", Some("rate")),
            ("timeout", Some("request-deadline")),
            ("think-time", Some("think")),
            ("nonsense", None),
            ("date", Some("data")),
            ("duration", None),
        ] {
            assert_eq!(nearest(word, &names), expected, "{word}");
        }
        let cli = verbs::command();
        for (_, meant) in VERBS_MEANT {
            let first = meant.split(' ').next().unwrap_or_default();
            assert!(cli.find_subcommand(first).is_some_and(|verb| !verb.is_hide_set()), "{meant}");
        }
        assert_eq!(nearest("completions", &["compare", "check", "run"]), None);
    }

    #[test]
    fn every_synonym_leads_to_an_option_of_run() {
        let cli = verbs::command();
        let run = verb(&cli, &["run"]);
        for (_, ours) in SYNONYMS {
            assert!(run.get_arguments().any(|argument| argument.get_long() == Some(ours)), "{ours}");
        }
    }
}
