use super::query::evaluate_within;
use super::*;

fn result_text(xml: &str, namespaces: bool, expression: &str) -> String {
    let document =
        read(xml, ReadOptions { namespaces, no_doctype: false, sorted: true }).expect("well-formed");
    match evaluate(&document, expression, &document.declared) {
        Ok(XPathResult::Nodes(nodes)) => {
            let texts: Vec<_> =
                nodes.iter().map(|node| first_value(&document.tree, *node).unwrap_or("null")).collect();
            texts.join("|")
        }
        Ok(XPathResult::Bool(flag)) => format!("bool {flag}"),
        Ok(XPathResult::Number(text)) => format!("number {text}"),
        Ok(XPathResult::Text(text)) => format!("text {text}"),
        Err(error) => format!("error {error}"),
    }
}

#[test]
fn the_value_of_an_element_is_its_first_child() {
    let xml = "<a><b id='1'>x<i>y</i>z</b><b id='2'><i/>t</b><c/><d><![CDATA[<&>]]></d></a>";
    assert_eq!(result_text(xml, false, "//b"), "x|null");
    assert_eq!(result_text(xml, false, "//b/@id"), "1|2");
    assert_eq!(result_text(xml, false, "//b[last()]/text()"), "t");
    assert_eq!(result_text(xml, false, "//c"), "null");
    assert_eq!(result_text(xml, false, "/a/d"), "<&>");
    assert_eq!(result_text(xml, false, "count(//b)"), "number 2");
    assert_eq!(result_text(xml, false, "1 div 2"), "number 0.5");
    assert_eq!(result_text(xml, false, "count(//b) > 1"), "bool true");
    assert_eq!(result_text(xml, false, "concat(//b[1], '-', //b[2]/@id)"), "text xyz-2");
    assert_eq!(result_text(xml, false, "//nothing"), "");
    assert_eq!(result_text(xml, false, "(//b)[2]/@id"), "2");
    assert_eq!(result_text(xml, false, "string((//b/@id)[last()])"), "text 2");
    assert_eq!(result_text("<div><div>x</div></div>", false, "/div/div"), "x");
    assert_eq!(result_text("<or><and/></or>", false, "count(//or | //and) div 2"), "number 1");
}

#[test]
fn names_are_matched_with_and_without_namespaces() {
    let xml = "<s:a xmlns:s='urn:s' xmlns='urn:d'><s:b>1</s:b><c s:x='2' y='3'>4</c></s:a>";
    assert_eq!(result_text(xml, true, "//s:b"), "1");
    assert_eq!(result_text(xml, true, "//c"), "");
    assert_eq!(result_text(xml, true, "//*[local-name()='c']/@s:x"), "2");
    assert!(result_text(xml, false, "//s:b").starts_with("error Prefix must resolve"));
    assert_eq!(result_text(xml, false, "//c"), "4");
    assert_eq!(result_text(xml, false, "//*[local-name()='b']"), "1");
    assert_eq!(result_text(xml, false, "//*[name()='s:b']"), "1");
    assert_eq!(result_text(xml, false, "//b"), "");
    assert_eq!(result_text(xml, false, "//@*"), "2|3");
    assert!(result_text(xml, false, "//t:b").starts_with("error "));
}

/// The values were recorded from Xalan 2.7.3 on the same document.
#[test]
fn values_agree_with_xalan() {
    let xml = "<a><b>12</b><b> 7 </b><b c='x'>-0.5<![CDATA[6]]>t</b><div><mod>3</mod></div></a>";
    for (expression, expected) in [
        ("//text()", "12| 7 |-0.5|3"),
        ("string(//b[3]/text())", "text -0.56t"),
        ("number(//b[2])", "number 7"),
        ("'1e3' + 1", "number NaN"),
        ("-(1 div 0)", "number -Infinity"),
        ("//div/mod mod 2", "number 1"),
        ("substring('12345', 1.5, 2.6)", "text 234"),
        ("substring-after('a=b', '=')", "text b"),
        ("translate('bar', 'abc', 'AB')", "text BAr"),
        ("round(-0.5)", "number 0"),
        ("//b[. < 8]", "\u{20}7 "),
        ("//b[3]/preceding-sibling::b[1]", " 7 "),
        ("concat(true(), //b[not(@c)])", "text true12"),
        ("normalize-space(//b[2])", "text 7"),
        ("//b != //div", "bool true"),
        ("sum(//b[position() < 3])", "number 19"),
    ] {
        assert_eq!(result_text(xml, false, expression), expected, "{expression}");
    }
    assert!(result_text(xml, false, ".[b]").starts_with("error "));
}

