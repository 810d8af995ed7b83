use busyhour_program::element::{Assertion as _, Processor as _};
use busyhour_program::result::Retention;
use busyhour_program::sampler::ImmediateSampler as _;
use busyhour_program::symbols::Symbols;
use busyhour_sample::Nanos;
use busyhour_script::javascript::ImitatedEngine;

use super::*;
use crate::testing::{user, user_with_body};

fn settings(language: Language, script: &str) -> ScriptSettings {
    ScriptSettings {
        name: "S".into(),
        language,
        script: Template::literal(script),
        parameters: Template::default(),
        filename: Template::default(),
        family: Family::Jsr223,
        resets_interpreter: false,
        caches: false,
        base_dir: PathBuf::new(),
        state: StateId(0),
    }
}

#[test]
fn processors_set_variables() {
    for language in [Language::JavaLike(JavaLike::Groovy), Language::JavaLike(JavaLike::BeanShell)] {
        let script = r#"vars.put("x", vars.get("y") + "!");"#;
        let processor = ScriptProcessor::before(settings(language, script)).expect("supported");
        let mut user = user(&Symbols::default());
        user.variables.set("y", "1");
        processor.process(&mut user);
        assert_eq!(user.variables.get("x"), Some("1!"));
        assert_eq!(processor.retention(), Retention::default());
    }
}

#[test]
fn processors_read_the_result() {
    let script = r#"vars.put("code", prev.getResponseDataAsString())"#;
    let processor =
        ScriptProcessor::after(settings(Language::JavaLike(JavaLike::Groovy), script)).expect("supported");
    assert_eq!(processor.retention(), Retention::ALL);
    let mut before = user(&Symbols::default());
    processor.process(&mut before);
    assert_eq!(before.variables.get("code"), None);
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("code"), Some("body"));
}

