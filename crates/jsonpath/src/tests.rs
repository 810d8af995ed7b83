use super::*;

/// Results of Jayway JSONPath 2.8.0. A line `DOC<tab>document` is followed by a line for each path with the results of JMeter's
/// extractor and of its assertion.
const RECORDED: &str = include_str!("recorded/jayway.tsv");

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn extracted(document: &Result<Value, NotJson>, path: &Result<JsonPath, PathError>) -> String {
    let (document, path) = match (document, path) {
        (Ok(document), Ok(path)) => (document, path),
        _ => return "ERR".to_owned(),
    };
    match path.find_all(document) {
        Ok(found) => {
            let found: Vec<String> = found
                .iter()
                .map(|value| {
                    format!(" <{}>", value.extracted().map_or("NULL".to_owned(), |text| escaped(&text)))
                })
                .collect();
            format!("{}{}", found.len(), found.concat())
        }
        Err(_) => "ERR".to_owned(),
    }
}

fn asserted(document: &Result<Value, NotJson>, path: &Result<JsonPath, PathError>) -> String {
    let (document, path) = match (document, path) {
        (Ok(document), Ok(path)) => (document, path),
        (_, Err(PathError::Invalid(message))) => return format!("ERR InvalidPathException: {message}"),
        _ => return "ERR".to_owned(),
    };
    match path.find(document) {
        Ok(value) => {
            format!("{} {}", escaped(&value.asserted()), if path.is_definite() { "def" } else { "indef" })
        }
        Err(error) => format!("ERR {error}"),
    }
}

#[test]
fn results_match_jayway() {
    let mut document = Ok(Value::Null);
    let (mut compared, mut unsupported) = (0, Vec::new());
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        if let Some(text) = line.strip_prefix("DOC\t") {
            document = read(text);
            continue;
        }
        let mut columns = line.split('\t');
        let (Some(text), Some(by_extractor), Some(by_assertion)) =
            (columns.next(), columns.next(), columns.next())
        else {
            panic!("three columns: {line}");
        };
        let path = JsonPath::compile(text);
        if let Err(PathError::Unsupported(_)) = path {
            unsupported.push(text);
            continue;
        }
        compared += 1;
        let ours = extracted(&document, &path);
        let same = ours == by_extractor || (ours == "ERR" && by_extractor.starts_with("ERR"));
        if !same {
            wrong.push(format!("{text}\n   theirs {by_extractor}\n   ours   {ours}"));
        }
        let ours = asserted(&document, &path);
        let theirs = by_assertion
            .replace("ERR PathNotFoundException: ", "ERR ")
            .replace("ERR JsonPathException: ", "ERR ")
            .replace("ERR IndexOutOfBoundsException: ", "ERR ");
        let invalid = |text: &str| text.starts_with("ERR Invalid") || text == "ERR";
        if ours != theirs
            && !(invalid(&ours) && invalid(&theirs))
            && ours.strip_prefix("ERR ") != theirs.strip_prefix("ERR InvalidPathException: ")
        {
            wrong.push(format!("{text}\n   theirs {theirs}\n   ours   {ours} (assertion)"));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unsupported.len() * 10 < compared, "{compared} compared, unsupported: {unsupported:#?}");
}

/// Invalid paths, and the messages of Jayway JSONPath 2.8.0.
const INVALID_PATHS: &str = include_str!("recorded/no_paths.tsv");