#[test]
fn nodes_are_serialized() {
    let xml = "<a xmlns:s='u'><b z='1' a='&lt;&quot;&#10;'>t &amp; <i/><!--c--><?p d?></b></a>";
    let document = read(xml, ReadOptions { sorted: true, ..ReadOptions::default() }).expect("well-formed");
    let mut out = String::new();
    write_node(&document.tree, document.tree.root(), &mut out);
    assert_eq!(out, "<a xmlns:s=\"u\"><b a=\"&lt;&quot;&#10;\" z=\"1\">t &amp; <i/><!--c--><?p d?></b></a>");
}

#[test]
fn errors_have_the_messages_of_xerces() {
    let message_of = |text: &str| {
        let options = ReadOptions { no_doctype: true, ..ReadOptions::default() };
        read(text, options).map(|_| ()).expect_err("not well-formed").to_string()
    };
    assert_eq!(message_of(""), "Premature end of file.");
    assert_eq!(message_of("plain"), "Content is not allowed in prolog.");
    assert_eq!(message_of("<a>"), "XML document structures must start and end within the same entity.");
    assert_eq!(
        message_of("<a><b></a>"),
        "The element type \"b\" must be terminated by the matching end-tag \"</b>\"."
    );
    assert_eq!(message_of("<a/>x"), "Content is not allowed in trailing section.");
    assert_eq!(
        message_of("<a/><b/>"),
        "The markup in the document following the root element must be well-formed."
    );
    assert_eq!(message_of("<a>&nbsp;</a>"), "The entity \"nbsp\" was referenced, but not declared.");
    assert_eq!(
        message_of("<a>a & b</a>"),
        "The entity name must immediately follow the '&' in the entity reference."
    );
    assert_eq!(
        message_of("<a b=1/>"),
        "Open quote is expected for attribute \"b\" associated with an  element type  \"a\"."
    );
    assert_eq!(
        message_of("<a b/>"),
        "Attribute name \"b\" associated with an element type \"a\" must be followed by the ' = ' character."
    );
    assert!(message_of("<!DOCTYPE a><a/>").starts_with("DOCTYPE is disallowed"));
}

#[test]
fn expressions_are_checked_without_a_document() {
    assert_eq!(expression_error("//a[@b='c']/text()"), None);
    assert_eq!(expression_error("//s:a"), None);
    assert_eq!(expression_error("count(//a) > 1"), None);
    assert!(expression_error("/books/[@title()='1984']/author").is_some());
    assert!(expression_error("//a[").is_some());
    assert!(expression_error("").is_some());
    assert!(expression_error("lower-case(//a)").is_some());
}

