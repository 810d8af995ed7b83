//! Common idioms of scripts in Groovy and BeanShell with their results in JMeter 5.6.3 (Java 17).
//!
//! `recorder/RecordScripts.java` records the lines. A line consists of a script, its result, and the variables that it changes,
//! separated by tabs. The result is the output in brackets, followed by the value, or by `!` and the exception. A line break is
//! represented by `⏎` in a script and by `\n` in a result. If a line begins with `?`, only the class of the exception is
//! compared. `!syntax` means that JMeter's parser rejects the text. For errors of BeanShell, only `!` is recorded.

#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use busyhour_script::{ScriptError, java_like};
use support::User;

fn outcome(script: &str, language: java_like::JavaLike) -> String {
    let mut user = User::new();
    let compiled = match java_like::compile(script, language) {
        Ok(script) => script,
        Err(ScriptError::Syntax { .. }) => {
            return if language == java_like::JavaLike::Groovy { "[]!syntax" } else { "[]!" }.to_owned();
        }
        Err(error) => return format!("rejected: {error}"),
    };
    let value = match compiled.evaluate(&mut user) {
        Ok(value) => value.to_java_string(),
        Err(ScriptError::Evaluation { .. } | ScriptError::Fatal { .. })
            if language == java_like::JavaLike::BeanShell =>
        {
            "!".to_owned()
        }
        Err(ScriptError::Evaluation { message, .. } | ScriptError::Fatal { message, .. }) => {
            format!("!{message}")
        }
        Err(error) => format!("failed: {error}"),
    };
    let printed: String = user.log.iter().map(|(_, text)| text.replace('\n', "")).collect();
    let (printed, value) = (printed.replace('\t', "⇥"), value.replace('\n', "\\n").replace('\t', "⇥"));
    let changes = user.changes().replace('\n', "\\n");
    if changes.is_empty() { format!("[{printed}]{value}") } else { format!("[{printed}]{value}\t{changes}") }
}

/// The part of a recorded result that is compared.
fn compared(result: &str, class_only: bool) -> &str {
    if class_only { result.split(": ").next().unwrap_or(result) } else { result }
}

fn check(recorded: &str, language: java_like::JavaLike) {
    let mut wrong = Vec::new();
    for line in recorded.lines() {
        let (script, expected) = line.split_once('\t').expect("a script and its result");
        let class_only = script.starts_with('?');
        let script = script.trim_start_matches('?').replace('⏎', "\n");
        let found = outcome(&script, language);
        let same = compared(&found, class_only) == compared(expected, class_only);
        // The text of an array contains its address.
        let is_array = expected.starts_with("[]an array") && found.starts_with("[][");
        if !same && !is_array {
            wrong.push(format!("{script}\n    JMeter {expected}\n    here   {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} scripts differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn groovy_idioms_have_the_recorded_results() {
    check(include_str!("recorded/groovy_idioms.tsv"), java_like::JavaLike::Groovy);
}

#[test]
fn beanshell_idioms_have_the_recorded_results() {
    check(include_str!("recorded/beanshell_idioms.tsv"), java_like::JavaLike::BeanShell);
}
