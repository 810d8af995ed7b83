//! Responses as documents: XPath, CSS selectors, XML assertions. The documents come from `POST /body`, which answers
//! with the request's body; what was extracted goes out in the next request's body.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = xpath();
    cases.extend(second_xpath());
    cases.extend(css());
    cases.extend(assertions());
    cases.push(schema());
    cases
}

/// A request whose answer is that document.
fn document(name: &str, text: &str) -> Node {
    raw("POST", name, "/body", text)
}

/// A request whose body shows the variables.
fn show(names: &[&str]) -> Node {
    let body: Vec<String> = names.iter().map(|name| format!("{name}=[${{{name}}}]")).collect();
    raw("POST", "show", "/body", &body.join("\n"))
}

/// An XPath Extractor; the variable is also its name.
fn xpath_extractor(variable: &str, query: &str, matched: &str) -> Node {
    Node::new("XPathExtractor", "XPathExtractorGui", variable)
        .set("XPathExtractor.default", "none")
        .set("XPathExtractor.refname", variable)
        .set("XPathExtractor.matchNumber", matched)
        .set("XPathExtractor.xpathQuery", query)
        .set("XPathExtractor.validate", false)
        .set("XPathExtractor.tolerant", false)
        .set("XPathExtractor.namespace", false)
}

/// A document with extractors below, then what they found.
fn extracted(text: &str, extractors: Vec<Node>, names: &[&str]) -> Node {
    let sampler = extractors
        .into_iter()
        .fold(document("document", text), |sampler, extractor| sampler.with([extractor]));
    plan([group("users").with([sampler, show(names)])])
}

const BOOKS: &str = "<?xml version=\"1.0\"?>\n<shop>\n  <book id=\"b1\" lang=\"en\"><title>One &amp; only</title><price>8.50</price></book>\n  <book id=\"b2\"><title>Two <i>2</i></title><price>12</price></book>\n  <book id=\"b3\"><title><![CDATA[<Three>]]></title><price>9</price><!-- last --><?note x y?></book>\n  <empty/>\n</shop>";

const NAMED: &str = "<s:Envelope xmlns:s=\"urn:soap\" xmlns=\"urn:plain\"><s:Body a:k=\"v\" xmlns:a=\"urn:a\" z=\"1\"><Answer>42</Answer><a:Answer>43</a:Answer></s:Body></s:Envelope>";

const PAGE: &str = "<!DOCTYPE html>\n<html><head><title>A  page</title></head>\n<body>\n<h1 id=\"top\" class=\"Big  bold\">Head <b>line</b></h1>\n<p>one<br>two</p>\n<p class=\"last\">three &amp; <i>four</i>\n five</p>\n<ul>\n<li>a\n<li>b\n</ul>\n<form name=\"F\" action=\"/go\"><input type=\"hidden\" name=\"token\" value=\"t-1\"><input type=hidden name=\"_other\" value='t-2'></form>\n<table><tr><td>11<td>12<tr><td>21<td>22</table>\n<div>x<div>y</div>z</div>\n</body></html>\n";

