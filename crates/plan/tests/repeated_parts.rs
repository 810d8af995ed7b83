//! Plans in which one part is repeated up to a million times: reading them takes time in proportion to their length, or ends at a
//! limit that is reported.

mod generated_parts;

use busyhour_diagnostic::Diagnostic;
use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, read_all, read_counts,
};
use busyhour_plan::{DIAGNOSTICS_MAX, TestPlan, parse};

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// The maximum number of elements of a plan.
const ELEMENTS_MAX: usize = 250_000;

fn read(input: &Repeated<'_>, count: usize, text: &str) -> (TestPlan, Vec<Diagnostic>) {
    let (plan, diagnostics) = parse(text.as_bytes(), "many.jmx");
    assert!(diagnostics.len() <= DIAGNOSTICS_MAX + 2, "{count} parts: {input:?}");
    assert!(diagnostics.iter().all(|found| found.message.len() < 1_000), "{count} parts: {input:?}");
    assert!(plan.write() == text.as_bytes(), "{count} parts: {input:?}");
    (plan, diagnostics)
}

macro_rules! plan {
    ($inside:literal) => {
        concat!("<jmeterTestPlan version='1.2'><hashTree>", $inside)
    };
}

const END: &str = "</hashTree></jmeterTestPlan>";

#[test]
fn elements_are_counted_or_limited() {
    let inputs = [
        repeated(plan!(""), "<A guiclass='G' testname='~'/><hashTree/>", END),
        repeated(
            plan!("<A guiclass='G'/><hashTree>"),
            "<B guiclass='G'></B><hashTree></hashTree>",
            "</hashTree></hashTree></jmeterTestPlan>",
        ),
    ];
    read_all(&inputs, |input, count, text| {
        let (plan, diagnostics) = read(input, count, text);
        let outer = usize::from(text.contains("<B"));
        assert_eq!(plan.len(), (count + outer).min(ELEMENTS_MAX), "{count} parts: {input:?}");
        let messages: Vec<&str> = diagnostics.iter().map(|found| found.message.as_ref()).collect();
        let is_limited =
            messages.iter().any(|message| message.contains("250000") || message.contains("250,000"));
        assert_eq!(is_limited, count == COUNTS[2], "{count} parts: {input:?} {messages:?}");
        let last = plan.elements().last().expect("an element");
        assert_eq!(last.path().len(), 1 + outer);
    });
}

