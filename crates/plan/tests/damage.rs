//! The messages about damaged files.

use std::fmt::Write as _;

use busyhour_plan::parse;

/// A plan with one element, its properties, and what follows it.
fn plan(properties: &str, after: &str) -> String {
    format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree>\n\
         <TestPlan guiclass=\"TestPlanGui\" testname=\"Shop\">{properties}</TestPlan>\n\
         {after}</hashTree></jmeterTestPlan>"
    )
}

/// The findings about each of the files, one block per file.
fn findings<S: AsRef<[u8]>>(sources: impl IntoIterator<Item = S>) -> String {
    let mut text = String::new();
    for source in sources {
        let (plan, diagnostics) = parse(source.as_ref(), "plan.jmx");
        assert!(plan.write() == source.as_ref());
        for diagnostic in diagnostics {
            writeln!(text, "{diagnostic}").unwrap();
        }
        writeln!(text, "({} elements read)\n", plan.len()).unwrap();
    }
    text
}

const LEAF: &str = "<hashTree/>";

#[test]
fn files_that_are_not_plans() {
    insta::assert_snapshot!(findings([
        &b"\n "[..],
        b"PK\x03\x04rest",
        b"{\"a\": 1}",
        b"just words",
        b"<html><body>plan</body></html>",
        b"<testResults version=\"1.2\"/>",
        b"<!-- nothing else -->",
        b"junk <jmeterTestPlan><hashTree/></jmeterTestPlan>",
        b"<jmeterTestPlan/>",
        b"<jmeterTestPlan>hashTree</jmeterTestPlan>",
    ]), @r"
    error[jmx-empty]: the file is empty
      --> plan.jmx:1:1
      hint: get it again, or save it again in JMeter
    (0 elements read)

    error[jmx-not-xml]: the file is not XML: it does not begin with `<`
      --> plan.jmx:1:1
      cause: it looks like a ZIP archive
      hint: unpack it and give the plan inside
    (0 elements read)

    error[jmx-not-xml]: the file is not XML: it does not begin with `<`
      --> plan.jmx:1:1
      cause: it looks like JSON
      hint: give a test plan that JMeter saved (.jmx)
    (0 elements read)

    error[jmx-not-xml]: the file is not XML: it does not begin with `<`
      --> plan.jmx:1:1
      hint: give a test plan that JMeter saved (.jmx)
    (0 elements read)

    error[jmx-not-a-plan]: the file is not a test plan: its outermost tag is <html>, not <jmeterTestPlan>
      --> plan.jmx:1:1
      hint: this is a web page; download the file itself
    (0 elements read)

    error[jmx-not-a-plan]: the file is not a test plan: its outermost tag is <testResults>, not <jmeterTestPlan>
      --> plan.jmx:1:1
      hint: these are results (JTL), not a plan
    (0 elements read)

    error[jmx-not-a-plan]: the file does not contain a test plan: there is no <jmeterTestPlan>
      --> plan.jmx:1:22
      hint: give a test plan that JMeter saved (.jmx)
    (0 elements read)

    error[jmx-not-xml]: the file is not XML: it does not begin with `<`
      --> plan.jmx:1:1
      hint: remove `junk <jmeterTestPlan><hashTree/></jmeterTestPlan>` before the plan
    (0 elements read)

    error[jmx-not-a-plan]: the plan is empty: it has no `hashTree`
      --> plan.jmx:1:1
      hint: get the whole file again, or save it again in JMeter
    (0 elements read)

    error[jmx-not-a-plan]: the plan is empty: it has no `hashTree`
      --> plan.jmx:1:1
      hint: get the whole file again, or save it again in JMeter
    (0 elements read)
    ");
}

#[test]
fn damaged_xml() {
    insta::assert_snapshot!(findings([
        plan("<stringProp name=\"a\">1 < 2 && 3</stringProp>", LEAF),
        plan("<stringProp name=\"a\">x</stringprop>", LEAF),
        plan("<stringProp name=\"a>x</stringProp>", LEAF),
        plan("<stringProp name=a b>x</stringProp>", LEAF),
        plan("<stringProp name=\"a\">]]></stringProp>", "<!-- a -- b --><hashTree/>"),
        plan("", "<hashTree><!-- "),
        plan("\n<<<<<<< HEAD\n<boolProp name=\"a\">true</boolProp>\n", LEAF),
        plan("", LEAF).replace("testname", "guiclass"),
        format!("\n<?xml version=\"1.0\"?>{}", plan("", LEAF)),
        plan("", LEAF) + "trailing <words>",
    ]), @r#"
    error[jmx-xml]: `<` does not begin a tag: `< 2 && 3`
      --> plan.jmx:2:73
      in: Shop
      hint: write &lt; where the character itself is meant
    error[jmx-xml]: `&` does not begin a reference
      --> plan.jmx:2:77
      in: Shop
      hint: write &amp; where the character itself is meant
    error[jmx-xml]: `&` does not begin a reference
      --> plan.jmx:2:78
      in: Shop
      hint: write &amp; where the character itself is meant
    (1 elements read)

    error[jmx-xml]: the end tag `</stringprop>` has no start tag
      --> plan.jmx:2:72
      in: Shop
      hint: delete it, or restore the start tag
    error[jmx-xml]: `<stringProp>` of line 2 has no end tag
      --> plan.jmx:2:85
      in: Shop
      cause: it is still open at `</TestPlan>`
      hint: put the end tag after the last part of its content
    (1 elements read)

    error[jmx-xml]: the tag `<stringProp name="a>x` has no end
      --> plan.jmx:2:50
      in: Shop
      hint: a `>` or a closing quote is missing
    (1 elements read)

    error[jmx-xml]: the value of an attribute is not in quotes: `<stringProp name=a b>`
      --> plan.jmx:2:67
      in: Shop
      hint: write name="value"
    (1 elements read)

    warning[jmx-xml]: `]]>` occurs in text
      --> plan.jmx:2:71
      in: Shop
      cause: XML forbids it there; JMeter would not load the plan
      hint: write ]]&gt;
    warning[jmx-xml]: `--` occurs inside a comment
      --> plan.jmx:3:8
      in: Shop
      cause: XML allows it only at the end of a comment; JMeter would not load the plan
      hint: remove one of the dashes
    (1 elements read)

    error[jmx-xml]: `<!-- </hashTree></jmeterTestPlan>` never ends: `-->` is missing
      --> plan.jmx:3:11
      in: Shop
      hint: the rest of the file was read as a part of it
    error[jmx-truncated]: the file ends inside <hashTree>
      --> plan.jmx:3:44
      in: Shop
      cause: it was opened in line 3 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (1 elements read)

    error[jmx-xml]: a merge conflict was left in the file
      --> plan.jmx:3:1
      in: Shop
      hint: resolve it: keep one side and delete the lines of <, = and >
    (1 elements read)

    error[jmx-xml]: an attribute is given twice
      --> plan.jmx:2:1
      in: [TestPlan]
      cause: JMeter would not load the plan
      hint: delete one of the two
    (1 elements read)

    warning[jmx-xml]: there are blanks before `<?xml`
      --> plan.jmx:1:1
      cause: XML allows nothing before it; JMeter would not load the plan
      hint: delete them
    (1 elements read)

    warning[jmx-trailing]: content after the end of the plan is ignored, as in JMeter
      --> plan.jmx:3:40
    (1 elements read)
    "#);
}

