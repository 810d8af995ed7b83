//! Reads properties of a plan and changes them.

use busyhour_plan::{EditError, Element, PropertyKind, TestPlan, parse};

const SHOP: &str = include_str!("plans/shop.jmx");

fn shop() -> TestPlan {
    let (plan, diagnostics) = parse(SHOP.as_bytes(), "shop.jmx");
    // The one unknown property of the unknown element.
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["jmx-property"]);
    plan
}

fn of_kind<'p>(plan: &'p TestPlan, kind: &str) -> Element<'p> {
    plan.elements().find(|element| element.kind() == kind).unwrap()
}

/// An element with these properties in an otherwise empty plan.
fn with_properties(version: &str, properties: &str) -> TestPlan {
    let source = format!(
        "<jmeterTestPlan version=\"{version}\"><hashTree><TestPlan guiclass=\"\" testname=\"a%20b\">{properties}\
         </TestPlan></hashTree></jmeterTestPlan>"
    );
    let (plan, diagnostics) = parse(source.as_bytes(), "a.jmx");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    plan
}

fn first(plan: &TestPlan) -> Element<'_> {
    plan.elements().next().unwrap()
}

#[test]
fn the_tree_has_the_structure_of_the_file() {
    let plan = shop();
    let mut outline = String::new();
    for element in plan.elements() {
        let depth = element.ancestors().count();
        let state = if element.is_active() { "" } else { " (inactive)" };
        let (kind, name, span) = (element.kind(), element.name(), element.span());
        outline += &format!("{}{kind} {name:?} {span}{state}\n", "  ".repeat(depth));
    }
    insta::assert_snapshot!(outline, @r#"
    TestPlan "Shop" 4:5
      ThreadGroup "Buyers & browsers" 23:7
        ThroughputController "Half" 33:9 (inactive)
          HTTPSamplerProxy "Get" 42:11 (inactive)
        com.example.Unknown "" 57:9
      ResultCollector "Results" 62:7
    "#);
    assert_eq!((plan.version(), plan.jmeter_version()), (Some("1.2"), Some("5.6.3")));
    let get = of_kind(&plan, "HTTPSamplerProxy");
    assert_eq!(get.path(), ["Shop", "Buyers & browsers", "Half", "Get"]);
    assert!(get.enabled() && !get.is_active(), "a disabled ancestor makes it inactive");
    assert_eq!((get.tag(), get.gui_kind()), ("HTTPSampler2", "HttpTestSampleGui"));
    assert_eq!(plan.roots().len(), 1);
    assert_eq!(first(&plan).descendants().len(), plan.len() - 1);
    assert_eq!(of_kind(&plan, "com.example.Unknown").path().last().unwrap(), "[com.example.Unknown]");
}

#[test]
fn properties_are_read_in_any_form() {
    let plan = shop();
    let root = first(&plan);
    assert_eq!(root.comments(), "Two lines\r\n& a comment");
    assert_eq!(root.boolean("TestPlan.functional_mode"), Some(false));
    let variables = root.element("TestPlan.user_defined_variables").unwrap();
    assert_eq!(variables.class().as_deref(), Some("Arguments"));
    let arguments: Vec<_> = variables
        .property("Arguments.arguments")
        .unwrap()
        .items()
        .map(|item| (item.item_text("Argument.name").unwrap(), item.item_text("Argument.value").unwrap()))
        .collect();
    assert_eq!(arguments, [("HOST", "${__P(host,127.0.0.1)}"), ("EMPTY", "")]);

    let group = of_kind(&plan, "ThreadGroup");
    assert_eq!(group.text("ThreadGroup.num_threads"), Some("${__P(users,5)}"));
    assert!(group.integer("ThreadGroup.num_threads").unwrap().is_err());
    assert_eq!(group.integer("ThreadGroup.start_time"), Some(Ok(1_363_247_040_000)));
    assert_eq!(group.boolean("ThreadGroup.scheduler"), Some(true));
    assert_eq!(group.text_or("ThreadGroup.ramp_time", "1"), "1");
    let main = group.element("ThreadGroup.main_controller").unwrap();
    assert_eq!(main.property("LoopController.loops").unwrap().integer(), Some(Ok(-1)));
    assert_eq!(main.attribute("guiclass").as_deref(), Some("LoopControlPanel"));

    let half =
        of_kind(&plan, "ThroughputController").property("ThroughputController.percentThroughput").unwrap();
    assert_eq!((half.kind(), half.number()), (PropertyKind::Float, Some(Ok(50.0))));
    let get = of_kind(&plan, "HTTPSamplerProxy");
    assert_eq!(get.text("HTTPSampler.path"), Some("/a?b=<c>&d"));
    assert_eq!(get.text("HTTPSampler.method"), Some(""));
    assert_eq!(get.property("ratio").unwrap().number(), Some(Ok(0.25)));
    let list: Vec<_> = get.collection("list").unwrap().items().map(|item| item.text().unwrap()).collect();
    assert_eq!(list, ["1", "two"]);

    let save = of_kind(&plan, "ResultCollector").object("saveConfig").unwrap();
    assert_eq!(save.class().as_deref(), Some("SampleSaveConfiguration"));
    assert_eq!((save.item_boolean("time"), save.item_boolean("latency")), (Some(true), Some(false)));
    assert_eq!(save.span().line, 63);
}

#[test]
fn old_files_are_read_as_jmeter_reads_them() {
    // Files that JMeter 2.1 wrote are URL-encoded.
    let plan = with_properties(
        "1.0",
        "<stringProp name=\"a%2Eb\">1+2%2B3</stringProp><boolProp name=\"c\">true</boolProp>",
    );
    assert_eq!(first(&plan).name(), "a b");
    assert_eq!(first(&plan).text("a.b"), Some("1 2+3"));
    let plan = with_properties("1.2", "<stringProp name=\"a%2Eb\">1+2%2B3</stringProp>");
    assert_eq!((first(&plan).name(), first(&plan).text("a%2Eb")), ("a%20b", Some("1+2%2B3")));
    // In old files the name is a property, also for headers.
    let plan = with_properties(
        "1.2",
        "<stringProp name=\"TestElement.name\">Other</stringProp><boolProp name=\"TestElement.enabled\">false</boolProp>\
         <elementProp name=\"h\" elementType=\"org.apache.jmeter.protocol.http.control.Header\">\
         <stringProp name=\"TestElement.name\">Accept</stringProp></elementProp>",
    );
    assert_eq!((first(&plan).name(), first(&plan).enabled()), ("Other", false));
    assert_eq!(first(&plan).element("h").unwrap().item_text("Header.name"), Some("Accept"));
    // If a property occurs twice, the last value applies.
    let plan =
        with_properties("1.2", "<stringProp name=\"a\">1</stringProp><stringProp name=\"a\">2</stringProp>");
    assert_eq!(first(&plan).text("a"), Some("2"));
}

const SHARED: &str = "<collectionProp name=\"c\"><collectionProp name=\"1\"><stringProp name=\"x\">ten</stringProp>\
    <stringProp name=\"y\">20</stringProp></collectionProp><collectionProp name=\"2\">\
    <stringProp reference=\"../../collectionProp/stringProp[2]\"/><stringProp name=\"z\">30</stringProp>\
    </collectionProp><collectionProp reference=\"../collectionProp\"/></collectionProp>";

fn rows(plan: &TestPlan) -> Vec<Vec<&str>> {
    let rows = first(plan).collection("c").unwrap().items();
    rows.map(|row| row.items().map(|item| item.text().unwrap()).collect()).collect()
}

#[test]
fn references_are_followed() {
    let mut plan = with_properties("1.2", SHARED);
    assert_eq!(rows(&plan), [["ten", "20"], ["20", "30"], ["ten", "20"]]);
    let item = |plan: &TestPlan, row, column| {
        first(plan).collection("c").unwrap().items().nth(row).unwrap().items().nth(column).unwrap().id()
    };
    plan.set_value(item(&plan, 0, 1), "21").unwrap();
    assert_eq!(rows(&plan), [["ten", "21"], ["21", "30"], ["ten", "21"]]);
    plan.set_value(item(&plan, 1, 0), "22").unwrap();
    assert_eq!(rows(&plan), [["ten", "21"], ["22", "30"], ["ten", "21"]]);
    let (again, diagnostics) = parse(&plan.write(), "again.jmx");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(rows(&again), rows(&plan));
}

/// A sampler with its own headers, then a sampler with a manager that refers to a property by this path.
fn referring(path: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><S guiclass=\"\"><elementProp name=\"a\" elementType=\"A\"/><elementProp name=\"h\" \
         elementType=\"H\"><collectionProp name=\"list\"><stringProp name=\"x\">ten</stringProp></collectionProp></elementProp></S>\
         <hashTree><M guiclass=\"\"><collectionProp name=\"own\"><stringProp name=\"y\">20</stringProp></collectionProp></M><hashTree/>\
         </hashTree><S guiclass=\"\"/><hashTree><M guiclass=\"\"><collectionProp reference=\"{path}\"/></M><hashTree/></hashTree>\
         </hashTree></jmeterTestPlan>"
    )
}

