use busyhour_xml::{self as xml, XPathResult};

use super::text::element_text;
use super::*;

const PAGE: &str = "<!DOCTYPE html><html><head><title> A  title </title></head><body><div id=\"Main\" class=\"Box wide\">One <b>two</b>\n three<p>four</p>five<br>six</div><ul><li data-x=\"1\">a<li data-x=\"2\" class=last>b</ul><form name=\"F\"><input NAME=\"user\" value=\"Jo\"><input name=\"my_input2\"></form><table><tr><td>1<td>2<tr><td>3</table><script>var x = '<p>';</script></body></html>";

fn selected(selector: &str) -> String {
    let tree = parse(PAGE).expect("a small page");
    match Selector::parse(selector) {
        Ok(selector) => {
            let texts: Vec<String> = selector
                .select(&tree)
                .expect("few steps")
                .into_iter()
                .map(|id| element_text(&tree, id))
                .collect();
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
fn attributes_are_matched_by_operators() {
    let tree = parse(PAGE).expect("a small page");
    let values = |selector: &str, key: &str| {
        let selector = Selector::parse(selector).expect("a selector");
        let values: Vec<_> = selector
            .select(&tree)
            .expect("few steps")
            .into_iter()
            .map(|id| tree.attribute(id, key).unwrap_or(""))
            .collect();
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
fn pages_are_converted_to_documents_for_xpath() {
    let document = parse_tolerantly(PAGE).expect("a small page");
    let found = |expression: &str| match xml::evaluate(&document, expression, &[]) {
        Ok(XPathResult::Nodes(nodes)) => nodes
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

#[test]
fn hostile_pages_are_rejected() {
    let outcome = |page: &str| tree::parse_within(page, 20_000, 1_000_000).map(|tree| tree.nodes.len());
    assert!(outcome(&"<div>".repeat(900)).is_ok());
    for count in [2_000, 200_000] {
        for part in ["<div>", "<b>", "<table><tr><td>", "<svg>", "<ul><li>", "<b><i><div>"] {
            assert_eq!(parse(&part.repeat(count)).map(drop), Err(PageLimit::Depth), "{part}");
        }
    }
    // The parser reopens all open formatting elements in each paragraph.
    let formats: String = (0..900).map(|n| format!("<b id={n}>")).collect();
    let page = format!("<p>{formats}</p>{}", "<p>x</p>".repeat(2_000));
    assert!(matches!(outcome(&page), Err(PageLimit::Nodes | PageLimit::Steps)));
    // The parser searches for an open paragraph at each start tag.
    let page = format!("{}{}", "<div>".repeat(900), "<div></div>".repeat(2_000));
    assert_eq!(outcome(&page), Err(PageLimit::Steps));
    let attributes: String = (0..5_000).map(|n| format!("a{n} ")).collect();
    assert_eq!(outcome(&format!("<div {attributes}>")), Err(PageLimit::Steps));
    assert_eq!(outcome(&format!("<script>if(a<b=\"</script><div {attributes}>")), Err(PageLimit::Steps));
    let value = "x y ".repeat(5_000);
    assert!(outcome(&format!("<div data-x=\"{value}\">{value}</div>{}", "<td>x".repeat(5_000))).is_ok());
    // The parser moves elements that a table cannot contain before the table.
    assert!(outcome(&format!("<table>{}</table>", "<i>x</i>".repeat(5_000))).is_ok());
}

#[test]
fn selections_have_a_budget() {
    let select = |page: &str, selector: &str, steps: u64| {
        let tree = parse(page).expect("a page");
        let selector = Selector::parse(selector).expect("a selector");
        selector.select_within(&tree, steps).map(|found| found.len())
    };
    let deep = "<div>".repeat(990);
    // The search walks up the tree once, not once for each combination of ancestors.
    let steps = 50_000;
    assert_eq!(select(&deep, "div div div p", steps), Ok(0));
    assert_eq!(select(&format!("{deep}<p>"), "p div div div p", steps), Ok(0));
    assert_eq!(select(&format!("{deep}<p>"), "p > div div div > div p", steps), Ok(0));
    assert_eq!(select(&format!("{deep}<p>"), "div > div div div > div p", steps), Ok(1));
    let wide = format!("{deep}{}", "<p></p>".repeat(1_000));
    assert_eq!(select(&wide, "div div div p", steps), Ok(1_000));
    assert_eq!(select(&wide, "i ~ p ~ p ~ p", steps), Err(SelectLimit));
    for selector in ["i div div div p", "div:has(i) p", "p ~ p ~ p ~ i, p ~ i ~ p", "div:not(:has(p + i))"] {
        assert_eq!(select(&wide, selector, 100_000), Err(SelectLimit), "{selector}");
    }
    let text = format!("{deep}{}", "<p>aaaaaaaaaaaaaaaa</p>".repeat(1_000));
    for selector in ["div:contains(x)", "div:matches(x)", "div:containsWholeText(x)"] {
        assert_eq!(select(&text, selector, 100_000), Err(SelectLimit), "{selector}");
    }
    // The limit of steps of a regular expression also aborts the selection.
    let text = format!("<p>{}", "a".repeat(20_000));
    assert_eq!(select(&text, "p:matches((a*)*\\1b)", 100_000), Err(SelectLimit));
    // Positions among many siblings are computed once.
    let rows = "<li>x".repeat(10_000);
    for (selector, found) in [
        ("li:nth-child(2)", 1),
        ("li:nth-last-of-type(3)", 1),
        ("li:gt(9990)", 9),
        ("li + li", 9_999),
        ("li:only-child", 0),
    ] {
        assert_eq!(select(&rows, selector, 100_000), Ok(found), "{selector}");
    }
}

#[test]
fn texts_of_nested_elements_have_a_budget() {
    let tree = parse(&format!("{}{}", "<div>".repeat(990), "<i>x</i>".repeat(1_000))).expect("a page");
    let found = Selector::parse("div").expect("a selector").select(&tree).expect("few steps");
    let texts = |steps: u64| {
        let mut budget = TextBudget(steps);
        let texts: Result<Vec<String>, SelectLimit> =
            found.iter().map(|id| budget.element_text(&tree, *id)).collect();
        texts.map(|texts| texts.len())
    };
    assert_eq!(texts(100_000), Err(SelectLimit));
    assert_eq!(texts(20_000_000), Ok(990));
}

#[test]
fn long_and_nested_selectors_are_rejected() {
    let tree = parse(PAGE).expect("a small page");
    for count in [10, 1_000, 100_000] {
        for (text, count_max) in [
            (format!("{}p{}", ":not(".repeat(count), ")".repeat(count)), 50),
            (format!("{}p{}", ":has(".repeat(count), ")".repeat(count)), 50),
            (vec!["p"; count].join(" "), 500),
            (vec!["p"; count].join(">"), 500),
        ] {
            let selector = Selector::parse(&text);
            assert_eq!(selector.is_ok(), count <= count_max, "{count} {}", &text[..9]);
            if let Ok(selector) = selector {
                assert!(selector.select(&tree).is_ok());
            }
        }
    }
}

/// Selectors of all forms, nested and chained.
fn any_selector() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let simple = proptest::sample::select(vec![
        "p",
        "div",
        "*",
        "#a",
        ".b",
        "[c]",
        "[c=d]",
        "[^c]",
        "[c~=^d]",
        "li:eq(1)",
        "p:nth-child(2n+1)",
        "i:gt(0)",
        ":nth-last-of-type(-n+3)",
        ":first-child",
        ":only-of-type",
        ":contains(x)",
        ":matches((?=x)x+)",
        ":empty",
        ":root",
        ":containsOwn(y)",
        ":containsWholeText(x)",
        "p[c=d].b:lt(2)",
    ]);
    simple.prop_map(str::to_owned).prop_recursive(5, 24, 3, |inner| {
        let joint = proptest::sample::select(vec![" ", " > ", " + ", " ~ ", ", ", ""]);
        prop_oneof![
            (inner.clone(), joint, inner.clone())
                .prop_map(|(left, joint, right)| format!("{left}{joint}{right}")),
            (proptest::sample::select(vec!["has", "not", "is"]), inner)
                .prop_map(|(name, inside)| format!("div:{name}({inside})")),
        ]
    })
}

/// Pages with nested and repeated elements; some elements are not closed.
fn any_page() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let leaf =
        proptest::sample::select(vec!["x", "y z", "<br>", "<!-- x -->", "<script>x<p></script>", "<li>x"]);
    leaf.prop_map(str::to_owned).prop_recursive(8, 64, 4, |inner| {
        let tag =
            proptest::sample::select(vec!["div", "p c=d", "b class=b", "i id=a", "ul", "table", "td", "svg"]);
        prop_oneof![
            (tag.clone(), proptest::collection::vec(inner.clone(), 1..4)).prop_map(|(tag, inside)| {
                let name = tag.split(' ').next().unwrap_or_default();
                format!("<{tag}>{}</{name}>", inside.concat())
            }),
            (tag, inner.clone(), 1..40_usize)
                .prop_map(|(tag, inside, count)| format!("<{tag}>{inside}").repeat(count)),
        ]
    })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(100))]

    #[test]
    fn any_selection_ends(selector in any_selector(), page in any_page()) {
        if let (Ok(selector), Ok(tree)) = (Selector::parse(&selector), parse(&page))
            && let Ok(found) = selector.select_within(&tree, 100_000)
        {
            let mut sorted = found.clone();
            sorted.dedup();
            proptest::prop_assert_eq!(&sorted, &found);
            let mut budget = TextBudget(100_000);
            for id in found {
                let _ = budget.element_text(&tree, id);
            }
        }
        if let Ok(document) = parse_tolerantly(&page) {
            let _ = xml::evaluate(&document, "//div[.//p]//b/following-sibling::*", &[]);
        }
    }
}