fn xpath() -> Vec<Description> {
    let covers = &["XPathExtractor"];
    let one = |variable: &str, query: &str| xpath_extractor(variable, query, "-1");
    vec![
        case(
            "xpath-matches",
            covers,
            extracted(
                BOOKS,
                vec![
                    xpath_extractor("a", "//book/@id", "-1"),
                    xpath_extractor("b", "//book/@id", "2"),
                    xpath_extractor("c", "//book/@id", "4"),
                    xpath_extractor("d", "//nothing", "-1"),
                    xpath_extractor("e", "//nothing", "0"),
                    xpath_extractor("f", "//book/title", "-1"),
                    xpath_extractor("g", "/shop/empty", "1"),
                    xpath_extractor("h", "/", "1"),
                    xpath_extractor("i", "/shop", "1"),
                    xpath_extractor("j", "//book[2]/title", "1"),
                    xpath_extractor("k", "//book[@id='b1']/title/text()", "0"),
                ],
                &[
                    "a", "a_1", "a_2", "a_3", "a_4", "a_matchNr", "b", "b_1", "b_2", "b_matchNr", "c", "c_1", "c_matchNr", "d",
                    "d_matchNr", "e", "e_matchNr", "f", "f_1", "f_2", "f_3", "f_matchNr", "g", "g_1", "g_matchNr", "h",
                    "h_1", "h_matchNr", "i", "j", "j_1", "k", "k_1",
                ],
            ),
        )
        .why("An element is worth its first child's value: nothing if that is an element, the text before it if there is one."),
        case(
            "xpath-expressions",
            covers,
            extracted(
                BOOKS,
                vec![
                    one("a", "count(//book)"),
                    one("b", "sum(//price)"),
                    one("c", "count(//book) > 2"),
                    one("d", "concat(//book[1]/title, '|', //book[2]/title)"),
                    one("e", "string(//book[2])"),
                    one("f", "//book[last()]/@id"),
                    one("g", "//book[price > 8.9]/@id"),
                    one("h", "//book[contains(title, 'Two')]/price"),
                    one("i", "//comment() | //processing-instruction()"),
                    one("j", "//book/following-sibling::*/@id"),
                    one("k", "//*[local-name()='price'][position() mod 2 = 1]"),
                    one("l", "normalize-space(' a  b ')"),
                    one("m", "1 div 3"),
                    one("n", "0.1 + 0.2"),
                    one("o", "1 div 0"),
                    one("p", "number('x')"),
                    one("q", "//price[. = 12]/../@id"),
                    one("r", "substring-before(//book[1]/title, ' ')"),
                    one("s", "translate('abc', 'ab', 'B')"),
                    one("t", "not(//book)"),
                    one("u", "(//price)[2]"),
                    one("v", "//book[@lang]/@*"),
                    one("w", "round(-2.5)"),
                    one("x", "name(//book[1]/*[2])"),
                    one("y", "1000000 * 1000000"),
                    one("z", "//title[../price = '9']/text()"),
                ],
                &[
                    "a", "b", "c", "d", "e", "f", "g", "g_2", "h", "i", "i_1", "i_2", "i_matchNr", "j", "j_2", "k", "k_matchNr",
                    "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "v_2", "w", "x", "y", "z",
                ],
            ),
        ),
        case(
            "xpath-fragments",
            covers,
            extracted(
                BOOKS,
                vec![
                    one("a", "//book[2]/title").set("XPathExtractor.fragment", true),
                    one("b", "//book[1]").set("XPathExtractor.fragment", true),
                    one("c", "//book/@id").set("XPathExtractor.fragment", true),
                    one("d", "//book[3]").set("XPathExtractor.fragment", true),
                    one("e", "//empty").set("XPathExtractor.fragment", true),
                    one("f", "count(//book)").set("XPathExtractor.fragment", true),
                    one("g", "//book[1]/title/text()").set("XPathExtractor.fragment", true),
                ],
                &["a", "b", "c", "d", "e", "f", "g"],
            ),
        ),
        case(
            "xpath-namespaces",
            covers,
            extracted(
                NAMED,
                vec![
                    one("a", "//*[local-name()='Answer']"),
                    one("b", "//Answer"),
                    one("c", "//s:Body").set("XPathExtractor.fragment", true),
                    one("d", "//@z"),
                    one("e", "//@*"),
                    one("f", "name(//*[local-name()='Body'])"),
                    one("g", "//s:Body/@z").set("XPathExtractor.namespace", true),
                    one("h", "//Answer").set("XPathExtractor.namespace", true),
                    one("i", "//*[local-name()='Answer']").set("XPathExtractor.namespace", true),
                    one("j", "//*[namespace-uri()='urn:plain']").set("XPathExtractor.namespace", true),
                    one("k", "/s:Envelope").set("XPathExtractor.namespace", true).set("XPathExtractor.fragment", true),
                    one("l", "//s:Body/@*").set("XPathExtractor.namespace", true),
                    one("m", "//*[name()='a:Answer']"),
                ],
                &["a", "a_matchNr", "b", "b_matchNr", "c", "d", "e", "e_matchNr", "f", "g", "h", "h_matchNr", "i", "i_2", "j", "k", "l", "l_matchNr", "m"],
            ),
        ),
        case(
            "xpath-broken",
            covers,
            plan([group("users").with([
                document("not XML", "plain text").with([xpath_extractor("a", "//x", "1")]),
                document("no end", "<a><b></a>").with([xpath_extractor("b", "//x", "1")]),
                document("no body", "").with([xpath_extractor("c", "//x", "1")]),
                document("entity", "<a>&nbsp;</a>").with([xpath_extractor("d", "//x", "1")]),
                document("two", "<a/><b/>").with([xpath_extractor("e", "//x", "1")]),
                document("html", "<html><head><meta charset=utf-8></head><body><br></body></html>")
                    .with([xpath_extractor("f", "//x", "1")]),
                document("doctype", "<!doctype html><html></html>").with([xpath_extractor("g", "//x", "1")]),
                document("unquoted", "<a b=c/>").with([xpath_extractor("h", "//x", "1")]),
                document("bare", "<a b/>").with([xpath_extractor("i", "//x", "1")]),
                document("ampersand", "<a>b & c</a>").with([xpath_extractor("j", "//x", "1")]),
                document("end", "<a>b").with([xpath_extractor("k", "//x", "1")]),
                document("behind", "<a/> b").with([xpath_extractor("l", "//x", "1")]),
                document("less", "<a>1 < 2</a>").with([xpath_extractor("m", "//x", "1")]),
                document("twice", "<a b='1' b='2'/>").with([xpath_extractor("n", "//x", "1")]),
                show(&["a", "a_matchNr", "b", "c", "d", "e", "f", "g"]),
            ])]),
        )
        .why("A document that cannot be read leaves a message in the row, but the sample stays successful."),
        case(
            "xpath-doctypes",
            covers,
            plan([group("users").with([
                document("internal", "<!DOCTYPE a [<!ENTITY e \"text\"><!ATTLIST a k CDATA \"dflt\">]><a>&e;!</a>")
                    .with([xpath_extractor("a", "/a", "1"), xpath_extractor("b", "/a/@k", "1")]),
                document("external", "<!DOCTYPE a SYSTEM \"http://127.0.0.1:1/a.dtd\"><a>x</a>")
                    .with([xpath_extractor("c", "/a", "1")]),
                show(&["a", "b", "c"]),
            ])]),
        ),
        case(
            "xpath-scopes",
            covers,
            plan([group("users").with([
                variables("v", &[("xml", "<a><b>1</b></a>"), ("a_matchNr", "3"), ("a_3", "old"), ("q", "b")]),
                get("xml", "/xml").with([
                    xpath_extractor("a", "//${q}", "1").set("Sample.scope", "variable").set("Scope.variable", "xml"),
                    xpath_extractor("b", "//b", "1").set("Sample.scope", "variable").set("Scope.variable", "absent"),
                    xpath_extractor("c", "//item/@id", "-1").set("Sample.scope", "all"),
                    xpath_extractor("d", "//item", "2"),
                ]),
                show(&["a", "a_1", "a_3", "a_matchNr", "b", "b_matchNr", "c", "c_1", "c_2", "d", "d_1"]),
            ])]),
        ),
        case(
            "xpath-tolerant",
            covers,
            extracted(
                PAGE,
                [
                    ("a", "//input[@name='token']/@value"),
                    ("b", "//title"),
                    ("c", "//table/tr[2]/td[1]"),
                    ("d", "//form/@action"),
                    ("e", "//li[2]"),
                    ("f", "/html/body/p[2]"),
                    ("g", "count(//p)"),
                    ("h", "//h1/text()"),
                    ("i", "string(//h1)"),
                    ("j", "//p[1]/text()"),
                    ("k", "//p/i"),
                    ("l", "string(//p[@class='last'])"),
                    ("m", "count(//tr)"),
                    ("n", "//INPUT/@name"),
                    ("o", "//div/div"),
                ]
                .into_iter()
                .map(|(name, query)| one(name, query).set("XPathExtractor.tolerant", true))
                .collect(),
                &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "j_2", "k", "l", "m", "n", "o"],
            ),
        )
        .why("In tolerant mode JTidy makes a document of any page."),
    ]
}

