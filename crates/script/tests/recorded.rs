//! Scripts whose results were recorded from JMeter 5.6.3's own functions (Java 17).
//!
//! A line consists of the script, its result in brackets, and the variables that it changed, separated by tabs. `⏎`
//! represents a line break, and `⇥` a tab. If JMeter logs an error, the result is empty. Scripts in lines that begin
//! with `?` are rejected by this crate when a plan is checked.

mod support;

use busyhour_script::{ScriptError, Value, java_like, javascript, jexl};
use support::User;

type Run = fn(&str, &mut User) -> Result<Value, ScriptError>;

fn compare(recorded: &str, run: Run) {
    let mut wrong = Vec::new();
    for line in recorded.lines() {
        let (line, refused) = line.strip_prefix('?').map_or((line, false), |line| (line, true));
        let mut fields = line.split('\t');
        let script = fields.next().unwrap_or("").replace('⏎', "\n").replace('⇥', "\t");
        let expected = fields.next().unwrap_or("").replace('⏎', "\n").replace('⇥', "\t");
        let changes = fields.next().unwrap_or("");
        let mut user = User::new();
        let outcome = run(&script, &mut user);
        let is_refused = outcome.as_ref().is_err_and(ScriptError::is_unsupported);
        let found = match &outcome {
            Ok(value) => value.to_function_result(),
            Err(_) => String::new(),
        };
        let same = format!("[{found}]") == expected && user.changes() == changes && !is_refused;
        if refused != is_refused || (!refused && !same) {
            wrong.push(format!(
                "{script}\n    JMeter {expected} {changes}\n    here   [{found}] {} {outcome:?}",
                user.changes()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} scripts differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn jexl_3() {
    compare(include_str!("recorded/jexl3.tsv"), |text, user| {
        jexl::compile(text, jexl::Version::Three)?.evaluate(user)
    });
}

#[test]
fn jexl_2() {
    compare(include_str!("recorded/jexl2.tsv"), |text, user| {
        jexl::compile(text, jexl::Version::Two)?.evaluate(user)
    });
}

#[test]
fn groovy() {
    compare(include_str!("recorded/groovy.tsv"), |text, user| {
        java_like::compile(text, java_like::JavaLike::Groovy)?.evaluate(user)
    });
}

#[test]
fn beanshell() {
    compare(include_str!("recorded/beanshell.tsv"), |text, user| {
        java_like::compile(text, java_like::JavaLike::BeanShell)?.evaluate(user)
    });
}

#[test]
fn javascript_function() {
    // If Rhino reports an error, the function has no result.
    let recorded: String =
        include_str!("recorded/javascript.tsv").lines().fold(String::new(), |mut all, line| {
            let failed = line.split_once("\t!").map(|(script, _)| format!("{script}\t[]"));
            all.push_str(failed.as_deref().unwrap_or(line));
            all.push('\n');
            all
        });
    compare(&recorded, |text, user| javascript::compile(text)?.evaluate(user));
}

#[test]
fn javascript_condition() {
    for line in include_str!("recorded/condition.tsv").lines() {
        let (script, expected) = line.split_once('\t').expect("a tab");
        // Any result other than true and false is an error, which JMeter treats as false.
        let found = javascript::compile(script).and_then(|script| script.evaluate_condition());
        assert!(!found.as_ref().is_err_and(ScriptError::is_unsupported), "{script}: {found:?}");
        assert_eq!(found.unwrap_or(false).to_string(), expected, "{script}");
    }
}
