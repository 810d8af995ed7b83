//! Behaviour of functions that depends on users, time and randomness, and the problems that are reported.

mod world;

use busyhour_functions::{ALLOW_UNSUPPORTED_PROPERTY, parse, supported};
use busyhour_program::run::Stop;
use busyhour_program::symbols::Symbols;
use proptest::prelude::*;
use world::World;

/// The problems of a text, one per line.
fn problems(text: &str) -> String {
    let problems = parse(text, &mut Symbols::default()).expect_err("a problem");
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{:?} at {}: {problem}", problem.kind, problem.offset))
        .collect();
    lines.join("\n")
}

#[test]
fn problems_have_a_message_and_a_hint() {
    insta::assert_snapshot!(problems("a ${__P()} ${__nope(1)}"), @r#"
    Invalid at 2: __P takes 1 to 2 arguments, but the call has 0 (its arguments: property[, default]; a comma inside an argument is written \,)
    Unsupported at 11: the function __nope is not known (it may come from a plugin; JMeter without that plugin sends the text ${__nope(…)} unchanged)
    "#);
    insta::assert_snapshot!(problems("${__p(x)}"), @"Unsupported at 0: the function __p is not known (did you mean __P? Function names are case-sensitive)");
    insta::assert_snapshot!(problems("${__P(a,b,c)}"), @r#"Invalid at 0: __P takes 1 to 2 arguments, but the call has 3 (its arguments: property[, default]; a comma inside an argument is written \,)"#);
    insta::assert_snapshot!(problems("${__V(x_${__Random(1)})}"), @r#"Invalid at 8: __Random takes 2 to 3 arguments, but the call has 1 (its arguments: minimum, maximum[, variable]; a comma inside an argument is written \,)"#);
    insta::assert_snapshot!(problems("${__P(x"), @r#"Invalid at 0: the call of __P is not closed (write ${__P(…)}; a comma inside an argument is written \,)"#);
    insta::assert_snapshot!(problems("${__jexl3(1 +)}"), @"Invalid at 0: __jexl3: expected an expression, found the end (column 4) (JMeter would fail each time it runs the script)");
    insta::assert_snapshot!(problems("${__groovy(new Socket(vars.get('${a}')))}"), @"NeedsJava at 0: __groovy: `new Socket` is not supported (column 5) (the script is checked with 1 in place of each ${…}; with vars.get(…) instead, its exact text is checked)");
    insta::assert_snapshot!(problems("${__Random(6,1)}"), @"Invalid at 0: __Random: the maximum 1 is less than the minimum 6");
    insta::assert_snapshot!(problems("${__time(YYYY-MM-dd b)}"), @"FailsSample at 0: Unable to parse date format YYYY-MM-dd b (Unknown pattern letter: b; patterns are those of Java's DateTimeFormatter)");
    insta::assert_snapshot!(problems("${__time(zzzz)}"), @r#"Unsupported at 0: __time: the date pattern "zzzz": full names of zones are not supported"#);
    insta::assert_snapshot!(problems("${__timeShift(d MMMM yyyy,,P1D,fr_FR,)}"), @r#"Unsupported at 0: __timeShift: the date pattern "d MMMM yyyy": names and weeks of the locale fr_FR are not supported"#);
    insta::assert_snapshot!(problems("${__digest(MD2,x)}"), @r#"Unsupported at 0: __digest: the algorithm "MD2" is not known (MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224 and SHA-512/256 are supported)"#);
    insta::assert_snapshot!(problems("${__intSum(1,2 ,3)}"), @r#"Invalid at 0: __intSum: "2 " is not a whole number in range (only the last argument may have blanks around its number)"#);
}

#[test]
fn a_script_that_jmeter_cannot_parse_fails_when_it_runs() {
    for text in ["${__groovy(1 +)}", "${__BeanShell(x = ;)}"] {
        let mut symbols = Symbols::default();
        assert!(parse(text, &mut symbols).is_ok(), "{text}");
        assert_eq!(symbols.warnings.len(), 1, "{text}: {:?}", symbols.warnings);
        assert!(symbols.warnings[0].contains("JMeter fails"), "{}", symbols.warnings[0]);
    }
    let (mut world, templates) = World::compiled(&["a${__groovy(1 +)}b"]);
    assert_eq!(world.render(&templates[0]), "ab");
    assert!(world.log().join("").contains("__groovy"), "{:?}", world.log());
}

#[test]
fn a_function_with_a_similar_name_is_suggested() {
    insta::assert_snapshot!(problems("${__Radnom(1,2)}"), @"Unsupported at 0: the function __Radnom is not known (did you mean __Random? If __Radnom comes from a plugin: JMeter without that plugin sends the text ${__Radnom(…)} unchanged)");
}

#[test]
fn secrets_are_properties_or_environment_variables() {
    let (mut world, templates) = World::compiled(&[
        "${__GetSecret(key)}",
        "${__GetSecret(PATH)}",
        "a${__GetSecret(none of these)}",
        "${__env(PATH)}",
    ]);
    world.user.run.properties.set("key", "s3cret");
    assert_eq!(world.render(&templates[0]), "s3cret");
    let environment = world.render(&templates[3]);
    assert_eq!(world.render(&templates[1]), environment);
    assert_eq!(
        world.render(&templates[2]),
        "a${__GetSecret(none of these)}",
        "JMeter without the extension of Azure sends the call as text"
    );
    assert!(world.log().join("").contains("neither a property nor"));
}

#[test]
fn a_function_name_that_is_not_called_is_a_variable() {
    let (mut world, templates) = World::compiled(&["${__jm__Loop__idx}", "${__nope}"]);
    world.user.variables.set("__jm__Loop__idx", "3");
    assert_eq!(world.render(&templates[0]), "3");
    assert_eq!(world.render(&templates[1]), "${__nope}");
}

#[test]
fn counters_count_per_user_or_for_all_users() {
    let texts = ["${__counter(TRUE,own)}", "${__counter(FALSE,)}", "${__counter(TRUE)}"];
    let (mut first, templates) = World::compiled(&texts);
    let (mut second, _) = World::compiled(&texts);
    for count in 1..=3 {
        assert_eq!(first.render(&templates[0]), count.to_string());
        assert_eq!(first.user.variables.get("own"), Some(count.to_string().as_str()));
    }
    assert_eq!(second.render(&templates[0]), "1");
    assert_eq!(first.render(&templates[2]), "1");
    assert_eq!(first.render(&templates[1]), "1");
    assert_eq!(second.render(&templates[1]), "2");
}

#[test]
fn functions_read_the_context_of_the_user() {
    let (mut world, templates) =
        World::compiled(&["${__threadNum}|${__threadGroupName}|${__samplerName(s)}|${s}"]);
    world.user.sampler_name.push_str("GET /");
    assert_eq!(world.render(&templates[0]), "3|Group|GET /|GET /");
}

#[test]
fn time_uses_the_clock_of_the_run() {
    let (mut world, templates) =
        World::compiled(&["${__time}", "${__time(,t)}", "${__time(/1000)}", "${__time(SSS)}"]);
    world.user.run.clock.advance(std::time::Duration::from_millis(1));
    assert_eq!(world.render(&templates[0]), "1795299237800");
    assert_eq!(world.render(&templates[1]), "1795299237800");
    assert_eq!(world.user.variables.get("t"), Some("1795299237800"));
    assert_eq!(world.render(&templates[2]), "1795299237");
    assert_eq!(world.render(&templates[3]), "800");
}

#[test]
fn a_named_format_comes_from_its_property() {
    let (mut world, templates) =
        World::compiled(&["${__time(USER1)}", "${__time(USER2)}", "${__time(${own})}"]);
    world.user.run.properties.set("time.USER1", "'own' SSS");
    world.user.variables.set("own", "S");
    assert_eq!(world.render(&templates[0]), "own 799");
    assert_eq!(world.render(&templates[1]), "");
    assert_eq!(world.render(&templates[2]), "7");
    // The format does not change after its first use.
    world.user.variables.set("own", "SS");
    assert_eq!(world.render(&templates[2]), "7");
}

#[test]
fn the_same_seed_gives_the_same_values() {
    let texts = [
        "${__Random(1,1000000)} ${__RandomString(8,abcdef)} ${__UUID} ${__RandomDate(,2020-01-01,2021-01-01,,)}",
    ];
    let draw = |seed| {
        let (mut world, templates) = World::seeded(&texts, seed);
        world.render(&templates[0])
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    insta::assert_snapshot!(draw(7), @"815092 cbacadcd e966f5c5-361c-4411-b357-8e9c775731d5 2020-02-10");
}

#[test]
fn random_values_are_within_their_limits() {
    let (mut world, templates) =
        World::compiled(&["${__Random(-2,2)}", "${__UUID}", "${__RandomString(12)}"]);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        seen.insert(world.render(&templates[0]).parse::<i64>().expect("a number"));
        let uuid = world.render(&templates[1]);
        assert_eq!((uuid.len(), &uuid[14..15], "89ab".contains(&uuid[19..20])), (36, "4", true), "{uuid}");
        assert_eq!(world.render(&templates[2]).encode_utf16().count(), 12);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
}

#[test]
fn a_failure_during_the_run_is_logged_and_gives_an_empty_text() {
    let (mut world, templates) = World::compiled(&["<${__Random(1,${max},r)}>", "<${__intSum(1,${max},s)}>"]);
    assert_eq!(world.render(&templates[0]), "<>");
    assert_eq!(world.render(&templates[1]), "<>");
    assert_eq!(world.user.variables.get("r"), None);
    insta::assert_snapshot!(world.log().join("\n"), @r#"
    Error __Random: "${max}" is not a whole number
    Error __intSum: "${max}" is not a whole number in range
    "#);
}

#[test]
fn a_function_that_jmeter_removed_is_sent_as_text() {
    let (mut world, templates) = World::compiled(&["<${__jexl(1+1)}>", "${__jexl(\"${max}\" == \"a\")}"]);
    world.user.variables.set("max", "7");
    assert_eq!(world.render(&templates[0]), "<${__jexl(1+1)}>");
    assert_eq!(world.render(&templates[1]), "${__jexl(\"${max}\" == \"a\")}");
    assert_eq!(world.user.run.stop(), Stop::No);
}

#[test]
fn an_unsupported_text_built_during_the_run_stops_it() {
    let (mut world, templates) = World::compiled(&["<${__eval(${text})}>", "<${__groovy(${script})}>"]);
    world.user.variables.set("text", "${__groovy(ProcessHandle.current)}");
    world.user.variables.set("script", "new Socket('x').text");
    assert_eq!(world.render(&templates[0]), "<>");
    assert_eq!(world.user.run.stop(), Stop::Graceful);
    world.user.run.clear_stop();
    world.user.run.properties.set(ALLOW_UNSUPPORTED_PROPERTY, "true");
    assert_eq!(world.render(&templates[1]), "<>");
    assert_eq!(world.user.run.stop(), Stop::No);
    insta::assert_snapshot!(world.log().join("\n"), @r#"
    Error in "${__groovy(ProcessHandle.current)}": __groovy: the class or object `ProcessHandle` is not supported (column 1) (only JMeter's own interpreter can run this script)
    Error a text built during the run is not supported, see the line above; the test stops
    Warn __groovy: `new Socket` is not supported (column 5)
    "#);
}

#[test]
fn log_lines_contain_the_thread() {
    let (mut world, templates) =
        World::compiled(&["${__log(a,WARN,,note)}${__logn(b,,why)}${__log(c,ERR)}${__log(d,odd)}"]);
    assert_eq!(world.render(&templates[0]), "acd");
    insta::assert_snapshot!(world.log().join("\n"), @r#"
    Warn Group 1-3 note a
    Info Group 1-3  :  b java.lang.Throwable: why
    Error Group 1-3  :  c
    Debug Group 1-3  :  d
    "#);
}

#[test]
fn files_are_read_and_written() {
    let directory = std::env::temp_dir().join(format!("busyhour-functions-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    let file = directory.join("1.txt").display().to_string();
    let numbered = directory.join("0.txt").display().to_string().replace('\'', "''");
    let numbered = format!("'{}'0.txt", numbered.strip_suffix("0.txt").expect("a file name"));
    let texts = [
        format!("${{__StringToFile({file},one\\\\ntwo,FALSE)}}"),
        format!("${{__StringToFile({file},\\\\nthree)}}"),
        format!("${{__FileToString({file},,content)}}"),
        format!("${{__StringFromFile({file})}}"),
        format!("${{__StringFromFile({numbered},line,1,1)}}"),
        format!("${{__StringToFile({file}/none/x,a)}}"),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (mut world, templates) = World::compiled(&texts);
    assert_eq!(world.render(&templates[0]), "true");
    assert_eq!(world.render(&templates[1]), "true");
    assert_eq!(world.render(&templates[2]), "one\ntwo\nthree");
    assert_eq!(world.user.variables.get("content"), Some("one\ntwo\nthree"));
    for line in ["one", "two", "three", "one"] {
        assert_eq!(world.render(&templates[3]), line);
        assert_eq!(world.user.variables.get("StringFromFile_"), Some(line));
    }
    for line in ["one", "two", "three"] {
        assert_eq!(world.render(&templates[4]), line);
    }
    assert!(world.user.running);
    world.render(&templates[4]);
    assert!(!world.user.running, "the sequence of files has ended");
    assert_eq!(world.render(&templates[5]), "false");
    std::fs::remove_dir_all(&directory).expect("the directory is removed");
}

/// A device may be endless, so functions must not read any. `/dev/null` is empty: only an explicit check can reject it.
#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    for (text, expected) in [
        ("${__FileToString(/dev/null)}", "**ERR**"),
        ("${__StringFromFile(/dev/null)}", "**ERR**"),
        ("${__CSVRead(/dev/null,0)}", ""),
        ("${__XPath(/dev/null,//a)}", ""),
    ] {
        let (mut world, templates) = World::compiled(&[text]);
        assert_eq!(world.render(&templates[0]), expected, "{text}");
        let log = world.log().join("\n");
        assert!(log.contains("/dev/null") && log.contains("it is not a regular file"), "{text}: {log}");
    }
}

#[test]
fn functions_that_evaluate_scripts_and_patterns_are_recorded() {
    for (text, evaluates) in [
        ("${__groovy(1 + 1)}", true),
        ("${__jexl3(1 + 1)}", true),
        ("x${__eval(${a})}", true),
        ("${__uppercase(${__javaScript(1)})}", true),
        ("${__P(a)}${__Random(1,2)}${b}", false),
    ] {
        let mut symbols = Symbols::default();
        busyhour_functions::parse(text, &mut symbols).unwrap();
        assert_eq!(symbols.evaluates, evaluates, "{text}");
    }
}

#[test]
fn plugin_functions_work() {
    let texts = [
        "${__base64Encode(aé?>,e)}|${e}|${__base64Decode(YcOpPz4=)}|${__base64Decode(YcOpPz4)}",
        "${__lowercase(ABÇ)}${__uppercase(abç,u)}${u}|${__strLen(a😀)}|${__MD5(abc)}",
        "${__env(NO_SUCH_VARIABLE_HERE)}|${__env(NO_SUCH_VARIABLE_HERE,v,d)}|${v}|${__iterationNum}",
    ];
    let (mut world, templates) = World::compiled(&texts);
    let values: Vec<String> = templates.iter().map(|template| world.render(template)).collect();
    insta::assert_snapshot!(values.join("\n"), @r#"
    YcOpPz4=|YcOpPz4=|aé?>|aé?>
    abçABÇABÇ|3|900150983cd24fb0d6963f7d28e17f72
    NO_SUCH_VARIABLE_HERE|d|d|0
    "#);
}

#[test]
fn supported_functions_have_unique_names_and_descriptions() {
    let mut names: Vec<&str> = supported().iter().map(|info| info.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), supported().len());
    for info in supported() {
        assert!(info.name.starts_with("__") && !info.description.is_empty(), "{info:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected(text in r"[a-c$\\{}(),_ PVx1]{0,40}|\PC{0,20}") {
        if let Ok(template) = parse(&text, &mut Symbols::default()) {
            prop_assert_eq!(template.source(), text.as_str());
        }
        World::new().evaluate(&text);
    }

    #[test]
    fn escaped_text_is_unchanged(text in r"[a-c$\\{}(),_ ]{0,40}") {
        let escaped = text.replace('\\', r"\\").replace('$', r"\$").replace(',', r"\,");
        prop_assert_eq!(World::new().evaluate(&escaped), text);
    }

    #[test]
    fn every_function_accepts_or_rejects_any_arguments(
        index in 0..supported().len(),
        arguments in proptest::collection::vec(r"[0-9a-z/.,:%&;#-]{0,6}|\PC{0,3}", 0..6),
    ) {
        // Functions that access files are excluded, because random arguments could name any file.
        let name = supported()[index].name;
        prop_assume!(!name.contains("File"));
        let arguments: Vec<String> = arguments.iter().map(|text| text.replace('\\', "").replace(',', r"\,").replace(['$', '(', ')', '{', '}'], "")).collect();
        World::new().evaluate(&format!("${{{name}({})}}", arguments.join(",")));
    }
}

#[test]
fn functions_nest_up_to_a_limit() {
    for count in [10, 50, 51, 1_000, 100_000] {
        let text = format!("{}x{}", "${__eval(".repeat(count), ")}".repeat(count));
        match parse(&text, &mut Symbols::default()) {
            Ok(_) => assert!(count <= 50, "{count}"),
            Err(problems) => {
                assert!(count > 50, "{count}: {problems:?}");
                assert_eq!(problems.len(), 1);
                assert!(problems[0].message.contains("nested deeper than 50"), "{}", problems[0].message);
            }
        }
    }
}

#[test]
fn a_random_text_beyond_the_length_limit_is_empty() {
    let (mut world, templates) =
        World::compiled(&["a${__RandomString(2147483647)}${__RandomString(2147483647,xy)}b"]);
    assert_eq!(templates[0].text(&mut world.user), "ab");
    assert_eq!(busyhour_limits::take_counts(), [(busyhour_limits::Limit::TextBytes, 2)]);
}

#[test]
fn a_text_that_evaluates_itself_is_limited() {
    let (mut world, templates) = World::compiled(&["${__evalVar(v)}"]);
    world.user.variables.set("v", "a${__evalVar(v)}");
    let text = templates[0].text(&mut world.user).into_owned();
    assert_eq!(text, "a".repeat(50));
    assert_eq!(busyhour_limits::take_counts(), [(busyhour_limits::Limit::FunctionDepth, 1)]);
    world.user.variables.set("v", "${__evalVar(v)}${__evalVar(v)}");
    assert_eq!(templates[0].text(&mut world.user), "");
    assert_eq!(busyhour_limits::take_counts(), [(busyhour_limits::Limit::FunctionDepth, 1)]);
    // The next text starts with new limits.
    world.user.variables.set("v", "${__eval(1)}");
    assert_eq!(templates[0].text(&mut world.user), "1");
}