fn xpath2_extractor(variable: &str, query: &str, matched: &str, namespaces: &str) -> Node {
    Node::new("XPath2Extractor", "XPath2ExtractorGui", variable)
        .set("XPathExtractor2.default", "none")
        .set("XPathExtractor2.refname", variable)
        .set("XPathExtractor2.matchNumber", matched)
        .set("XPathExtractor2.xpathQuery", query)
        .set("XPathExtractor2.namespaces", namespaces)
}

fn second_xpath() -> Vec<Description> {
    let one = |variable: &str, query: &str| xpath2_extractor(variable, query, "-1", "");
    let named = |variable: &str, query: &str| xpath2_extractor(variable, query, "-1", "p=urn:plain\na=urn:a");
    vec![
        case(
            "xpath2-matches",
            &["XPath2Extractor"],
            extracted(
                BOOKS,
                vec![
                    xpath2_extractor("a", "//book/@id", "-1", ""),
                    xpath2_extractor("b", "//book/@id", "2", ""),
                    xpath2_extractor("c", "//book/@id", "4", ""),
                    xpath2_extractor("d", "//nothing", "-1", ""),
                    xpath2_extractor("f", "//book/title", "-1", ""),
                    one("g", "/shop/empty"),
                    one("h", "//book[2]"),
                    one("i", "count(//book)"),
                    one("j", "count(//book) > 2"),
                    one("k", "concat(//book[1]/title, '|', //book[2]/@id)"),
                    one("l", "//book[price > 8.9]/@id"),
                    one("m", "//comment()"),
                    one("n", "//title/text()"),
                    one("o", "sum(//price)"),
                    one("p", "//book[last()]/@id"),
                ],
                &[
                    "a",
                    "a_1",
                    "a_2",
                    "a_3",
                    "a_matchNr",
                    "b",
                    "b_1",
                    "b_matchNr",
                    "c",
                    "c_matchNr",
                    "d",
                    "d_matchNr",
                    "f",
                    "f_1",
                    "f_2",
                    "f_3",
                    "g",
                    "g_matchNr",
                    "h",
                    "i",
                    "j",
                    "k",
                    "l",
                    "l_2",
                    "m",
                    "n",
                    "n_matchNr",
                    "o",
                    "p",
                ],
            ),
        ),
        case(
            "xpath2-fragments",
            &["XPath2Extractor"],
            extracted(
                BOOKS,
                vec![
                    one("a", "//book[2]/title").set("XPathExtractor2.fragment", true),
                    one("b", "//book[1]").set("XPathExtractor2.fragment", true),
                    one("c", "//book/@id").set("XPathExtractor2.fragment", true),
                    one("e", "//empty").set("XPathExtractor2.fragment", true),
                    one("f", "count(//book)").set("XPathExtractor2.fragment", true),
                    one("g", "//book[1]/title/text()").set("XPathExtractor2.fragment", true),
                ],
                &["a", "b", "c", "e", "f", "g"],
            ),
        ),
        case(
            "xpath2-namespaces",
            &["XPath2Extractor"],
            extracted(
                NAMED,
                vec![
                    one("a", "//Answer"),
                    named("b", "//p:Answer"),
                    named("c", "//a:Answer"),
                    one("d", "//*[local-name()='Answer']"),
                    named("e", "//@a:k"),
                ],
                &["a", "a_matchNr", "b", "c", "d", "d_2", "e"],
            ),
        ),
    ]
}

