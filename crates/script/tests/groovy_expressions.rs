//! Expressions with their results in Groovy 3.0.20 (JMeter 5.6.3, Java 17): values, output, and exceptions, which the
//! interpreter must throw as exceptions that a script can catch.

#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use busyhour_script::{ScriptError, java_like};
use support::User;

/// Each line is an expression, a tab, and the text of its value, or `!` with the exception's class and message.
/// Groovy's suggestions of similar methods are omitted; `\n` represents a line break. If a line begins with `?`, only
/// the exception's class is compared, not its message.
const RECORDED: &str = include_str!("recorded/groovy_expressions.tsv");

/// The result of the expression in this crate: the output in brackets, followed by the value.
fn outcome(expression: &str) -> String {
    let mut user = User::new();
    let script = match java_like::compile(expression, java_like::JavaLike::Groovy) {
        Ok(script) => script,
        Err(error) => return format!("rejected: {error}"),
    };
    let value = script.evaluate(&mut user);
    let printed: String = user.log.iter().map(|(_, text)| text.as_str()).collect();
    let value = match value {
        Ok(value) => value.to_java_string(),
        Err(ScriptError::Evaluation { message, .. } | ScriptError::Fatal { message, .. }) => {
            format!("!{message}")
        }
        Err(error) => format!("failed: {error}"),
    };
    format!("[{printed}]{}", value.replace('\n', "\\n"))
}

#[test]
fn expressions_have_the_recorded_results_of_groovy() {
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        let (expression, expected) = line.split_once('\t').expect("an expression and its value");
        let class_only = expression.starts_with('?');
        let expression = expression.trim_start_matches('?');
        let found = outcome(expression);
        let class = |text: &str| text.split(':').next().map(str::to_owned);
        if class_only && found.contains("]!") && class(&found) == class(expected) {
            continue;
        }
        // Expressions that are rejected before they run are not compared.
        if found != expected && !found.starts_with("rejected: ") {
            wrong.push(format!("{expression}\n  Groovy: {expected}\n  here:   {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} expressions differ:\n{}", wrong.len(), wrong.join("\n"));
}
