//! JMeter's command line, extended by Busyhour's long options.

use std::ffi::OsString;
use std::path::PathBuf;

use busyhour_compile::ProxyOption;
use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{PropertySources, assignment};
use busyhour_results::ResultsInput;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, RUN_TABLE, complain, print, say};
use busyhour_verb_inputs::properties::loaded;
use busyhour_verb_inputs::reading;
use busyhour_verb_inputs::results_options::results_options;
use clap::{CommandFactory as _, Parser};

use crate::load_args::UrlArgs;
use crate::own_args::OwnArgs;
use crate::run_command::RunCommand;
use crate::{run, usage};

/// The kind of a flag's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Assignment,
}

/// One of JMeter's flags.
struct Flag {
    short: char,
    long: &'static str,
    takes: Takes,
    /// The description of the flag.
    what: &'static str,
    /// The reason why the flag is rejected; empty if it is not.
    refused: &'static str,
    /// The reason why the flag has no effect; empty if it has one.
    ignored: &'static str,
}

const fn flag(short: char, long: &'static str, takes: Takes, what: &'static str) -> Flag {
    Flag { short, long, takes, what, refused: "", ignored: "" }
}

/// What to use instead of JMeter's remote servers.
const REMOTE_HINT: &str = "agents take the place of JMeter's servers: start `busyhour cluster hub` here and `busyhour cluster \
    agent --join INVITATION` there, and give --on busyhour-hub/controller.json instead";

const FLAGS: &[Flag] = &[
    flag('n', "nongui", Takes::Nothing, "run the plan (there is no window)"),
    flag('t', "testfile", Takes::Value, "the test plan"),
    flag('l', "logfile", Takes::Value, "results file (CSV)"),
    flag('f', "forceDeleteResultFile", Takes::Nothing, "overwrite the results file and the report directory"),
    flag('j', "jmeterlogfile", Takes::Value, "log file"),
    flag('p', "propfile", Takes::Value, "properties file that is read first"),
    flag('q', "addprop", Takes::Value, "additional properties file; may be given several times"),
    flag('J', "jmeterproperty", Takes::Assignment, "set a property"),
    flag('D', "systemproperty", Takes::Assignment, "set a system property"),
    flag('S', "systemPropertyFile", Takes::Value, "file of system properties"),
    flag('e', "reportatendofloadtests", Takes::Nothing, "make a report at the end; needs -o"),
    flag('o', "reportoutputfolder", Takes::Value, "directory for index.html, statistics.json and content/"),
    flag('g', "reportonly", Takes::Value, "only make the report of this results file; needs -o"),
    flag('H', "proxyHost", Takes::Value, "proxy host"),
    flag('P', "proxyPort", Takes::Value, "proxy port"),
    flag('N', "nonProxyHosts", Takes::Value, "hosts reached without the proxy, separated by |"),
    flag('u', "username", Takes::Value, "user at the proxy"),
    flag('a', "password", Takes::Value, "password at the proxy"),
    flag('h', "help", Takes::Nothing, "this text"),
    flag('?', "?", Takes::Nothing, ""),
    flag('v', "version", Takes::Nothing, "the version"),
    flag(
        'G',
        "globalproperty",
        Takes::Assignment,
        "set a property for agents (--on): -Gname=value or a properties file",
    ),
    Flag { ignored: "busyhour has no installation directory", ..flag('d', "homedir", Takes::Value, "") },
    Flag {
        ignored: "the log contains all messages from level INFO on",
        ..flag('L', "loglevel", Takes::Assignment, "")
    },
    Flag { ignored: "the format of the log is fixed", ..flag('i', "jmeterlogconf", Takes::Value, "") },
    Flag {
        ignored: "agents wait for further runs (`busyhour cluster agent --once` ends after one)",
        ..flag('X', "remoteexit", Takes::Nothing, "")
    },
    Flag {
        refused: "an agent takes the place of JMeter's server: busyhour cluster agent --join INVITATION",
        ..flag('s', "server", Takes::Nothing, "")
    },
    flag('r', "runremote", Takes::Nothing, "generate the load on agents, which --on selects"),
    Flag { refused: REMOTE_HINT, ..flag('R', "remotestart", Takes::Value, "") },
    Flag {
        refused: "a scheme for the proxy is not supported, only plain HTTP proxies",
        ..flag('E', "proxyScheme", Takes::Value, "")
    },
];

