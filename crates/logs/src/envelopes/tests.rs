use super::*;

/// Output of journalctl 252: `journalctl -o json --output-fields=…` of six messages that were sent to journald.
const RECORDED: &str = include_str!("../../tests/journal/journalctl-252.json");

#[test]
fn recorded_output_of_journalctl_is_read() {
    let found: Vec<_> = RECORDED.lines().map(|line| Unwrapper::new(Envelope::Journal).unwrap(line)).collect();
    let texts: Vec<_> = found
        .iter()
        .map(|line| line.as_ref().map(|line| line.text.as_ref()).map_err(|error| *error))
        .collect();
    assert_eq!(
        texts,
        [
            Ok("ERROR no seat for booking 12"),
            Ok("booking failed\njava.lang.IllegalStateException: no seat\n\tat shop.Shop.book(Shop.java:12)"),
            Ok("bytes \u{fffd}\u{fffd} that are not UTF-8"),
            Err(EnvelopeError::MessageOmitted),
            Ok("first\nsecond"),
            Ok("größer"),
        ]
    );
    let first = found[0].as_ref().unwrap();
    assert_eq!(first.severity, Some(EntrySeverity::Error));
    assert_eq!(first.received_unix_ns, Some(1_795_739_596_965_330_000));
    assert_eq!(first.stream, LogStream::Process("shop".into(), "25741".into()));
}

#[test]
fn parts_of_a_line_of_docker_end_without_a_line_break() {
    let mut unwrapper = Unwrapper::new(Envelope::Docker);
    let line = r#"{"log":"caf\u00e9 \"x\"\r\n","stream":"stderr","time":"2024-03-18T12:00:00.5Z"}"#;
    let found = unwrapper.unwrap(line).unwrap();
    assert_eq!(
        (found.text.as_ref(), found.is_partial, found.stream),
        ("café \"x\"", false, LogStream::Error)
    );
    assert_eq!(found.received_unix_ns, Some(1_710_763_200_500_000_000));
    let part = unwrapper.unwrap(r#"{"log":"aaa","stream":"stdout","time":"2024-03-18T12:00:00Z"}"#).unwrap();
    assert_eq!((part.text.as_ref(), part.is_partial, part.stream), ("aaa", true, LogStream::Output));
    assert_eq!(unwrapper.unwrap("{\"log\":5}"), Err(EnvelopeError::NotAnObject));
}

#[test]
fn lines_of_cri_have_a_time_a_stream_and_a_tag() {
    let mut unwrapper = Unwrapper::new(Envelope::Cri);
    let found = unwrapper.unwrap("2024-03-18T13:00:00.5+01:00 stderr P first part").unwrap();
    assert_eq!((found.text.as_ref(), found.is_partial, found.stream), ("first part", true, LogStream::Error));
    assert_eq!(found.received_unix_ns, Some(1_710_763_200_500_000_000));
    assert_eq!(unwrapper.unwrap("2024-03-18T12:00:00Z stdout F").unwrap().text, "");
    for line in [
        "",
        "2024-03-18T12:00:00Z stdout",
        "2024-03-18T12:00:00Z stdin F x",
        "2024-03-18T12:00:00Z stdout X x",
        "now stdout F x",
    ] {
        assert_eq!(unwrapper.unwrap(line), Err(EnvelopeError::NotCri), "{line}");
    }
}

#[test]
fn envelopes_are_detected() {
    let journal = RECORDED.lines().next().unwrap();
    for (line, expected) in [
        (r#"{"log":"a\n","stream":"stdout","time":"2024-03-18T12:00:00Z"}"#, Envelope::Docker),
        ("2024-03-18T12:00:00Z stdout F x", Envelope::Cri),
        (journal, Envelope::Journal),
        ("2024-03-18T12:00:00Z INFO x", Envelope::Plain),
        (r#"{"level":"info","message":"x"}"#, Envelope::Plain),
    ] {
        assert_eq!(Envelope::detect(line), expected, "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn any_line_is_refused_or_unwrapped(line in "[{}\":,\\[\\]0-9a-zMESAG é]{0,80}") {
        for envelope in [Envelope::Docker, Envelope::Cri, Envelope::Journal] {
            let _ = Unwrapper::new(envelope).unwrap(&line);
        }
        let plain = Unwrapper::new(Envelope::Plain).unwrap(&line).unwrap();
        proptest::prop_assert_eq!(plain.text.as_ref(), line.as_str());
    }
}
