//! Tests with values and scripts whose parts are repeated many times. A script succeeds, or ends with an error that
//! names a limit. The number of steps is proportional to the number of parts.

use std::pin::pin;
use std::task::{Context, Waker};

use busyhour_slices::{Polled, SlicedPoll, need_coroutines, slices};

use super::supported::test_scope::TestScope;
use super::{compile, stack};
use crate::language::Dialect;
use crate::{ScriptError, Value};

/// Runs a script with a reduced limit of steps. Returns its value and the number of steps.
fn run_with(dialect: Dialect, text: &str, steps: u32) -> (Result<Value, ScriptError>, u64) {
    let script = compile(text, dialect).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let _run = stack::begin();
    let spent = stack::STEPS_MAX - steps;
    assert!(stack::spend(spent as usize));
    super::patterns::renew_budget();
    let value = script.run(&mut TestScope::default(), &[], &[], None).map(|(value, _)| value);
    (value, stack::steps_taken() - u64::from(spent))
}

fn run(dialect: Dialect, text: &str) -> (Result<Value, ScriptError>, u64) {
    run_with(dialect, text, stack::STEPS_MAX)
}

fn groovy(text: &str) -> (Result<Value, ScriptError>, u64) {
    run(Dialect::Groovy, text)
}

fn is_limit(outcome: &Result<Value, ScriptError>, part: &str) -> bool {
    matches!(outcome, Err(ScriptError::LimitReached { limit }) if limit.contains(part))
}

/// Statements that wrap the value of `o` into another value, so that a million repetitions nest a million levels deep.
const NESTED: &[(&str, &str)] = &[
    ("list", "o = [o]"),
    ("map", "o = [n: o]"),
    ("set", "o = new LinkedHashSet([o])"),
    ("array", "o = [o] as Object[]"),
    ("entry", "o = [n: o].entrySet()[0]"),
    ("iterator", "o = [o].iterator()"),
    ("range of lists", "o = [[o], 1..3]"),
    ("closure", "def before = o; o = { before }"),
    ("closure in a block", "def before = o; o = { def x = 1; def inner = { before }; inner }()"),
    ("curried closure", "o = (o ?: { a -> 1 }).curry(1)"),
    ("lazy text", "def before = o; o = \"${-> before}\""),
    ("cause", "o = new RuntimeException('a', o instanceof Throwable ? o : null)"),
    ("builder of JSON", "o = new groovy.json.JsonBuilder(o)"),
    ("object", "o = new Node(next: o)"),
    ("result", "def r = new org.apache.jmeter.samplers.SampleResult(); if (o) r.addRawSubResult(o); o = r"),
];

fn nested(levels: usize, step: &str) -> String {
    format!("class Node {{ def next }}\ndef o = null\nfor (int i = 0; i < {levels}; i++) {{ {step} }}\n")
}

#[test]
fn deep_values_are_freed_without_recursion() {
    for (name, step) in NESTED {
        // Sample results that are nested this deep are rejected.
        for levels in [10, 50_000] {
            let text = nested(levels, step) + "o = null\n'done'";
            let (value, _) = groovy(&text);
            assert!(
                matches!(&value, Ok(value) if value.to_java_string() == "done")
                    || value.is_err() && *name == "result",
                "{name}, {levels} levels: {value:?}"
            );
        }
    }
    let (value, _) = groovy(&(nested(1_000_000, "o = [o]") + "o = null\n'done'"));
    assert_eq!(value, Ok(Value::text("done")));
}

#[test]
fn deep_values_that_scripts_leave_behind_are_freed() {
    for (name, step) in NESTED {
        // `o` is a global variable, so the value exists until the run ends.
        let (value, _) = groovy(&(nested(50_000, step) + "'done'"));
        assert!(value.is_ok() || *name == "result", "{name}: {value:?}");
    }
}

/// Operations that visit all parts of a value. The script catches their exceptions.
const WALKS: &[&str] = &[
    "o == p",
    "o.equals(p)",
    "o.hashCode()",
    "[o].contains(p)",
    "([o] as HashSet).contains(p)",
    "def m = (1..20).collectEntries { [it, it] }; m[o] = 1; m[p]",
    "[o].unique()",
    "[o, p].flatten()",
    "[o, p] - [o]",
    "[1, 2][o]",
    "-o",
    "[o].sort()",
    "o.collectNested { it }",
    "switch (o) { case p: 1; break; default: 2 }",
    "o.call()",
    "o.next.next",
    "o as boolean",
    "[a: o].sort()",
    "[o].groupBy { it }",
    "[o].max()",
    "[o].sum()",
];

/// Operations that convert a value to a string. Their limit ends the script.
const TEXTS: &[&str] = &[
    "o.toString()",
    "'' + o",
    "o.inspect()",
    "groovy.json.JsonOutput.toJson(o)",
    "vars.putObject('o', o)",
    "[o].join(',')",
];

