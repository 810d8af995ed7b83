//! Responses in which one part is repeated up to a million times: extracting from them takes time proportional to their length, or
//! stops at a limit.

mod generated_parts;

use busyhour_limits::Limit;
use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, read_all, read_counts,
};
use busyhour_processors::scope::Field;
use busyhour_processors::{ResponseAssertion, ResponseAssertionSettings};
use busyhour_program::element::Assertion as _;
use generated_parts::parts::Expression::{
    self, Boundaries, Css, JmesPath, JsonPath, PluginJsonPath, Regex, TolerantXPath, XPath, XPath2,
};
use generated_parts::parts::{World, text};

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// An expression, a body, the number of matches by the number of parts, and the limit that the largest body may exceed.
type Case = (Expression<'static>, Repeated<'static>, fn(usize) -> usize, Option<Limit>);

const LIST: Repeated<'static> = repeated("[", "{\"a\":~},", "{\"a\":0}]");
const OBJECT: Repeated<'static> = repeated("{", "\"k~\":~,", "\"z\":0}");
const PAGE: Repeated<'static> = repeated("<html><body>", "<p class=a>~</p>", "</body></html>");
const DOCUMENT: Repeated<'static> = repeated("<r>", "<p a='b'>~</p>", "</r>");
const ROWS: Repeated<'static> = repeated("", "<~>\n", "");

/// Extracts all matches, a random match, the first match, and all matches again, which replaces variables. From the largest bodies,
/// only all matches are extracted: a million matches take up to 10 s in a build without optimization.
fn check(cases: &[Case]) {
    for (expression, input, expected, limit) in cases {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, body| {
            let numbers: &[i32] = if count > COUNTS[1] { &[-1] } else { &[-1, 0, 1, -1] };
            let mut world = World::new(body.to_owned());
            for &number in numbers {
                let case = format!("match {number} of {count} parts: {expression:?} {input:?}");
                expression.extractor(number).expect("an extractor").process(&mut world.user);
                let limits = busyhour_limits::take_counts();
                if limits.is_empty() {
                    let variables = world.user.variables.iter().count();
                    assert!(world.log().is_empty(), "{case} {:?}", world.log());
                    match number {
                        -1 => assert_eq!(world.count(), Some(expected(count)), "{case}"),
                        _ => assert!(world.user.variables.get("x").is_some(), "{case}"),
                    }
                    let variables_max = 6 * expected(count) + 6;
                    assert!(variables <= variables_max, "{case}: {variables} variables");
                } else {
                    // A page may exceed the limit of nodes instead.
                    let is_expected =
                        limits == [(limit.expect(&case), 1)] || limits == [(Limit::HtmlPage, 1)];
                    assert!(is_expected && count > COUNTS[1], "{case} {limits:?}");
                }
            }
        });
    }
}

#[test]
fn matches_of_texts_are_counted_or_limited() {
    let all: fn(usize) -> usize = |count| count;
    check(&[
        (Regex("<[0-9]+>"), ROWS, all, Some(Limit::MatchBytes)),
        (Regex("<([0-9])([0-9]*)>"), ROWS, all, Some(Limit::MatchBytes)),
        (Regex("[0-9]+(?=>)"), ROWS, all, Some(Limit::MatchBytes)),
        (Regex("^<"), ROWS, |_| 1, None),
        (Regex("(?s)<.*"), ROWS, |_| 1, None),
        (Regex("x*"), repeated("", "a", ""), |count| count + 1, Some(Limit::MatchBytes)),
        (Regex("(?:a|b)*c"), repeated("", "ab", ""), |_| 0, None),
        (Boundaries("<", ">"), ROWS, all, Some(Limit::MatchBytes)),
        (Boundaries("<", "x"), ROWS, |_| 0, None),
        (Boundaries("<", ""), ROWS, |_| 1, None),
        (Boundaries("", ">"), ROWS, |_| 1, None),
        (Boundaries("<<<<", "<"), repeated("", "<", ""), |count| (count - 1) / 4, Some(Limit::MatchBytes)),
    ]);
}

#[test]
fn overlapping_matches_are_limited() {
    for expression in [Boundaries("<", "z"), Regex("(?=(<.*z))")] {
        let mut world = World::new(format!("{}z", "<".repeat(1_000_000)));
        expression.extractor(-1).expect("an extractor").process(&mut world.user);
        let limits = busyhour_limits::take_counts();
        assert!(limits == [(Limit::MatchBytes, 1)] || limits == [(Limit::RegexSteps, 1)], "{limits:?}");
    }
}

