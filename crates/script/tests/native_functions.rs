//! Native functions of JavaScript count steps for their time, and their results are unchanged.

#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use busyhour_script::javascript::{ImitatedEngine, compile, compile_element};
use busyhour_script::{ScriptError, Value};
use support::User;

fn function(text: &str) -> Result<Value, ScriptError> {
    compile(text)?.evaluate(&mut User::new())
}

fn element(text: &str) -> Result<Value, ScriptError> {
    compile_element(text, ImitatedEngine::Nashorn)?.run(&mut User::new(), &[], Value::Null)
}

/// Scripts that would run for hours, or use all memory, without a limit.
const ENDLESS: &[&str] = &[
    "var a = []; a.length = 4294967295; a.reverse()",
    "var a = []; a.length = 4294967295; a.sort()",
    "var a = []; a.length = 4294967295; a.join('')",
    "var a = []; a.length = 4294967295; '' + a",
    "var a = []; a.length = 4294967295; a.indexOf(1)",
    "var a = []; a.length = 4294967295; a.lastIndexOf(1)",
    "var a = []; a.length = 4294967295; a.forEach(function () {})",
    "var a = []; a.length = 4294967295; a.map(function () {})",
    "var a = []; a.length = 4294967295; a.concat([1]).reverse()",
    "var a = []; a.length = 4294967295; a.shift()",
    "new Array(4294967295).join('')",
    "new Array(200000000).reverse()",
    "JSON.stringify(new Array(4294967295))",
    "var a = []; for (var i = 0; i < 100000; i++) a.push(i); for (;;) a.indexOf(-1)",
    "var a = []; for (var i = 0; i < 100000; i++) a.push(i); for (;;) a.reverse()",
    "var a = []; for (var i = 0; i < 100000; i++) a.push(i); for (;;) a.sort()",
    "var a = []; for (var i = 0; i < 100000; i++) a.push(i); for (;;) a.slice()",
    "var a = []; for (var i = 0; i < 100000; i++) a.push(i); for (;;) a.join()",
    "var s = new Array(1000000).join('a'); for (;;) s.indexOf('b')",
    "var s = new Array(1000000).join('a'); for (;;) s.lastIndexOf('b')",
    "var s = new Array(1000000).join('a'); for (;;) s.toUpperCase()",
    "var s = new Array(1000000).join('a'); for (;;) s.split('b')",
    "var s = new Array(1000000).join('a'); for (;;) s.substring(1)",
    "var s = new Array(1000000).join('a'); for (;;) s.replace('b', 'c')",
    "var s = new Array(1000000).join('a'); for (;;) encodeURIComponent(s)",
    "var s = JSON.stringify(new Array(100000).join('a').split('')); for (;;) JSON.parse(s)",
    "var a = new Array(100000).join('a').split(''); for (;;) JSON.stringify(a)",
    "var o = {}; for (var i = 0; i < 10000; i++) o['k' + i] = i; for (;;) Object.keys(o)",
    "var s = new Array(1000000).join('a'); for (;;) vars.put('s', s)",
    "for (;;) { try { new Array(4294967295).join('abc') } catch (e) {} }",
    "for (;;) { try { JSON.stringify(new Array(4294967295)) } catch (e) {} }",
];

#[test]
fn native_functions_reach_the_limit() {
    // The engines share the wrappers, so each script runs in only one engine. A loop takes about two seconds to reach the limit, so
    // only every fifth loop runs here.
    for (at, text) in ENDLESS.iter().enumerate() {
        if text.contains("for (;;)") && at % 5 != 0 {
            continue;
        }
        let value = if at % 2 == 0 { function(text) } else { element(text) };
        assert!(matches!(value, Err(ScriptError::LimitReached { .. })), "{text}\n{value:?}");
    }
}

/// These functions exist only in Rhino.
#[test]
fn newer_native_functions_reach_the_limit() {
    for text in [
        "'a'.repeat(2000000000)",
        "for (;;) 'a'.repeat(10000000)",
        "for (;;) 'a'.padStart(10000000)",
        "for (;;) 'a'.repeat(100000).includes('b')",
        "Array.from({length: 4294967295})",
        "new Array(4294967295).fill(0)",
        "new Array(4294967295).includes(1)",
    ] {
        let value = function(text);
        assert!(matches!(value, Err(ScriptError::LimitReached { .. })), "{text}\n{value:?}");
    }
}

#[test]
fn searching_long_strings_takes_linear_time() {
    let start = "var m = new Array(1000000).join('a') + 'a', a = m + m, b = m + 'b';";
    for (text, expected) in [
        ("a.indexOf(b)", "-1"),
        ("a.lastIndexOf(b)", "-1"),
        ("a.split(b).length", "1"),
        ("a.replace(b, '') === a", "true"),
        ("(a + b).indexOf(b)", "2000000"),
        ("('ä' + a + b).indexOf(b)", "2000001"),
        ("('\\ud83d\\ude00' + a + b + 'c').lastIndexOf(b)", "2000002"),
        ("(a + b).lastIndexOf(b, 1999999)", "-1"),
        ("(a + b).indexOf(b, 2000001)", "-1"),
        ("(a + b + a + b + 'c').split(b).length", "3"),
        ("(a + b + a + b + 'c').split(b, 2).length", "2"),
        ("(a + b + a + b + 'c').split(b)[2]", "c"),
        ("(a + b).replace(b, 'x').length", "2000001"),
        (
            "(a + b).replace(b, function (found, at) { return at + '' + found.length; }).substring(1999999)",
            "a20000001000001",
        ),
    ] {
        let value = function(&format!("{start} {text}"));
        assert_eq!(value.map(|value| value.to_java_string()), Ok(expected.to_owned()), "{text}");
    }
}

