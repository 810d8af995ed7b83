//! Limits, error positions and effects of scripts, and a check that no text makes the crate panic.

mod support;

use busyhour_script::{
    Binding, LineSeverity, Memory, ScriptError, TextPlace, Value, java_like, javascript, jexl,
};
use proptest::prelude::*;
use support::User;

fn groovy(text: &str, user: &mut User) -> Result<Value, ScriptError> {
    java_like::compile(text, java_like::JavaLike::Groovy)?.evaluate(user)
}

fn beanshell(text: &str, user: &mut User) -> Result<Value, ScriptError> {
    java_like::compile(text, java_like::JavaLike::BeanShell)?.evaluate(user)
}

fn js(text: &str, user: &mut User) -> Result<Value, ScriptError> {
    javascript::compile(text)?.evaluate(user)
}

#[test]
fn refusals_report_the_column() {
    let error =
        java_like::compile("def a = 1\ndef b = new Socket('x', 1)", java_like::JavaLike::Groovy).unwrap_err();
    assert_eq!(error.to_string(), "`new Socket` is not supported (line 2, column 13)");
    let error = java_like::compile("vars.get('x').frobnicate()", java_like::JavaLike::Groovy).unwrap_err();
    assert_eq!(error.to_string(), "the method `frobnicate` is not supported (column 15)");
    let error = java_like::compile("vars.getObjekt('x')", java_like::JavaLike::Groovy).unwrap_err();
    assert_eq!(error.to_string(), "the method `getObjekt` is not supported (column 6)");
    let error = java_like::compile("def x\ntrait A { }", java_like::JavaLike::Groovy).unwrap_err();
    assert_eq!(error.to_string(), "`trait` is not supported (line 2, column 1)");
    for (text, expected) in [
        ("class A extends B { }", "a subclass of this type is not supported (column 17)"),
        ("enum A { B { } }", "an enumeration constant with a body is not supported (column 12)"),
        (
            "class A { def equals(o) { true } }",
            "a class that defines the method `equals` is not supported (column 11)",
        ),
        ("class A { { x = 1 } }", "an initializer block is not supported (column 11)"),
    ] {
        let error = java_like::compile(text, java_like::JavaLike::Groovy).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = jexl::compile("1 +", jexl::Version::Three).unwrap_err();
    assert_eq!(error.to_string(), "expected an expression, found the end (column 4)");
    let error = javascript::compile("1;\nlet x = 5").unwrap_err();
    assert_eq!(error.place(), Some(TextPlace { line: 2, column: 1 }));
    let error = javascript::compile("1;\n1 +").unwrap_err();
    assert!(matches!(error, ScriptError::Syntax { .. }), "{error:?}");
}

#[test]
fn unsupported_methods_are_refused() {
    for (text, expected) in [
        ("String.NO_ORDER", "`String.NO_ORDER` is not supported (column 8)"),
        (
            "props.put('m', new HashMap())",
            "an object other than a string, a number or a boolean as a property (all users share properties) is not supported (column 7)",
        ),
        (
            "sampler.getPropertyAsString('HTTPSampler.md5')",
            "the property `HTTPSampler.md5` of a sampler is not supported (column 9)",
        ),
        (
            "org.apache.commons.lang3.RandomStringUtils.random(5)",
            "`RandomStringUtils.random` with 1 argument is not supported (column 44)",
        ),
        ("new Date(1, 2, 3)", "`new Date` with 3 arguments is not supported (column 5)"),
        ("vars.put('a')", "`vars.put` with 1 argument is not supported (column 6)"),
        ("prev.setSubResults(1)", "the method `setSubResults` is not supported (column 6)"),
        ("prev.getSubResults(1)", "`prev.getSubResults` with 1 argument is not supported (column 6)"),
        ("ctx.getPreviousResult().isFile()", "`prev.isFile` with 0 arguments is not supported (column 25)"),
        ("prev.samplerName", "the property `samplerName` of `prev` is not supported (column 6)"),
        ("def f = new File('a'); f.getDay()", "`File.getDay` with 0 arguments is not supported (column 26)"),
    ] {
        let outcome = java_like::compile(text, java_like::JavaLike::Groovy).map(|_| ());
        assert_eq!(outcome.map_err(|refusal| refusal.to_string()), Err(expected.to_owned()), "{text}");
    }
    // A variable that is assigned twice may contain any object.
    for text in ["def f = new File('a'); f = new Date(); f.getDay()", "[new Date()].each { f -> f.getDay() }"]
    {
        assert!(java_like::compile(text, java_like::JavaLike::Groovy).is_ok(), "{text}");
    }
}

#[test]
fn javascript_calls_length_and_size_of_java_objects() {
    use busyhour_script::javascript::{ImitatedEngine, compile_element};
    for imitated in [ImitatedEngine::Rhino, ImitatedEngine::Nashorn] {
        let value = |text: &str| {
            let value = compile_element(text, imitated)?.run(&mut User::new(), &[], Value::Null)?;
            Ok::<_, ScriptError>(value)
        };
        for (text, length) in [
            ("new java.lang.StringBuilder('abc').length()", "3"),
            ("var made = new java.lang.StringBuilder(); made.append('abcde'); '' + made.length()", "5"),
            ("var list = new java.util.ArrayList(); list.add('a'); list.add('b'); '' + list.size()", "2"),
        ] {
            assert_eq!(value(text), Ok(Value::text(length)), "{text} {imitated:?}");
        }
    }
}

#[test]
fn endless_scripts_are_stopped() {
    for outcome in [
        groovy("while (true) { }", &mut User::new()),
        beanshell("for (;;) { }", &mut User::new()),
        groovy("def s = 'abcdefgh'\nwhile (true) { s = s + s }", &mut User::new()),
        jexl::compile("while (true) 1", jexl::Version::Three)
            .and_then(|script| script.evaluate(&mut User::new())),
        js("for (;;) {}", &mut User::new()),
        js("var s = 'abc'; for (;;) s += s", &mut User::new()),
        js("/(a+)+$/.test(new Array(50000).join('a') + 'b')", &mut User::new()),
        js("new Array(50000).join('a').replace(/(a*)*b/, '')", &mut User::new()),
    ] {
        assert!(matches!(outcome, Err(ScriptError::LimitReached { .. })), "{outcome:?}");
    }
    // The engine remains usable.
    assert_eq!(js("1 + 1", &mut User::new()), Ok(Value::text("2")));
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let long = vec!["1"; 100_000].join("+");
    for text in [&deep, &long] {
        assert!(java_like::compile(text, java_like::JavaLike::Groovy).is_err());
        assert!(java_like::compile(text, java_like::JavaLike::BeanShell).is_err());
        assert!(jexl::compile(text, jexl::Version::Two).is_err());
    }
    assert!(javascript::compile(&deep).is_err());
}

#[test]
fn regular_expressions_of_java_have_a_budget_of_steps() {
    let mut user = User::new();
    // Each attempt backtracks over the whole text. The regex engine alone would count an attempt as one step.
    let script = "def text = 'a' * 30000 + 'c'\ntext.find(/(?=(a+)+b)c/)";
    let error = groovy(script, &mut user).unwrap_err();
    assert!(
        matches!(&error, ScriptError::LimitReached { limit } if limit.contains("regular expressions")),
        "{error}"
    );
    // The next script has its own budget.
    let value = groovy("('key=value; n=7' =~ /(?<name>\\w+)=(\\w+)$/)[0][1]", &mut user).unwrap();
    assert_eq!(value.to_java_string(), "n");
    let value = groovy("'aXbXc'.replaceAll(/(?<=X)([bc])/, '<$1>')", &mut user).unwrap();
    assert_eq!(value.to_java_string(), "aX<b>X<c>");
}

#[test]
fn scripts_access_logs_properties_and_samples() {
    let mut user = User::new();
    groovy(
        "log.warn('a' + 1); props.put('q', 'r'); prev.setSuccessful(false); prev.setResponseCode('500')",
        &mut user,
    )
    .unwrap();
    js("log.info('from js'); props.setProperty('s', 't')", &mut user).unwrap();
    assert_eq!(user.log, [(LineSeverity::Warn, "a1".to_owned()), (LineSeverity::Info, "from js".to_owned())]);
    assert_eq!(user.properties["q"], "r");
    assert_eq!(user.properties["s"], "t");
    assert!(!user.result.successful);
    assert_eq!(user.result.code, "500");
}

#[test]
fn failed_assertions_have_the_message_of_groovy() {
    let printed = |text: &str| match groovy(text, &mut User::new()) {
        Err(ScriptError::Evaluation { message, .. } | ScriptError::Fatal { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        printed("def x = 4; assert x == 5 : 'wrong'"),
        "java.lang.AssertionError: wrong. Expression: (x == 5). Values: x = 4"
    );
    // Recorded from Groovy 3.0.20, which omits the `!` of a negation.
    assert_eq!(
        printed("assert prev?.responseCode == '201' && !vars.get('a') : 'no'"),
        "java.lang.AssertionError: no. Expression: ((prev?.responseCode == 201) && vars.get(a))"
    );
    assert_eq!(
        printed("assert 4 in [1, 2] : 'no'"),
        "java.lang.AssertionError: no. Expression: (4 in [1, 2])"
    );
}

#[test]
fn javascript_globals_do_not_persist_between_runs() {
    let mut user = User::new();
    for text in ["x = 5", "var x = 5; y = 6", "function x() {}", "x = vars; 1"] {
        js(text, &mut user).unwrap();
        assert_eq!(js("typeof x + typeof y", &mut user), Ok(Value::text("undefinedundefined")), "{text}");
    }
}

#[test]
fn variables_set_before_a_javascript_error_are_kept() {
    let mut user = User::new();
    let outcome = js("vars.put('a', 'b'); nothing()", &mut user);
    assert!(matches!(outcome, Err(ScriptError::Evaluation { .. })), "{outcome:?}");
    assert_eq!(user.changes(), "a=b");
}

#[test]
fn javascript_reads_variables_with_computed_names() {
    let mut user = User::new();
    for number in 0..20 {
        user.variables.insert(format!("v_{number}"), number.to_string());
    }
    let text = "var sum = 0; log.info('once'); for (var i = 0; i < 20; i++) sum += parseInt(vars.get('v_' + i)); sum";
    assert_eq!(js(text, &mut user), Ok(Value::text("190")));
    assert_eq!(user.log.len(), 1);
}

#[test]
fn random_numbers_and_the_clock_come_from_the_scope() {
    for text in ["Math.random()", "new Random().nextInt(1000000)", "UUID.randomUUID().toString()"] {
        assert_eq!(groovy(text, &mut User::new()), groovy(text, &mut User::new()), "{text}");
    }
    assert_eq!(js("Math.random()", &mut User::new()), js("Math.random()", &mut User::new()));
    assert_ne!(js("Math.random()", &mut User::new()), js("Math.random() + 1", &mut User::new()));
    assert_eq!(js("new Date().getTime()", &mut User::new()), Ok(Value::text("1700000000000")));
    assert_eq!(groovy("System.currentTimeMillis()", &mut User::new()), Ok(Value::Long(1_700_000_000_000)));
    let Ok(Value::Text(uuid)) = groovy("UUID.randomUUID().toString()", &mut User::new()) else {
        panic!("a text");
    };
    assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
}

#[test]
fn a_script_is_shared_between_threads() {
    let script = javascript::compile("vars.get('one') + vars.get('two')").unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let script = script.clone();
            std::thread::spawn(move || {
                (0..50).all(|_| script.evaluate(&mut User::new()) == Ok(Value::text("12")))
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}

#[test]
fn a_beanshell_interpreter_keeps_variables_between_runs() {
    let script =
        java_like::compile("if (i == void) i = 0; i = i + 1; return i;", java_like::JavaLike::BeanShell)
            .unwrap();
    let mut memory = Memory::default();
    let mut user = User::new();
    for expected in 1..4 {
        let (value, _) = script.run(&mut user, &[], &[], Some(&mut memory)).unwrap();
        assert_eq!(value, Value::Integer(expected));
    }
    let bound = [("Failure", Binding::Value(Value::Boolean(false)))];
    let script = java_like::compile("Failure = true;", java_like::JavaLike::BeanShell).unwrap();
    let (_, back) = script.run(&mut user, &bound, &["Failure", "FailureMessage"], Some(&mut memory)).unwrap();
    assert_eq!(back, [Value::Boolean(true), Value::Null]);
}

const WORDS: &[&str] = &[
    "vars",
    ".get(",
    "\"one\"",
    ")",
    "(",
    "+",
    "-",
    "*",
    "/",
    "==",
    "!=",
    "<",
    "&&",
    "||",
    "!",
    "1",
    "2.5",
    "x",
    "=",
    ";",
    "\n",
    "if",
    "else",
    "{",
    "}",
    "for",
    "while",
    "return",
    "def ",
    "int ",
    "String ",
    "'a'",
    "?",
    ":",
    "[",
    "]",
    ",",
    "..",
    "true",
    "null",
    ".length()",
    "\"${",
    "}\"",
    "new ",
    "Random",
    "log.info",
    "empty",
    "size",
    "=~",
    "0",
    "$",
    "\\",
    "//",
    "/*",
    "é",
    "💡",
    "var ",
    "function",
    "=>",
    "as ",
    "in ",
    "threadName",
    "prev",
    "++",
    "a.b.c",
    "\"",
    "'",
    "`",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any text, each language returns a value or an error.
    #[test]
    fn no_text_panics(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..24)) {
        let text = words.concat();
        let mut user = User::new();
        let _ = groovy(&text, &mut user);
        let _ = beanshell(&text, &mut user);
        for version in [jexl::Version::Two, jexl::Version::Three] {
            let _ = jexl::compile(&text, version).and_then(|script| script.evaluate(&mut user));
        }
        let _ = js(&text, &mut user);
    }

    /// The same for texts of arbitrary characters.
    #[test]
    fn no_characters_panic(text in "\\PC{0,40}") {
        let mut user = User::new();
        let _ = groovy(&text, &mut user);
        let _ = beanshell(&text, &mut user);
        let _ = jexl::compile(&text, jexl::Version::Three).and_then(|script| script.evaluate(&mut user));
        let _ = js(&text, &mut user);
    }
}
