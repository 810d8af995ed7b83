//! Documents and paths in which one part is repeated up to a million times: parsing and evaluating them takes time proportional to
//! their length, or stops at a limit.

use busyhour_jsonpath::{JsonPath, Value, read};
use busyhour_limits::Limit;
use busyhour_limits::repeated::{COUNTS_UNOPTIMIZED, Repeated, counts_at, read_all, read_counts};

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

#[test]
fn documents_of_many_parts_are_parsed() {
    let inputs: &[(Repeated<'static>, fn(usize) -> Option<usize>)] = &[
        (repeated("[", "1,", "1]"), |count| Some(count + 1)),
        (repeated("[", "[],", "]"), Some),
        (repeated("[", "{},", "]"), Some),
        (repeated("[", "'~',", "]"), Some),
        (repeated("[", ",", "]"), |_| Some(0)),
        (repeated("[", " ", "]"), |_| Some(0)),
        (repeated("[\"", "\\u0041", "\"]"), |_| Some(1)),
        (repeated("[\"", "\\uD83D", "\"]"), |_| Some(1)),
        (repeated("[", "1", "]"), |_| Some(1)),
        (repeated("[1e", "0", "]"), |_| Some(1)),
        (repeated("[0.", "1", "]"), |_| Some(1)),
        (repeated("[", "word ", "]"), |_| Some(1)),
        (repeated("{", "\"a~\":~,", "}"), Some),
        (repeated("{", "\"a\":~,", "}"), |_| Some(1)),
        (repeated("{", "a~:~,", "}"), Some),
        (repeated("{\"a\":1}", "]", ""), |_| Some(1)),
        (repeated("", "\"", ""), |_| None),
        (repeated("", "{", ""), |_| None),
        (repeated("", ":", ""), |_| None),
        (repeated("{", "\"a\"", ""), |_| None),
    ];
    for (index, (input, expected)) in inputs.iter().enumerate() {
        read_counts(std::slice::from_ref(input), counts_at(index), |input, count, text| {
            let found = match read(text) {
                Ok(Value::Array(items)) => Some(items.len()),
                Ok(Value::Object(members)) => Some(members.len()),
                Ok(_) | Err(_) => None,
            };
            assert_eq!(found, expected(count), "{count} parts: {input:?}");
        });
    }
}

#[test]
fn nesting_is_limited() {
    let inputs = [repeated("", "[", ""), repeated("", "{\"a\":", ""), repeated("[", "[1],[", "")];
    read_all(&inputs, |input, count, text| {
        let error = read(text).expect_err("an error").to_string();
        assert!(error.len() < 200, "{count} parts: {input:?} {error}");
    });
}

/// Compares the number of values that each path finds. The largest documents may exceed the limit of steps.
#[test]
fn values_of_many_parts_are_found_or_limited() {
    let list = repeated("[", "{\"a\":~,\"b\":[1]},", "]");
    let object = repeated("{", "\"k~\":{\"a\":~},", "}");
    let all: fn(usize) -> usize = |count| count;
    let cases: &[(&str, Repeated<'static>, fn(usize) -> usize)] = &[
        ("$[*].a", list, all),
        ("$..a", list, all),
        ("$..*", list, |count| 4 * count),
        ("$[?(@.a > 4)]", list, |count| count - 5),
        ("$[?(@.a == 1 || @.a == 2)]", list, |_| 2),
        ("$[1:5]", list, |_| 4),
        ("$.*", object, all),
        ("$..a", object, all),
        ("$.k7", object, |_| 1),
        ("$['k1','k2','none']", object, |_| 1),
    ];
    // Parsing a million objects takes 15 s in a build without optimization.
    for (path, input, expected) in cases {
        let path = JsonPath::compile(path).expect("a path");
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |_, count, text| {
            let document = read(text).expect("a document");
            let found = path.find_all(&document).map(|found| found.len());
            let limits = busyhour_limits::take_counts();
            if count == COUNTS_UNOPTIMIZED[2] && found.is_err() {
                assert_eq!(limits, [(Limit::JsonPathSteps, 1)], "{}", path.text());
            } else {
                assert_eq!((found.ok(), limits), (Some(expected(count)), vec![]), "{count}: {}", path.text());
            }
        });
    }
}

/// Each name in a path is found by a linear search of the members, which costs steps.
#[test]
fn lookups_of_many_names_are_limited() {
    let names: Vec<String> = (0..400).map(|number| format!("'none{number}'")).collect();
    let path = JsonPath::compile(&format!("$[{}]", names.join(","))).expect("a path");
    let document = read(&repeated("{", "\"k~\":1,", "}").text(500_000)).expect("a document");
    assert!(path.find_all(&document).is_err());
    assert_eq!(busyhour_limits::take_counts(), [(Limit::JsonPathSteps, 1)]);
}

/// Without a limit, the evaluation would build a message with a text of 1 MB for each item: 100 GB.
#[test]
fn messages_about_each_item_are_limited() {
    let items = "1,".repeat(100_000);
    let text = format!("{{\"list\":[{items}2],\"text\":\"{}\"}}", "x".repeat(1 << 20));
    let document = read(&text).expect("a document");
    let path = JsonPath::compile("$.list[?(@ == $.text[0])]").expect("a path");
    assert!(path.find_all(&document).is_err());
    assert_eq!(busyhour_limits::take_counts(), [(Limit::JsonPathSteps, 1)]);
}

/// A regression test: members were once compared by a linear search for each.
#[test]
fn objects_of_many_members_are_compared_in_linear_time() {
    let object = repeated("{", "\"k~\":{\"a\":~},", "\"z\":0}").text(100_000);
    let document = read(&format!("{{\"a\":[{object}],\"b\":[[{object}],[1]]}}")).expect("a document");
    for path in ["$.b[?(@ == $.a)]", "$.b[?(@[0] == $.a[0])]", "$.b[?($.a[0] in @)]"] {
        let found = JsonPath::compile(path).map(|path| path.find_all(&document).map(|found| found.len()));
        let limits = busyhour_limits::take_counts();
        assert!(limits.is_empty(), "{path}: {found:?} {limits:?}");
    }
}

#[test]
fn paths_of_many_parts_are_compiled_or_rejected() {
    let inputs = [
        (repeated("$", ".a", ""), 500),
        (repeated("$", "['a']", ""), 500),
        (repeated("$", "[0]", ""), 500),
        (repeated("$", "..", "a"), 0),
        (repeated("$", "..a", ""), 250),
        (repeated("$[", "'a~',", "'b']"), usize::MAX),
        (repeated("$[", "~,", "0]"), usize::MAX),
        (repeated("$[?(@.a == 1", " || @.a == ~", ")]"), usize::MAX),
        (repeated("$[?(@.a in [", "~,", "0])]"), usize::MAX),
        (repeated("$[?(", "!", "@.a)]"), 50),
        (repeated("$[?(", "(", "@.a"), 0),
        (repeated("$", "[?(@", ""), 0),
        (repeated("$['", "\\'", "']"), usize::MAX),
        (repeated("$.", "a", ""), usize::MAX),
        (repeated("$.", " ", "a"), 0),
        (repeated("", "[", ""), 0),
        (repeated("$[?(@.a =~ /", "a", "/)]"), 10_000),
        (repeated("$[?(@.a =~ /", "a|", "/)]"), 10_000),
    ];
    for (input, compiled_max) in inputs {
        read_counts(&[input], &COUNTS_UNOPTIMIZED, |input, count, text| match JsonPath::compile(text) {
            Ok(path) => {
                let document = read("{\"a\":{\"a\":[1,2]}}").expect("a document");
                let _ = path.find_all(&document);
                let limits = busyhour_limits::take_counts();
                assert!(limits.is_empty(), "{count} parts: {input:?} {limits:?}");
            }
            Err(_) => assert!(count > compiled_max || compiled_max == 0, "{count} parts: {input:?}"),
        });
    }
}
