//! Patterns and texts in which a part is repeated up to a million times. The time for compiling and searching is
//! proportional to their length, or they reach a limit.

use std::ops::ControlFlow;

use busyhour_limits::Limit;
use busyhour_limits::repeated::{COUNTS, COUNTS_UNOPTIMIZED, Repeated, read_counts};
use busyhour_oro::Pattern;

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// Repeated alternatives and groups: patterns, each with a text that it matches unless the pattern is rejected for its length.
const GROUPS: &[(Repeated<'static>, &str)] = &[
    (repeated("", "a|", "b"), "b"),
    (repeated("", "a~|", "b"), "b"),
    (repeated("(?:", "a~|", "b)(?=c)"), "bc"),
    (repeated("", "(a)?", ""), "a"),
    (repeated("", "(?:a)?", "(?=b)"), "ab"),
];

/// Repeated sets and quantifiers.
const ATOMS: &[(Repeated<'static>, &str)] = &[
    (repeated("", "[a-z]*", ""), "a"),
    (repeated("[", "a", "]"), "a"),
    (repeated("[^", "a-c", "]"), "z"),
    (repeated("[", "\\d", "]"), "1"),
    (repeated("", "\\w?", ""), "a"),
    (repeated("[", "[:digit:]", "]"), "1"),
    (repeated("[", "[:", "]"), "["),
    (repeated("[", "[:digit", ":]]"), "1"),
    (repeated("", "a?", ""), "a"),
    (repeated("", "a*", ""), "a"),
    (repeated("a", "?", ""), "a"),
];

/// Repeated anchors, look-ahead, references, flags and escape sequences.
const ANCHORS: &[(Repeated<'static>, &str)] = &[
    (repeated("", "^", "a"), "a"),
    (repeated("a", "$", ""), "a"),
    (repeated("a", "\\b", ""), "a"),
    (repeated("", "(?=a)", "a"), "a"),
    (repeated("", "(?!b)", "a"), "a"),
    (repeated("(a)", "\\1?", ""), "aa"),
    (repeated("", "(?#c)", "a"), "a"),
    (repeated("", "(?i)", "a"), "a"),
    (repeated("", "{", "a"), "a"),
    (repeated("", "a{0,9}", ""), "a"),
    (repeated("", "(?:", "a"), "a"),
    (repeated("", "(", "a"), "a"),
    (repeated("a", ")", ""), "a"),
    (repeated("", "[", "a"), "a"),
    (repeated("", "\\", "a"), "a"),
    (repeated("", "\\Q", "a"), "a"),
    (repeated("", "\\x41?", ""), "A"),
];

/// Without the limit, compiling 100,000 `\w` takes 700 MB.
#[test]
fn patterns_of_too_many_parts_are_rejected() {
    for (part, count) in [("a", (1 << 20) + 1), ("\\w", 10_001), ("[\\d]", 10_001), ("[[:alpha:]]", 10_001)] {
        let error = Pattern::compile(&part.repeat(count)).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("more than")), "{part}");
        assert!(Pattern::compile(&part.repeat(10)).is_ok());
    }
}

fn compile_and_search(patterns: &[(Repeated<'static>, &str)]) {
    for (input, text) in patterns {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, pattern| {
            let Ok(pattern) = Pattern::compile(pattern) else { return };
            if pattern.contains(text).is_err() {
                assert_eq!(
                    busyhour_limits::take_counts(),
                    [(Limit::RegexSteps, 1)],
                    "{count} parts: {input:?}"
                );
            }
            let _ = pattern.matches(text);
            let _ = busyhour_limits::take_counts();
        });
    }
}

#[test]
fn patterns_of_many_groups_are_compiled_or_rejected() {
    compile_and_search(GROUPS);
    for (pattern, text) in [("a|a|b", "b"), ("(?:a0|b)(?=c)", "bc"), ("(a)?(a)?", "a")] {
        assert_eq!(Pattern::compile(pattern).map(|found| found.contains(text)), Ok(Ok(true)), "{pattern}");
    }
}

#[test]
fn patterns_of_many_atoms_are_compiled_or_rejected() {
    compile_and_search(ATOMS);
}

#[test]
fn patterns_of_many_anchors_are_compiled_or_rejected() {
    compile_and_search(ANCHORS);
}

/// A pattern, a repeated text, and the number of matches for a number of repetitions.
type Search = (&'static str, Repeated<'static>, fn(usize) -> usize);

const AB: Repeated<'static> = repeated("", "ab", "");
const LINES: Repeated<'static> = repeated("", "a\n", "");

fn search(cases: &[Search], counts: &[usize]) {
    for (pattern, input, expected) in cases {
        let pattern = Pattern::compile(pattern).expect("a pattern");
        read_counts(std::slice::from_ref(input), counts, |_, count, text| {
            let mut found = 0;
            let searched = pattern.each_match(text, |groups| {
                found += 1;
                assert!(groups.whole().end <= text.len());
                ControlFlow::Continue(())
            });
            let limits = busyhour_limits::take_counts();
            let case = format!("{count} parts: {}", pattern.source());
            match searched {
                Ok(()) => assert_eq!((found, limits), (expected(count), vec![]), "{case}"),
                Err(_) => {
                    assert_eq!(limits, [(Limit::RegexSteps, 1)], "{case}");
                    assert!(count > COUNTS[0], "{case}");
                }
            }
        });
    }
}

#[test]
fn texts_of_many_parts_are_searched_in_linear_time() {
    let cases: &[Search] = &[
        ("a", AB, |count| count),
        ("a*", AB, |count| count + 1),
        ("(a|b)+", AB, |_| 1),
        ("(a*)c", repeated("", "a", ""), |_| 0),
        (".*", LINES, |count| count + 1),
        ("(?s).*x", LINES, |_| 0),
        ("[^x]*x", repeated("", "ä", "x"), |_| 1),
        ("\\bab", repeated("", "ab ", ""), |count| count),
    ];
    search(cases, &COUNTS);
}

/// Patterns with look-ahead, references and `$`. A search that reaches the limit takes several seconds in a build without
/// optimization.
#[test]
fn texts_of_many_parts_are_searched_within_a_limit() {
    let cases: &[Search] = &[
        ("a(?=b)", AB, |count| count),
        ("(a)b\\1", AB, |count| count / 2),
        ("(?:a|b)+(?=c)", AB, |_| 0),
        ("(?:a|aa)*$", repeated("", "a", "\n"), |_| 2),
        ("$", repeated("", "\n", ""), |_| 2),
        ("(?m)$", repeated("", "\n", ""), |count| count + 1),
        ("(?m)^", repeated("", "\n", ""), |count| count),
    ];
    search(cases, &COUNTS_UNOPTIMIZED);
}
