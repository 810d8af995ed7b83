use std::ops::ControlFlow;

use super::*;

/// The results in the notation of the recordings: `t` or `f` for `matches` and for `contains`, and all matches with their groups
/// as `<group 0|group 1|…>`.
fn outcome(pattern: &str, text: &str) -> String {
    let pattern = match Pattern::compile(pattern) {
        Ok(pattern) => pattern,
        Err(PatternError::Malformed(why)) => return format!("malformed: {why}"),
        Err(PatternError::Unsupported(_)) => return "unsupported".to_owned(),
    };
    let mut all = String::new();
    pattern
        .each_match(text, |groups| {
            let groups: Vec<&str> =
                (0..=pattern.groups()).map(|group| groups.get(group).unwrap_or("null")).collect();
            all.push_str(&format!("<{}>", groups.join("|")));
            ControlFlow::Continue(())
        })
        .expect("few steps");
    let flag = |flag: Result<bool, SearchLimit>| if flag == Ok(true) { 't' } else { 'f' };
    format!("{}{}{all}", flag(pattern.matches(text)), flag(pattern.contains(text)))
}

#[test]
fn matches_are_the_same_as_in_oro() {
    // Recorded from ORO 2.0.8 with JMeter's options.
    let recorded = [
        ("a*", "baac", "ft<><aa><>"),
        ("a|ab", "ab", "ft<a>"),
        ("foo|foot", "foot", "ft<foo>"),
        ("^b", "a\nb", "ff"),
        ("a$", "a\n", "ft<a>"),
        ("a$", "a\nb", "ff"),
        (r"a\Z", "a\n", "ft<a>"),
        (r"a\z", "a", "ff"),
        (".", "\n", "ff"),
        (".", "\r", "tt<\r>"),
        ("(?m)^b", "a\nb", "ft<b>"),
        ("(?m)a$", "a\nb", "ft<a>"),
        ("(?s).", "\n", "tt<\n>"),
        (r#"{"id":"(.+?)"}"#, r#"{"id":"12"}"#, r#"tt<{"id":"12"}|12>"#),
        ("{3}", "{3}", "tt<{3}>"),
        ("a{,3}", "a{,3}", "tt<a{,3}>"),
        ("a{2}", "aaaaa", "ft<aa><aa>"),
        ("a{2,}", "aaaaa", "tt<aaaaa>"),
        ("a{2", "a{2", "tt<a{2>"),
        ("x{a}", "x{a}", "tt<x{a}>"),
        ("]", "]", "tt<]>"),
        ("}", "}", "tt<}>"),
        ("[]a]", "]", "tt<]>"),
        ("[^]a]", "]b", "ft<b>"),
        ("[[]", "[", "tt<[>"),
        ("[a&&b]", "&", "tt<&>"),
        (r"[\w.-]+", "a.b-c", "tt<a.b-c>"),
        (r"[\d-z]+", "1-z", "tt<1-z>"),
        ("[[:alpha:]]+", "abc1", "ft<abc>"),
        ("[[:^alpha:]]+", "abc1", "ft<1>"),
        ("[:alpha:]+", "alp:", "tt<alp:>"),
        (r"[\b]", "\x08", "tt<\x08>"),
        (r"\Qa.b\E", "Qa.bE", "tt<Qa.bE>"),
        (r"\u0041", "u0041", "tt<u0041>"),
        (r"\p{L}", "p{L}", "tt<p{L}>"),
        (r"\x41", "A", "tt<A>"),
        (r"\x4", "\x04", "tt<\x04>"),
        (r"\cA", "\x01", "tt<\x01>"),
        (r"\e\a", "\x1b\x07", "tt<\x1b\x07>"),
        (r"\012", "\n", "tt<\n>"),
        (r"(a)\1", "aa", "tt<aa|a>"),
        (r"\s", "\u{a0}", "ff"),
        (r"\s", "\u{2003}", "tt<\u{2003}>"),
        (r"\s", "\x0b", "tt<\x0b>"),
        (r"\s", "\x1c", "tt<\x1c>"),
        (r"\s", "\u{85}", "ff"),
        (r"\w", "é", "tt<é>"),
        (r"\w", "\u{301}", "ff"),
        (r"\d", "\u{661}", "tt<\u{661}>"),
        (r"\w", "\u{203f}", "ff"),
        (r"\w", "\u{2160}", "ff"),
        (r"[^\w]", "é", "ff"),
        (r"[\S\s]+", "a b", "tt<a b>"),
        ("(?i)ABC", "abc", "tt<abc>"),
        ("(?i)[A-Z]+", "abc", "tt<abc>"),
        ("(?i)[^a]", "A", "ff"),
        ("ABC(?i)DEF", "abcdef", "tt<abcdef>"),
        ("a(?s).b", "a\nb", "tt<a\nb>"),
        ("x.(?s)y.", "x\ny\n", "tt<x\ny\n>"),
        ("(?im)^b", "a\nB", "ft<B>"),
        ("(?=a)a", "a", "tt<a>"),
        ("a(?!b)", "ac", "ft<a>"),
        ("(?#x)a", "a", "tt<a>"),
        ("()", "x", "ft<|><|>"),
        ("(a|)b", "b", "tt<b|>"),
        ("(?:a|b)*c", "abc", "tt<abc>"),
        ("(a)|(b)", "b", "tt<b|null|b>"),
        (r"\bfoo\b", "a foo b", "ft<foo>"),
        (r"\Bo", "foo", "ft<o><o>"),
        ("$", "x\n", "ft<><>"),
        ("", "abc", "ft<><><><>"),
        ("x*", "abc", "ft<><><><>"),
        ("(?m)^", "a\nb\n", "ft<><>"),
        ("(?m)$", "a\nb\n", "ft<><><>"),
        ("a{2,3}?", "aaaa", "ft<aa><aa>"),
        (r#"\-\/\:\""#, "-/:\"", "tt<-/:\">"),
        (r"\<a\>", "<a>", "tt<<a>>"),
        ("[a-]", "-", "tt<->"),
        ("[-a]", "-", "tt<->"),
        (r"[a\]b]", "]", "tt<]>"),
        (r#"[^"]+"#, "ab\"c", "ft<ab><c>"),
        (r"\v", "\x0b", "ff"),
        (r"[\e\n\t\x41\012]+", "\x1b\n\tA\n", "tt<\x1b\n\tA\n>"),
        ("[[.a.]]", "a]", "tt<a]>"),
        ("((?:a)*)b", "aab", "tt<aab|aa>"),
        ("(?g)(?o)a(?)", "a", "tt<a>"),
        ("x{1,}?y", "xxy", "tt<xxy>"),
    ];
    for (pattern, text, expected) in recorded {
        assert_eq!(outcome(pattern, text), expected, "{pattern} on {text:?}");
    }
}

#[test]
fn malformed_patterns_have_oros_messages() {
    for (pattern, expected) in [
        ("a{1,2}{2}", "Nested repetitions *?+ in expression"),
        ("a++", "Nested repetitions *?+ in expression"),
        (r"[a-\d]+", "Invalid [] range in expression."),
        ("[b-a]", "Invalid [] range in expression."),
        (r"\1", "Invalid backreference: \\1"),
        ("(?i:abc)", "Sequence (?:...) not recognized"),
        ("(?<=a)b", "Sequence (?<...) not recognized"),
        ("(?P<n>a)", "Sequence (?P...) not recognized"),
        ("(?", "Sequence (??...) not recognized"),
        ("*a", "?+* follows nothing in expression"),
        ("a|*", "?+* follows nothing in expression"),
        ("(a", "Unmatched parentheses."),
        ("a)", "Unmatched parentheses."),
        ("(?:", "Unmatched parentheses."),
        ("[a", "Unmatched [] in expression."),
        ("a\\", "Trailing \\ in expression."),
        ("a{3,2}", "Invalid interval {3,2}"),
    ] {
        assert_eq!(outcome(pattern, ""), format!("malformed: {expected}"), "{pattern}");
    }
}

#[test]
fn patterns_that_may_match_differently_are_rejected() {
    for pattern in ["(?x)a b", r"\Ga", "^*", r"\b+", "(?-i)a", r"\10", "[[:punct:]]", r"\x{41}y{", "a{70000}"]
    {
        let refused = outcome(pattern, "") == "unsupported";
        assert!(refused || pattern.starts_with(r"\x"), "{pattern}");
    }
    for pattern in ["(?:(a)|b)*", "(a*)+", "(a?)*x", ".*?", "a||b", "(.*)*(.*)*x", "(a*?)*?b"] {
        assert!(
            Pattern::compile(pattern)
                .expect("the pattern is supported if its groups are not used")
                .check_groups()
                .is_err(),
            "{pattern}"
        );
    }
    for pattern in [r#"name="(.+?)""#, r"(.|\n)*?value=(\d+)", "(ab)+", "(.*)", "a(?:b|c(d))e"] {
        assert!(Pattern::compile(pattern).expect("plain").check_groups().is_ok(), "{pattern}");
    }
    assert!(Pattern::compile(&"(".repeat(100_000)).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_compiled_or_rejected(pattern in ".{0,40}", text in ".{0,40}") {
        let _ = outcome(&pattern, &text);
    }

    #[test]
    fn a_quoted_text_matches_itself(text in "[ -~]{1,40}") {
        let pattern: String = text.chars().flat_map(|c| if c.is_ascii_alphanumeric() { vec![c] } else { vec!['\\', c] }).collect();
        let pattern = Pattern::compile(&pattern).expect("all escaped");
        proptest::prop_assert!(pattern.matches(&text).expect("few steps"));
    }
}
