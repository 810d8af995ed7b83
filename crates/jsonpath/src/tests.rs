use super::*;

/// What Jayway JSONPath 2.8.0 made of a path: `DOC<tab>document`, then per path what JMeter's extractor got and what
/// its assertion got.
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
        (_, Err(PathError::Invalid(why))) => return format!("ERR InvalidPathException: {why}"),
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
fn paths_lead_where_jayway_goes() {
    let mut document = Ok(Value::Null);
    let (mut compared, mut refused) = (0, Vec::new());
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
            refused.push(text);
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
    assert!(refused.len() * 10 < compared, "{compared} compared, refused: {refused:#?}");
}

/// Invalid paths, and the messages of Jayway JSONPath 2.8.0.
const NO_PATHS: &str = include_str!("recorded/no_paths.tsv");

#[test]
fn what_is_no_path_is_so_in_jayways_words() {
    let mut wrong = Vec::new();
    for line in NO_PATHS.lines() {
        let (text, theirs) = line.split_once('\t').expect("two columns");
        match JsonPath::compile(text) {
            Err(PathError::Invalid(ours)) if ours == theirs => {}
            ours => wrong.push(format!("{text}\n   theirs {theirs}\n   ours   {ours:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), NO_PATHS.lines().count(), wrong.join("\n"));
}

#[test]
fn the_last_character_behind_a_step_is_not_looked_at() {
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
    fn any_text_is_a_path_or_refused(text in ".{0,40}") {
        let _ = JsonPath::compile(&text);
    }

    #[test]
    fn path_like_texts_are_followed_or_refused(text in r#"\$[.\[\]'@?()*:,0-9a-c =<>&|!~/]{0,30}"#) {
        if let Ok(path) = JsonPath::compile(&text) {
            let document = read(r#"{"a":[{"b":1,"c":[1,2,3]},{"b":"x"}],"b":{"a":{"c":null}}}"#).expect("JSON");
            let _ = path.find_all(&document);
            let _ = path.find(&document);
        }
    }
}

#[test]
fn hostile_paths_and_documents_are_stopped() {
    let follow = |path: &str, document: &str| {
        let document = read(document).map_err(|error| error.to_string())?;
        let path = JsonPath::compile(path).map_err(|error| error.to_string())?;
        path.find_all(&document).map(|found| found.len()).map_err(|error| error.to_string())
    };
    let few_steps = |path: &str, document: &str| {
        let document = read(document).expect("JSON");
        let path = JsonPath::compile(path).expect("a path");
        eval::select(&path, &document, &document, &Steps::of(100_000)).map(|found| found.len())
    };
    let limit = Err(ReadError::Limit);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // Every array is looked through from all that contain it.
    let deep = format!("[{}]", vec![nested(390); 40].join(","));
    assert_eq!(few_steps("$..[0]..[0]..[0]..[0]..[0]", &deep), limit);
    let flat = format!("[{}]", vec!["{\"a\":1}"; 6_000].join(","));
    assert_eq!(few_steps("$[?(@.a in $..a)]", &flat), limit);
    assert_eq!(few_steps("$[?($[?(@.a == 2)] empty false)]", &flat), limit);
    assert_eq!(follow("$[?(@.a == 1)]", &flat), Ok(6_000));
    for count in [10, 1_000, 100_000] {
        let outcomes = [
            follow(&format!("${}", "[?(@)]".repeat(count)), "{}"),
            follow(&format!("$.{}x", "a.".repeat(count)), "{}"),
            follow(&format!("${}", "..*".repeat(count)), "{}"),
            follow(&format!("$[?({}@.a{})]", "(".repeat(count), ")".repeat(count)), "[{}]"),
            follow(&format!("$[?({}@.a)]", "!".repeat(count)), "[{}]"),
            follow(&format!("${}{}", "[?(@".repeat(count), ")]".repeat(count)), "[{}]"),
            follow("$..a", &nested(count)),
            follow("$..a", &"{\"a\":".repeat(count)),
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

    /// Paths of all forms over documents of all depths.
    #[test]
    fn following_any_path_ends(path in any_steps(), depth in 1..100_usize, width in 1..10_usize) {
        let inner = vec!["{\"a\":1,\"b\":[{\"a\":\"x\"},2]}"; width].join(",");
        let document = format!("{}{inner}{}", "[{\"a\":{\"b\":[1,".repeat(depth), "]}}]".repeat(depth));
        if let (Ok(path), Ok(document)) = (JsonPath::compile(&format!("${path}")), read(&document)) {
            let steps = Steps::of(20_000);
            let found = eval::select(&path, &document, &document, &steps);
            if let Ok(found) = found {
                let _ = found.iter().take(10).filter_map(|one| one.extracted()).count();
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
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("{one}{other}")),
            inner.clone().prop_map(|inside| format!("[?(@{inside})]")),
            inner.clone().prop_map(|inside| format!("..[?(@{inside} == 1)]")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("[?(@{one} in ${other})]")),
            (inner.clone(), inner)
                .prop_map(|(one, other)| format!("[?(!(@{one} =~ /x+/) && $..b anyof @{other})]")),
        ]
    })
}
