use super::*;

const JSON: &str = r#"{"b":{"z":1,"a":[1,2.50,3]},"s":"x","n":null,"l":[{"k":"p","v":2},{"k":"q","v":1},{"k":"r"}],"e":1e3}"#;

fn result_text(path: &str) -> String {
    let document = read(JSON).expect("JSON");
    match JmesPath::compile(path).and_then(|path| path.search(&document)) {
        Ok(value) => write(&value),
        Err(error) => format!("error {error}"),
    }
}

#[test]
fn paths_are_evaluated() {
    assert_eq!(result_text("b"), r#"{"z":1,"a":[1,2.5,3]}"#);
    assert_eq!(result_text("b.a[1]"), "2.5");
    assert_eq!(result_text("b.a[-1]"), "3");
    assert_eq!(result_text("b.a[::-1]"), "[3,2.5,1]");
    assert_eq!(result_text("b.a[:2]"), "[1,2.5]");
    assert_eq!(result_text("l[*].k"), r#"["p","q","r"]"#);
    assert_eq!(result_text("l[?v > `1`].k | [0]"), "p");
    assert_eq!(result_text("l[?k == 'q'].v"), "[1]");
    assert_eq!(result_text("x"), "null");
    assert_eq!(result_text("n"), "null");
    assert_eq!(result_text("s"), "x");
    assert_eq!(result_text("e"), "1000.0");
    assert_eq!(result_text("{y: s, x: b.z}"), r#"{"y":"x","x":1}"#);
    assert_eq!(result_text("[s, b.z]"), r#"["x",1]"#);
    assert_eq!(result_text("b.*"), "[1,[1,2.5,3]]");
    assert_eq!(result_text("b.*[]"), "[1,1,2.5,3]");
    assert_eq!(result_text("[b.*][][]"), "[1,1,2.5,3]");
    assert_eq!(result_text("n || s"), "x");
    assert_eq!(result_text("!n"), "true");
}

#[test]
fn functions_are_called() {
    assert_eq!(result_text("length(l)"), "3");
    assert_eq!(result_text("sort_by(l[?v], &v)[*].k"), r#"["q","p"]"#);
    assert_eq!(result_text("max_by(l[?v], &v).k"), "p");
    assert_eq!(result_text("join('-', l[*].k)"), "p-q-r");
    assert_eq!(result_text("contains(s, 'x')"), "true");
    assert_eq!(result_text("keys(b)"), r#"["z","a"]"#);
    assert!(result_text("sum(s)").starts_with("error Invalid argument type"));
    assert!(result_text("nothing(s)").starts_with("error Unable to compile"));
    assert!(result_text("b.[").starts_with("error Unable to compile"));
}

/// Paths of the greatest depth, and expressions that copy the document.
#[test]
fn long_paths_are_rejected_and_hostile_paths_are_stopped() {
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
    // Each step doubles the size of the value.
    let doubling = vec!["[@,@]"; 30].join("|");
    let few_steps = |path: &str| JmesPath::compile(path)?.search_within(&document, 100_000);
    let found = few_steps(&doubling);
    assert_eq!(found.map(|_| ()).map_err(|error| error.contains("steps")), Err(true));
    let quoting = format!("{}l{}", "to_string([".repeat(30), "])".repeat(30));
    let found = few_steps(&quoting);
    assert_eq!(found.map(|_| ()).map_err(|error| error.contains("steps")), Err(true));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Expressions of all forms, nested and chained, over a document that contains the names in them.
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
            inner.clone().prop_map(|argument| format!("to_string({argument})")),
            inner.clone().prop_map(|array| format!("{array}[]")),
            inner.clone().prop_map(|operand| format!("!({operand})")),
            inner.clone().prop_map(|argument| format!("values({argument})")),
        ]
    })
}
