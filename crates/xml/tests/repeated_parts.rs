//! Documents in which one part is repeated up to a million times: parsing them takes time proportional to their length, or stops at a
//! limit.

mod generated_parts;

use busyhour_limits::Limit;
use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, read_all, read_counts,
};
use busyhour_xml::{ReadOptions, XmlDocument, read};

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// A part that a document may contain any number of times; tested with up to a million.
const UNLIMITED: Repeated<'static> = repeated("<a>", "<b c='~'>x</b>", "</a>");

/// Other parts that a document may contain any number of times. They are tested with fewer repetitions: a million of each took 40 s
/// in a build without optimization.
const UNLIMITED_SLOW: &[Repeated<'static>] = &[
    repeated("<a>", "&amp;", "</a>"),
    repeated("<!DOCTYPE a [", "<!ENTITY e~ 'x'>", "]><a>&e0;&e9;</a>"),
    repeated("<a>", "<b/>", "</a>"),
    repeated("<a>", "<b~/>", "</a>"),
    repeated("<a xmlns:p='urn:p'>", "<p:b p:c='d'/>", "</a>"),
    repeated("<a>", "<b xmlns:p~='urn:~'/>", "</a>"),
    repeated("<a>", "text\r\n", "</a>"),
    repeated("<a>", "&#38;", "</a>"),
    repeated("<a>", "<![CDATA[x]]>", "</a>"),
    repeated("<a>", "<!-- c -->", "</a>"),
    repeated("<a>", "<?p q?>", "</a>"),
    repeated("<a b='", "&lt;", "'/>"),
    repeated("<a b='", "\t", "'/>"),
    repeated("<!DOCTYPE a [", "<!ELEMENT e~ ANY>", "]><a/>"),
    repeated("<!DOCTYPE a [", "<!ATTLIST e~ b CDATA 'c'>", "]><a/>"),
    repeated("<!DOCTYPE a [<!ATTLIST b ", "c~ CDATA 'd' ", ">]><a/>"),
    repeated("<!DOCTYPE a [<!ATTLIST b c CDATA 'd'>]><a>", "<b/>", "</a>"),
    repeated("<!DOCTYPE a [<!ENTITY e ''>]><a>", "&e;", "</a>"),
];

/// Parses the longest documents once, and the others with and without namespaces.
fn check_document(count: usize, text: &str, check: impl Fn(Result<XmlDocument<'_>, String>)) {
    if count < COUNTS_UNOPTIMIZED[2] {
        return check_both_modes(text, check);
    }
    let options = ReadOptions { namespaces: true, ..ReadOptions::default() };
    check(read(text, options).map_err(|error| error.to_string()));
}

/// Parses a document with and without namespaces.
fn check_both_modes(text: &str, check: impl Fn(Result<XmlDocument<'_>, String>)) {
    for namespaces in [false, true] {
        let options = ReadOptions { namespaces, no_doctype: false, sorted: true };
        check(read(text, options).map_err(|error| error.to_string()));
    }
}

#[test]
fn siblings_of_all_kinds_take_linear_time() {
    let check = |input: &Repeated<'_>, count: usize, text: &str| {
        check_document(count, text, |document| {
            assert_eq!(document.err(), None, "{count} parts: {input:?}");
        });
    };
    read_all(&[UNLIMITED], check);
    read_counts(UNLIMITED_SLOW, &COUNTS_UNOPTIMIZED, check);
}

#[test]
fn attributes_of_an_element_are_limited() {
    let inputs = [
        repeated("<a", " b~='c'", "/>"),
        repeated("<a", " xmlns:b~='urn:~'", "/>"),
        repeated("<a xmlns:p='urn:p'", " p:b~='c'", "/>"),
    ];
    read_all(&inputs, |input, count, text| {
        check_document(count, text, |document| match document.err() {
            None => assert!(count < COUNTS[2] && busyhour_limits::take_counts().is_empty()),
            Some(error) => {
                assert_eq!(error, "Element exceeds the limit of 10000 attributes", "{count}: {input:?}");
                assert_eq!(busyhour_limits::take_counts(), [(Limit::XmlAttributes, 1)]);
            }
        });
    });
    let repeated_name = format!("<a{} b1='x'/>", Repeated { part: " b~='c'", ..inputs[0] }.text(9_000));
    assert!(read(&repeated_name, ReadOptions::default()).is_err());
}

/// Without the limits, each part of these documents would cost a million steps or a copy of a long text.
#[test]
fn parts_that_refer_to_others_are_limited() {
    let names = |count: usize| repeated("", " xmlns:p~='u:~'", "").text(count);
    let attributes = |count: usize| repeated("", " p~:b='c'", "").text(count);
    // Each attribute has a different prefix, and all prefixes are declared on the root element.
    let prefixed = format!("<a{}>{}</a>", names(9_000), format!("<b{}/>", attributes(9_000)).repeat(20));
    check_both_modes(&prefixed, |document| assert!(document.is_ok()));
    let twice = "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>";
    assert!(read(twice, ReadOptions { namespaces: true, ..ReadOptions::default() }).is_err());

    // Each entity refers ten times to the previous entity, and the first is empty.
    let entities: Vec<String> =
        (1..20).map(|n| format!("<!ENTITY e{n} '{}'>", format!("&e{};", n - 1).repeat(10))).collect();
    let laughs = format!("<!DOCTYPE a [<!ENTITY e0 ''>{}]><a>&e19;</a>", entities.concat());
    check_both_modes(&laughs, |document| assert!(document.is_err()));

    let unfinished = format!("<!DOCTYPE a [<!ENTITY e '{}'>]><a>&e;</a>", "<![CDATA[".repeat(100_000));
    check_both_modes(&unfinished, |document| assert!(document.is_err()));

    let different: String = (0..100_000).map(|n| format!("<!ENTITY e{n} 'x'>")).collect();
    let uses: String = (0..100_000).map(|n| format!("&e{n};")).collect();
    check_both_modes(&format!("<!DOCTYPE a [{different}]><a>{uses}</a>"), |document| {
        assert!(document.is_ok())
    });

    let copied = format!("<a xmlns='&amp;{}'>{}</a>", "u".repeat(1 << 20), "<b/>".repeat(100_000));
    let options = ReadOptions { namespaces: true, ..ReadOptions::default() };
    let error = read(&copied, options).err().map(|error| error.to_string());
    let message = "Namespace names with references exceed the limit of bytes for a document";
    assert_eq!(error.as_deref(), Some(message));

    let defaults: String = (0..100).map(|n| format!("c{n} CDATA 'd' ")).collect();
    let added = format!("<!DOCTYPE a [<!ATTLIST b {defaults}>]><a>{}</a>", "<b/>".repeat(20_000));
    check_both_modes(&added, |document| {
        let message = "Default attributes exceed the limit of 1000000 for a document";
        assert_eq!(document.err().as_deref(), Some(message));
    });
}

/// A short run of the checks of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(19_980_210, 300, |bytes| generated_parts::check(bytes, 2_000));
}
