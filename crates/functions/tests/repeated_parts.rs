//! Texts with functions in which one part is repeated up to a million times: parsing and evaluating them takes time proportional to
//! their length, or stops at a limit.

mod generated_parts;

use busyhour_functions::{ProblemKind, parse};
use busyhour_limits::Limit;
use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, counts_at, read_counts,
};
use busyhour_program::symbols::Symbols;
use generated_parts::world::World;

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// Texts, and the length of their value by the number of parts if `v` is `x`.
const TEXTS: &[(Repeated<'static>, fn(usize) -> usize)] = &[
    (repeated("", "${v}", ""), |count| count),
    (repeated("", "${v}-", ""), |count| 2 * count),
    (repeated("", "\\$", "${v}"), |count| count + 1),
    (repeated("", "\\\\", "${v}"), |count| count + 1),
    (repeated("", "$", "{v}"), |count| count),
    (repeated("", "{", "${v}"), |count| count + 1),
    (repeated("${", "(", "}"), |count| count + 3),
    (repeated("${", "a(", "}"), |count| 2 * count + 3),
    (repeated("${a", "\\(", "}"), |count| count + 4),
    (repeated("${a", "}", ""), |count| count + 3),
    (repeated("", "${", ""), |count| 2 * count - 2),
    (repeated("", "${V(${v", "}"), |count| 7 * count + 1),
    (repeated("${__V(v", " ", ")}"), |count| count + 1),
    (repeated("${__V(v)", " ", "}"), |_| 1),
    (repeated("${__longSum(1", ",0", ",1)}"), |_| 1),
    (repeated("${__char(65", ",65", ")}"), |count| count + 1),
    (repeated("${__escapeXml(", "<", ")}"), |count| 4 * count),
    (repeated("${__unescape(", "\\\\t", ")}"), |count| count),
    (repeated("${__unescapeHtml(", "&amp;", ")}"), |count| count),
    (repeated("${__urlencode(", "%", ")}"), |count| 3 * count),
    (repeated("${__urldecode(", "%25", ")}"), |count| count),
    (repeated("${__escapeOroRegexpChars(", "[", ")}"), |count| 2 * count),
    (repeated("${__changeCase(", "a b", ",CAPITALIZE)}"), |count| 3 * count),
    (repeated("${__eval(", "a", ")}"), |count| count),
    (repeated("${__eval(", "\\${v}", ")}"), |count| count),
    (repeated("${__isVarDefined(", "v", ")}"), |_| "false".len()),
    (repeated("${__RandomFromMultipleVars(", "v|", "v)}"), |_| 1),
];

#[test]
fn texts_of_many_parts_take_linear_time() {
    for (index, (input, length)) in TEXTS.iter().enumerate() {
        read_counts(std::slice::from_ref(input), counts_at(index), |input, count, text| {
            let (mut world, templates) = World::compiled(&[text, "${v}"]);
            world.user.variables.set("v", "x");
            let expected = length(count);
            let compiled = world.render(&templates[0]);
            if expected > 0 {
                assert_eq!(compiled.len(), expected, "{count} parts: {input:?} {compiled:.100}");
            }
            assert!(world.evaluate(text) == compiled, "{count} parts: {input:?}");
            assert_eq!(busyhour_limits::take_counts(), [], "{count} parts: {input:?}");
        });
    }
}

/// A regression test: the space before a name was once scanned at each parenthesis.
#[test]
fn parentheses_in_a_name_after_space_take_linear_time() {
    let text = format!("${{{}{}}}", " ".repeat(500_000), "x(".repeat(500_000));
    let (mut world, templates) = World::compiled(&[&text]);
    assert_eq!(world.render(&templates[0]).len(), text.len());
    assert_eq!(world.evaluate(&text).len(), text.len());
}

/// A regression test: each message once quoted the rest of the text, and each line of the log the whole text, which gave terabytes.
#[test]
fn problems_of_a_text_are_limited() {
    let inputs = [
        (ProblemKind::Invalid, repeated("", "${__P()}", "")),
        (ProblemKind::Invalid, repeated("", "${__P(a)x", "")),
        (ProblemKind::Invalid, repeated("", "${__P(a) ${v}", "")),
        (ProblemKind::Unsupported, repeated("", "${__nope(a)}", "")),
        (ProblemKind::FailsSample, repeated("", "${__time(YYYY b)}", "")),
        (ProblemKind::Invalid, repeated("${__P", "(${__P", "")),
    ];
    for (kind, input) in inputs {
        read_counts(&[input], &COUNTS_UNOPTIMIZED, |input, count, text| {
            let problems = parse(text, &mut Symbols::default()).expect_err("a problem");
            assert!(problems.iter().all(|problem| problem.kind == kind), "{input:?}: {:?}", problems[0]);
            assert!(problems.len() <= 100.min(count), "{count} parts: {input:?}");
            assert!(problems.iter().all(|problem| problem.to_string().len() < 1_000), "{input:?}");
            let mut world = World::new();
            // Unknown functions are reported only in texts of the plan.
            if kind != ProblemKind::Unsupported {
                assert_eq!(world.evaluate(text), "");
                assert!(world.log().iter().map(String::len).sum::<usize>() < 100_000);
            }
        });
    }
}

/// A regression test: a call beyond the greatest depth once searched all previous problems.
#[test]
fn calls_that_are_nested_too_deeply_are_one_problem() {
    let inner = "${__P(a)}".repeat(100_000);
    let deep = format!("{}{inner}{}", "${__P(".repeat(51), ")}".repeat(51));
    let text = format!("{}{deep}", "${__P()}".repeat(100_000));
    let problems = parse(&text, &mut Symbols::default()).expect_err("a problem");
    let deep = problems.iter().filter(|problem| problem.kind == ProblemKind::Unsupported).count();
    assert_eq!((problems.len(), deep), (101, 1));
}

#[test]
fn texts_in_texts_are_limited() {
    read_counts(&[repeated("", "${__eval(\\${v})}", "")], &COUNTS_UNOPTIMIZED, |_, count, text| {
        let mut world = World::new();
        world.user.variables.set("v", "x");
        let found = world.evaluate(text).len();
        let limits = busyhour_limits::take_counts();
        if count < COUNTS[1] {
            assert_eq!((found, limits), (count, vec![]));
        } else {
            assert_eq!((found, limits), (9_999, vec![(Limit::FunctionDepth, 1)]));
        }
    });
}

#[test]
fn variables_of_many_parts_are_set() {
    for count in COUNTS {
        let (mut world, templates) = World::compiled(&[
            "${__split(${text},part)}${__V(part_n)}",
            "${__regexFunction(a,$0$,ALL,\\,,none,found,text)}",
            "${__strReplaceRegex(${text},a,bb)}",
            "${__RandomFromMultipleVars(found)}",
        ]);
        let text = "a,".repeat(count);
        world.user.variables.set("text", &text);
        assert!(world.render(&templates[0]).ends_with(&format!("{}", count + 1)));
        assert_eq!(world.user.variables.get(&format!("part_{count}")), Some("a"));
        assert_eq!(world.render(&templates[2]).len(), 3 * count);
        let all = world.render(&templates[1]);
        let limits = busyhour_limits::take_counts();
        if count == COUNTS[2] {
            assert_eq!((all.as_str(), limits), ("", vec![(Limit::MatchBytes, 1)]));
        } else {
            assert_eq!((all.len(), limits), (2 * count - 1, vec![]));
            assert_eq!(world.render(&templates[3]), "null");
        }
    }
}

/// Each match contains up to 5,000 of the following characters, so all matches together are much larger than the text.
#[test]
fn matches_that_overlap_are_limited() {
    let (mut world, templates) = World::compiled(&[
        "${__regexFunction((?=(.{0\\,5000})),$1$,ALL,,none,,text)}",
        "${__strReplaceRegex(${text},(?=(.{0\\,5000})),$1)}",
    ]);
    world.user.variables.set("text", &"a".repeat(1_000_000));
    for (template, limit) in templates.iter().zip([Limit::MatchBytes, Limit::TextBytes]) {
        let found = world.render(template);
        let limits = busyhour_limits::take_counts();
        assert!(found.is_empty(), "{limit:?}");
        assert!(limits == [(limit, 1)] || limits == [(Limit::RegexSteps, 1)], "{limits:?}");
    }
}

#[test]
fn files_of_many_rows_and_columns_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("rows.csv");
    let path = file.display();
    for count in COUNTS {
        for (text, column, expected) in
            [("a,b\n".repeat(count), 1, "b"), (format!("{}z\n", "a,".repeat(count)), count, "z")]
        {
            std::fs::write(&file, text).expect("a file");
            let call = format!("${{__CSVRead({path},{column})}}${{__CSVRead({path},next)}}");
            let (mut world, templates) = World::compiled(&[&call]);
            for _ in 0..3 {
                assert_eq!(world.render(&templates[0]), expected, "{count}");
            }
        }
        std::fs::write(&file, "a\n".repeat(count)).expect("a file");
        let (mut world, templates) = World::compiled(&[
            &format!("${{__FileToString({path})}}"),
            &format!("${{__StringFromFile({path})}}"),
        ]);
        assert_eq!(world.render(&templates[0]).len(), 2 * count);
        assert_eq!(world.render(&templates[1]), "a");
    }
}

/// A short run of the checks of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(19_981_215, 300, |bytes| generated_parts::check(bytes, 2_000));
}