#[test]
fn samplers_return_their_body() {
    let sampler = ScriptSampler::new(settings(Language::JavaLike(JavaLike::Groovy), r#"return "a" + 1"#))
        .expect("supported");
    let mut user = user(&Symbols::default());
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    let result = &user.result;
    assert_eq!(
        (result.body_text().as_ref(), result.outcome.code.as_str(), result.outcome.success),
        ("a1", "200", true)
    );
    assert_eq!((result.label.as_str(), result.sizes.body_bytes), ("L", 2));
}

#[test]
fn unsupported_scripts_and_languages_are_refused() {
    let groovy = || Language::JavaLike(JavaLike::Groovy);
    let is_refused = |script: &str| ScriptProcessor::after(settings(groovy(), script)).is_err();
    assert!(is_refused("import java.util.*; new Foo().bar()"));
    assert!(is_refused("new Socket('x', 1)"));
    assert!(!is_refused("vars.put('previous', 'a')"));
    let mut with_file = settings(groovy(), "");
    with_file.filename = Template::literal("x.groovy");
    assert!(ScriptProcessor::after(with_file).is_err());
    assert!(language_of("jython", Family::Jsr223).is_err());
    assert!(language_of("rhino", Family::Jsr223).is_err());
    assert!(language_of("jython", Family::Bsf).is_err());
    assert_eq!(
        language_of("JavaScript", Family::Bsf).expect("unknown"),
        Language::Missing("JavaScript".into())
    );
    let java = language_of("java", Family::Jsr223).expect("BeanShell");
    assert_eq!(java, Language::JavaLike(JavaLike::BeanShell));
    assert_eq!(language_of("", Family::Jsr223).expect("Groovy"), groovy());
    assert_eq!(language_of("", Family::Bsf).expect("an error at run time"), Language::Missing(String::new()));
}

#[test]
fn parameters_and_names_are_bound() {
    let script = "vars.put('a', args[1] + args.length + Label + Parameters)";
    let mut given = settings(Language::JavaLike(JavaLike::Groovy), script);
    given.parameters = Template::literal("x  y");
    let processor = ScriptProcessor::before(given).expect("supported");
    let mut user = user(&Symbols::default());
    processor.process(&mut user);
    assert_eq!(user.variables.get("a"), Some("y2Sx  y"));
}

#[test]
fn a_beanshell_sampler_sets_its_result_by_variables() {
    let mut symbols = Symbols::default();
    let script = "ResponseCode=12; ResponseMessage=\"shoe\"; IsSuccess=false; n = (n == void) ? 1 : n + 1; return \"body\" + n;";
    let mut given = settings(Language::JavaLike(JavaLike::BeanShell), script);
    given.family = Family::BeanShell;
    given.state = symbols.state();
    let sampler = ScriptSampler::new(given).expect("supported");
    let mut user = user(&symbols);
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    let result = &user.result;
    assert_eq!(
        (result.outcome.code.as_str(), result.outcome.message.as_str(), result.outcome.success),
        ("12", "shoe", false)
    );
    assert_eq!(result.body_text(), "body1");
    // The interpreter retains its variables.
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    assert_eq!(user.result.body_text(), "body2");
}

#[test]
fn groovy_assertions_set_the_outcome() {
    let mut given = settings(
        Language::JavaLike(JavaLike::Groovy),
        "if (SampleResult.responseDataAsString != 'x') { AssertionResult.setFailure(true); AssertionResult.failureMessage = 'no x' }; prev.setSampleLabel('new')",
    );
    given.family = Family::Jsr223;
    let assertion = ScriptAssertion::new(given, Template::literal("A")).expect("supported");
    let mut user = user_with_body("body");
    let mut result = std::mem::take(&mut user.result);
    let outcome = assertion.check_and_change(&mut user, &mut result);
    assert_eq!((outcome.failure, outcome.message.as_str()), (true, "no x"));
    assert_eq!(result.label, "new");
}

#[test]
fn the_user_waits_after_a_script_that_sleeps() {
    let script =
        "def t = System.currentTimeMillis(); Thread.sleep(70); return System.currentTimeMillis() - t";
    let sampler =
        ScriptSampler::new(settings(Language::JavaLike(JavaLike::Groovy), script)).expect("supported");
    let mut user = user(&Symbols::default());
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    assert_eq!((user.result.body_text().as_ref(), user.requested_sleep_ns), ("70", 70_000_000));
    assert_eq!(user.result.elapsed_ms(), 70);
}

#[test]
fn unbound_names_in_jexl_are_refused_with_their_position() {
    let refusal_text = |script: &str| {
        ScriptProcessor::after(settings(Language::Jexl, script)).err().map(|refusal| format!("{refusal:?}"))
    };
    for name in ["prev", "SampleResult", "sampler", "AssertionResult", "args", "Parameters", "Label", "OUT"] {
        let text = refusal_text(&format!("vars.get('a') == {name}")).expect("refused");
        assert!(text.contains(name) && text.contains("column 18"), "{text}");
    }
    assert_eq!(refusal_text("vars.put('prev', 'args')"), None);
}

fn javascript() -> Language {
    Language::JavaScript(ImitatedEngine::Nashorn)
}

#[test]
fn javascript_can_access_jmeters_objects() {
    let script = "if (prev.getResponseDataAsString().indexOf('od') >= 0) { prev.setSuccessful(false); prev.responseMessage = 'no'; }
        vars.put('seen', [Label, Parameters, args[1], args.length, prev.responseCode, prev.getTime(), ctx.getThreadNum(),
            sampler.name, ctx.previousResult.isSuccessful()].join());";
    let mut given = settings(javascript(), script);
    given.parameters = Template::literal("x  y");
    let processor = ScriptProcessor::after(given).expect("supported");
    assert_eq!(processor.retention(), Retention::ALL);
    let mut user = user_with_body("body");
    user.result.outcome.code = "200".into();
    user.result.outcome.success = true;
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("S,x  y,y,2,200,0,0,,false"));
    assert_eq!((user.result.outcome.success, user.result.outcome.message.as_str()), (false, "no"));
}

#[test]
fn javascript_assertions_set_the_outcome() {
    let script = "if (SampleResult.responseDataAsString.length > 3) { AssertionResult.setFailure(true); AssertionResult.failureMessage = 'long' }";
    let assertion = ScriptAssertion::new(settings(javascript(), script), Template::literal("A"));
    let mut user = user_with_body("body");
    let mut result = std::mem::take(&mut user.result);
    let outcome = assertion.expect("supported").check_and_change(&mut user, &mut result);
    assert_eq!((outcome.failure, outcome.message.as_str()), (true, "long"));
}

#[test]
fn the_type_of_text_depends_on_the_javascript_engine() {
    let script = r#"typeof vars.get("a") + vars.get("a").replace(".", "-")"#;
    for (imitated, family, expected) in [
        (ImitatedEngine::Nashorn, Family::Jsr223, "string1-2.3"),
        (ImitatedEngine::Rhino, Family::Bsf, "object1-2-3"),
    ] {
        let mut given = settings(Language::JavaScript(imitated), script);
        given.family = family;
        let sampler = ScriptSampler::new(given).expect("supported");
        let mut user = user(&Symbols::default());
        user.variables.set("a", "1.2.3");
        sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
        assert_eq!(user.result.body_text(), expected, "{:?}", user.result);
    }
}

#[test]
fn numbers_have_the_format_of_javascript() {
    for (script, expected) in [("parseInt('5')", "5"), ("1 + 2", "3"), ("0.5 * 4", "2"), ("1 / 4", "0.25")] {
        let sampler = ScriptSampler::new(settings(javascript(), script)).expect("supported");
        let mut user = user(&Symbols::default());
        sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
        assert_eq!(user.result.body_text(), expected, "{script}");
    }
}

#[test]
fn javascript_can_use_supported_java_classes() {
    let script = r#"var f = new java.text.SimpleDateFormat("yyyy-MM-dd"); f.setTimeZone(java.util.TimeZone.getTimeZone("UTC"));
        var list = new java.util.ArrayList(); list.add("a"); list.add("b");
        var System = Java.type("java.lang.System");
        f.format(new java.util.Date(0)) + list.size() + list.get(1) + list + (System.currentTimeMillis() > 0)
            + java.util.UUID.randomUUID().toString().length()"#;
    let sampler = ScriptSampler::new(settings(javascript(), script)).expect("supported");
    let mut user = user(&Symbols::default());
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    assert_eq!(user.result.body_text(), "1970-01-012b[a, b]true36", "{:?}", user.result);
}

#[test]
fn unsupported_javascript_is_refused_with_its_position() {
    for (script, message) in [
        (
            "1;\nvar s = new java.net.Socket('x', 1)",
            "`java.net.Socket` in JavaScript is not supported (line 2",
        ),
        ("prev.frobnicate()", "the method `frobnicate` is not supported (column 6)"),
        ("var a = 1;\nlet b = 2", "`let` in JavaScript is not supported (line 2, column 1)"),
        ("[1].map(x => x)", "`=>` in JavaScript"),
        ("Java.type('java.net.Socket')", "the class `java.net.Socket`"),
        ("importPackage(java.util)", "`importPackage` in JavaScript"),
    ] {
        let refusal = ScriptProcessor::after(settings(javascript(), script)).expect_err("refused");
        assert!(format!("{refusal:?}").contains(message), "{refusal:?}");
    }
}

#[test]
fn unsupported_operations_of_javascript_are_recorded() {
    // The called method is known only at run time. The operation is recorded even if the script catches the error.
    let script = "var name = 'getLogFile'; try { prev[name]() } catch (e) { vars.put('caught', 'yes') }";
    let processor = ScriptProcessor::after(settings(javascript(), script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.run.stop(), busyhour_program::run::Stop::No, "the run continues");
    let issues = user.run.script_issues();
    assert!(
        matches!(issues.as_slice(), [(element, ScriptIssue::Unsupported(_), 1)] if element == "S"),
        "{issues:?}"
    );
}

fn groovy() -> Language {
    Language::JavaLike(JavaLike::Groovy)
}

#[test]
fn an_unsupported_operation_throws_and_is_recorded() {
    // Groovy has `stripMargin` with a character, and the type of `x` is not known before the script runs.
    let script =
        "def x = vars.get('y'); try { x.stripMargin('#') } catch (Exception e) { vars.put('caught', 'yes') }";
    let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
    let mut user = user_with_body("body");
    user.variables.set("y", "text");
    processor.process(&mut user);
    assert_eq!(user.variables.get("caught"), Some("yes"));
    assert_eq!(user.run.stop(), busyhour_program::run::Stop::No);
    assert_eq!(user.run.script_issues().len(), 1);
}

#[test]
fn a_java_error_ends_the_user_and_an_exception_does_not() {
    for (script, continues) in [
        ("5L - vars.get('gone')", true),
        ("[1, 2].toUpperCase()", true),
        ("throw new IllegalStateException('x')", true),
        ("throw new Error('x')", false),
        ("assert 1 == 2", false),
        ("def f; f = { f() }; f()", false),
    ] {
        let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
        let mut user = user_with_body("body");
        processor.process(&mut user);
        assert_eq!(user.running, continues, "{script}");
        assert_eq!(user.run.stop(), busyhour_program::run::Stop::No, "{script}");
    }
}

#[test]
fn a_cached_script_keeps_the_text_of_its_first_run() {
    for (caches, expected) in [(true, "1 1"), (false, "1 2")] {
        let mut symbols = Symbols::default();
        let (slot, state) = (symbols.slot("n"), symbols.state());
        let mut user = user(&symbols);
        let script = Template::new(
            "vars.put('seen', vars.get('seen') + '${n}')",
            vec![
                Segment::Text("vars.put('seen', (vars.get('seen') ?: '') + '".into()),
                Segment::Variable(slot),
                Segment::Text(" ')".into()),
            ],
        );
        let settings = ScriptSettings { script, caches, state, ..settings(groovy(), "") };
        let processor = ScriptProcessor::before(settings).expect("accepted");
        for value in ["1", "2"] {
            user.variables.set("n", value);
            processor.process(&mut user);
        }
        assert_eq!(user.variables.get("seen").map(str::trim), Some(expected));
        assert_eq!(user.run.script_issues().len(), usize::from(caches));
    }
}

#[test]
fn objects_in_variables_are_read_as_text() {
    let script = "vars.putObject('num', 5L); def l = [[a: 1]]; vars.putObject('l', l); vars.putObject('none', null); \
                  vars.put('void', null); vars.put('seen', vars.get('num').class.simpleName + vars.num + vars['l'] + \
                  vars.get('void') + vars.entrySet().findAll { it.value == null }.size()); l << 2";
    let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("String5[{a=1}]null2"));
    assert_eq!(user.variables.get("num"), Some("5"));
    assert_eq!(user.variables.get("l"), Some("[{a=1}, 2]"), "the list was changed after it was stored");
    assert_eq!(user.variables.get("void"), None);
}

#[test]
fn only_scripts_can_read_properties_that_are_not_text() {
    let script = "props.put('number', 5L); props.put('flag', true); \
                  vars.put('seen', '' + (props.get('number') + 1) + props.get('flag') + \
                  props.get('number').class.simpleName + props.getProperty('number'))";
    let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("6trueLongnull"));
    assert_eq!(user.run.properties.get("number"), None, "elements and functions cannot read this property");
    assert!(ScriptProcessor::after(settings(groovy(), "props.put('map', [a: 1])")).is_err());
}

#[test]
fn beanshell_compares_strings_by_identity() {
    let script = "String a = \"x\"; String b = \"x\"; String made = a.substring(0) + \"\"; vars.put(\"kept\", \"x\"); \
                  vars.put(\"seen\", \"\" + (a == b) + (made == a) + made.equals(a) + (vars.get(\"kept\") == \"x\"))";
    let language = Language::JavaLike(JavaLike::BeanShell);
    let processor = ScriptProcessor::after(settings(language, script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("truefalsetruetrue"));
}
