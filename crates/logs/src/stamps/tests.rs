use super::*;

fn settings(zone: Option<Zone>) -> StampSettings {
    // 2024-03-18T12:00:00Z.
    StampSettings { zone, near_unix_ns: 1_710_763_200_000_000_000 }
}

fn utc_of(line: &str) -> Option<(String, Range<usize>)> {
    let found = StampReader::new(settings(Some(Zone::utc()))).find(line)?;
    let EntryTime::UnixNs(unix_ns) = found.time else { panic!("{line}: {:?}", found.time) };
    Some((timestamp(unix_ns).unwrap().to_string(), found.range))
}

fn assert_stamp(line: &str, expected: &str, stamp: &str) {
    let (time, range) = utc_of(line).unwrap_or_else(|| panic!("no stamp found in {line}"));
    assert_eq!((time.as_str(), &line[range]), (expected, stamp), "{line}");
}

#[test]
fn the_common_notations_are_read() {
    for (line, expected, stamp) in [
        ("2015-10-18 18:01:47,978 INFO x", "2015-10-18T18:01:47.978Z", "2015-10-18 18:01:47,978"),
        ("[2024-03-18 10:11:12.5] x", "2024-03-18T10:11:12.5Z", "2024-03-18 10:11:12.5"),
        (
            "2024-01-01T00:00:00.123456789Z x",
            "2024-01-01T00:00:00.123456789Z",
            "2024-01-01T00:00:00.123456789Z",
        ),
        ("2024-01-01T00:00:00+01:00 x", "2023-12-31T23:00:00Z", "2024-01-01T00:00:00+01:00"),
        ("2024-01-01 00:00:00 +0100 x", "2023-12-31T23:00:00Z", "2024-01-01 00:00:00 +0100"),
        ("2024-01-01 00:00:00.5 UTC x", "2024-01-01T00:00:00.5Z", "2024-01-01 00:00:00.5 UTC"),
        ("2024/01/02 15:04:05 [error] 5#5: x", "2024-01-02T15:04:05Z", "2024/01/02 15:04:05"),
        ("18-Mar-2024 10:11:12.123 INFO [main] x", "2024-03-18T10:11:12.123Z", "18-Mar-2024 10:11:12.123"),
        ("Mar 18, 2024 10:11:12 PM a.B c", "2024-03-18T22:11:12Z", "Mar 18, 2024 10:11:12 PM"),
        ("Mar 8, 2024, 12:11:12\u{202f}AM a.B c", "2024-03-08T00:11:12Z", "Mar 8, 2024, 12:11:12\u{202f}AM"),
        ("[Sun Dec 04 04:47:44 2005] [error] x", "2005-12-04T04:47:44Z", "Sun Dec 04 04:47:44 2005"),
        (
            "[Wed Oct 11 14:32:52.123456 2023] x",
            "2023-10-11T14:32:52.123456Z",
            "Wed Oct 11 14:32:52.123456 2023",
        ),
        ("Sun Dec 04 04:47:44 UTC 2005: x", "2005-12-04T04:47:44Z", "Sun Dec 04 04:47:44 UTC 2005"),
        ("Sun, 04 Dec 2005 04:47:44 GMT x", "2005-12-04T04:47:44Z", "Sun, 04 Dec 2005 04:47:44 GMT"),
        ("Mar  8 15:16:01 combo sshd[1]: x", "2024-03-08T15:16:01Z", "Mar  8 15:16:01"),
        ("Dec 31 23:59:59 combo sshd[1]: x", "2023-12-31T23:59:59Z", "Dec 31 23:59:59"),
        ("<34>1 2003-10-11T22:14:15.003Z host x", "2003-10-11T22:14:15.003Z", "2003-10-11T22:14:15.003Z"),
        ("<13>Mar 18 01:02:03 host x", "2024-03-18T01:02:03Z", "Mar 18 01:02:03"),
        ("03-17 16:13:38.811  1702  2395 D W: x", "2024-03-17T16:13:38.811Z", "03-17 16:13:38.811"),
        ("17/06/09 20:10:40 INFO x", "2017-06-09T20:10:40Z", "17/06/09 20:10:40"),
        ("081109 203615 148 INFO x", "2008-11-09T20:36:15Z", "081109 203615"),
        ("20171223-22:15:29:606|Step|x", "2017-12-23T22:15:29.606Z", "20171223-22:15:29:606"),
        ("20240318T101112Z x", "2024-03-18T10:11:12Z", "20240318T101112Z"),
        ("18.03.2024 10:11:12 x", "2024-03-18T10:11:12Z", "18.03.2024 10:11:12"),
        ("E0318 15:04:05.000001       1 a.go:12] x", "2024-03-18T15:04:05.000001Z", "E0318 15:04:05.000001"),
        ("12:11:12.123 [main] INFO a.B - x", "2024-03-18T12:11:12.123Z", "12:11:12.123"),
        ("[23:59:59 ERR] x", "2024-03-18T23:59:59Z", "23:59:59"),
        ("1066036250.603 5 x", "2003-10-13T09:10:50.603Z", "1066036250.603"),
        ("1710763200123 x", "2024-03-18T12:00:00.123Z", "1710763200123"),
        ("time=\"2024-03-18T10:11:12Z\" level=info", "2024-03-18T10:11:12Z", "2024-03-18T10:11:12Z"),
        ("1:M 18 Mar 2024 10:11:12.123 * x", "2024-03-18T10:11:12.123Z", "18 Mar 2024 10:11:12.123"),
        ("app.log 2017-05-16 00:00:00.008 257 INFO x", "2017-05-16T00:00:00.008Z", "2017-05-16 00:00:00.008"),
        ("2005-06-03-15.42.50.675872 x", "2005-06-03T15:42:50.675872Z", "2005-06-03-15.42.50.675872"),
        ("2016-12-31 23:59:60 x", "2016-12-31T23:59:59Z", "2016-12-31 23:59:60"),
        (
            "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /\"",
            "2000-10-10T20:55:36Z",
            "10/Oct/2000:13:55:36 -0700",
        ),
    ] {
        assert_stamp(line, expected, stamp);
    }
}

