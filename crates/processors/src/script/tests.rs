//! Scripted elements, one by one.

use busyhour_program::element::{Assertion as _, Processor as _};
use busyhour_program::result::Retention;
use busyhour_program::sampler::ImmediateSampler as _;
use busyhour_program::symbols::Symbols;
use busyhour_record::Nanos;
use busyhour_script::javascript::Imitated;

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
        forgets: false,
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
        assert_eq!(processor.keep(), Retention::default());
    }
}

#[test]
fn processors_read_the_result() {
    let script = r#"vars.put("code", prev.getResponseDataAsString())"#;
    let processor =
        ScriptProcessor::after(settings(Language::JavaLike(JavaLike::Groovy), script)).expect("supported");
    assert_eq!(processor.keep(), Retention::ALL);
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
    assert_eq!((result.body_text().as_ref(), result.code.as_str(), result.success), ("a1", "200", true));
    assert_eq!((result.label.as_str(), result.body_bytes), ("L", 2));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let groovy = || Language::JavaLike(JavaLike::Groovy);
    let refused = |script: &str| ScriptProcessor::after(settings(groovy(), script)).is_err();
    assert!(refused("import java.util.*; new Foo().bar()"));
    assert!(refused("new Socket('x', 1)"));
    assert!(!refused("vars.put('previous', 'a')"));
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
fn a_beanshell_sampler_sets_its_result_by_names() {
    let mut symbols = Symbols::default();
    let script = "ResponseCode=12; ResponseMessage=\"shoe\"; IsSuccess=false; n = (n == void) ? 1 : n + 1; return \"body\" + n;";
    let mut given = settings(Language::JavaLike(JavaLike::BeanShell), script);
    given.family = Family::BeanShell;
    given.state = symbols.state();
    let sampler = ScriptSampler::new(given).expect("supported");
    let mut user = user(&symbols);
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    let result = &user.result;
    assert_eq!((result.code.as_str(), result.message.as_str(), result.success), ("12", "shoe", false));
    assert_eq!(result.body_text(), "body1");
    // The interpreter remembers.
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    assert_eq!(user.result.body_text(), "body2");
}

#[test]
fn assertions_judge() {
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
fn a_script_that_sleeps_leaves_the_time_to_its_user() {
    let script =
        "def t = System.currentTimeMillis(); Thread.sleep(70); return System.currentTimeMillis() - t";
    let sampler =
        ScriptSampler::new(settings(Language::JavaLike(JavaLike::Groovy), script)).expect("supported");
    let mut user = user(&Symbols::default());
    sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
    assert_eq!((user.result.body_text().as_ref(), user.owed_ns), ("70", 70_000_000));
    assert_eq!(user.result.elapsed_ms(), 70);
}

#[test]
fn names_that_jexl_does_not_see_are_refused_with_their_place() {
    let refused = |script: &str| {
        ScriptProcessor::after(settings(Language::Jexl, script)).err().map(|refusal| format!("{refusal:?}"))
    };
    for name in ["prev", "SampleResult", "sampler", "AssertionResult", "args", "Parameters", "Label", "OUT"] {
        let why = refused(&format!("vars.get('a') == {name}")).expect("refused");
        assert!(why.contains(name) && why.contains("column 18"), "{why}");
    }
    assert_eq!(refused("vars.put('prev', 'args')"), None);
}

fn javascript() -> Language {
    Language::JavaScript(Imitated::Nashorn)
}

#[test]
fn javascript_sees_jmeters_objects() {
    let script = "if (prev.getResponseDataAsString().indexOf('od') >= 0) { prev.setSuccessful(false); prev.responseMessage = 'no'; }
        vars.put('seen', [Label, Parameters, args[1], args.length, prev.responseCode, prev.getTime(), ctx.getThreadNum(),
            sampler.name, ctx.previousResult.isSuccessful()].join());";
    let mut given = settings(javascript(), script);
    given.parameters = Template::literal("x  y");
    let processor = ScriptProcessor::after(given).expect("supported");
    assert_eq!(processor.keep(), Retention::ALL);
    let mut user = user_with_body("body");
    user.result.code = "200".into();
    user.result.success = true;
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("S,x  y,y,2,200,0,0,,false"));
    assert_eq!((user.result.success, user.result.message.as_str()), (false, "no"));
}

#[test]
fn javascript_judges() {
    let script = "if (SampleResult.responseDataAsString.length > 3) { AssertionResult.setFailure(true); AssertionResult.failureMessage = 'long' }";
    let assertion = ScriptAssertion::new(settings(javascript(), script), Template::literal("A"));
    let mut user = user_with_body("body");
    let mut result = std::mem::take(&mut user.result);
    let outcome = assertion.expect("supported").check_and_change(&mut user, &mut result);
    assert_eq!((outcome.failure, outcome.message.as_str()), (true, "long"));
}

#[test]
fn engines_of_javascript_have_texts_of_their_own() {
    let script = r#"typeof vars.get("a") + vars.get("a").replace(".", "-")"#;
    for (imitated, family, expected) in
        [(Imitated::Nashorn, Family::Jsr223, "string1-2.3"), (Imitated::Rhino, Family::Bsf, "object1-2-3")]
    {
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
fn numbers_of_javascript_are_printed_as_it_prints_them() {
    for (script, expected) in [("parseInt('5')", "5"), ("1 + 2", "3"), ("0.5 * 4", "2"), ("1 / 4", "0.25")] {
        let sampler = ScriptSampler::new(settings(javascript(), script)).expect("supported");
        let mut user = user(&Symbols::default());
        sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
        assert_eq!(user.result.body_text(), expected, "{script}");
    }
}

#[test]
fn javascript_uses_classes_that_are_known_here() {
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
fn what_javascript_cannot_have_is_named_with_its_place() {
    for (script, named) in [
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
        let why = ScriptProcessor::after(settings(javascript(), script)).expect_err("refused");
        assert!(format!("{why:?}").contains(named), "{why:?}");
    }
}

#[test]
fn what_javascript_meets_and_cannot_have_is_noted() {
    // The call of the method is only known at run time; catching the error does not help.
    let script = "var name = 'getLogFile'; try { prev[name]() } catch (e) { vars.put('caught', 'yes') }";
    let processor = ScriptProcessor::after(settings(javascript(), script)).expect("not seen before it runs");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.run.stop(), busyhour_program::run::Stop::No, "a lack of the interpreter stops no run");
    let doubts = user.run.script_issues();
    assert!(
        matches!(doubts.as_slice(), [(element, ScriptIssue::Unsupported(_), 1)] if element == "S"),
        "{doubts:?}"
    );
}

fn groovy() -> Language {
    Language::JavaLike(JavaLike::Groovy)
}

#[test]
fn what_the_interpreter_lacks_is_an_exception_and_noted() {
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
fn an_error_of_java_ends_the_user_and_an_exception_does_not() {
    for (script, goes_on) in [
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
        assert_eq!(user.running, goes_on, "{script}");
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
fn objects_among_the_variables_have_their_text() {
    let script = "vars.putObject('num', 5L); def l = [[a: 1]]; vars.putObject('l', l); vars.putObject('none', null); \
                  vars.put('void', null); vars.put('seen', vars.get('num').class.simpleName + vars.num + vars['l'] + \
                  vars.get('void') + vars.entrySet().findAll { it.value == null }.size()); l << 2";
    let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("String5[{a=1}]null2"));
    assert_eq!(user.variables.get("num"), Some("5"));
    assert_eq!(user.variables.get("l"), Some("[{a=1}, 2]"), "changed after it was put there");
    assert_eq!(user.variables.get("void"), None);
}

#[test]
fn properties_that_are_no_texts_are_seen_by_scripts_only() {
    let script = "props.put('number', 5L); props.put('flag', true); \
                  vars.put('seen', '' + (props.get('number') + 1) + props.get('flag') + \
                  props.get('number').class.simpleName + props.getProperty('number'))";
    let processor = ScriptProcessor::after(settings(groovy(), script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("6trueLongnull"));
    assert_eq!(user.run.properties.get("number"), None, "elements and functions do not see it");
    assert!(ScriptProcessor::after(settings(groovy(), "props.put('map', [a: 1])")).is_err());
}

#[test]
fn beanshell_compares_texts_as_objects() {
    let script = "String a = \"x\"; String b = \"x\"; String made = a.substring(0) + \"\"; vars.put(\"kept\", \"x\"); \
                  vars.put(\"seen\", \"\" + (a == b) + (made == a) + made.equals(a) + (vars.get(\"kept\") == \"x\"))";
    let language = Language::JavaLike(JavaLike::BeanShell);
    let processor = ScriptProcessor::after(settings(language, script)).expect("accepted");
    let mut user = user_with_body("body");
    processor.process(&mut user);
    assert_eq!(user.variables.get("seen"), Some("truefalsetruetrue"));
}