#[test]
fn walks_of_deep_values_end_with_an_exception() {
    for (name, step) in NESTED {
        let o = nested(10_000, step);
        let p = o
            .replace("class Node { def next }\ndef o = null", "def p = o; o = null")
            .replace("int i", "int j")
            .replace("i < ", "j < ")
            .replace("i++", "j++");
        let caught = |walk: &&str| format!("try {{ {walk} }} catch (Throwable e) {{ }}\n");
        let all: String = WALKS.iter().map(caught).collect();
        let (value, _) = groovy(&format!("{o}{p}{all}'done'"));
        // The process survives, and only a limit ends the script.
        assert!(value.is_ok() || is_limit(&value, "") || *name == "result", "{name}: {value:?}");
        for walk in TEXTS {
            let (value, _) = groovy(&format!("{}{}'done'", nested(3_000, step), caught(walk)));
            assert!(value.is_ok() || is_limit(&value, "") || *name == "result", "{name}, {walk}: {value:?}");
        }
    }
    for walk in ["o == p", "[o, p].flatten()"] {
        let text =
            "def make = { def o = null; 100000.times { o = [o] }; o }\ndef o = make(); def p = make()\n";
        let (value, _) =
            groovy(&format!("{text}try {{ {walk} }} catch (StackOverflowError e) {{ 'caught' }}"));
        assert_eq!(value, Ok(Value::text("caught")), "{walk}");
    }
}

/// Scripts that repeat an operation whose time could grow with each repetition. `#` is replaced by the number of
/// repetitions.
const LINEAR: &[(&str, &str)] = &[
    ("put", "def m = new HashMap(); for (int i = 0; i < #; i++) m.put('k' + i, i)\nm.size()"),
    ("put and get", "def m = [:]; for (int i = 0; i < #; i++) { m['k' + i] = i; m['k' + i] }\nm.size()"),
    ("numbers as keys", "def m = [:]; for (long i = 0; i < #; i++) m[i] = i\nm.size()"),
    (
        "remove",
        "def m = [:]; for (int i = 0; i < #; i++) m[i] = i\nfor (int i = 0; i < #; i++) m.remove(i)\nm.size()",
    ),
    ("add to a set", "def s = new HashSet(); for (int i = 0; i < #; i++) s.add('k' + i)\ns.size()"),
    ("look up in a set", "def s = new HashSet(1..#); for (int i = 0; i < #; i++) s.contains(i)\ns.size()"),
    ("lists as keys", "def m = [:]; for (int i = 0; i < #; i++) m[[i, 'a']] = i\nm.size()"),
    ("add to a list", "def l = []; for (int i = 0; i < #; i++) l.add(i)\nl.size()"),
    ("shift into a list", "def l = []; for (int i = 0; i < #; i++) l << i\nl.size()"),
    ("items", "def l = (1..#).toList(); def s = 0; for (int i = 0; i < #; i++) s += l[i]\ns"),
    ("get", "def l = (1..#).toList(); def s = 0; for (int i = 0; i < l.size(); i++) s += l.get(i)\ns"),
    ("iterator", "def s = 0; def it = (1..#).toList().iterator(); while (it.hasNext()) s += it.next()\ns"),
    ("minus", "def l = (1..#).collect { 'k' + it }; (l - l).size()"),
    ("unique", "(1..#).collect { it % 1000 }.unique().size()"),
    ("unique texts", "(1..#).collect { 'k' + it }.unique().size()"),
    ("groups", "(1..#).groupBy { it }.size()"),
    ("counts", "(1..#).countBy { it }.size()"),
    ("intersection", "(1..#).toList().intersect((1..#).toList()).size()"),
    ("removeAll", "def l = (1..#).toList(); l.removeAll((1..#).toList()); l.size()"),
    ("containsAll", "(1..#).toList().containsAll((1..#).toList())"),
    ("equal sets", "(1..#) as Set == (1..#) as Set"),
    (
        "equal maps",
        "def m = (1..#).collectEntries { [it, it] }; def n = (1..#).collectEntries { [it, it] }; m == n",
    ),
    ("split", "('ab,' * #).split(',').size()"),
    ("split by a pattern", "('ab;' * #).split('[,;]').size()"),
    ("tokens", "('ab,' * #).tokenize(',').size()"),
    ("replaceAll", "('ab,' * #).replaceAll(',', ';').length()"),
    ("replaceAll by a pattern", "('ab,' * #).replaceAll('([a-z]),', '$1;').length()"),
    ("replaceFirst", "('a' * # + ',').replaceFirst('[,;]', '').length()"),
    ("matches", "def n = 0; ('ab,' * # =~ /[a-z]+/).each { n++ }\nn"),
    ("findAll", "('ab,' * #).findAll(/[a-z]+/).size()"),
    (
        "find",
        "def m = 'ab,' * # =~ /[a-z]+/; def n = 0; while (m.find()) { n += m.start() - m.start() + m.group().length() }\nn",
    ),
    ("item of a match", "def m = 'ab,' * # =~ /[a-z]+/; for (int i = 0; i < m.size(); i++) m[i]\nm.size()"),
    (
        "characters",
        "def t = 'ab,' * #; def n = 0; for (int i = 0; i < t.length(); i++) if (t.charAt(i) == ',') n++\nn",
    ),
    ("JSON", "new groovy.json.JsonSlurper().parseText('[' + '{\"a\":1},' * # + '1]').size()"),
    (
        "members of JSON",
        "new groovy.json.JsonSlurper().parseText('{' + (1..#).collect { '\"' + it + '\":1' }.join(',') + '}').size()",
    ),
    ("captured frames", "def l = []; for (int i = 0; i < #; i++) { def x = i; l << { x } }\nl.size()"),
];