#[test]
fn other_texts_are_no_stamps() {
    for line in [
        "",
        "\tat a.B.c(B.java:5)",
        "Caused by: java.lang.Error",
        "2024-02-31 10:00:00 x",
        "2024-13-01 10:00:00 x",
        "2024-01-01 25:00:00 x",
        "2024-01-01",
        "10:11",
        "03/04/2024 10:11:12 x",
        "127.0.0.1 - - [oops] \"GET\"",
        "12345678901234567890 x",
        "1066036250 x",
        "Mar",
        "é",
    ] {
        assert_eq!(utc_of(line), None, "{line}");
    }
}

#[test]
fn a_number_after_a_stamp_is_no_offset() {
    assert_stamp("2024-03-18 10:11:12,978 - INFO x", "2024-03-18T10:11:12.978Z", "2024-03-18 10:11:12,978");
    assert_stamp("2024-03-18 10:11:12 -12 left", "2024-03-18T10:11:12Z", "2024-03-18 10:11:12");
    assert_stamp("2024-03-18 10:11:12 +1234567 x", "2024-03-18T10:11:12Z", "2024-03-18 10:11:12");
}

#[test]
fn a_stamp_without_an_offset_needs_a_zone() {
    let time = |line, zone| StampReader::new(settings(zone)).find(line).unwrap().time;
    assert_eq!(time("2024-03-18 10:00:00 x", None), EntryTime::Unavailable(MissingTime::NoZone));
    assert_eq!(time("2024-03-18 10:00:00Z x", None), EntryTime::UnixNs(1_710_756_000_000_000_000));
    let east = Zone::named("+02:00").unwrap();
    assert_eq!(time("2024-03-18 12:00:00 x", Some(east)), EntryTime::UnixNs(1_710_756_000_000_000_000));
    let error = Zone::named("Mars/Olympus").unwrap_err();
    assert!(error.to_string().contains("Mars/Olympus") && std::error::Error::source(&error).is_some());
}

#[test]
fn daylight_saving_time_is_applied_in_each_quarter_of_an_hour() {
    let mut reader = StampReader::new(settings(Some(Zone::named("Europe/Berlin").unwrap())));
    let mut hour = |line: &str| match reader.find(line).unwrap().time {
        EntryTime::UnixNs(unix_ns) => timestamp(unix_ns).unwrap().to_string(),
        EntryTime::Unavailable(reason) => reason.to_string(),
    };
    assert_eq!(hour("2024-03-31 01:59:59 x"), "2024-03-31T00:59:59Z");
    assert_eq!(hour("2024-03-31 03:00:00 x"), "2024-03-31T01:00:00Z");
    // This time does not exist, because the clock was set forward. The offset before the change applies.
    assert_eq!(hour("2024-03-31 02:30:00 x"), "2024-03-31T01:30:00Z");
    // This time exists twice. The earlier one is used.
    assert_eq!(hour("2024-10-27 02:30:00 x"), "2024-10-27T00:30:00Z");
    assert_eq!(hour("2024-10-27 03:00:00 x"), "2024-10-27T02:00:00Z");
}

#[test]
fn stamps_in_the_middle_of_lines_are_expected_where_they_were() {
    let mut reader = StampReader::new(settings(Some(Zone::utc())));
    assert!(reader.find("app.log 2017-05-16 00:00:00.008 INFO x").is_some());
    assert!(reader.find("other 2017-05-16 00:00:01.008 INFO x").is_some());
    assert!(reader.find("the job of day 2017-05-16 00:00:01.008").is_none(), "another word");
    let mut reader = StampReader::new(settings(Some(Zone::utc())));
    assert!(reader.find("2017-05-16 00:00:00.008 INFO x").is_some());
    assert!(reader.find("completed at 2017-05-16 00:00:01.008").is_none(), "a continuation line");
    assert!(reader.find("18-Mar-2024 10:11:12.123 INFO y").is_some(), "another notation in the same file");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_a_panic_and_ranges_are_inside(lines in proptest::collection::vec("\\PC{0,60}", 1..8)) {
        let mut reader = StampReader::new(settings(Some(Zone::utc())));
        for line in lines {
            if let Some(found) = reader.find(&line) {
                proptest::prop_assert!(line.get(found.range).is_some());
            }
        }
    }

    #[test]
    fn a_written_time_is_read_back(seconds in 0_i64..4_000_000_000, nanosecond in 0_i64..1_000_000_000) {
        let unix_ns = seconds * 1_000_000_000 + nanosecond;
        let written = timestamp(unix_ns).unwrap().to_string();
        let found = StampReader::new(settings(None)).find(&written).unwrap();
        proptest::prop_assert_eq!(found.time, EntryTime::UnixNs(unix_ns));
        proptest::prop_assert_eq!(found.range, 0..written.len());
    }
}