/// Found by coverage-guided fuzzing. XStream, which JMeter uses to read plans, tries to resolve the empty name as a
/// class and fails.
#[test]
fn an_empty_class_is_an_error_and_the_tag_is_the_class() {
    let text = "<jmeterTestPlan version=\"1.2\"><hashTree>\n<TestPlan class=\"\" guiclass=\"TestPlanGui\" testname=\"Shop\"/>\n\
                <hashTree/></hashTree></jmeterTestPlan>";
    let (plan, findings) = busyhour_plan::parse(text.as_bytes(), "plan.jmx");
    assert!(plan.roots().all(|root| root.kind() == "TestPlan"));
    let errors: Vec<String> =
        findings.iter().filter(|finding| finding.is_error()).map(ToString::to_string).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("the attribute `class` is empty") && errors[0].contains("plan.jmx:2:1"),
        "{errors:?}"
    );
}

#[test]
fn files_that_end_early() {
    let whole = plan("<stringProp name=\"a\">x</stringProp>", LEAF);
    insta::assert_snapshot!(findings([
        &whole[..whole.find("x</").unwrap()],
        &whole[..whole.find("ame=\"a").unwrap()],
        &whole[..whole.find("</TestPlan").unwrap()],
        &whole[..whole.len() - 3],
    ]), @r"
    error[jmx-truncated]: the file ends inside <stringProp>
      --> plan.jmx:2:71
      in: Shop
      cause: it was opened in line 2 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (1 elements read)

    error[jmx-xml]: the tag `<stringProp n` has no end
      --> plan.jmx:2:50
      in: Shop
      hint: a `>` or a closing quote is missing
    error[jmx-truncated]: the file ends inside <stringProp>
      --> plan.jmx:2:63
      in: Shop
      cause: it was opened in line 2 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (1 elements read)

    error[jmx-truncated]: the file ends inside <TestPlan>
      --> plan.jmx:2:85
      in: Shop
      cause: it was opened in line 2 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (1 elements read)

    error[jmx-xml]: the tag `</jmeterTestPl` has no end
      --> plan.jmx:3:23
      hint: a `>` or a closing quote is missing
    error[jmx-truncated]: the file ends inside <jmeterTestPlan>
      --> plan.jmx:3:37
      cause: it was opened in line 1 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (1 elements read)
    ");
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;&lol;&lol;\">]>";
    insta::assert_snapshot!(findings([
        format!("{bomb}{}", plan("<stringProp name=\"a\">&lol2;</stringProp>", LEAF)),
        plan("<stringProp name=\"a\">&nbsp;&#xD800;&lt;</stringProp>", LEAF),
    ]), @r"
    warning[jmx-doctype]: the document type declaration is ignored, as in JMeter
      --> plan.jmx:1:1
      cause: the entities that it declares are not expanded
    error[jmx-entity]: the entity &lol2; is not known
      --> plan.jmx:2:71
      in: Shop
      cause: entities that a file declares itself are not expanded, neither here nor in JMeter
      hint: replace it with the text itself
    (1 elements read)

    error[jmx-entity]: the entity &nbsp; is not known
      --> plan.jmx:2:71
      in: Shop
      hint: XML defines &amp; &lt; &gt; &quot; &apos; and numbers such as &#160;
    error[jmx-xml]: &#xD800; is not a character
      --> plan.jmx:2:77
      in: Shop
    (1 elements read)
    ");
}

#[test]
fn trees_that_jmeter_would_not_load() {
    let element = "<ConstantTimer guiclass=\"ConstantTimerGui\" testname=\"Wait\"/>";
    insta::assert_snapshot!(findings([
        plan("", &format!("<hashTree>{element}{element}</hashTree>")),
        plan("", "<hashTree/><hashTree/>"),
        plan("<hashTree/>", LEAF),
        format!("{element}<hashTree/>"),
        format!("<hashTree>{element}</hashTree>"),
        format!("<jmeterTestPlan>{element}</jmeterTestPlan>"),
        "<jmeterTestPlan><hashTree/><hashTree/></jmeterTestPlan>".to_owned(),
        plan("", "<hashTree><ConstantTimer/></hashTree>"),
    ]), @r#"
    error[jmx-tree]: the element of line 3 is not followed by a `hashTree`
      --> plan.jmx:3:71
      in: Shop > Wait
      cause: JMeter expects exactly one `hashTree` after each element and would not load the plan
      hint: insert <hashTree/> here, after the end of that element
    (3 elements read)

    error[jmx-tree]: this `hashTree` does not follow an element
      --> plan.jmx:3:12
      cause: JMeter expects exactly one `hashTree` after each element and would not load the plan
      hint: delete it, or restore the element that it belonged to
    (1 elements read)

    error[jmx-tree]: a `hashTree` is nested in an element
      --> plan.jmx:2:50
      in: Shop
      cause: JMeter expects it after the element's end tag and would not load the plan
    (1 elements read)

    error[jmx-fragment]: the file is a part of a plan: it begins with <ConstantTimer>
      --> plan.jmx:1:1
      cause: JMeter loads only files whose outermost tag is <jmeterTestPlan>
      hint: put it into <jmeterTestPlan version="1.2"><hashTree>…</hashTree></jmeterTestPlan>, below a TestPlan
    (1 elements read)

    error[jmx-fragment]: the file is a part of a plan: it begins with <hashTree>
      --> plan.jmx:1:1
      cause: JMeter loads only files whose outermost tag is <jmeterTestPlan>
      hint: put it into <jmeterTestPlan version="1.2"><hashTree>…</hashTree></jmeterTestPlan>, below a TestPlan
    (1 elements read)

    error[jmx-tree]: the elements of the plan are not in a `hashTree`
      --> plan.jmx:1:17
      cause: JMeter expects one directly inside <jmeterTestPlan> and would not load the plan
    (1 elements read)

    warning[jmx-trailing]: content after the plan's `hashTree` is ignored, as in JMeter
      --> plan.jmx:1:28
    (0 elements read)

    warning[jmx-guiclass]: the element has no `guiclass`
      --> plan.jmx:3:11
      in: Shop > [ConstantTimer]
      cause: JMeter would not load the plan without it
    (2 elements read)
    "#);
}

#[test]
fn properties_that_jmeter_would_not_load() {
    insta::assert_snapshot!(findings([
        plan("<intProp name=\"n\">${users}</intProp>", LEAF),
        plan("<longProp name=\"n\"> 5 </longProp>", LEAF),
        plan("<doubleProp><name>n</name><value>much</value></doubleProp>", LEAF),
        plan("<stringProp>x</stringProp>", LEAF),
        plan("<fooProp name=\"n\">x</fooProp>", LEAF),
        plan("<stringProp reference=\"../stringProp[7]\"/>", LEAF),
    ]), @r#"
    error[jmx-number]: the property `n` is `${users}`, which is not a whole number of 32 bits
      --> plan.jmx:2:50
      in: Shop
      cause: the tag requires a number; JMeter would not load the plan
      hint: write it as a <stringProp>, which may hold ${…}
    (1 elements read)

    error[jmx-number]: the property `n` is ` 5 `, which is not a whole number of 64 bits
      --> plan.jmx:2:50
      in: Shop
      cause: the tag requires a number; JMeter would not load the plan
      hint: write a number
    (1 elements read)

    error[jmx-number]: the property `n` is `much`, which is not a number
      --> plan.jmx:2:50
      in: Shop
      cause: the tag requires a number; JMeter would not load the plan
      hint: write a number
    (1 elements read)

    error[jmx-property]: the property `<stringProp>` has no name
      --> plan.jmx:2:50
      in: Shop
      cause: JMeter would not load the plan
    (1 elements read)

    warning[jmx-property]: `<fooProp name="n">` is not a property type of JMeter
      --> plan.jmx:2:50
      in: Shop
      cause: JMeter loads it only with the plugin that wrote it
    (1 elements read)

    error[jmx-reference]: the reference `../stringProp[7]` cannot be resolved
      --> plan.jmx:2:50
      in: Shop
      hint: replace it with the property itself
    (1 elements read)
    "#);
}

#[test]
fn encodings() {
    let declared = |name: &str| format!("<?xml version=\"1.0\" encoding=\"{name}\"?>");
    let umlaut = [plan("", LEAF).replace("Shop", "B\u{FC}cher")].map(|text| text.into_bytes());
    let latin1: Vec<u8> = plan("", LEAF)
        .replace("Shop", "B*cher")
        .bytes()
        .map(|byte| if byte == b'*' { 0xFC } else { byte })
        .collect();
    let utf16: Vec<u8> = plan("", LEAF).encode_utf16().flat_map(u16::to_le_bytes).collect();
    insta::assert_snapshot!(findings([
        umlaut[0].clone(),
        [declared("ISO-8859-1").as_bytes(), &latin1].concat(),
        [declared("UTF-8").as_bytes(), &latin1].concat(),
        utf16,
    ]), @r"
    (1 elements read)

    warning[jmx-encoding]: the file is read as ISO-8859-1, as it declares; JMeter would read it as UTF-8
      --> plan.jmx:2:45
      cause: the byte 0xFC is not UTF-8; JMeter replaces it with U+FFFD
      hint: save it as UTF-8
    (1 elements read)

    warning[jmx-encoding]: the byte 0xFC is not UTF-8
      --> plan.jmx:2:45
      cause: the file declares the encoding UTF-8
      hint: such bytes are read as U+FFFD, as in JMeter; save the file as UTF-8
    (1 elements read)

    warning[jmx-encoding]: the file is written in UTF-16LE; JMeter reads plans as UTF-8 and would refuse it
      --> plan.jmx
      hint: save it as UTF-8
    (1 elements read)
    ");
}

#[test]
fn deep_nesting_is_limited() {
    let deep = "<hashTree><GenericController guiclass=\"\" testname=\"c\"/>\n".repeat(300);
    insta::assert_snapshot!(findings([format!("<jmeterTestPlan>{deep}")]).replace("c > ", ""), @r"
    error[jmx-depth]: tags are nested more than 256 deep
      --> plan.jmx:255:11
      in: c
      cause: deeper tags were not read
    error[jmx-truncated]: the file ends inside <hashTree>
      --> plan.jmx:301:1
      in: c
      cause: it was opened in line 255 and has no end tag
      hint: the end of the file is missing; get the whole file again
    (254 elements read)
    ");
}

#[test]
fn further_findings_are_counted() {
    let (_, diagnostics) = parse(plan(&"&".repeat(1000), LEAF).as_bytes(), "plan.jmx");
    assert_eq!(diagnostics.len(), busyhour_plan::DIAGNOSTICS_MAX + 1);
    insta::assert_snapshot!(diagnostics.last().unwrap(), @r"
    error[jmx-more]: 900 more findings in this file are not listed
      --> plan.jmx
    ");
}

#[test]
fn the_number_of_elements_is_limited() {
    for count in [10, 1_000, 400_000] {
        let elements = "<A testclass=\"A\" testname=\"a\"/><hashTree/>".repeat(count);
        let text =
            format!("<jmeterTestPlan version=\"1.2\"><hashTree>{elements}</hashTree></jmeterTestPlan>");
        let (plan, findings) = parse(text.as_bytes(), "many.jmx");
        let too_large =
            findings.iter().any(|finding| finding.is_error() && finding.message.contains("250000"));
        assert_eq!(too_large, count > 250_000, "{count}: {} findings", findings.len());
        assert_eq!(plan.elements().count(), count.min(250_000));
    }
}