#[test]
fn references_lead_to_other_elements() {
    for (way, name, text) in [
        ("../../../S/elementProp[2]/collectionProp", "list", "ten"),
        ("../../../S[1]/elementProp[2]/collectionProp", "list", "ten"),
        ("../../../hashTree/M/collectionProp", "own", "20"),
        ("../../../hashTree[1]/M[1]/collectionProp[1]", "own", "20"),
    ] {
        let (mut plan, diagnostics) = parse(referring(way).as_bytes(), "plan.jmx");
        assert!(diagnostics.is_empty(), "{way}: {diagnostics:?}");
        let list = |plan: &TestPlan| {
            let last = plan.elements().last().unwrap();
            let list = last.collection(name).unwrap().items().next().unwrap();
            (list.text().unwrap().to_owned(), list.id())
        };
        let (value, id) = list(&plan);
        assert_eq!(value, text, "{way}");
        plan.set_value(id, "other").unwrap();
        let (again, _) = parse(&plan.write(), "again.jmx");
        assert_eq!(list(&again).0, "other", "{way}");
    }
    for way in [
        "../../../S[3]/elementProp",
        "../../../T/x",
        "../../../S",
        "../../../hashTree",
        "../../../hashTree[4]/M",
        "../../../../../x",
    ] {
        let (_, diagnostics) = parse(referring(way).as_bytes(), "plan.jmx");
        assert_eq!(
            diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(),
            ["jmx-reference"],
            "{way}"
        );
    }
}

