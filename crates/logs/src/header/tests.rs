use super::*;
use crate::stamps::{StampReader, StampSettings};

/// Severity, logger and message of a line, separated by ` | `.
fn parts(line: &str) -> String {
    let mut reader = StampReader::new(StampSettings { zone: None, near_unix_ns: 1_710_763_200_000_000_000 });
    let header = match reader.find(line) {
        Some(found) => split_stamped(line, found.notation, &found.range),
        None => split_unstamped(line),
    };
    let severity = header.severity.map_or("-".to_owned(), |severity| severity.to_string());
    let logger = header.logger.map_or("-", |logger| &line[logger]);
    format!("{severity} | {logger} | {}", &line[header.message..])
}

#[test]
fn the_usual_layouts_are_split() {
    for (line, expected) in [
        (
            "2015-10-18 18:01:47,978 INFO [main] org.apache.MRAppMaster: Created x for y",
            "info | org.apache.MRAppMaster | Created x for y",
        ),
        ("10:11:12.123 [main] ERROR c.e.Shop - no seat", "error | c.e.Shop | no seat"),
        (
            "2024-03-18T10:11:12.123Z  WARN 1 --- [nio-8080-exec-1] o.s.w.s.Filter    : no route",
            "warn | o.s.w.s.Filter | no route",
        ),
        (
            "2024-03-18T10:11:12.123Z ERROR 1 --- [shop] [nio-8080-exec-1] o.s.Filter : no route",
            "error | o.s.Filter | no route",
        ),
        (
            "18-Mar-2024 10:11:12.123 SEVERE [main] org.apache.catalina.core.Foo.start Server down",
            "error | org.apache.catalina.core.Foo.start | Server down",
        ),
        (
            "[Sun Dec 04 04:47:44 2005] [error] mod_jk child in error state 6",
            "error | - | mod_jk child in error state 6",
        ),
        (
            "[Wed Oct 11 14:32:52.123456 2023] [core:error] [pid 5:tid 6] [client ::1] denied",
            "error | - | [client ::1] denied",
        ),
        ("2024/01/02 15:04:05 [error] 5#6: *7 open() failed", "error | - | 5#6: *7 open() failed"),
        ("Jun 14 15:16:01 combo sshd(pam_unix)[19939]: check pass", "- | sshd | check pass"),
        ("<11>Jun 14 15:16:01 combo app: no route", "error | app | no route"),
        ("03-17 16:13:38.811  1702  2395 E WindowManager: no token", "error | WindowManager | no token"),
        ("E0318 15:04:05.000001       1 server.go:12] no route", "error | server.go | no route"),
        ("2024-03-18 10:11:12,123 - shop.seats - WARNING - no seat", "warn | shop.seats | no seat"),
        ("2024-03-18 10:11:12.1234|ERROR|Shop.Seats|no seat", "error | Shop.Seats | no seat"),
        ("[23:59:59 ERR] no seat", "error | - | no seat"),
        ("time=\"2024-03-18T10:11:12Z\" level=error msg=\"no seat\"", "error | - | \"no seat\""),
        (
            "2015-07-29 17:41:44,747 - WARN  [SendWorker:1:Quorum$Worker@688] - Send worker left",
            "warn | - | Send worker left",
        ),
        (
            "2017-05-16 00:00:00.008 25746 INFO nova.wsgi [req-1 2 3] [instance: 5] ok",
            "info | nova.wsgi | [instance: 5] ok",
        ),
        ("20171223-22:15:29:606|Step_LSC|30002312|step changed", "- | Step_LSC | step changed"),
        ("2015-07-31 19:30:07,452 - INFO  [Q:F@63] - FOLLOWING - LEADER", "info | - | FOLLOWING - LEADER"),
        ("Mar 18, 2024 10:11:12 AM org.foo.Bar method", "- | org.foo.Bar | org.foo.Bar method"),
        ("ERROR: no route", "error | - | no route"),
        ("ERROR:shop.seats:no route", "error | shop.seats | no route"),
        ("ERROR:no route", "error | - | no route"),
        ("fail: Shop.Seats[0]", "error | Shop.Seats[0] | "),
        ("SEVERE: no route", "error | - | no route"),
        ("no route to host - sorry", "- | - | no route to host - sorry"),
        ("2024-03-18 10:11:12 INFO", "info | - | "),
        ("2024-03-18 10:11:12", "- | - | "),
    ] {
        assert_eq!(parts(line), expected, "{line}");
    }
}

#[test]
fn a_long_header_is_split_in_bounded_steps() {
    let line = format!("2024-03-18 10:11:12 {}", "[a] ".repeat(100_000));
    assert!(parts(&line).len() > 300_000);
    let line = format!("2024-03-18 10:11:12 {}", "[".repeat(100_000));
    assert!(parts(&line).len() > 90_000);
}

proptest::proptest! {
    #[test]
    fn messages_begin_at_a_character(
        start in "(2024-03-18 10:11:12|18-Mar-2024 10:11:12|Jun 14 15:16:01|03-17 16:13:38.811|E0318 15:04:05.1|<3>|)",
        rest in "[ \\[\\]():|<>A-Eaé.=\"-]{0,40}",
    ) {
        parts(&format!("{start} {rest}"));
        parts(&format!("{start}{rest}"));
    }
}