/// A CSS Selector Extractor; the variable is also its name.
fn css_extractor(variable: &str, selector: &str, attribute: &str, matched: &str) -> Node {
    Node::new("HtmlExtractor", "HtmlExtractorGui", variable)
        .set("HtmlExtractor.refname", variable)
        .set("HtmlExtractor.expr", selector)
        .set("HtmlExtractor.attribute", attribute)
        .set("HtmlExtractor.default", "none")
        .set("HtmlExtractor.match_number", matched)
        .set("HtmlExtractor.extractor_impl", "")
        .set("HtmlExtractor.default_empty_value", false)
}

fn css() -> Vec<Description> {
    let covers = &["HtmlExtractor"];
    let text = |variable: &str, selector: &str| css_extractor(variable, selector, "", "1");
    vec![
        case(
            "css-matches",
            covers,
            extracted(
                PAGE,
                vec![
                    css_extractor("a", "input", "value", "-1"),
                    css_extractor("b", "input", "value", "2"),
                    css_extractor("c", "input", "value", "3"),
                    css_extractor("d", "nothing", "", "-1"),
                    css_extractor("e", "input[name=token]", "VALUE", "0"),
                    css_extractor("f", "input", "absent", "1"),
                    css_extractor("g", "p", "", "-1"),
                    css_extractor("h", "p[", "", "1"),
                    css_extractor("i", "", "", "1"),
                ],
                &[
                    "a",
                    "a_1",
                    "a_2",
                    "a_matchNr",
                    "b",
                    "b_1",
                    "b_matchNr",
                    "c",
                    "d",
                    "d_matchNr",
                    "e",
                    "f",
                    "g_1",
                    "g_2",
                    "g_matchNr",
                    "h",
                    "i",
                ],
            ),
        ),
        case(
            "css-selectors",
            covers,
            extracted(
                PAGE,
                vec![
                    text("a", "#top"),
                    text("b", "h1.big"),
                    text("c", "form[name=f] > input[name^=_]").set("HtmlExtractor.attribute", "value"),
                    text("d", "li:eq(1)"),
                    text("e", "li + li"),
                    text("f", "p:not(.last)"),
                    text("g", "p:contains(FOUR)"),
                    text("h", "td:matches(2[12])"),
                    text("i", "tr:has(td:containsOwn(12)) td:last-child"),
                    text("j", "input[name~=tok]").set("HtmlExtractor.attribute", "name"),
                    text("k", "table > tbody > tr:nth-child(2) > td:nth-of-type(1)"),
                    text("l", "h1, title"),
                    text("m", "body > div"),
                    text("n", "div div"),
                    text("o", "input[type!=text]").set("HtmlExtractor.attribute", "name"),
                    text("p", "title"),
                    text("q", "ul"),
                    text("r", "li:gt(0)"),
                    text("s", "*:containsOwn(y)"),
                    text("t", "[^na]").set("HtmlExtractor.attribute", "name"),
                    text("u", "td:nth-last-child(1)"),
                    text("v", "body"),
                    text("w", "p ~ ul > li:first-child"),
                    text("x", "html"),
                    text("y", ":root > head"),
                    text("z", "p.last.nothing"),
                ],
                &[
                    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
                    "s", "t", "u", "v", "w", "x", "y", "z",
                ],
            ),
        ),
    ]
}