#[test]
fn nested_references_are_not_expanded() {
    // Each level would contain the previous one twice: 2^40 texts.
    let mut pile =
        "<collectionProp name=\"0\"><stringProp name=\"a\">a</stringProp></collectionProp>".to_owned();
    for level in 1..40 {
        let reference = format!("<collectionProp reference=\"../../collectionProp[{level}]\"/>").repeat(2);
        pile += &format!("<collectionProp name=\"{level}\">{reference}</collectionProp>");
    }
    let source = format!(
        "<jmeterTestPlan><hashTree><A guiclass=\"\">{pile}<collectionProp name=\"s\"><collectionProp reference=\"../../collectionProp[41]\"/>\
         </collectionProp></A></hashTree></jmeterTestPlan>"
    );
    let (_, diagnostics) = parse(source.as_bytes(), "pile.jmx");
    assert!(diagnostics.iter().all(|finding| finding.code == "jmx-reference"));
    assert!(diagnostics.len() > 30);
}

#[test]
fn edits_change_only_their_own_place() {
    let mut plan = shop();
    let half = of_kind(&plan, "ThroughputController").id();
    let get = of_kind(&plan, "HTTPSamplerProxy").id();
    let group = of_kind(&plan, "ThreadGroup").id();
    plan.set_text(group, "ThreadGroup.num_threads", "7").unwrap();
    plan.set_text(half, "ThroughputController.percentThroughput", "12.5").unwrap();
    plan.set_text(half, "ThroughputController.style", "${style}").unwrap();
    plan.set_text(get, "HTTPSampler.method", "PUT").unwrap();
    plan.set_text(get, "HTTPSampler.path", "/<&>").unwrap();
    plan.set_text(get, "HTTPSampler.domain", "first").unwrap();
    plan.set_text(get, "HTTPSampler.domain", "second").unwrap();
    plan.set_text(get, "HTTPSampler.port", "80").unwrap();
    let error = plan.set_text(get, "list", "x").unwrap_err();
    assert_eq!(error, EditError::NotText { name: "list".into(), line: 43 });
    assert_eq!(plan.element(get).text("HTTPSampler.domain"), Some("second"));
    let written = String::from_utf8(plan.write()).unwrap();
    let changes: Vec<_> =
        SHOP.lines().zip(written.lines()).filter(|(before, after)| before != after).collect();
    insta::assert_snapshot!(changes.iter().map(|(_, after)| after.trim()).collect::<Vec<_>>().join("\n"), @r#"
    <stringProp name="ThreadGroup.num_threads">7</stringProp>
    <stringProp name="ThroughputController.style">${style}</stringProp>
    <value>12.5</value>
    <stringProp name="HTTPSampler.path">/&lt;&amp;&gt;</stringProp>
    <stringProp name="HTTPSampler.method">PUT</stringProp>
    <stringProp name="HTTPSampler.domain">second</stringProp><stringProp name="HTTPSampler.port">80</stringProp></HTTPSampler2>
    "#);
    assert_eq!(SHOP.lines().count(), written.lines().count());
}

#[test]
fn an_edit_keeps_the_encoding() {
    let source: Vec<u8> = "\u{FEFF}<jmeterTestPlan><hashTree><A guiclass=\"\"/></hashTree></jmeterTestPlan>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let (mut plan, _) = parse(&source, "a.jmx");
    plan.set_text(first(&plan).id(), "a", "\u{FC}").unwrap();
    let (again, _) = parse(&plan.write(), "a.jmx");
    assert_eq!((again.encoding(), first(&again).text("a")), ("UTF-16LE", Some("\u{FC}")));

    let (mut plan, _) =
        parse(b"<jmeterTestPlan><hashTree><A guiclass=\"\xFF\"/></hashTree></jmeterTestPlan>", "a.jmx");
    let error = plan.set_text(first(&plan).id(), "a", "b").unwrap_err();
    assert_eq!(error, EditError::NotReversible { encoding: "UTF-8" });
}