#[test]
fn parts_of_json_are_counted_or_limited() {
    let many = |count: usize| count + 1;
    check(&[
        (JsonPath("$[*].a"), LIST, many, Some(Limit::MatchBytes)),
        (JsonPath("$..a"), LIST, many, Some(Limit::MatchBytes)),
        (JsonPath("$[?(@.a >= 0)]"), LIST, many, Some(Limit::MatchBytes)),
        (JsonPath("$[?(@.a == 7)]"), LIST, |_| 1, None),
        (JsonPath("$[-1:].a"), LIST, |_| 1, None),
        (JsonPath("$.z"), OBJECT, |_| 1, None),
        (JsonPath("$.*"), OBJECT, many, Some(Limit::MatchBytes)),
        (JsonPath("$"), OBJECT, |_| 1, Some(Limit::MatchBytes)),
        (JsonPath("$['a','b','c','z']"), OBJECT, |_| 1, None),
        (JsonPath("$[*]"), repeated("[", "[],", "1]"), many, Some(Limit::MatchBytes)),
        (JsonPath("$[*]"), repeated("[", ",", "1]"), |_| 1, None),
        (JsonPath("$.a"), repeated("{", "\"a\":~,", "\"z\":0}"), |_| 1, None),
        (JsonPath("$.a"), repeated("{\"a\":\"", "\\u0041\\n", "\"}"), |_| 1, None),
        (PluginJsonPath("$[*].a"), LIST, many, Some(Limit::JsonPathSteps)),
    ]);
}

#[test]
fn values_of_jmespath_are_counted_or_limited() {
    let many = |count: usize| count + 1;
    check(&[
        (JmesPath("[].a"), LIST, many, Some(Limit::JmesPathSteps)),
        (JmesPath("[?a == `7`]"), LIST, |_| 1, Some(Limit::JmesPathSteps)),
        (JmesPath("z"), OBJECT, |_| 1, None),
        (JmesPath("keys(@)"), OBJECT, many, Some(Limit::JmesPathSteps)),
        (JmesPath("sort_by(@, &a)[].a"), LIST, many, Some(Limit::JmesPathSteps)),
    ]);
}

#[test]
fn nested_lists_are_limited() {
    let inputs = [repeated("", "[", ""), repeated("", "{\"a\":", ""), repeated("", "[{\"a\":", "")];
    read_all(&inputs, |input, count, body| {
        for expression in [JsonPath("$..a"), JmesPath("a")] {
            let mut world = World::new(body.to_owned());
            expression.extractor(-1).expect("an extractor").process(&mut world.user);
            assert_eq!(world.user.variables.get("x"), Some("none"), "{count} parts: {input:?}");
            assert_eq!(world.log().len(), 1, "{count} parts: {input:?}");
        }
    });
}

#[test]
fn parts_of_pages_are_counted_or_limited() {
    let all: fn(usize) -> usize = |count| count;
    check(&[
        (Css("p"), PAGE, all, Some(Limit::MatchBytes)),
        (
            Css("p.a:contains(0)"),
            PAGE,
            |count| (0..count).filter(|n| n.to_string().contains('0')).count(),
            Some(Limit::SelectorSteps),
        ),
        (Css("body > p:last-child"), PAGE, |_| 1, Some(Limit::SelectorSteps)),
    ]);
}

#[test]
fn parts_of_large_pages_are_counted_or_limited() {
    check(&[
        (Css("p + p"), PAGE, |count| count - 1, Some(Limit::MatchBytes)),
        (Css("p ~ p"), PAGE, |count| count - 1, Some(Limit::SelectorSteps)),
        (Css("body"), PAGE, |_| 1, None),
        (Css("p"), repeated("<p", " a~='b'", ">x</p>"), |_| 1, Some(Limit::HtmlPage)),
    ]);
}

#[test]
fn parts_of_xml_documents_are_counted_or_limited() {
    let all: fn(usize) -> usize = |count| count;
    check(&[
        (XPath("//p"), DOCUMENT, all, Some(Limit::MatchBytes)),
        (XPath("//p/@a"), DOCUMENT, all, Some(Limit::MatchBytes)),
        (XPath("//p[last()]"), DOCUMENT, |_| 1, Some(Limit::XPathSteps)),
        (XPath("count(//p)"), DOCUMENT, |_| 1, Some(Limit::XPathSteps)),
        (XPath("//p[7]"), DOCUMENT, |_| 1, Some(Limit::XPathSteps)),
        (XPath2("//p"), DOCUMENT, all, Some(Limit::MatchBytes)),
        (TolerantXPath("//p"), PAGE, all, Some(Limit::MatchBytes)),
    ]);
}