fn xpath_assertion(name: &str, query: &str, negate: bool) -> Node {
    Node::new("XPathAssertion", "XPathAssertionGui", name)
        .set("XPath.negate", negate)
        .set("XPath.xpath", query)
        .set("XPath.validate", false)
        .set("XPath.whitespace", false)
        .set("XPath.tolerant", false)
        .set("XPath.namespace", false)
}

fn xpath2_assertion(name: &str, query: &str, negate: bool) -> Node {
    Node::new("XPath2Assertion", "XPath2AssertionGui", name)
        .set("XPath.negate", negate)
        .set("XPath.xpath", query)
        .set("XPath.namespaces", "")
}

fn assertions() -> Vec<Description> {
    let asked = [
        ("found", "//book", false),
        ("not found", "//film", false),
        ("found but not wanted", "//book", true),
        ("not found nor wanted", "//film", true),
        ("true", "count(//book) = 3", false),
        ("false", "count(//book) = 4", false),
        ("true but not wanted", "count(//book) = 3", true),
        ("false and not wanted", "count(//book) = 4", true),
        ("number", "count(//book)", false),
        ("text", "string(//book)", false),
        ("root", "/", false),
    ];
    let broken = [
        ("plain", "plain"),
        ("open", "<a>"),
        ("empty", ""),
        ("doctype", "<!DOCTYPE a><a/>"),
        ("fine", "<a xmlns:b='c'><b:d/></a>"),
        ("crossed", "<a><b></a></b>"),
        ("entity", "<a>&eacute;</a>"),
        ("unbound", "<a><x:b/></a>"),
    ];
    let mut first = group("users");
    let mut second = group("users");
    for (name, query, negate) in asked {
        first = first.with([document(name, BOOKS).with([xpath_assertion("check", query, negate)])]);
        second = second.with([document(name, BOOKS).with([xpath2_assertion("check", query, negate)])]);
    }
    let mut unreadable = group("users");
    let mut well_formed = group("users");
    for (name, text) in broken {
        unreadable = unreadable.with([document(name, text).with([xpath_assertion("check", "//*", false)])]);
        well_formed = well_formed.with([document(name, text).with([Node::new(
            "XMLAssertion",
            "XMLAssertionGui",
            "well-formed",
        )])]);
    }
    let mut sums = group("users");
    for (name, text, sum) in [
        ("equal", "abc", "900150983CD24FB0D6963F7D28E17F72"),
        ("other", "abd", "900150983cd24fb0d6963f7d28e17f72"),
        ("no sum", "abc", ""),
        ("no body", "", "00"),
    ] {
        sums = sums.with([document(name, text).with([Node::new(
            "MD5HexAssertion",
            "MD5HexAssertionGUI",
            "sum",
        )
        .set("MD5HexAssertion.size", sum)])]);
    }
    vec![
        case("xpath-assertion", &["XPathAssertion"], plan([first])),
        case("xpath-assertion-broken", &["XPathAssertion"], plan([unreadable])),
        case("xpath2-assertion", &["XPath2Assertion"], plan([second])),
        case("xml-assertion", &["XMLAssertion"], plan([well_formed])),
        case("md5hex-assertion", &["MD5HexAssertion"], plan([sums])),
        case(
            "debug-post-processor",
            &["DebugPostProcessor"],
            plan([group("users").with([get("two", "/x").with([
                Node::new("DebugPostProcessor", "TestBeanGUI", "debug")
                    .set("displayJMeterProperties", false)
                    .set("displayJMeterVariables", true)
                    .set("displaySamplerProperties", false)
                    .set("displaySystemProperties", false),
                Node::new("DebugPostProcessor", "TestBeanGUI", "none")
                    .set("displayJMeterProperties", false)
                    .set("displayJMeterVariables", false)
                    .set("displaySamplerProperties", false)
                    .set("displaySystemProperties", false),
                response_assertion("all", "response_data", 16, &["JMeterVariables"])
                    .set("Assertion.scope", "children"),
            ])])]),
        )
        .why("Each adds a sub-sample, named after its place; its bytes count into the sample."),
    ]
}