#[test]
fn declared_encodings_are_used() {
    assert_eq!(
        decode(b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>").rsplit_once("<a>").unwrap().1,
        "é</a>"
    );
    assert_eq!(decode("<a>é</a>".as_bytes()), "<a>é</a>");
}

#[test]
fn deep_documents_are_read_or_rejected() {
    for depth in [10, 400, 1_000, 100_000] {
        for (open, close) in [("<a>", "</a>"), ("<a b='c'>x", "</a>"), ("<a>", "")] {
            let text = format!("{}{}", open.repeat(depth), close.repeat(depth));
            let read = read(&text, ReadOptions { sorted: true, ..ReadOptions::default() });
            assert_eq!(read.is_ok(), depth <= 400 && !close.is_empty(), "{depth} {open}");
            if let Ok(document) = read {
                let mut out = String::new();
                write_node(&document.tree, document.tree.root(), &mut out);
                assert_eq!(write_item(&document, document.tree.root()).matches("<a").count(), depth);
                assert_eq!(
                    string_value(&document.tree, document.tree.root()).matches('x').count() % depth,
                    0
                );
            }
        }
    }
}

#[test]
fn long_and_nested_expressions_are_rejected() {
    let document = read("<a><a/></a>", ReadOptions::default()).expect("well-formed");
    for count in [10, 1_100, 100_000] {
        for (start, part, end, closing) in [
            ("", "(", "1", ")"),
            ("", "a[", "1", "]"),
            ("", "not(", "1", ")"),
            ("", "-", "1", ""),
            ("1", "+1", "", ""),
            ("a", "|a", "", ""),
            ("a", "/a", "", ""),
            ("a", "//a", "", ""),
            ("1", " or 1", "", ""),
            ("(a)", "[1]", "", ""),
            ("a", "[1]", "", ""),
            ("concat(1", ",1", ")", ""),
            ("'", "(", "'", ""),
        ] {
            let expression = format!("{start}{}{end}{}", part.repeat(count), closing.repeat(count));
            let found = evaluate(&document, &expression, &[]);
            assert_eq!(found.is_ok(), count == 10 || start == "'", "{count} {start}{part}: {found:?}");
            assert_eq!(expression_error(&expression).is_some(), found.is_err());
        }
    }
}

#[test]
fn evaluation_of_hostile_documents_is_stopped() {
    let steps = |text: &str, expression: &str| {
        let document =
            read(text, ReadOptions { sorted: true, ..ReadOptions::default() }).expect("well-formed");
        let found = evaluate_within(&document, expression, &document.declared, 100_000);
        found.map(|_| ()).map_err(|error| error.to_string().contains("steps"))
    };
    let deep = format!("<r>{}x{}</r>", "<a>".repeat(120), "</a>".repeat(120)).repeat(5);
    let deep = format!("<d>{deep}</d>");
    assert_eq!(steps(&deep, "//a//b"), Ok(()));
    assert_eq!(steps(&deep, "//a[.//a[.//a[.//a]]]"), Err(true));
    let flat = format!("<d>{}</d>", "<a>some text</a>".repeat(600));
    assert_eq!(steps(&flat, "//a[2]/text()"), Ok(()));
    assert_eq!(steps(&flat, "//a/following-sibling::a[1]"), Err(true));
    assert_eq!(steps(&flat, "//a/preceding::a"), Err(true));
    assert_eq!(steps(&flat, "//a[. = //a]"), Err(true));
    assert_eq!(steps(&flat, "//a[count(//a) > 3]"), Err(true));
    assert_eq!(steps(&flat, "//a[(//a)[1]]"), Err(true));
    // The next evaluation starts with a full budget.
    assert_eq!(steps(&flat, "count(//a)"), Ok(()));
    let attributes: String = (0..5_000).map(|n| format!(" a{n}=''")).collect();
    assert_eq!(steps(&format!("<d{attributes}/>"), "//@a7"), Ok(()));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Tests expressions of all forms, nested and chained, over documents of all depths.
    #[test]
    fn any_evaluation_ends(expression in any_expression(), depth in 1..200_usize, width in 1..20_usize) {
        let inner = "<b c='x'>y<a/></b>".repeat(width);
        let text = format!("{}{inner}{}", "<a><b>z</b>".repeat(depth), "</a>".repeat(depth));
        let document = read(&text, ReadOptions { sorted: true, ..ReadOptions::default() }).expect("well-formed");
        let _ = expression_error(&expression);
        let _ = evaluate_within(&document, &expression, &document.declared, 10_000);
    }
}

fn any_expression() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let simple = proptest::sample::select(vec![
        "a",
        "//a",
        "//b",
        "*",
        "@c",
        ".",
        "..",
        "//b[1]",
        "/a/b",
        "ancestor::a",
        "following::b",
        "preceding::*",
        "following-sibling::*",
        "descendant::b",
        "text()",
        "//@c",
        "1",
        "'x'",
        "last()",
        "position()",
    ]);
    simple.prop_map(str::to_owned).prop_recursive(5, 20, 3, |inner| {
        let pair = |form: fn(String, String) -> String| {
            (inner.clone(), inner.clone()).prop_map(move |(left, right)| form(left, right))
        };
        prop_oneof![
            pair(|left, right| format!("{left}/{right}")),
            pair(|left, right| format!("{left}//{right}")),
            pair(|left, right| format!("{left}[{right}]")),
            pair(|left, right| format!("({left})[{right}]")),
            pair(|left, right| format!("{left} | {right}")),
            pair(|left, right| format!("{left} = {right}")),
            pair(|left, right| format!("{left} and {right}")),
            pair(|left, right| format!("concat({left}, {right})")),
            pair(|left, right| format!("contains({left}, {right})")),
            inner.clone().prop_map(|argument| format!("count({argument})")),
            inner.clone().prop_map(|operand| format!("-({operand})")),
            inner.clone().prop_map(|argument| format!("//*[not({argument})]")),
        ]
    })
}
