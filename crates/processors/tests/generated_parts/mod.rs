//! Bodies in which generated parts are repeated, for extractors of all kinds. Shared by the ordinary tests and the fuzz target
//! `parts`.

use busyhour_limits::repeated::GeneratedInput;

#[path = "../parts/mod.rs"]
pub mod parts;

use parts::Expression::{
    self, Boundaries, Css, JmesPath, JsonPath, PluginJsonPath, Regex, TolerantXPath, XPath, XPath2,
};
use parts::World;

const TEXT: &[&str] = &["a", "b", "ab", "<", ">", "\"", "\n", " ", "~", "é", "x=~&", "<a>", "\r\n", "\0"];

#[rustfmt::skip]
const JSON: &[&str] = &[
    "[", "]", "{", "}", ",", ":", "\"", "\"a\":", "\"k~\":", "~", "1", "-", ".5", "e9", "null", "true", "\"x\"", "\"\\u0041\"", "'", " ", "\n", "word",
    "{\"a\":~},", "[1,2],", "{\"a\":{\"b\":[~]}},",
];

#[rustfmt::skip]
const MARKUP: &[&str] = &[
    "<p>", "</p>", "<p a='~'>", "<b/>", "<", ">", "&", "&amp;", "&#65;", "text", "~", "<!-- c -->", "<![CDATA[x]]>", "<?p q?>", " a~='b'", "'", "\"", "<table>",
    "<tr>", "<td>", "</table>", "<ul>", "<li>", "<select>", "<option>", "<i>", "</i>", "<a>", "</a>", "<r>", "</r>", "<p:q xmlns:p='u~'/>", "é", "\0",
];

#[rustfmt::skip]
const TEXT_EXPRESSIONS: &[Expression<'static>] = &[
    Regex("a"), Regex("(a|b)*"), Regex("(a)(b)?"), Regex("a(?=b)"), Regex("(?=(a.*))"), Regex("(?:a*)*c"), Regex("(?s).*x"), Regex("$"), Regex("\\bx=(.*?)&"),
    Boundaries("a", "b"), Boundaries("<", ">"), Boundaries("a", ""), Boundaries("", "b"),
];

#[rustfmt::skip]
const JSON_EXPRESSIONS: &[Expression<'static>] = &[
    JsonPath("$"), JsonPath("$..a"), JsonPath("$[*]"), JsonPath("$..*"), JsonPath("$[?(@.a > 3)]"), JsonPath("$..[?(@.b)]"), JsonPath("$[-1:]"),
    PluginJsonPath("$..a"), JmesPath("[].a"), JmesPath("keys(@)"), JmesPath("sort_by(@, &a)"), JmesPath("*.a"),
];

#[rustfmt::skip]
const MARKUP_EXPRESSIONS: &[Expression<'static>] = &[
    Css("p"), Css("p p"), Css("p ~ p"), Css("*:contains(x)"), Css("p:nth-last-child(2n)"), Css("p:has(b)"), XPath("//p"), XPath("//p[last()]"),
    XPath("//p[preceding-sibling::p[1]]"), XPath("//p/@a"), XPath2("//p"), TolerantXPath("//p"), TolerantXPath("//td/ancestor::p"), Regex("<p>(.*?)</p>"),
];

/// Maximum size of a body in bytes.
const BYTES_MAX: usize = 2 << 20;

/// Runs an extractor on a body of at most `count_max` parts, both selected by `bytes`.
pub fn check(bytes: &[u8], count_max: usize) {
    let [kind, which, number, rest @ ..] = bytes else { return };
    let (fragments, expressions) = match kind % 3 {
        0 => (TEXT, TEXT_EXPRESSIONS),
        1 => (JSON, JSON_EXPRESSIONS),
        _ => (MARKUP, MARKUP_EXPRESSIONS),
    };
    let (input, _) = GeneratedInput::new(rest, fragments, count_max, BYTES_MAX);
    let expression = expressions[usize::from(*which) % expressions.len()];
    let number = [-1, 0, 1][usize::from(*number) % 3];
    let extractor = expression.extractor(number).unwrap_or_else(|| panic!("{expression:?}"));
    let mut world = World::new(input.text());
    extractor.process(&mut world.user);
    extractor.process(&mut world.user);
    let limits = busyhour_limits::take_counts();
    assert!(limits.is_empty() || !world.log().is_empty(), "{expression:?} {limits:?}");
    let found = world.count().unwrap_or(0);
    // There is a variable for each match and each group, and a few more.
    let variables = world.user.variables.iter().count();
    assert!(variables <= 6 * found + 10, "{expression:?}: {variables} variables of {found} matches");
    // Jayway's messages quote a value.
    assert!(world.log().iter().all(|line| line.len() < 2 * BYTES_MAX), "{expression:?}");
}
