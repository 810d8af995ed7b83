use super::*;

fn key(lines: &[&str]) -> Option<String> {
    let mut reader = TraceReader::default();
    for line in lines {
        reader.add(line, lines[0]);
    }
    reader.take_key().map(|key| key.to_string())
}

#[test]
fn numbers_of_generated_classes_are_no_part_of_a_key() {
    for (frame, expected) in [
        ("shop.Shop$$Lambda$14/0x0000000800c8.apply(Unknown Source)", "shop.Shop$$Lambda.apply"),
        ("shop.Shop$$Lambda/0x00007f01.apply(Unknown Source)", "shop.Shop$$Lambda.apply"),
        ("jdk.proxy2/jdk.proxy2.$Proxy12.find(Unknown Source)", "$Proxy.find"),
        ("com.sun.proxy.$Proxy7.find(Unknown Source)", "$Proxy.find"),
        (
            "shop.Shop$$EnhancerBySpringCGLIB$$1a2b3c.find(<generated>)",
            "shop.Shop$$EnhancerBySpringCGLIB.find",
        ),
        ("shop.Shop$$SpringCGLIB$$0.find(<generated>)", "shop.Shop$$SpringCGLIB.find"),
        ("shop.Shop.lambda$find$12(Shop.java:5)", "shop.Shop.lambda$find"),
        (
            "jdk.internal.reflect.GeneratedMethodAccessor512.invoke(Unknown Source)",
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
        ),
        ("java.base@21/java.lang.Thread.run(Thread.java:1)", "java.lang.Thread.run"),
        ("app//shop.Shop.find(Shop.java:5)", "shop.Shop.find"),
        ("shop.Shop$1.run(Shop.java:5)", "shop.Shop$1.run"),
    ] {
        let frame = format!("\tat {frame}");
        assert_eq!(
            key(&["a.SeatException", &frame]),
            Some(format!("a.SeatException at {expected}")),
            "{frame}"
        );
    }
}

#[test]
fn the_exception_may_be_in_the_message() {
    let lines = ["request failed: shop.SeatException: 5", "\tat shop.Shop.book(Shop.java:5)"];
    assert_eq!(key(&lines).unwrap(), "shop.SeatException at shop.Shop.book");
    assert_eq!(key(&["a message", "\tat shop.Shop.book(Shop.java:5)"]).unwrap(), " at shop.Shop.book");
    assert_eq!(key(&["a message about shop.SeatException"]), None, "a mention without a trace");
}

#[test]
fn frames_of_libraries_are_used_if_there_are_no_others() {
    let lines = ["java.io.IOException: x", "\tat java.io.A.b(A.java:1)", "\tat org.apache.C.d(C.java:1)"];
    assert_eq!(key(&lines).unwrap(), "java.io.IOException at java.io.A.b < org.apache.C.d");
}

#[test]
fn chains_are_limited_and_the_root_is_kept() {
    let mut reader = TraceReader::default();
    reader.add("a.FirstException: x", "");
    for number in 0..1_000 {
        reader.add(&format!("Caused by: a.E{number}Exception: x"), "");
    }
    let key = reader.take_key().unwrap();
    assert_eq!(key.exceptions.len(), EXCEPTIONS_MAX);
    assert_eq!(key.exceptions[0], "a.FirstException");
    assert_eq!(key.exceptions[EXCEPTIONS_MAX - 1], "a.E999Exception");
    assert_eq!(reader.take_key(), None, "the reader is empty afterwards");
}

#[test]
fn a_reader_is_reusable_after_a_text_without_a_trace() {
    let mut reader = TraceReader::default();
    reader.add("Suppressed: x", "");
    assert_eq!(reader.take_key(), None);
    reader.add("a.SeatException", "");
    reader.add("\tat shop.Shop.book(Shop.java:5)", "");
    assert_eq!(reader.take_key().unwrap().to_string(), "a.SeatException at shop.Shop.book");
}
