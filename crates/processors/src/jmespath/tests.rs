use super::*;

const JSON: &str = r#"{"b":{"z":1,"a":[1,2.50,3]},"s":"x","n":null,"l":[{"k":"p","v":2},{"k":"q","v":1},{"k":"r"}],"e":1e3}"#;

fn found(path: &str) -> String {
    let document = read(JSON).expect("JSON");
    match JmesPath::compile(path).and_then(|path| path.search(&document)) {
        Ok(value) => write(&value),
        Err(why) => format!("error {why}"),
    }
}

#[test]
fn paths_are_followed() {
    assert_eq!(found("b"), r#"{"z":1,"a":[1,2.5,3]}"#);
    assert_eq!(found("b.a[1]"), "2.5");
    assert_eq!(found("b.a[-1]"), "3");
    assert_eq!(found("b.a[::-1]"), "[3,2.5,1]");
    assert_eq!(found("b.a[:2]"), "[1,2.5]");
    assert_eq!(found("l[*].k"), r#"["p","q","r"]"#);
    assert_eq!(found("l[?v > `1`].k | [0]"), "p");
    assert_eq!(found("l[?k == 'q'].v"), "[1]");
    assert_eq!(found("x"), "null");
    assert_eq!(found("n"), "null");
    assert_eq!(found("s"), "x");
    assert_eq!(found("e"), "1000.0");
    assert_eq!(found("{y: s, x: b.z}"), r#"{"y":"x","x":1}"#);
    assert_eq!(found("[s, b.z]"), r#"["x",1]"#);
    assert_eq!(found("b.*"), "[1,[1,2.5,3]]");
    assert_eq!(found("b.*[]"), "[1,1,2.5,3]");
    assert_eq!(found("[b.*][][]"), "[1,1,2.5,3]");
    assert_eq!(found("n || s"), "x");
    assert_eq!(found("!n"), "true");
}

#[test]
fn functions_are_called() {
    assert_eq!(found("length(l)"), "3");
    assert_eq!(found("sort_by(l[?v], &v)[*].k"), r#"["q","p"]"#);
    assert_eq!(found("max_by(l[?v], &v).k"), "p");
    assert_eq!(found("join('-', l[*].k)"), "p-q-r");
    assert_eq!(found("contains(s, 'x')"), "true");
    assert_eq!(found("keys(b)"), r#"["z","a"]"#);
    assert!(found("sum(s)").starts_with("error Invalid argument type"));
    assert!(found("nothing(s)").starts_with("error Unable to compile"));
    assert!(found("b.[").starts_with("error Unable to compile"));
}

/// As deep as a path can be, with expressions that copy the document; on a thread with the stack of a core.
#[test]
fn long_paths_are_refused_and_hostile_ones_stopped() {
    let document = read(JSON).expect("JSON");
    for count in [10, 60, 1_000, 100_000] {
        for (start, part, end) in [
            ("a", "[].a", ""),
            ("", "!", "a"),
            ("", "(", "a"),
            ("a", "|@", ""),
            ("a", "||a", ""),
            ("", "[a,", "a"),
            ("a", ".a", ""),
            ("", "to_string(", "@"),
            ("a", "[*]", ""),
            ("a", "[?a", ""),
        ] {
            let closing = match part {
                "(" | "to_string(" => ")".repeat(count),
                "[a," | "[?a" => "]".repeat(count),
                _ => String::new(),
            };
            let text = format!("{start}{}{end}{closing}", part.repeat(count));
            let outcome = JmesPath::compile(&text).and_then(|path| path.search(&document));
            if count >= 1_000 {
                assert!(outcome.is_err(), "{start}{part}{end}");
            }
        }
    }
    // Twice as large with each step.
    let doubling = vec!["[@,@]"; 30].join("|");
    let few_steps = |path: &str| JmesPath::compile(path)?.search_within(&document, 100_000);
    let found = few_steps(&doubling);
    assert_eq!(found.map(|_| ()).map_err(|why| why.contains("steps")), Err(true));
    let quoting = format!("{}l{}", "to_string([".repeat(30), "])".repeat(30));
    let found = few_steps(&quoting);
    assert_eq!(found.map(|_| ()).map_err(|why| why.contains("steps")), Err(true));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Expressions of all forms, nested and chained, over a document with the names that they use.
    #[test]
    fn any_search_ends(path in any_path(), depth in 1..60_usize) {
        let document = format!("{}{JSON}{}", "{\"b\":[1,".repeat(depth), "]}".repeat(depth));
        if let (Ok(path), Ok(document)) = (JmesPath::compile(&path), read(&document)) {
            let _ = path.search_within(&document, 100_000).map(|found| write(&found));
        }
    }
}

fn any_path() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let simple = proptest::sample::select(vec![
        "a",
        "b",
        "l",
        "@",
        "*",
        "`[1,{\"b\":2}]`",
        "'x'",
        "b[0]",
        "l[*]",
        "b[]",
        "b[::-1]",
        "l[1:]",
        "n",
    ]);
    simple.prop_map(str::to_owned).prop_recursive(5, 24, 3, |inner| {
        let pair = |form: fn(String, String) -> String| {
            (inner.clone(), inner.clone()).prop_map(move |(left, right)| form(left, right))
        };
        prop_oneof![
            pair(|left, right| format!("{left}.{right}")),
            pair(|left, right| format!("{left} | {right}")),
            pair(|left, right| format!("{left} || {right}")),
            pair(|left, right| format!("[{left}, {right}]")),
            pair(|left, right| format!("{{x: {left}, b: {right}}}")),
            pair(|left, right| format!("b[?{left} == {right}]")),
            pair(|left, right| format!("contains({left}, {right})")),
            pair(|left, right| format!("map(&{left}, {right})")),
            pair(|left, right| format!("sort_by({left}, &{right})")),
            pair(|left, right| format!("merge({left}, {right})")),
            inner.clone().prop_map(|one| format!("to_string({one})")),
            inner.clone().prop_map(|one| format!("{one}[]")),
            inner.clone().prop_map(|one| format!("!({one})")),
            inner.clone().prop_map(|one| format!("values({one})")),
        ]
    })
}