/// JMeter's aliases and flags that have only a long form, each with the flag that it represents.
const SPELLINGS: &[(&str, char)] = &[("reportFile", 'o')];

/// Busyhour's own options among JMeter's flags.
#[derive(Debug, Parser)]
#[command(name = "busyhour", disable_help_flag = true)]
struct OwnOptions {
    #[command(flatten)]
    own: OwnArgs,
}

/// Busyhour's option with this long name.
fn own_option<'c>(options: &'c clap::Command, name: &str) -> Option<&'c clap::Arg> {
    options.get_arguments().find(|argument| {
        argument.get_long() == Some(name) || argument.get_all_aliases().is_some_and(|all| all.contains(&name))
    })
}

/// Whether the arguments are in JMeter's form: the first one is a flag of JMeter or an option of a run. `--help`,
/// `--version` and the flags that Busyhour accepts before its verbs are exceptions.
pub(crate) fn is_jmeter_style(arguments: &[OsString]) -> bool {
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|argument| argument.to_str()).collect();
    let Some(&first) = words.first() else { return false };
    if usage::has_own_option_first(&words) {
        return false;
    }
    if matches!(first, "--help" | "-h" | "--version" | "-V") {
        return false;
    }
    match first.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or(long);
            FLAGS.iter().any(|flag| flag.long == name) || own_option(&OwnOptions::command(), name).is_some()
        }
        None => {
            let short = first.strip_prefix('-').and_then(|flags| flags.chars().next());
            short.is_some_and(|short| FLAGS.iter().any(|flag| flag.short == short))
        }
    }
}

#[derive(Default)]
struct Parsed {
    command: RunCommand,
    nongui: bool,
    has_plan: bool,
    report_only: Option<PathBuf>,
    report: bool,
    proxy: ProxyOption,
    help: bool,
    version: bool,
    ignored: Vec<String>,
    /// Properties and files of properties for agents (-G).
    globals: Vec<String>,
    /// Whether the load is to be generated elsewhere (-r).
    is_remote: bool,
}

pub(crate) fn main(arguments: &[OsString]) -> Exit {
    let parsed = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(message) => return complain(Exit::Usage, &message),
    };
    if parsed.help {
        print(&help());
        return Exit::Completed;
    }
    if parsed.version {
        print(&format!("busyhour {} (runs plans of Apache JMeter 5.6.3)\n", env!("CARGO_PKG_VERSION")));
        return Exit::Completed;
    }
    for line in &parsed.ignored {
        say(line);
    }
    if let Some(results) = &parsed.report_only {
        return report_only(results, parsed.command.dashboard.as_deref(), &parsed.command.run.properties);
    }
    if !parsed.has_plan {
        return complain(Exit::Usage, "no plan; add -t PLAN.jmx (see busyhour --help)");
    }
    if !parsed.nongui {
        return complain(
            Exit::Usage,
            "there is no graphical user interface: add -n to run the plan, or use `busyhour check PLAN.jmx` to check it",
        );
    }
    if parsed.report && parsed.command.dashboard.is_none() {
        return complain(Exit::Usage, "-e needs a directory for the report: add -o DIRECTORY");
    }
    run::main(&parsed.command)
}

