use busyhour_diagnostic::Diagnostic;

use super::*;

/// A plan of one HTTP request with these properties, below a thread group with these elements.
fn plan(properties: &str, elements: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="g"/><hashTree>{elements}
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="s">{properties}</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn warnings(properties: &str, elements: &str) -> Vec<String> {
    let (plan, findings) = busyhour_plan::parse(plan(properties, elements).as_bytes(), "plan.jmx");
    assert!(findings.iter().all(|found| !found.is_error()), "{findings:?}");
    let words = |found: &Diagnostic| {
        assert!(found.span.is_some(), "{found}");
        format!("{} {}; {}", found.code, found.message, found.hint.clone().unwrap_or_default())
    };
    lint(&plan).iter().map(words).collect()
}

fn string(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

#[test]
fn the_properties_that_a_plan_reads_are_known_unless_it_can_compose_their_names() {
    let reads = |path: &str, elements: &str| {
        let (plan, _) =
            busyhour_plan::parse(plan(&string("HTTPSampler.path", path), elements).as_bytes(), "plan.jmx");
        property_reads(&plan).map(|names| names.into_iter().collect::<Vec<_>>().join(" "))
    };
    let known = |names: &str| Some(names.to_owned());
    assert_eq!(reads("/${x}/${__UUID}", ""), known(""));
    assert_eq!(
        reads("/${__P(b, 1)}${__property(a)}${__if(${__isPropDefined(c)},true,1,2)}", ""),
        known("a b c")
    );
    assert_eq!(reads("/${__P(${x})}", ""), None);
    assert_eq!(reads("/${__eval(${x})}", ""), None);
    assert_eq!(reads("/${__groovy(props.get('a'))}", ""), None);
    assert_eq!(reads("/${__unknown(a)}", ""), None);
    let script = format!(
        "<JSR223PreProcessor testclass=\"JSR223PreProcessor\" testname=\"j\" enabled=\"false\">{}</JSR223PreProcessor><hashTree/>",
        string("script", "props")
    );
    assert_eq!(reads("/", &script), None);
}

#[test]
fn the_table_of_names_is_in_order() {
    assert!(elements::property_names().is_sorted() && elements::property_names().len() > 280);
}

#[test]
fn property_names_that_no_element_has_are_reported() {
    let wrong = "<elementProp name=\"HTTPSampler.Arguments\" elementType=\"Arguments\"/>";
    assert_eq!(
        warnings(wrong, ""),
        [
            "unknown-property no element of JMeter has a property `HTTPSampler.Arguments`: its value is ignored; did you mean \
          `HTTPsampler.Arguments`?"
        ]
    );
    // Names of other families may be those of plugins.
    let right = string("HTTPSampler.path", "/")
        + &string("Mine.path", "/")
        + &string("HTTPSampler.encoded_path", "/");
    assert_eq!(warnings(&right, ""), [""; 0]);
    assert_eq!(
        warnings(&string("HTTPSampler.entirely_new_thing", "/"), "")[0].matches("did you mean").count(),
        0
    );
}

#[test]
fn invalid_booleans_are_reported() {
    let boolean = |text: &str| format!("<boolProp name=\"HTTPSampler.use_keepalive\">{text}</boolProp>");
    let found = warnings(&boolean("&gt;true"), "");
    assert!(found[0].starts_with("no-boolean the value `>true` of `HTTPSampler.use_keepalive`"), "{found:?}");
    for text in ["true", "FALSE", ""] {
        assert_eq!(warnings(&boolean(text), ""), [""; 0], "{text}");
    }
    assert_eq!(warnings(&boolean(" true"), "").len(), 1, "JMeter reads this as false, too");
}

#[test]
fn variables_that_look_like_functions_are_reported() {
    let found = warnings(&string("HTTPSampler.path", "${_BeanShell(1+1)}${__P(a)}${Random(1,2)}"), "");
    let expected = |name: &str, right: &str| {
        format!(
            "misspelt-function `${{{name}(…)}}` is the name of a variable, not a call: it stays as it is; names of functions \
             begin with two underscores: `${{{right}(…)}}`"
        )
    };
    assert_eq!(found, [expected("_BeanShell", "__BeanShell"), expected("Random", "__Random")]);
    let script = "if (a) {x = `${f(1)} in a template`} \\${escaped(1)}";
    assert_eq!(warnings(&string("HTTPSampler.path", &script.replace("${f", "\\${f")), ""), [""; 0]);
}

#[test]
fn undefined_variables_are_reported_once() {
    let argument = "<Arguments testclass=\"Arguments\" testname=\"v\"><collectionProp name=\"Arguments.arguments\">\
        <elementProp name=\"host\" elementType=\"Argument\"><stringProp name=\"Argument.name\">host</stringProp>\
        </elementProp></collectionProp></Arguments><hashTree/>";
    let uses = string("HTTPSampler.domain", "${hots}") + &string("HTTPSampler.path", "/${hots}/${host}");
    assert_eq!(
        warnings(&uses, argument),
        [
            "undefined-variable nothing in the plan defines the variable `hots`: JMeter leaves `${hots}` as it is; define it \
          (User Defined Variables, CSV Data Set, an extractor), or use a property: `${__P(hots)}`"
        ]
    );
    let near = warnings(&string("HTTPSampler.domain", "${hosts}"), argument);
    assert!(near[0].ends_with("did you mean `${host}`?"), "{near:?}");
}

#[test]
fn everything_that_can_define_a_variable_is_considered() {
    let uses = |name: &str| string("HTTPSampler.path", &format!("/${{{name}}}"));
    let element = |class: &str, properties: &str| {
        format!("<{class} testclass=\"{class}\" testname=\"e\">{properties}</{class}><hashTree/>")
    };
    let extractor = element("RegexExtractor", &string("RegexExtractor.refname", "id"));
    for name in [
        "id",
        "id_1",
        "id_g1",
        "id_2_g1",
        "id_matchNr",
        "id_#",
        "JMeterThread.last_sample_ok",
        "__jm__g__idx",
    ] {
        assert_eq!(warnings(&uses(name), &extractor), [""; 0], "{name}");
    }
    assert_eq!(warnings(&uses("other"), &extractor).len(), 1);
    let csv = |names: &str| {
        element("CSVDataSet", &(string("filename", "users.csv") + &string("variableNames", names)))
    };
    assert_eq!(warnings(&uses("user"), &csv("user,password")), [""; 0]);
    assert_eq!(warnings(&uses("user"), &csv("")), [""; 0], "the file names them");
    assert_eq!(warnings(&uses("user"), &csv("name")).len(), 1);
    let function = element("DebugSampler", &string("x", "${__Random(1,9,dice)}"));
    assert_eq!(warnings(&uses("dice"), &function), [""; 0]);
    let script = |text: &str| element("JSR223PreProcessor", &string("script", text));
    assert_eq!(warnings(&uses("token"), &script("vars.put(\"token\", x)")), [""; 0]);
    assert_eq!(warnings(&uses("token"), &script("vars.put(\"other\", x)")).len(), 1);
    assert_eq!(
        warnings(&uses("token"), &script("vars.put(\"tok\" + \"en\", x)")),
        [""; 0],
        "a name put together"
    );
    let file = element("JSR223PreProcessor", &string("filename", "setup.groovy"));
    assert_eq!(warnings(&uses("token"), &file), [""; 0], "a script outside of the plan");
    let listener = element("ResultCollector", &string("filename", "out.jtl"));
    assert_eq!(warnings(&uses("token"), &listener).len(), 1, "its file defines nothing");
}