#[test]
fn invalid_paths_have_the_messages_of_jayway() {
    let mut wrong = Vec::new();
    for line in INVALID_PATHS.lines() {
        let (text, theirs) = line.split_once('\t').expect("two columns");
        match JsonPath::compile(text) {
            Err(PathError::Invalid(ours)) if ours == theirs => {}
            ours => wrong.push(format!("{text}\n   theirs {theirs}\n   ours   {ours:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), INVALID_PATHS.lines().count(), wrong.join("\n"));
}

#[test]
fn a_single_character_after_the_last_step_is_ignored() {
    let document = read(r#"{"a":[{"b":1}]}"#).expect("JSON");
    let found = |text: &str| JsonPath::compile(text).unwrap().find(&document).map(|value| value.asserted());
    for text in ["$.a[", "$['a']b", "$.a"] {
        assert_eq!(found(text).unwrap(), r#"[{"b":1}]"#, "{text}");
    }
    for text in ["$.a[0]]", "$.a[0][", "$.a[0]b"] {
        assert_eq!(found(text).unwrap(), r#"{"b":1}"#, "{text}");
    }
    assert_eq!(found("$.a[0]bc").unwrap_err().to_string(), "No results for path: $['a'][0]['bc']");
    assert_eq!(found("$.a.foo()").unwrap_err().to_string(), "Function with name: foo does not exist.");
}

proptest::proptest! {
    #[test]
    fn any_text_is_compiled_or_rejected(text in ".{0,40}") {
        let _ = JsonPath::compile(&text);
    }

    #[test]
    fn path_like_texts_are_evaluated_or_rejected(text in r#"\$[.\[\]'@?()*:,0-9a-c =<>&|!~/]{0,30}"#) {
        if let Ok(path) = JsonPath::compile(&text) {
            let document = read(r#"{"a":[{"b":1,"c":[1,2,3]},{"b":"x"}],"b":{"a":{"c":null}}}"#).expect("JSON");
            let _ = path.find_all(&document);
            let _ = path.find(&document);
        }
    }
}

#[test]
fn hostile_paths_and_documents_are_stopped() {
    let evaluate = |path: &str, document: &str| {
        let document = read(document).map_err(|error| error.to_string())?;
        let path = JsonPath::compile(path).map_err(|error| error.to_string())?;
        path.find_all(&document).map(|found| found.len()).map_err(|error| error.to_string())
    };
    let few_steps = |path: &str, document: &str| {
        let document = read(document).expect("JSON");
        let path = JsonPath::compile(path).expect("a path");
        eval::select(&path, &document, &document, &StepBudget::new(100_000)).map(|found| found.len())
    };
    let limit = Err(ReadError::Limit);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // Every array is visited once for each array that contains it.
    let deep = format!("[{}]", vec![nested(390); 40].join(","));
    assert_eq!(few_steps("$..[0]..[0]..[0]..[0]..[0]", &deep), limit);
    let flat = format!("[{}]", vec!["{\"a\":1}"; 6_000].join(","));
    assert_eq!(few_steps("$[?(@.a in $..a)]", &flat), limit);
    assert_eq!(few_steps("$[?($[?(@.a == 2)] empty false)]", &flat), limit);
    assert_eq!(evaluate("$[?(@.a == 1)]", &flat), Ok(6_000));
    for count in [10, 1_000, 100_000] {
        let outcomes = [
            evaluate(&format!("${}", "[?(@)]".repeat(count)), "{}"),
            evaluate(&format!("$.{}x", "a.".repeat(count)), "{}"),
            evaluate(&format!("${}", "..*".repeat(count)), "{}"),
            evaluate(&format!("$[?({}@.a{})]", "(".repeat(count), ")".repeat(count)), "[{}]"),
            evaluate(&format!("$[?({}@.a)]", "!".repeat(count)), "[{}]"),
            evaluate(&format!("${}{}", "[?(@".repeat(count), ")]".repeat(count)), "[{}]"),
            evaluate("$..a", &nested(count)),
            evaluate("$..a", &"{\"a\":".repeat(count)),
        ];
        if count > 500 {
            assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
        }
    }
}

#[test]
fn objects_with_many_members_keep_their_order() {
    let members: Vec<String> = (0..200_000).map(|n| format!("\"k{}\":{n}", n % 150_000)).collect();
    let document = read(&format!("{{{}}}", members.join(","))).expect("JSON");
    let Value::Object(members) = &document else { panic!("an object") };
    assert_eq!(members.len(), 150_000);
    assert_eq!(members[7], ("k7".to_owned(), Value::Integer(150_007)));
    assert_eq!(members[149_999].0, "k149999");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Paths of all forms over documents of various depths.
    #[test]
    fn any_evaluation_ends(path in any_steps(), depth in 1..100_usize, width in 1..10_usize) {
        let inner = vec!["{\"a\":1,\"b\":[{\"a\":\"x\"},2]}"; width].join(",");
        let document = format!("{}{inner}{}", "[{\"a\":{\"b\":[1,".repeat(depth), "]}}]".repeat(depth));
        if let (Ok(path), Ok(document)) = (JsonPath::compile(&format!("${path}")), read(&document)) {
            let budget = StepBudget::new(20_000);
            let found = eval::select(&path, &document, &document, &budget);
            if let Ok(found) = found {
                let _ = found.iter().take(10).filter_map(|value| value.extracted()).count();
            }
        }
    }
}

fn any_steps() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let simple = proptest::sample::select(vec![
        ".a",
        ".b",
        "..a",
        "..b",
        "..*",
        ".*",
        "[*]",
        "[0]",
        "[-1]",
        "[0,1]",
        "[1:]",
        "['a','b']",
        ".length()",
        "..[0]",
    ]);
    simple.prop_map(str::to_owned).prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(first, second)| format!("{first}{second}")),
            inner.clone().prop_map(|inside| format!("[?(@{inside})]")),
            inner.clone().prop_map(|inside| format!("..[?(@{inside} == 1)]")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("[?(@{left} in ${right})]")),
            (inner.clone(), inner)
                .prop_map(|(left, right)| format!("[?(!(@{left} =~ /x+/) && $..b anyof @{right})]")),
        ]
    })
}