/// Each sibling is compared with all previous siblings, so a million of them would take hours without a limit.
#[test]
fn comparisons_of_all_siblings_are_limited() {
    let cases = [
        (XPath("//p[preceding-sibling::p[1]/@c]"), DOCUMENT, Limit::XPathSteps),
        (XPath("//p[not(. = preceding-sibling::p)]"), DOCUMENT, Limit::XPathSteps),
        (Css("p:nth-last-child(2n)"), PAGE, Limit::SelectorSteps),
        (JsonPath("$[?(@.a in $[*].a)]"), LIST, Limit::JsonPathSteps),
    ];
    for (expression, input, limit) in cases {
        let Some(extractor) = expression.extractor(-1) else { continue };
        let mut world = World::new(input.text(100_000));
        extractor.process(&mut world.user);
        let limits = busyhour_limits::take_counts();
        assert!(limits.is_empty() || limits == [(limit, 1)], "{expression:?} {limits:?}");
    }
}

fn assertion(field: Field, test_type: i32, strings: Vec<String>) -> ResponseAssertion {
    let test_strings = strings.iter().map(|string| text(string)).collect();
    let settings =
        ResponseAssertionSettings { field, test_strings, test_type, ..ResponseAssertionSettings::default() };
    ResponseAssertion::new(settings).expect("an assertion")
}

#[test]
fn assertions_with_many_patterns_take_linear_time() {
    const CONTAINS: i32 = 2;
    const EQUALS: i32 = 8;
    const SUBSTRING: i32 = 16;
    const OR: i32 = 32;
    for count in [10, 1_000, 100_000] {
        for (test_type, string) in [
            (CONTAINS, "[a-z]"),
            (CONTAINS | OR, "[0-9]"),
            (SUBSTRING, "o"),
            (SUBSTRING | OR, "0"),
            (EQUALS | OR, "0"),
        ] {
            // Compiling 100,000 patterns takes 20 s in a build without optimization, and 1 GB.
            let are_patterns = test_type & CONTAINS != 0;
            if are_patterns && count > 1_000 {
                continue;
            }
            let numbered = |number: usize| {
                if are_patterns { format!("{string}{{1}}|{number}~") } else { string.to_owned() }
            };
            let strings = (0..count).map(numbered);
            let assertion = assertion(Field::Body, test_type, strings.collect());
            let mut world = World::new("some words".to_owned());
            let result = world.user.result.clone();
            let outcome = assertion.check(&mut world.user, &result);
            assert_eq!(
                outcome.failure,
                test_type & OR != 0,
                "{count} of {string}: {}",
                outcome.message.len()
            );
            assert!(!outcome.error, "{}", outcome.message);
            assert!(outcome.message.len() <= 400 * count);
        }
    }
}

#[test]
fn texts_of_documents_take_linear_time() {
    let inputs: &[(Repeated<'static>, fn(usize) -> usize)] = &[
        (repeated("<html>", "<p>x</p>", "</html>"), |count| count),
        (repeated("<html>", "<p>x", "</html>"), |count| count),
        (repeated("<html>", "<br>", "x</html>"), |_| 1),
        (repeated("<html>x", "<!-- c -->", "</html>"), |_| 1),
        (repeated("<html>", "&#120;", "</html>"), |count| count),
        (repeated("<html><ul>", "<li>x", "</ul></html>"), |count| count),
        (repeated("<html><table>", "<tr><td>x", "</table></html>"), |count| count),
        (repeated("<html><select>", "<option>x", "</select></html>"), |count| count),
        (repeated("<?xml version='1.0'?><r>", "<p>x</p>", "</r>"), |count| count),
        (repeated("x", "\n", "x"), |_| 2),
    ];
    for (input, expected) in inputs {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, body| {
            // With ten parts, the pattern requires the exact number of occurrences.
            let found = if count == COUNTS[0] { format!("{{{}}}", expected(count)) } else { "+".to_owned() };
            let assertion = assertion(Field::Document, 1, vec![format!("[^x]*(?:x[^x]*){found}")]);
            let mut world = World::new(body.to_owned());
            let result = world.user.result.clone();
            let outcome = assertion.check(&mut world.user, &result);
            let limits = busyhour_limits::take_counts();
            if outcome.error {
                assert_eq!(limits, [(Limit::HtmlPage, 1)], "{count} parts: {input:?}");
            } else {
                assert!(
                    !outcome.failure && limits.is_empty(),
                    "{count} parts: {input:?} {:.200}",
                    outcome.message
                );
            }
        });
    }
}

/// A short run of the checks of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(19_991_116, 200, |bytes| generated_parts::check(bytes, 2_000));
}
