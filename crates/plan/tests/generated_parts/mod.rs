//! Plans in which generated parts are repeated. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_limits::repeated::GeneratedInput;
use busyhour_plan::{DIAGNOSTICS_MAX, parse};

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "<jmeterTestPlan version='1.2'>", "</jmeterTestPlan>", "<hashTree>", "</hashTree>", "<hashTree/>", "<A guiclass='G' testname='~'>", "</A>", "<A guiclass='G'/>",
    "<stringProp name='p~'>", "</stringProp>", "<stringProp name='p'>v</stringProp>", "<intProp name='i'>x</intProp>", "<collectionProp name='c'>",
    "</collectionProp>", "<elementProp name='e' elementType='Header'>", "</elementProp>", "<objProp><name>o</name><value>v</value></objProp>",
    "<stringProp reference='../stringProp'/>", " a~='b'", " name='p'", "<", ">", "&", "&amp;", "&nope;", "'", "\"", "=", "<!--", "-->", "--", "<![CDATA[", "]]>", "<?",
    "?>", "<!DOCTYPE a [", "<!ENTITY e~ 'x'>", "]>", "\r\n", "\0", "é", "text", "${v~}", "%41", "<jmeterTestPlan version='1.0'>",
];

/// The maximum size of a plan in bytes.
const BYTES_MAX: usize = 4 << 20;

/// Reads the plan that the bytes select, with at most `count_max` parts.
pub fn check(bytes: &[u8], count_max: usize) {
    let text = GeneratedInput::new(bytes, FRAGMENTS, count_max, BYTES_MAX).0.text();
    for text in [format!("<jmeterTestPlan version='1.2'><hashTree>{text}"), text] {
        let (plan, diagnostics) = parse(text.as_bytes(), "many.jmx");
        assert!(plan.write() == text.as_bytes(), "the file is written back unchanged");
        assert!(diagnostics.len() <= DIAGNOSTICS_MAX + 2);
        assert!(diagnostics.iter().all(|found| found.message.len() < 1_000));
    }
}
