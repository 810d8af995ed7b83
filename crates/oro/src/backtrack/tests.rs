use super::*;

fn found(pattern: &str, text: &str) -> Result<Option<Vec<Option<(usize, usize)>>>, SearchLimit> {
    let program = Program::compile(pattern).expect("a pattern");
    let slots = program.search(text, 0, &mut Steps::full())?;
    Ok(slots.map(|slots| (0..3).map(|group| slots.group(group)).collect()))
}

#[test]
fn patterns_with_look_around_and_back_references_match() {
    let whole =
        |pattern: &str, text: &str| found(pattern, text).expect("few steps").and_then(|groups| groups[0]);
    assert_eq!(whole(r"(a+)b\1", "aabaa"), Some((0, 5)));
    assert_eq!(whole("(?=(a+)b)a", "aab"), Some((0, 1)));
    assert_eq!(whole("a(?!b)", "abac"), Some((2, 3)));
    assert_eq!(whole("(?<=b)a", "aaba"), Some((3, 4)));
    assert_eq!(whole("(?<!b)a", "baa"), Some((2, 3)));
    assert_eq!(whole("(?>a+)a", "aaa"), None);
    assert_eq!(whole("(?:a|b?)*c(?=d)", "abbacd"), Some((0, 5)));
    assert_eq!(whole("(?:b?){0,3}a", "a"), Some((0, 1)));
    assert_eq!(whole("(?i)É(?=x)", "éx"), Some((0, 2)));
    assert_eq!(whole(r"\bé+\b", "a éé"), Some((2, 6)));
    assert_eq!(whole("a{2,3}?", "aaaa"), Some((0, 2)));
    assert_eq!(whole("(?:ab){2,3}", "ababababab"), Some((0, 6)));
    assert_eq!(whole("(b)c(?!d)", "ébcdbc"), Some((5, 7)));
    assert_eq!(whole("é(?!d)", "éd é"), Some((4, 6)));
}

#[test]
fn the_budget_applies_to_the_whole_search() {
    let long = "a".repeat(50_000);
    for pattern in ["(?=(a+)+b)c", "(?=.*b)c", "(?=a*$)c", r"(a*)(a*)\1b", "(?<=a*)b", "(a|a)*b(?=c)"] {
        assert_eq!(found(pattern, &long), Err(SearchLimit), "{pattern}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

    /// The matcher finds the same matches as `fancy-regex`, whose syntax it uses.
    #[test]
    fn matches_are_the_same_as_in_fancy_regex(
        parts in proptest::collection::vec(proptest::sample::select(
            vec!["a", "b", "(a)", "(a|b)", "a*", "b+?", "(ab)?", "[ab]{1,2}", "(?=a)", "(?!b)", r"\b", ".", "(?:ba|a)*", "$", "(a+|b)"]
        ), 1..5),
        text in "[ab ]{0,12}",
    ) {
        // With an empty look-ahead, the library does not delegate the pattern.
        let pattern = format!("{}(?=)", parts.concat());
        let expected = fancy_regex::Regex::new(&pattern).expect("a pattern");
        let groups = expected.captures(&text).expect("few steps").map(|captures| {
            (0..3).map(|group| captures.get(group).map(|found| (found.start(), found.end()))).collect()
        });
        proptest::prop_assert_eq!(found(&pattern, &text).expect("few steps"), groups, "{}", pattern);
    }
}