fn parse(arguments: &[OsString]) -> Result<Parsed, CommandError> {
    let mut parsed = Parsed::default();
    parsed.command.as_jmeter = true;
    parsed.command.run.properties.missing_files_are_warnings = true;
    let options = OwnOptions::command();
    let mut own = vec![OsString::from("busyhour")];
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let Some(text) = argument.to_str() else {
            // Only file names may be invalid UTF-8. They follow their flag, so they are not read here.
            return Err(format!("the argument {} is not understood", argument.to_string_lossy()).into());
        };
        let long = text.strip_prefix("--").and_then(|long| long.split('=').next());
        if let Some(option) = long.and_then(|name| own_option(&options, name)) {
            own.push(argument.clone());
            let takes_next = option.get_action().takes_values() && !option.is_require_equals_set();
            if takes_next && !text.contains('=') {
                own.extend(rest.next().cloned());
            }
            continue;
        }
        let (flag, attached) = find(text)?;
        if !flag.refused.is_empty() {
            return Err(format!("-{} (--{}): {}", flag.short, flag.long, flag.refused).into());
        }
        let value = match (flag.takes, attached) {
            (Takes::Nothing, _) => OsString::new(),
            (_, Some(value)) => value.into(),
            (..) => match rest.next() {
                Some(value) => value.clone(),
                None => return Err(format!("-{} (--{}) needs a value", flag.short, flag.long).into()),
            },
        };
        if flag.ignored.is_empty() {
            apply(&mut parsed, flag.short, &value)?;
        } else {
            parsed.ignored.push(format!("note: -{} has no effect: {}", flag.short, flag.ignored));
        }
    }
    if !parsed.proxy.host.is_empty() {
        if parsed.proxy.port == 0 {
            return Err("-H needs the port of the proxy: add -P PORT".into());
        }
        parsed.command.run.proxy = Some(parsed.proxy.clone());
    }
    if parsed.report_only.is_some() && own.len() > 1 {
        return Err(format!(
            "{} is for a run; -g only makes a report (`busyhour report --threshold` judges results)",
            own[1].to_string_lossy()
        )
        .into());
    }
    let own = OwnOptions::try_parse_from(own).map_err(|error| {
        // Only the first paragraph is used, because the usage line that follows does not contain JMeter's flags.
        let text = error.to_string();
        let text = text.split("\n\nUsage").next().unwrap_or_default();
        text.trim().trim_start_matches("error: ").to_owned()
    })?;
    own.own.apply(UrlArgs::default(), &mut parsed.command)?;
    apply_to_agents(&mut parsed)?;
    Ok(parsed)
}

/// The command line of `busyhour run` with the same plan, properties and options. Flags for files and displays are left out.
pub(crate) fn run_words(arguments: &[OsString]) -> Result<Vec<OsString>, CommandError> {
    let options = OwnOptions::command();
    let mut words: Vec<OsString> = vec!["busyhour".into(), "run".into()];
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let long = text.strip_prefix("--").and_then(|long| long.split('=').next());
        if let Some(option) = long.and_then(|name| own_option(&options, name)) {
            words.push(argument.clone());
            let takes_next = option.get_action().takes_values() && !option.is_require_equals_set();
            if takes_next && !text.contains('=') {
                words.extend(rest.next().cloned());
            }
            continue;
        }
        let (flag, attached) = find(&text)?;
        let value = match (flag.takes, attached) {
            (Takes::Nothing, _) => continue,
            (_, Some(value)) => value.into(),
            (..) => rest.next().cloned().unwrap_or_default(),
        };
        match flag.short {
            't' => words.push(value),
            'J' | 'D' | 'p' | 'q' => words.extend([format!("-{}", flag.short).into(), value]),
            _ => {}
        }
    }
    Ok(words)
}

/// Applies the flags of JMeter that refer to its remote servers: to agents, if the run is on agents.
fn apply_to_agents(parsed: &mut Parsed) -> Result<(), CommandError> {
    if parsed.command.agents.is_none() {
        if parsed.is_remote {
            return Err(format!("-r (--runremote): {REMOTE_HINT}").into());
        }
        if !parsed.globals.is_empty() {
            parsed.ignored.push("note: -G has no effect: it applies to runs on agents (--on)".into());
        }
        return Ok(());
    }
    let properties = &mut parsed.command.run.properties;
    for text in &parsed.globals {
        match text.contains('=') {
            true => properties.jmeter.push(assignment("-G", text).map_err(|error| error.to_string())?),
            false => properties.additional.push(text.into()),
        }
    }
    Ok(())
}

/// The flag in an argument, and the value that is attached to it.
fn find(text: &str) -> Result<(&'static Flag, Option<String>), CommandError> {
    let unknown = || {
        let hint = match usage::looks_like_plan_or_url(text) {
            true => format!(
                "\n  hint: busyhour run {text} …, with options after it; in JMeter's form: -n -t PLAN.jmx"
            ),
            false => String::new(),
        };
        format!("the argument {text:?} is not understood (see busyhour --help){hint}")
    };
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let flag = FLAGS.iter().find(|flag| flag.long == name).or_else(|| {
            let (_, short) = SPELLINGS.iter().find(|(spelling, _)| *spelling == name)?;
            FLAGS.iter().find(|flag| flag.short == *short)
        });
        return flag.map(|flag| (flag, value)).ok_or_else(|| unknown().into());
    }
    let mut characters = text.strip_prefix('-').ok_or_else(unknown)?.chars();
    let short = characters.next().ok_or_else(unknown)?;
    let flag = FLAGS.iter().find(|flag| flag.short == short).ok_or_else(unknown)?;
    let attached = characters.as_str();
    if flag.takes == Takes::Nothing && !attached.is_empty() {
        return Err(unknown().into());
    }
    let attached = attached.strip_prefix('=').unwrap_or(attached);
    Ok((flag, (!attached.is_empty()).then(|| attached.to_owned())))
}