/// XML Schema Assertions over documents with one mistake each.
fn schema() -> Description {
    let checked = |name: &str, text: &str, file: &str| {
        document(name, text).with([Node::new("XMLSchemaAssertion", "XMLSchemaAssertionGUI", "schema")
            .set("xmlschema_assertion_filename", file)])
    };
    let of_shop = |name: &str, text: &str| checked(name, text, "${__P(CASE)}/shop.xsd");
    let book = |attributes: &str, inside: &str| {
        format!("<shop>\n  <name>n</name>\n  <book {attributes}>{inside}</book>\n</shop>")
    };
    const INSIDE: &str = "<title>abc</title><price>1.5</price>";
    case(
        "xml-schema-assertion",
        &["XMLSchemaAssertion"],
        plan([[
            of_shop("valid", &book("id=\"1\" code=\"AB-1\" kind=\"used\"", INSIDE)),
            of_shop("other root", "<other/>"),
            of_shop("no attribute", &book("", INSIDE)),
            of_shop("other attribute", &book("id=\"1\" extra=\"2\"", INSIDE)),
            of_shop("no number", &book("id=\"one\"", INSIDE)),
            of_shop("no price", &book("id=\"1\"", "<title>abc</title><price>much</price>")),
            of_shop("text between", &book("id=\"1\"", "text<title>abc</title><price>1.5</price>")),
            of_shop("child of a simple type", "<shop><name><b/></name></shop>"),
            of_shop("child of an empty type", "<shop><name>n</name><note>x</note></shop>"),
            checked("no file name", "<shop/>", ""),
            of_shop("no body", ""),
        ]
        .into_iter()
        .fold(group("users"), |group, sampler| group.with([sampler]))]),
    )
    .file("shop.xsd", include_str!("../../../../crates/xml/src/recorded/shop.xsd"))
}
