use std::path::PathBuf;
use std::sync::Arc;

use busyhour_http::TlsPolicy;
use busyhour_program::result::Retention;
use busyhour_program::run::JmeterProperties;

use super::compile_plan;
use crate::compiled::Compiled;
use crate::context::Context;
use crate::options::Options;

/// Compiles a plan with one group of these elements, with these properties.
fn compiled(elements: &str, properties: &[(&str, &str)]) -> Compiled {
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><ThreadGroup testname=\"g\">\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"/></ThreadGroup>\
         <hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    let (plan, findings) = busyhour_plan::parse(text.as_bytes(), "plan.jmx");
    assert!(!findings.iter().any(|finding| finding.is_error()), "{findings:?}");
    let known = JmeterProperties::default();
    for (name, value) in properties {
        known.set(name, value);
    }
    let options = Options {
        properties: Arc::new(known),
        base_dir: PathBuf::new(),
        allow_unsupported: false,
        tls: TlsPolicy::AcceptAny,
        proxy: None,
        request_deadline: None,
        open: None,
    };
    let (compiled, diagnostics) = compile_plan(Context::new(&plan, &options));
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.is_error()), "{diagnostics:?}");
    compiled.expect("a program")
}

const HTTP: &str = "<HTTPSamplerProxy testname=\"first\"/><hashTree/>";

fn script(class: &str, text: &str) -> String {
    format!("<{class} testname=\"x\"><stringProp name=\"script\">{text}</stringProp></{class}><hashTree/>")
}

/// The parts of its result that the first sampler retains if it is followed by these elements.
fn first_retention(following: &str) -> Retention {
    compiled(&format!("{HTTP}{following}"), &[]).groups[0].samplers[0].keep
}

const NOTHING: Retention =
    Retention { body: false, response_headers: false, request: false, protocol_detail: false };
const BODY: Retention = Retention { body: true, ..NOTHING };

#[test]
fn parts_of_the_previous_result_that_a_script_reads_are_retained() {
    let sampler = "<HTTPSamplerProxy testname=\"second\"/>";
    for (elements, keep) in [
        (script("JSR223Sampler", "return prev.getResponseDataAsString()"), BODY),
        (
            format!(
                "{sampler}<hashTree>{}</hashTree>",
                script("JSR223PreProcessor", "vars.put('h', prev.responseHeaders)")
            ),
            Retention { response_headers: true, ..NOTHING },
        ),
        (
            format!(
                "{sampler}<hashTree>{}</hashTree>",
                script("JSR223Timer", "return prev.samplerData.size()")
            ),
            Retention { request: true, ..NOTHING },
        ),
        (
            "<GenericController testname=\"${__groovy(prev.getResponseDataAsString())}\"/><hashTree/>"
                .to_owned(),
            BODY,
        ),
        ("<GenericController testname=\"${__regexFunction(a(b),$1$)}\"/><hashTree/>".to_owned(), BODY),
        ("<GenericController testname=\"${__eval(${x})}\"/><hashTree/>".to_owned(), Retention::ALL),
        (format!("{sampler}<hashTree><AnchorModifier testname=\"l\"/><hashTree/></hashTree>"), BODY),
    ] {
        assert_eq!(first_retention(&elements), keep, "{elements}");
    }
}

#[test]
fn method_names_in_comments_texts_and_names_retain_nothing() {
    let sampler = "<HTTPSamplerProxy testname=\"getResponseData\"/>";
    for elements in [
        script("JSR223Sampler", "// prev.getResponseData()\nreturn 'see getResponseData of prev'"),
        script("JSR223Sampler", "return prev.getTime() + ''"),
        format!("{sampler}<hashTree/>"),
        "<GenericController testname=\"${__groovy(prev.getResponseCode())}\"/><hashTree/>".to_owned(),
        // A post-processor reads the result of its own sampler.
        format!(
            "{sampler}<hashTree>{}</hashTree>",
            script("JSR223PostProcessor", "vars.put('a', prev.getResponseDataAsString())")
        ),
        format!(
            "{sampler}<hashTree><AnchorModifier testname=\"l\" enabled=\"false\"/><hashTree/></hashTree>"
        ),
    ] {
        assert_eq!(first_retention(&elements), NOTHING, "{elements}");
    }
}

#[test]
fn the_result_is_retained_for_a_post_processor_of_its_sampler() {
    let post = script("JSR223PostProcessor", "vars.put('a', prev.getResponseDataAsString())");
    let plan = compiled(&format!("<HTTPSamplerProxy testname=\"s\"/><hashTree>{post}</hashTree>"), &[]);
    assert_eq!(plan.groups[0].samplers[0].keep, Retention::ALL);
}

/// Whether the group's own loop and a Loop Controller count their passes.
fn counting(elements: &str, properties: &[(&str, &str)]) -> [bool; 2] {
    let elements = format!("<LoopController testname=\"l\"/><hashTree>{HTTP}{elements}</hashTree>");
    let plan = compiled(&elements, properties);
    let controllers = &plan.groups[0].controllers;
    [0, 1].map(|at| controllers[at].index_slot.is_some())
}

#[test]
fn loops_count_passes_only_where_something_may_read_the_count() {
    let debug = "<DebugSampler testname=\"d\"><boolProp name=\"displayJMeterVariables\">true</boolProp></DebugSampler>\
                 <hashTree/>";
    for (elements, properties) in [
        ("<GenericController testname=\"${__jm__l__idx}\"/><hashTree/>", &[][..]),
        (debug, &[]),
        (&script("JSR223Sampler", "return vars.get('a')"), &[]),
        ("<GenericController testname=\"${__jexl3(vars.get(1))}\"/><hashTree/>", &[]),
        ("", &[("sample_variables", "__jm__l__idx")]),
    ] {
        assert_eq!(counting(elements, properties), [true, true], "{elements} {properties:?}");
    }
    for elements in [
        "<GenericController testname=\"vars and Debug\"/><hashTree/>",
        "<DebugSampler testname=\"d\"/><hashTree/>",
        &script("JSR223Sampler", "return 'a' // vars"),
    ] {
        assert_eq!(counting(elements, &[]), [false, false], "{elements}");
    }
}

#[test]
fn the_branches_of_a_parallel_controller_do_not_count() {
    let parallel = "com.blazemeter.jmeter.controller.ParallelSampler";
    let elements = format!(
        "<{parallel} testname=\"p\"/><hashTree>{HTTP}</hashTree>{}",
        script("JSR223Sampler", "return vars.get('a')")
    );
    let plan = compiled(&elements, &[]);
    let counting = |controller: &_| {
        let controller: &busyhour_program::controller::Controller = controller;
        controller.index_slot.is_some()
    };
    let all: Vec<bool> = plan.groups[0].controllers.iter().map(counting).collect();
    assert_eq!(all, [true, false]);
}
