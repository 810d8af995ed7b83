use super::*;

fn found(xml: &str, namespaces: bool, expression: &str) -> String {
    let document = read(xml, Reading { namespaces, no_doctype: false, sorted: true }).expect("well-formed");
    match evaluate(&document, expression, &document.declared) {
        Ok(Answer::Nodes(nodes)) => {
            let texts: Vec<_> =
                nodes.iter().map(|node| first_value(&document.tree, *node).unwrap_or("null")).collect();
            texts.join("|")
        }
        Ok(Answer::Bool(flag)) => format!("bool {flag}"),
        Ok(Answer::Number(text)) => format!("number {text}"),
        Ok(Answer::Text(text)) => format!("text {text}"),
        Err(why) => format!("error {why}"),
    }
}

#[test]
fn the_first_child_is_the_value() {
    let xml = "<a><b id='1'>x<i>y</i>z</b><b id='2'><i/>t</b><c/><d><![CDATA[<&>]]></d></a>";
    assert_eq!(found(xml, false, "//b"), "x|null");
    assert_eq!(found(xml, false, "//b/@id"), "1|2");
    assert_eq!(found(xml, false, "//b[last()]/text()"), "t");
    assert_eq!(found(xml, false, "//c"), "null");
    assert_eq!(found(xml, false, "/a/d"), "<&>");
    assert_eq!(found(xml, false, "count(//b)"), "number 2");
    assert_eq!(found(xml, false, "1 div 2"), "number 0.5");
    assert_eq!(found(xml, false, "count(//b) > 1"), "bool true");
    assert_eq!(found(xml, false, "concat(//b[1], '-', //b[2]/@id)"), "text xyz-2");
    assert_eq!(found(xml, false, "//nothing"), "");
    assert_eq!(found(xml, false, "(//b)[2]/@id"), "2");
    assert_eq!(found(xml, false, "string((//b/@id)[last()])"), "text 2");
    assert_eq!(found("<div><div>x</div></div>", false, "/div/div"), "x");
    assert_eq!(found("<or><and/></or>", false, "count(//or | //and) div 2"), "number 1");
}

#[test]
fn namespaces_known_or_not() {
    let xml = "<s:a xmlns:s='urn:s' xmlns='urn:d'><s:b>1</s:b><c s:x='2' y='3'>4</c></s:a>";
    assert_eq!(found(xml, true, "//s:b"), "1");
    assert_eq!(found(xml, true, "//c"), "");
    assert_eq!(found(xml, true, "//*[local-name()='c']/@s:x"), "2");
    assert!(found(xml, false, "//s:b").starts_with("error Prefix must resolve"));
    assert_eq!(found(xml, false, "//c"), "4");
    assert_eq!(found(xml, false, "//*[local-name()='b']"), "1");
    assert_eq!(found(xml, false, "//*[name()='s:b']"), "1");
    assert_eq!(found(xml, false, "//b"), "");
    assert_eq!(found(xml, false, "//@*"), "2|3");
    assert!(found(xml, false, "//t:b").starts_with("error "));
}

#[test]
fn nodes_are_written() {
    let xml = "<a xmlns:s='u'><b z='1' a='&lt;&quot;&#10;'>t &amp; <i/><!--c--><?p d?></b></a>";
    let document = read(xml, Reading { sorted: true, ..Reading::default() }).expect("well-formed");
    let mut out = String::new();
    write_node(&document.tree, document.tree.root(), &mut out);
    assert_eq!(out, "<a xmlns:s=\"u\"><b a=\"&lt;&quot;&#10;\" z=\"1\">t &amp; <i/><!--c--><?p d?></b></a>");
}

#[test]
fn mistakes_have_the_words_of_the_original() {
    let says = |text: &str| {
        let reading = Reading { no_doctype: true, ..Reading::default() };
        read(text, reading).map(|_| ()).expect_err("not well-formed")
    };
    assert_eq!(says(""), "Premature end of file.");
    assert_eq!(says("plain"), "Content is not allowed in prolog.");
    assert_eq!(says("<a>"), "XML document structures must start and end within the same entity.");
    assert_eq!(
        says("<a><b></a>"),
        "The element type \"b\" must be terminated by the matching end-tag \"</b>\"."
    );
    assert_eq!(says("<a/>x"), "Content is not allowed in trailing section.");
    assert_eq!(
        says("<a/><b/>"),
        "The markup in the document following the root element must be well-formed."
    );
    assert_eq!(says("<a>&nbsp;</a>"), "The entity \"nbsp\" was referenced, but not declared.");
    assert_eq!(
        says("<a>a & b</a>"),
        "The entity name must immediately follow the '&' in the entity reference."
    );
    assert_eq!(
        says("<a b=1/>"),
        "Open quote is expected for attribute \"b\" associated with an  element type  \"a\"."
    );
    assert_eq!(
        says("<a b/>"),
        "Attribute name \"b\" associated with an element type \"a\" must be followed by the ' = ' character."
    );
    assert!(says("<!DOCTYPE a><a/>").starts_with("DOCTYPE is disallowed"));
}

#[test]
fn expressions_are_checked_without_a_document() {
    assert_eq!(problem("//a[@b='c']/text()"), None);
    assert_eq!(problem("//s:a"), None);
    assert_eq!(problem("count(//a) > 1"), None);
    assert!(problem("/books/[@title()='1984']/author").is_some());
    assert!(problem("//a[").is_some());
    assert!(problem("").is_some());
    assert!(problem("lower-case(//a)").is_some());
}

#[test]
fn encodings_are_those_that_documents_name() {
    assert_eq!(
        decode(b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>").rsplit_once("<a>").unwrap().1,
        "é</a>"
    );
    assert_eq!(decode("<a>é</a>".as_bytes()), "<a>é</a>");
}