#[test]
fn steps_grow_with_the_number_of_parts() {
    for (name, script) in LINEAR {
        let steps = [1_000, 10_000].map(|count: u64| {
            let (value, steps) = groovy(&script.replace('#', &count.to_string()));
            assert!(value.is_ok(), "{name}, {count} times: {value:?}");
            steps
        });
        assert!(steps[1] < 12 * steps[0], "{name}: {steps:?}");
        let (value, _) = groovy(&script.replace('#', "10"));
        assert!(value.is_ok(), "{name}: {value:?}");
    }
}

#[test]
fn a_list_of_5000_is_searched_5000_times() {
    let text =
        "def l = (1..5000).toList(); def n = 0; for (int i = 0; i < 5000; i++) if (!l.contains(-1)) n++\nn";
    let (value, steps) = groovy(text);
    assert_eq!(value, Ok(Value::Integer(5_000)), "{steps} steps");
}

/// The value of a script that runs in a coroutine, and the number of times that it was suspended for work on another thread.
fn groovy_in_slices(text: &str) -> (Result<Value, ScriptError>, u64) {
    need_coroutines();
    let before = slices();
    let mut running = pin!(SlicedPoll::new(async { groovy(text).0 }));
    loop {
        // The clock does not advance, so no slice ends because of its time.
        match running.as_mut().poll(&Context::from_waker(Waker::noop()), || 0) {
            Polled::Ready(value) => return (value, slices() - before),
            Polled::Pending | Polled::Suspended => std::thread::yield_now(),
        }
    }
}

#[test]
fn long_texts_are_searched_many_matches_at_a_time() {
    for (script, expected) in [
        ("('ab,' * 200000).split('[,;]').size()", 200_000),
        ("('ab,' * 200000).replaceAll('([a-z]),', '$1;').length()", 600_000),
        ("def m = 'ab,' * 200000 =~ /[a-z]+/; def n = 0; while (m.find()) n++\nn", 200_000),
    ] {
        let (value, suspensions) = groovy_in_slices(script);
        assert_eq!(value, Ok(Value::Integer(expected)), "{script}");
        // A suspension for each match would cause over 100,000 suspensions.
        assert!((1..1_000).contains(&suspensions), "{script}: {suspensions} suspensions");
    }
}

#[test]
fn a_map_holds_the_users_of_a_large_test() {
    let text = "def m = new HashMap()\nfor (int i = 0; i < 20000; i++) m.put('user' + i, 'password' + i)\nm.get('user19999')";
    for dialect in [Dialect::Groovy, Dialect::BeanShell] {
        let text = if dialect == Dialect::BeanShell {
            text.replace("def m", "m").replace('\'', "\"").replace('\n', ";\n") + ";"
        } else {
            text.to_owned()
        };
        let (value, steps) = run(dialect, &text);
        assert_eq!(value, Ok(Value::text("password19999")), "{dialect:?}");
        assert!(steps < 500_000, "{steps}");
    }
    let text = "def m = [:]\n(1..1000000).each { m['user' + it] = it }\nm.size()";
    let (value, steps) = groovy(text);
    assert_eq!(value, Ok(Value::Integer(1_000_000)), "{steps} steps");
}