fn apply(parsed: &mut Parsed, short: char, value: &OsString) -> Result<(), CommandError> {
    let flags: &mut PropertySources = &mut parsed.command.run.properties;
    let text = value.to_string_lossy();
    match short {
        'n' => parsed.nongui = true,
        't' => {
            parsed.command.run.plan = value.into();
            parsed.has_plan = true;
        }
        'l' => parsed.command.run.results = Some(value.into()),
        'f' => parsed.command.force = true,
        'j' => parsed.command.run.log = Some(value.into()),
        'p' => flags.base = Some(value.into()),
        'q' => flags.additional.push(value.into()),
        'S' => flags.system_files.push(value.into()),
        'J' => {
            if !text.contains('=') {
                let hint = format!("write -J{text}=VALUE to set it");
                let message = format!("warning: -J{text} removes the property {text}, as in JMeter");
                busyhour_terminal::exit::say(&busyhour_terminal::exit::hinted(message, &hint));
            }
            flags.jmeter.push(assignment("-J", &text).map_err(|error| error.to_string())?);
        }
        'D' => flags.system.push(assignment("-D", &text).map_err(|error| error.to_string())?),
        'G' => parsed.globals.push(text.into_owned()),
        'r' => parsed.is_remote = true,
        'e' => parsed.report = true,
        'o' => parsed.command.dashboard = Some(value.into()),
        'g' => parsed.report_only = Some(value.into()),
        'H' => parsed.proxy.host = text.into_owned(),
        'P' => parsed.proxy.port = text.parse().map_err(|_| format!("-P {text}: not a port number"))?,
        'N' => parsed.proxy.no_proxy = text.split('|').map(str::to_owned).collect(),
        'u' => parsed.proxy.user = text.into_owned(),
        'a' => parsed.proxy.password = text.into_owned(),
        'v' => parsed.version = true,
        _ => parsed.help = true,
    }
    Ok(())
}