/// In elements, strings have Java's method `replaceAll`. In the function `__javaScript`, they have no such method.
#[test]
fn replace_all_takes_linear_time_and_limits_its_result() {
    let start = "var m = new Array(1000000).join('a') + 'a';";
    let value = element(&format!("{start} (m + m).replaceAll(m + 'b', '').length"));
    assert_eq!(value.map(|value| value.to_java_string()), Ok("2000000".to_owned()));
    let value = element(&format!("{start} m.replaceAll('a', 'bcdefghijklmnopqrstuvwxyz').length"));
    assert!(matches!(value, Err(ScriptError::LimitReached { .. })), "{value:?}");
    assert!(function("'a'.replaceAll('a', 'b')").is_err_and(|error| error.is_unsupported()));
}

#[test]
fn scripts_do_not_see_the_wrappers() {
    for (text, expected) in [
        ("'abc'.indexOf.name", "indexOf"),
        ("'abc'.indexOf.length", "1"),
        ("[].concat.length", "1"),
        ("JSON.stringify.length", "3"),
        ("('' + 'abc'.indexOf).replace(/\\s+/g, ' ')", "function indexOf() { [native code] }"),
        ("('' + [].sort).replace(/\\s+/g, ' ')", "function sort() { [native code] }"),
        ("('' + Object.keys).replace(/\\s+/g, ' ')", "function keys() { [native code] }"),
        ("(function (a) { return a; }).toString()", "function (a) { return a; }"),
        ("var n = 0; for (var k in 'abc') n++; for (var k in [1, 2]) n++; for (var k in {}) n++; n", "5"),
        ("Object.keys([1]).length + Object.keys('ab').length", "3"),
        ("try { new ('a'.indexOf)('b') } catch (e) { e.name }", "TypeError"),
        ("try { [1].map(5) } catch (e) { e.name }", "TypeError"),
        ("try { null.indexOf('a') } catch (e) { e.name }", "TypeError"),
        ("'a,b'.split(',').length + 'a1b2'.split(/[0-9]/).length", "5"),
        (
            "'abcabc'.replace('b', '[$&]') + 'abc'.replace(/b/g, function (b) { return b + b; })",
            "a[b]cabcabbc",
        ),
        ("[3, 1, 2].sort().join() + [3, 1, 2].sort(function (a, b) { return b - a; })", "1,2,33,2,1"),
        ("[1, [2, [3]]].concat([4], 5).toString()", "1,2,3,4,5"),
        ("'abc'.lastIndexOf('a', -1) + 'abc'.indexOf('c', 'x') + 'abca'.lastIndexOf('a')", "5"),
        ("'  a '.trim() + 'A'.toLowerCase() + 'x'.concat('y', 1)", "aaxy1"),
        ("JSON.stringify(JSON.parse('{\"a\":[1,2]}'))", "{\"a\":[1,2]}"),
        ("parseInt('12px') + parseFloat('1.5')", "13.5"),
        ("String(new Array(3)) + Array(2).join('-')", ",,-"),
        ("typeof BigInt2 + typeof Float", "undefinedundefined"),
    ] {
        let value = function(text);
        assert_eq!(value.map(|value| value.to_java_string()), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn errors_name_the_line_of_the_script() {
    let error = function("var a = 1;\n\n'a'.repeat(-1)").unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    let error = function("var a = 1;\n[1].map(5)").unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn collections_of_java_in_javascript_share_one_budget() {
    for text in [
        "var l = new java.util.ArrayList(); for (var i = 0; i < 100000; i++) l.add('a'); for (;;) l.contains('b')",
        "var o = new java.util.ArrayList(); for (var i = 0; i < 40; i++) { var n = new java.util.ArrayList(); n.add(o); n.add(o); o = n; } '' + o",
        "for (;;) { var l = new java.util.ArrayList(); for (var i = 0; i < 1000; i++) l.add(l); l.hashCode() }",
    ] {
        let _ = element(text);
    }
    // Comparing deeply nested lists throws an exception here as well.
    let text = "function deep() { var o = new java.util.ArrayList(); for (var i = 0; i < 20000; i++) { var n = new java.util.ArrayList(); \
                n.add(o); o = n; } return o; } deep().equals(deep())";
    assert!(element(text).is_err());
}

#[test]
fn running_out_of_memory_for_an_error_object_counts_as_a_limit() {
    let many = "var s = new Array(1000001).join('abc,'); s.split(',').length";
    assert!(matches!(element(many), Err(ScriptError::LimitReached { .. })), "{:?}", element(many));
    let thrown = element("throw null").unwrap_err().to_string();
    assert!(thrown.contains("the script threw null, or used up its 64 MiB of memory"), "{thrown}");
}