#[test]
fn work_inside_library_methods_is_limited() {
    for (text, limit) in [
        ("(1..20000).inject([]) { a, b -> a + b }", "steps"),
        ("def o = []; 30.times { o = [o, o] }; o.flatten()", "steps"),
        ("def o = []; 30.times { o = [o, o] }; def p = []; 30.times { p = [p, p] }; o == p", "steps"),
        ("def o = []; 30.times { o = [o, o] }; o.hashCode()", "steps"),
        ("def o = []; 30.times { o = [o, o] }; o.toString()", "limit"),
        ("def o = []; 30.times { o = [o, o] }; groovy.json.JsonOutput.toJson(o)", "limit"),
        ("def l = [(1..3000).toList()] * 3000; l.transpose()", "MiB of values"),
        ("for (int i = 0; ; i++) vars.putObject('k' + i, new byte[1000000])", "limit"),
        ("def l = []; while (true) l << new byte[100000]", "MiB of values"),
        ("def l = [1]; while (true) l = l + l", "MiB of values"),
        ("def l = [1]; while (true) l.addAll(l)", "MiB of values"),
        ("def l = []; while (true) { def x = 1; l << { x } }", "limit"),
        ("def l = (1..100000).toList(); (1..1000).collectMany { l }", "MiB of values"),
        ("Collections.nCopies(2000000000, 1)", "limit"),
        ("[1, 2, 3] * 1000000000", "limit"),
        ("new int[1000][1000][1000]", "limit"),
        ("def l = (1..20000).collect { it * 1.5 }; l - l", "steps"),
        ("def l = (1..5000).toList(); for (;;) l.contains(-1)", "steps"),
        ("def s = 'a' * 1000000; for (;;) s.replaceAll('b', 'c')", "steps"),
        ("def s = 'a' * 1000000; for (;;) s.indexOf('b')", "steps"),
        ("def s = 'a' * 1000000; def t = 'a' * 1000000; for (;;) s.equals(t)", "steps"),
        ("('a' * 10000000).replaceAll('a', 'b' * 1000)", "a string of more than 16 MiB"),
        ("def l = []; for (int i = 0; ; i++) l << new StringBuilder('a' * 100000)", "limit"),
    ] {
        // A tenth of the steps is sufficient for the scripts that only exceed the limit of steps, and saves time.
        let steps = if limit == "steps" { stack::STEPS_MAX / 10 } else { stack::STEPS_MAX };
        let (value, _) = run_with(Dialect::Groovy, text, steps);
        let is_named = if limit == "limit" { is_limit(&value, "") } else { is_limit(&value, limit) };
        assert!(is_named, "{text}\n{value:?}");
    }
}

#[test]
fn values_that_contain_themselves_neither_hang_nor_crash() {
    for text in [
        "def l = []; l.add(l); l.remove(l); l.size()",
        "def l = []; l.add(l); l == l",
        "def m = [:]; m[m] = 1; m[m] = 2; m.size()",
        "def m = [:]; 20.times { m[it] = it }; m[m] = 1; m[m]",
        "def s = new HashSet(); 20.times { s.add(it) }; s.add(s); s.add(s); s.remove(s); s.contains(s)",
        "def l = []; l.add(l); l.hashCode()",
        "def l = []; l.add(l); l.toString()",
        "def l = []; l.add(l); l.flatten()",
        "def l = []; l.add(l); groovy.json.JsonOutput.toJson(l)",
        "def l = [1, 2]; l.addAll(l); l.removeAll(l); l",
        "def l = [3, 1]; l.each { l.size() }; l.sort { a, b -> l.size(); a <=> b }",
        "def m = [a: 1]; m.each { k, v -> m.put(k, 2) }; m",
    ] {
        let _ = groovy(text);
    }
    let (value, _) = groovy("def l = [1]; l.add(l); l == l");
    assert_eq!(value, Ok(Value::Boolean(true)));
}

#[test]
fn keys_are_equal_as_in_java() {
    for (text, expected) in [
        (
            "m[1] = 'int'; m[1L] = 'long'; m[1.0] = 'decimal'; m[1.0d] = 'double'; [m[1], m[1L], m.size()]",
            "[int, long, 24]",
        ),
        ("m[1.0] = 'a'; m[1.00]", "null"),
        ("m['a'] = 1; m[\"${'a'}\".toString()]", "1"),
        ("m[null] = 1; m[null]", "1"),
        ("m[0.0d] = 'a'; m[-0.0d]", "null"),
        ("m[Double.NaN] = 'a'; m[Double.NaN]", "a"),
        ("m[[1, 2]] = 'a'; m[[1, 2]]", "a"),
        ("m[[1, 2] as Set] = 'a'; m[[2, 1] as Set]", "a"),
        ("m[[x: 1]] = 'a'; m[[x: 1]]", "a"),
        ("m[new Date(5)] = 'a'; m[new Date(5)]", "a"),
        ("m['a' as char] = 'a'; m['a']", "null"),
        ("def k = [1]; m[k] = 'a'; k << 2; m[[1, 2]]", "null"),
    ] {
        let text = format!("def m = [:]; 20.times {{ m['x' + it] = it }}\n{text}");
        let (value, _) = groovy(&text);
        assert_eq!(value.map(|value| value.to_java_string()), Ok(expected.to_owned()), "{text}");
    }
}
