use busyhour_diagnostic::Diagnostic;

use super::*;

/// A plan with a thread group that contains these elements and an HTTP request with these properties.
fn plan(properties: &str, elements: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="g"/><hashTree>{elements}
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="s">{properties}</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn options() -> Options {
    Options {
        properties: std::sync::Arc::default(),
        base_dir: std::path::PathBuf::from("no-such-folder"),
        allow_unsupported: false,
        tls: busyhour_http::TlsPolicy::AcceptAny,
        proxy: None,
        request_deadline: None,
        open: None,
    }
}

fn warnings(properties: &str, elements: &str) -> Vec<String> {
    let (plan, findings) = busyhour_plan::parse(plan(properties, elements).as_bytes(), "plan.jmx");
    assert!(findings.iter().all(|found| !found.is_error()), "{findings:?}");
    let text = |found: &Diagnostic| {
        assert!(found.span.is_some(), "{found}");
        format!("{} {}; {}", found.code, found.message, found.hint.clone().unwrap_or_default())
    };
    lint(&plan, &options()).iter().map(text).collect()
}

fn string(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

#[test]
fn property_reads_are_listed_unless_the_plan_computes_property_names() {
    let reads = |path: &str, elements: &str| {
        let (plan, _) =
            busyhour_plan::parse(plan(&string("HTTPSampler.path", path), elements).as_bytes(), "plan.jmx");
        property_reads(&plan).map(|names| names.into_iter().collect::<Vec<_>>().join(" "))
    };
    let known = |names: &str| Some(names.to_owned());
    assert_eq!(reads("/${x}/${__UUID}", ""), known(""));
    assert_eq!(
        reads("/${__P(b, 1)}${__property(a)}${__if(${__GetSecret(c)},true,1,2)}${__isPropDefined(d)}", ""),
        known("a b c d")
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
fn the_property_names_are_sorted() {
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
    // A name with an unknown prefix, such as `Mine.`, may be a property of a plugin.
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
    assert_eq!(warnings(&boolean(" true"), "").len(), 1, "JMeter reads ` true` as false");
}

#[test]
fn variables_that_look_like_functions_are_reported() {
    let found = warnings(&string("HTTPSampler.path", "${_BeanShell(1+1)}${__P(a)}${Random(1,2)}"), "");
    let expected = |name: &str, right: &str| {
        format!(
            "misspelt-function `${{{name}(…)}}` is the name of a variable, not a call: it is left unchanged; names of functions \
             begin with two underscores: `${{{right}(…)}}`"
        )
    };
    assert_eq!(found, [expected("_BeanShell", "__BeanShell"), expected("Random", "__Random")]);
    let script = "if (a) {x = `${f(1)} in a template`} \\${escaped(1)}";
    assert_eq!(warnings(&string("HTTPSampler.path", &script.replace("${f", "\\${f")), ""), [""; 0]);
}

/// The names in the warnings with this code.
fn variables(code: &str, properties: &str, elements: &str) -> String {
    let found = warnings(properties, elements).into_iter().filter(|warning| warning.starts_with(code));
    let name = |warning: String| warning.split('`').nth(1).unwrap_or_default().to_owned();
    found.map(name).collect::<Vec<_>>().join(" ")
}

fn path(text: &str) -> String {
    string("HTTPSampler.path", text)
}

fn element(class: &str, properties: &str) -> String {
    format!("<{class} testclass=\"{class}\" testname=\"e\">{properties}</{class}><hashTree/>")
}

fn regex(name: &str) -> String {
    element("RegexExtractor", &string("RegexExtractor.refname", name))
}

fn script(text: &str) -> String {
    element("JSR223PreProcessor", &string("script", &text.replace('<', "&lt;")))
}

#[test]
fn undefined_variables_are_reported_once() {
    let argument = "<Arguments testclass=\"Arguments\" testname=\"v\"><collectionProp name=\"Arguments.arguments\">\
        <elementProp name=\"host\" elementType=\"Argument\"><stringProp name=\"Argument.name\">host</stringProp>\
        </elementProp></collectionProp></Arguments><hashTree/>";
    let uses = string("HTTPSampler.domain", "${nobody}") + &path("/${nobody}/${host}");
    assert_eq!(
        warnings(&uses, argument),
        [
            "undefined-variable nothing in the plan defines the variable `nobody`: JMeter leaves `${nobody}` unchanged; define it \
          (User Defined Variables, CSV Data Set, an extractor), or use a property: `${__P(nobody)}`"
        ]
    );
    for wrong in ["hosts", "hots"] {
        let near = warnings(&string("HTTPSampler.domain", &format!("${{{wrong}}}")), argument);
        assert!(near[0].ends_with("did you mean `${host}`?"), "{near:?}");
    }
}

#[test]
fn everything_that_can_define_a_variable_is_considered() {
    let undefined =
        |name: &str, elements: &str| variables("undefined", &path(&format!("/${{{name}}}")), elements);
    let extractor = regex("id");
    for name in [
        "id",
        "id_1",
        "id_g1",
        "id_2_g1",
        "id_matchNr",
        "id_#",
        "JMeterThread.last_sample_ok",
        "__jm__g__idx",
        "COOKIE_sid",
    ] {
        assert_eq!(undefined(name, &extractor), "", "{name}");
    }
    assert_eq!(undefined("ids", &extractor), "ids");
    let csv = |names: &str| {
        element("CSVDataSet", &(string("filename", "users.csv") + &string("variableNames", names)))
    };
    assert_eq!(undefined("user", &csv("user,password")), "");
    assert_eq!(undefined("user", &csv("")), "", "the first line of the file may name any variables");
    assert_eq!(undefined("user", &csv("name")), "user");
    for definer in [
        element("CounterConfig", &string("CounterConfig.name", "x")),
        element("RandomVariableConfig", &string("variableName", "x")),
        element("JSONPostProcessor", &string("JSONPostProcessor.referenceNames", "w;x")),
        element("BoundaryExtractor", &string("BoundaryExtractor.refname", "x")),
        element("XPath2Extractor", &string("XPathExtractor2.refname", "x")),
        element("HtmlExtractor", &string("HtmlExtractor.refname", "x")),
        element("ForeachController", &string("ForeachController.returnVal", "x")),
        element("ResultSaver", &string("FileSaver.variablename", "x")),
        element("JDBCSampler", &string("variableNames", "a, x")),
        element("DebugSampler", &string("y", "${__Random(1,9,x)}")),
        element("DebugSampler", &string("y", "${__groovy(vars.put(\"x\"\\, \"1\"))}")),
        element(
            "UserParameters",
            "<collectionProp name=\"UserParameters.names\"><stringProp name=\"1\">x</stringProp></collectionProp>",
        ),
        script("vars.put(\"x\", 1)"),
        // Each of these elements may define any variable.
        script("vars.put(\"tok\" + \"en\", x)"),
        script("fill(vars)"),
        element("JSR223PreProcessor", &string("filename", "setup.groovy")),
        element("DebugSampler", &string("y", "${__eval(${z})}${z}")),
        element("com.example.Own", ""),
        element("IncludeController", ""),
    ] {
        assert!(!undefined("x", &definer).contains('x'), "{definer}");
    }
    for other in [script("vars.put(\"other\", x)"), element("ResultCollector", &string("filename", "x"))] {
        assert_eq!(undefined("x", &other), "x", "{other}");
    }
}

#[test]
fn local_variables_of_scripts_are_not_reported() {
    assert_eq!(
        variables("undefined", "", &script("def n = 1; log.info(\"${n} ${n.x} ${vars} ${prev.label}\")")),
        ""
    );
    assert_eq!(variables("undefined", "", &script("log.info(\"${itmId}\")")), "itmId");
}

#[test]
fn extracted_variables_that_nothing_reads_are_reported() {
    let unused = |text: &str, elements: &str| variables("unused", &path(text), elements);
    assert_eq!(unused("/", &regex("id")), "id");
    assert_eq!(
        unused(
            "/${ids}",
            &element("JSONPostProcessor", &string("JSONPostProcessor.referenceNames", "a;ids;b"))
        ),
        "a b"
    );
    for text in ["/${id}", "/${id_1}", "/${id_matchNr}", "/${id_g2}", "/${__V(id)}", "/${__isVarDefined(id)}"]
    {
        assert_eq!(unused(text, &regex("id")), "", "{text}");
    }
    for reader in [
        script("vars.get('id')"),
        script("vars.entrySet().each {}"),
        element("ForeachController", &string("ForeachController.inputVal", "id")),
        element("ResponseAssertion", &string("Scope.variable", "id")),
        element("DebugSampler", ""),
        element("IfController", &string("IfController.condition", "vars.get(\"id\") != null")),
        element("CookieManager", &string("x", "${__V(${y})}${y}")),
    ] {
        assert_eq!(unused("/", &(regex("id") + &reader)), "", "{reader}");
    }
}

#[test]
fn variables_of_another_group_are_not_visible() {
    let plan = |first: &str, second: &str, around: &str| {
        let group = |elements: &str| {
            format!("<ThreadGroup testclass=\"ThreadGroup\" testname=\"g\"/><hashTree>{elements}</hashTree>")
        };
        format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testclass=\"TestPlan\" testname=\"p\"/><hashTree>{}{}{around}</hashTree>\
             </hashTree></jmeterTestPlan>",
            group(first),
            group(second)
        )
    };
    let found = |first: &str, second: &str, around: &str| {
        let (plan, _) = busyhour_plan::parse(plan(first, second, around).as_bytes(), "plan.jmx");
        let codes = lint(&plan, &options()).iter().map(|found| found.code).collect::<Vec<_>>();
        codes.join(" ")
    };
    let (reads, sets) = (element("HTTPSamplerProxy", &path("/${id}")), regex("id"));
    assert_eq!(found(&reads, &sets, ""), "undefined-variable unused-variable");
    assert_eq!(found(&(sets.clone() + &reads), "", ""), "");
    assert_eq!(found(&reads, "", &sets), "");
    // A module may run any elements.
    assert_eq!(found(&(reads.clone() + &element("ModuleController", "")), &sets, ""), "unused-variable");
    let composes = script("vars.put(n, 1)");
    assert_eq!(
        found(&reads, &composes, ""),
        "undefined-variable",
        "a script cannot set variables of other groups"
    );
}
