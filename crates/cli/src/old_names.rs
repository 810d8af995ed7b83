//! Old names of verbs and old forms of options. They work as before, hidden from the help; a verb prints its new name.

use std::ffi::OsString;

use busyhour_terminal::exit::note;
use busyhour_terminal::quantities::{bin_width_ms, log_span_in_seconds, seconds, span_in_seconds};
use clap::{Arg, Command};

/// Old names, each with the new name or option.
const NEW_NAMES: [(&[&str], &str); 14] = [
    (&["judge"], "report --threshold"),
    (&["trend"], "compare --history"),
    (&["arrivals"], "report --arrivals"),
    (&["plan-load"], "capacity plan"),
    (&["users"], "capacity users"),
    (&["demo-server"], "lab server"),
    (&["model", "solve"], "capacity solve"),
    (&["model", "simulate"], "capacity simulate"),
    (&["model", "what-if"], "capacity what-if"),
    (&["model", "fit"], "capacity fit"),
    (&["model", "compare"], "capacity verify"),
    (&["model", "export"], "capacity convert"),
    (&["model", "schema"], "config schema model"),
    (&["model"], "capacity"),
];

/// The new name of the verb at the beginning of `words`.
pub(crate) fn new_name(words: &[&str]) -> Option<(String, &'static str)> {
    let (old, new) = NEW_NAMES.iter().find(|(old, _)| words.starts_with(old))?;
    Some((old.join(" "), new))
}

/// Prints the new name of an old verb.
pub(crate) fn advise(arguments: &[OsString]) {
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    if let Some((old, new)) = new_name(&words) {
        note(&format!("note: `busyhour {old}` is now `busyhour {new}`"));
    }
}

/// Makes the old verbs accept times without a unit, as before.
pub(crate) fn with_bare_times(cli: Command) -> Command {
    let time = |arg: Arg| arg.value_parser(seconds);
    let span = |arg: Arg| arg.value_parser(span_in_seconds);
    let measured = move |verb: Command| verb.mut_arg("think", time).mut_arg("window", span);
    cli.mut_subcommand("judge", |verb| verb.mut_arg("window", span))
        .mut_subcommand("trend", |verb| verb.mut_arg("window", span))
        .mut_subcommand("arrivals", |verb| {
            verb.mut_arg("window", |arg| arg.value_parser(log_span_in_seconds))
                .mut_arg("histogram", |arg| arg.value_parser(bin_width_ms))
        })
        .mut_subcommand("plan-load", |verb| {
            verb.mut_arg("response", time).mut_arg("demands", time).mut_arg("think", time)
        })
        .mut_subcommand("users", |verb| {
            verb.mut_arg("think", time).mut_arg("window", |arg| arg.value_parser(log_span_in_seconds))
        })
        .mut_subcommand("model", |model| {
            model
                .mut_subcommand("fit", |verb| measured(verb).mut_arg("response_max", time))
                .mut_subcommand("compare", measured)
        })
        .mut_subcommand("demo-server", crate::lab::with_bare_times)
}

/// Old verbs whose option `--json` took a file. Now `--json` is a flag.
const JSON_WITH_FILE: [&[&str]; 7] = [
    &["report"],
    &["model", "solve"],
    &["model", "simulate"],
    &["model", "what-if"],
    &["capacity", "solve"],
    &["capacity", "simulate"],
    &["capacity", "what-if"],
];

/// Replaces `--json FILE` in the arguments by the hidden option `--json-file=FILE` if the meaning is clear: the file ends in
/// `.json`, or it is `-` and the input has already been named.
pub(crate) fn with_json_files(arguments: Vec<OsString>) -> Vec<OsString> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let Some(verb) = JSON_WITH_FILE.iter().find(|verb| words.get(1..).unwrap_or_default().starts_with(verb))
    else {
        return arguments;
    };
    let (mut out, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let has_input = words[..at].iter().skip(1 + verb.len()).any(|word| !word.starts_with('-'));
        if let Some(file) = words[at].strip_prefix("--json=") {
            out.push(format!("--json-file={file}").into());
            at += 1;
        } else if words[at] == "--json" && (next.ends_with(".json") || next == "-" && has_input) {
            out.push(format!("--json-file={next}").into());
            at += 2;
        } else {
            out.push(arguments[at].clone());
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_json_are_recognised() {
        for (line, expected) in [
            ("report a.jtl --json b.json -o c.html", "report a.jtl --json-file=b.json -o c.html"),
            ("report a.jtl --json -", "report a.jtl --json-file=-"),
            ("report --json -", "report --json -"),
            ("model solve a.toml --json=b", "model solve a.toml --json-file=b"),
            ("capacity solve a.toml --json", "capacity solve a.toml --json"),
            ("compare --json a.json b", "compare --json a.json b"),
        ] {
            let words = std::iter::once("busyhour").chain(line.split(' ')).map(OsString::from).collect();
            let found: Vec<String> = with_json_files(words)
                .into_iter()
                .skip(1)
                .filter_map(|word| word.into_string().ok())
                .collect();
            assert_eq!(found.join(" "), expected);
        }
    }
}