/// Properties, and the number of items of the first one as a function of the number of parts.
const PROPERTIES: &[(Repeated<'static>, fn(usize) -> usize)] = &[
    (repeated("", "<stringProp name='p~'>v</stringProp>", ""), |_| 0),
    (repeated("", "<stringProp name='p0'>v</stringProp>", ""), |_| 0),
    (repeated("", "<boolProp name='p0'>true</boolProp>", ""), |_| 0),
    (
        repeated("<collectionProp name='p0'>", "<stringProp name='1'>v</stringProp>", "</collectionProp>"),
        |count| count,
    ),
    (repeated("<collectionProp name='p0'>", "<collectionProp name='1'/>", "</collectionProp>"), |count| {
        count
    }),
    (
        repeated("<elementProp name='p0' elementType='Header'>", "<stringProp name='~'/>", "</elementProp>"),
        |count| count,
    ),
    (repeated("<mapProp name='p0'>", "<stringProp name='~'>v</stringProp>", "</mapProp>"), |count| count),
    (repeated("<stringProp name='p0'>", "&amp;", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'>", "&#x41;", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'>", "<![CDATA[v]]>", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'>", "<!-- c -->", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'>", "\r\n", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'>", "${v~}", "</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0", "&lt;", "'>v</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'", " a~='b'", ">v</stringProp>"), |_| 0),
    (repeated("<stringProp name='p0'", " name='p0'", ">v</stringProp>"), |_| 0),
    (repeated("<objProp><name>p0</name>", "<value>v</value>", "</objProp>"), |_| 0),
];

/// Uses fewer repetitions than other tests, because a million of them take about 20 s in a build without optimization.
#[test]
fn properties_of_an_element_take_linear_time() {
    for (part, items) in PROPERTIES {
        let before = format!("{}{}", plan!("<A guiclass='G' testclass='A' testname='n'>"), part.before);
        let after = format!("{}</A><hashTree/>{END}", part.after);
        let input = Repeated { before: &before, part: part.part, after: &after };
        read_counts(&[input], &COUNTS_UNOPTIMIZED, |input, count, text| {
            let (plan, diagnostics) = read(input, count, text);
            assert!(
                diagnostics.is_empty() || part.part.contains("name='p0'"),
                "{count} parts: {input:?} {diagnostics:?}"
            );
            let element = plan.elements().next().expect("an element");
            assert!(element.properties().count() >= 1, "{count} parts: {input:?}");
            if let Some(property) = element.property("p0") {
                let found = property.items().count();
                assert!(
                    found == items(count) || part.part.contains("value"),
                    "{count} parts: {input:?}: {found}"
                );
            }
        });
    }
}

/// Plans with a million repetitions of the same mistake.
#[test]
fn damage_is_reported_within_a_limit() {
    let inputs = [
        repeated(plan!(""), "<hashTree/>", END),
        repeated(plan!(""), "<A/>", END),
        repeated(plan!(""), "<A guiclass='G'>", ""),
        repeated(plan!(""), "<A guiclass='G'/><hashTree>", ""),
        repeated(plan!("<A guiclass='G'>"), "<elementProp name='p'>", ""),
        repeated(plan!("<A guiclass='G'>"), "<collectionProp name='p'>", ""),
        repeated(plan!("<A guiclass='G'>"), "<intProp name='p'>x</intProp>", ""),
        repeated(
            plan!("<A guiclass='G'>"),
            "<stringProp name='p' reference='../stringProp'/>",
            "</A><hashTree/>",
        ),
        repeated(
            plan!("<A guiclass='G'><stringProp name='q'>x</stringProp>"),
            "<stringProp name='p' reference='../stringProp'/>",
            "</A><hashTree/>",
        ),
        repeated(plan!("<A guiclass='G'><stringProp reference='"), "../", "'/>"),
        repeated(plan!("<A guiclass='G'><stringProp reference='"), "a/", "'/>"),
        repeated(plan!("<A guiclass='G'"), " a", "/>"),
        repeated(plan!("<A guiclass='G'"), " a='<'", "/>"),
        repeated(plan!("<A guiclass='"), "&x;", "'/>"),
        repeated(plan!(""), "</A>", END),
        repeated(plan!(""), "<", END),
        repeated(plan!(""), "&", END),
        repeated(plan!(""), "&nope;", END),
        repeated(plan!(""), "]]>", END),
        repeated(plan!(""), "<!-- -- -->", END),
        repeated(plan!(""), "<!--", END),
        repeated(plan!(""), "<![CDATA[", END),
        repeated(plan!(""), "<?", END),
        repeated(plan!(""), "<<<<<<< HEAD\n", END),
        repeated("<!DOCTYPE a [", "<!ENTITY b~ 'c'>", "]><jmeterTestPlan/>"),
        repeated("<!DOCTYPE a [", "[", "]><jmeterTestPlan/>"),
        repeated("", "<?xml version='1.0'?>", "<jmeterTestPlan/>"),
        repeated("", "<jmeterTestPlan>", ""),
        repeated("<jmeterTestPlan version='1.2'><hashTree/></jmeterTestPlan>", "<a/>", ""),
        repeated("", "\0", ""),
        repeated("", "\n", ""),
        repeated("\u{feff}", "\u{feff}", ""),
    ];
    read_counts(&inputs, &COUNTS_UNOPTIMIZED, |input, count, text| {
        let (plan, diagnostics) = read(input, count, text);
        let is_reference = text.contains("reference='../stringProp'");
        assert!(is_reference || !diagnostics.is_empty(), "{count} parts: {input:?}");
        assert!(plan.len() <= ELEMENTS_MAX);
    });
}

/// The tag of an old header must be read once and not again for each of its properties.
#[test]
fn properties_of_old_headers_take_linear_time() {
    let attributes = repeated("", " a~='b'", "").text(200_000);
    let properties = "<stringProp name='TestElement.name'>x</stringProp>".repeat(200_000);
    let text = format!(
        "{}<elementProp name='p'{attributes}>{properties}</elementProp></A><hashTree/>{END}",
        plan!("<A guiclass='G'>")
    );
    let (plan, _) = parse(text.as_bytes(), "many.jmx");
    assert_eq!(plan.len(), 1);
}

/// A short run of the checks of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(20_010_101, 300, |bytes| generated_parts::check(bytes, 2_000));
}
