//! Scripts with repeated, generated parts: compiling them terminates.

mod generated_parts;

use busyhour_limits::repeated::check_generated;
use busyhour_script::{java_like, javascript, jexl};

/// A brief run of the check of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_compiled_or_rejected() {
    check_generated(20_030_829, 400, |bytes| generated_parts::check(bytes, 2_000));
}

/// The time for each of these parts once grew with the square of their number.
#[test]
fn many_different_names_are_compiled_in_linear_time() {
    let parts =
        ["a~();", "a~ = 1;", "A~.b();", "\"$a~\";", "int a~;", "switch (a~) { case 1: b; }\n", "return a~;"];
    for part in parts {
        let text: String = (0..50_000).map(|at| part.replace('~', &at.to_string())).collect();
        for language in [java_like::JavaLike::Groovy, java_like::JavaLike::BeanShell] {
            assert!(java_like::compile(&text, language).is_ok(), "{part} in {language:?}");
        }
        let _ = jexl::compile(&text, jexl::Version::Three);
        let _ = javascript::compile(&text);
    }
}

#[test]
fn classes_and_their_members_are_limited() {
    let error = |text: String| {
        let compiled = java_like::compile(&text, java_like::JavaLike::Groovy);
        compiled.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let classes = |count| (0..count).map(|at| format!("class C{at} {{ int a }}\n")).collect::<String>();
    assert_eq!(error(classes(1_000)), "");
    assert_eq!(
        error(classes(100_000)),
        "a script with so many classes is not supported (line 1001, column 7)"
    );
    let below = |count| {
        let first = "class C0 { }\n".to_owned();
        first + &(1..count).map(|at| format!("class C{at} extends C{} {{ }}\n", at - 1)).collect::<String>()
    };
    assert_eq!(error(below(100)), "");
    assert_eq!(
        error(below(900)),
        "a class with more than 100 supertypes is not supported (line 102, column 25)"
    );
    let fields =
        |count| format!("class A {{ {} }}", (0..count).map(|at| format!("int a{at};")).collect::<String>());
    assert_eq!(error(fields(10_000)), "");
    assert!(
        error(fields(100_000)).starts_with("a class with more than 10000 fields or methods is not supported")
    );
}
