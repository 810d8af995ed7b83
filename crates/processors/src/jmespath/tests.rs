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
