use super::*;
use busyhour_xml::{self as xml, Answer};

const PAGE: &str = "<!DOCTYPE html><html><head><title> A  title </title></head><body><div id=\"Main\" class=\"Box wide\">One <b>two</b>\n three<p>four</p>five<br>six</div><ul><li data-x=\"1\">a<li data-x=\"2\" class=last>b</ul><form name=\"F\"><input NAME=\"user\" value=\"Jo\"><input name=\"my_input2\"></form><table><tr><td>1<td>2<tr><td>3</table><script>var x = '<p>';</script></body></html>";

fn selected(selector: &str) -> String {
    let tree = parse(PAGE);
    match Selector::parse(selector) {
        Ok(selector) => {
            let texts: Vec<String> =
                selector.select(&tree).into_iter().map(|id| element_text(&tree, id)).collect();
            texts.join("|")
        }
        Err(error) => format!("error {error}"),
    }
}

#[test]
fn selectors_of_all_kinds() {
    assert_eq!(selected("#Main"), "One two three four five six");
    assert_eq!(selected("div.box"), "One two three four five six");
    assert_eq!(selected("title"), "A  title");
    assert_eq!(selected("ul > li"), "a|b");
    assert_eq!(selected("li:eq(1)"), "b");
    assert_eq!(selected("li:lt(1), p"), "four|a");
    assert_eq!(selected("li + li"), "b");
    assert_eq!(selected("[data-x=2]"), "b");
    assert_eq!(selected("[data-x='1']"), "a");
    assert_eq!(selected("[^data-]"), "a|b");
    assert_eq!(selected("li:not(.last)"), "a");
    assert_eq!(selected("td:nth-child(odd)"), "1|3");
    assert_eq!(selected("td:last-child"), "2|3");
    assert_eq!(selected("tr:has(td:contains(3))"), "3");
    assert_eq!(selected("table tbody td:matches([12])"), "1|2");
    assert_eq!(selected("body > p"), "");
    assert!(selected("div[").starts_with("error"));
    assert!(selected("div >").starts_with("error"));
    assert!(selected("").starts_with("error"));
    assert!(selected(":unknown").starts_with("error"));
}

#[test]
fn attributes_are_found_by_parts() {
    let tree = parse(PAGE);
    let values = |selector: &str, key: &str| {
        let selector = Selector::parse(selector).expect("a selector");
        let values: Vec<_> =
            selector.select(&tree).into_iter().map(|id| tree.attribute(id, key).unwrap_or("")).collect();
        values.join("|")
    };
    assert_eq!(values("form[name=f] input[name=\"USER\"]", "value"), "Jo");
    assert_eq!(values("input[name~=my_input]", "name"), "my_input2");
    assert_eq!(values("input[name^=my]", "name"), "my_input2");
    assert_eq!(values("input[name$=ser]", "name"), "user");
    assert_eq!(values("input[name*=s]", "name"), "user");
    assert_eq!(values("input[name!=user]", "name"), "my_input2");
}

#[test]
fn pages_are_documents_for_xpath() {
    let document = tolerant(PAGE);
    let found = |expression: &str| match xml::evaluate(&document, expression, &[]) {
        Ok(Answer::Nodes(nodes)) => nodes
            .iter()
            .map(|node| xml::first_value(&document.tree, *node).unwrap_or("null"))
            .collect::<Vec<_>>()
            .join("|"),
        other => format!("{other:?}"),
    };
    assert_eq!(found("//input[@name='user']/@value"), "Jo");
    assert_eq!(found("/html/head/title"), "A title");
    assert_eq!(found("//table/tr[2]/td"), "3");
    assert_eq!(found("//div/text()"), "One | three|five|six");
    assert_eq!(found("//li[last()]"), "b");
}
