//! Scripts that nest deeper than any stack allows: they are rejected or run, and never crash the process.

#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use busyhour_script::{java_like, javascript, jexl};

/// Creates a script with this number of nested levels.
type Nest = fn(usize) -> String;

fn around(open: &str, inner: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + inner + &close.repeat(levels)
}

const SHAPES: &[(&str, Nest)] = &[
    ("parentheses", |n| around("(", "1", ")", n)),
    ("lists", |n| around("[", "1", "]", n)),
    ("maps", |n| around("[a:", "1", "]", n)),
    ("closures", |n| around("{ -> ", "1", "}", n)),
    ("calls in arguments", |n| around("Math.abs(", "1", ")", n)),
    ("a chain of calls", |n| "'a'".to_owned() + &".trim()".repeat(n)),
    ("a chain of properties", |n| "def a = [:]\na".to_owned() + &".b".repeat(n)),
    ("a chain of indexes", |n| "def a = []\na".to_owned() + &"[0]".repeat(n)),
    ("a sum", |n| "1".to_owned() + &" + 1".repeat(n)),
    ("negations", |n| "!".repeat(n) + "true"),
    ("signs", |n| "- ".repeat(n) + "1"),
    ("choices", |n| "true ? 1 : ".repeat(n) + "1"),
    ("blocks", |n| around("if (true) {\n", "def a = 1", "\n}", n)),
    ("branches", |n| "if (true) { } else ".repeat(n) + "{ }"),
    ("loops", |n| around("while (false) {", "", "}", n)),
    ("texts in texts", |n| around("\"${", "1", "}\"", n)),
    ("arrays", |n| "int".to_owned() + &"[]".repeat(n.min(1_000)) + " a = " + &around("{", "1", "}", n) + ";"),
    ("unclosed parentheses", |n| "(".repeat(n)),
    ("unclosed braces", |n| "{".repeat(n)),
    ("casts", |n| "(int) ".repeat(n) + "1"),
    ("annotations", |n| "@A ".repeat(n) + "int a = 1"),
    ("loops without braces", |n| "for (x in a) ".repeat(n) + "b()"),
    ("loops of Java without braces", |n| "for (;;) ".repeat(n) + "b()"),
];

#[test]
fn deep_nesting_does_not_crash_the_process() {
    for (name, nest) in SHAPES {
        for levels in [1, 10, 1_000, 100_000] {
            let text = nest(levels);
            for language in [java_like::JavaLike::Groovy, java_like::JavaLike::BeanShell] {
                // Dropping the compiled script must not overflow the stack either.
                let compiled = java_like::compile(&text, language).map(|_| ());
                assert!(levels < 100_000 || compiled.is_err(), "{name}, {levels} levels in {language:?}");
            }
            let _ = jexl::compile(&text, jexl::Version::Two);
            let _ = jexl::compile(&text, jexl::Version::Three);
            let _ = javascript::compile(&text);
        }
    }
}

#[test]
fn long_chains_of_calls_run() {
    let appends = "def s = new StringBuilder()\ns".to_owned() + &".append('a')".repeat(190) + "\ns.length()";
    let mut user = support::User::new();
    let value =
        java_like::compile(&appends, java_like::JavaLike::Groovy).unwrap().evaluate(&mut user).unwrap();
    assert_eq!(value.to_java_string(), "190");
}