fn report_only(
    results: &std::path::Path,
    dashboard: Option<&std::path::Path>,
    flags: &PropertySources,
) -> Exit {
    let Some(dashboard) = dashboard else {
        return complain(Exit::Usage, "-g needs a directory for the report: add -o DIRECTORY");
    };
    if let Err(error) = busyhour_report::prepare_dashboard(dashboard) {
        return complain(Exit::Usage, &chain(&error));
    }
    let options = loaded(flags).and_then(|loaded| results_options(&loaded.all));
    let options = match options {
        Ok(options) => options,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let summary = match reading::read(vec![ResultsInput::path(results)], &options) {
        Ok(summary) => summary,
        Err(error) => return reading::refuse(&error),
    };
    match busyhour_report::write_dashboard(dashboard, &summary, None) {
        Ok(paths) => {
            for path in paths {
                print(&format!("wrote {}\n", path.display()));
            }
            Exit::Completed
        }
        Err(error) => complain(Exit::Internal, &chain(&error)),
    }
}

fn help() -> String {
    use std::fmt::Write as _;
    let mut out = String::from(
        "busyhour with JMeter's command line\n\n  busyhour -n -t PLAN.jmx [-l RESULTS.jtl] [-Jname=value]… [-q FILE]… [-e -o DIR]\n\nFlags:\n",
    );
    for flag in FLAGS.iter().filter(|flag| flag.short != '?') {
        let note = match (flag.refused, flag.ignored) {
            ("", "") => flag.what.to_owned(),
            ("", why) => format!("no effect: {why}"),
            (why, _) => format!("refused: {why}"),
        };
        let value = match flag.takes {
            Takes::Nothing => "",
            Takes::Value => " VALUE",
            Takes::Assignment => "NAME=VALUE",
        };
        let _ = writeln!(
            out,
            "  {:<14}{:<26}{note}",
            format!("-{}{value}", flag.short),
            format!("--{}", flag.long)
        );
    }
    out += "\nOptions of `busyhour run`, whose --help describes them in detail:\n";
    let options = OwnOptions::command();
    for option in options.get_arguments().filter(|option| !option.is_hide_set()) {
        let Some(long) = option.get_long() else { continue };
        let value = option.get_value_names().filter(|_| option.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!(" {name}")).unwrap_or_default();
        let what = option.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "  {:<38}  {what}", format!("--{long}{value}"));
    }
    let _ = writeln!(out, "\n{RUN_TABLE}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        std::iter::once("busyhour").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn a_typical_command_line_is_parsed() {
        let line = "-n -t monsterdr.jmx -l results.csv -JHOST=127.0.0.1 -JPORT=8080 -J USERS=500 -q user.properties -Gx=y";
        let parsed = parse(&arguments(line)).unwrap_or_else(|error| panic!("{error}"));
        assert!(parsed.nongui && parsed.has_plan);
        let flags = &parsed.command.run.properties;
        let expected = [("HOST", "127.0.0.1"), ("PORT", "8080"), ("USERS", "500")];
        assert_eq!(flags.jmeter, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(flags.additional, [PathBuf::from("user.properties")]);
        assert_eq!(parsed.ignored, ["note: -G has no effect: it applies to runs on agents (--on)"]);
    }

    #[test]
    fn flags_for_remote_servers_apply_to_agents() {
        let line = "-n -t x.jmx -r -Gusers=50 -Gmore.properties -X --on nats://127.0.0.1:4222";
        let parsed = parse(&arguments(line)).unwrap_or_else(|error| panic!("{error}"));
        assert!(parsed.command.agents.is_some());
        let properties = &parsed.command.run.properties;
        assert_eq!(properties.jmeter, [("users".to_owned(), "50".to_owned())]);
        assert_eq!(properties.additional, [PathBuf::from("more.properties")]);
        let refused = parse(&arguments("-n -t x.jmx -r")).err().unwrap().to_string();
        assert!(refused.contains("agents take the place of JMeter's servers"), "{refused}");
    }

    #[test]
    fn long_forms_are_parsed_and_unsupported_flags_are_refused() {
        let parsed = parse(&arguments("--nongui --testfile x.jmx --logfile=y.jtl"))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parsed.command.run.results, Some("y.jtl".into()));
        for line in [
            "-n -t",
            "-n -t x -r",
            "-n x.jmx",
            "-n --nonsense",
            "-nx",
            "-n -t x -H proxy",
            "-n -t x --threshold",
            "-n -t x --threshold nonsense",
            "-n -t x --seed y",
            "-g x -o y --threshold p95<1s",
        ] {
            assert!(parse(&arguments(line)).is_err(), "{line}");
        }
        assert!(is_jmeter_style(&arguments("-n -t x")) && is_jmeter_style(&arguments("--nongui")));
        assert!(!is_jmeter_style(&arguments("run x")) && !is_jmeter_style(&arguments("--help")));
    }

    #[test]
    fn options_of_busyhour_can_be_mixed_with_those_of_jmeter() {
        let line = "--threshold p95<800ms -n --seed=7 -t x.jmx -l y.jtl --fail-if rc5xx>20 -JA=b --junit t.xml --cores 1";
        assert!(is_jmeter_style(&arguments(line)));
        let request = parse(&arguments(line)).unwrap_or_else(|error| panic!("{error}")).command.run;
        assert_eq!((request.seed, request.cores), (Some(7), Some(1)));
        assert_eq!((request.results, request.plan), (Some("y.jtl".into()), "x.jmx".into()));
        let criteria: Vec<_> = request.thresholds.iter().map(ToString::to_string).collect();
        assert_eq!(criteria, ["require p95 < 800ms", "fail if rc5?? > 20, continue as failed"]);
        let message = parse(&arguments("-n -t x --seed y")).err().expect("an error").to_string();
        assert!(message.starts_with("invalid value 'y' for '--seed <SEED>'"), "{message}");
        assert!(help().contains("--threshold CRITERION"), "{}", help());
    }
}
