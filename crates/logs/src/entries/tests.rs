use super::*;
use crate::stamps::Zone;

fn reader() -> EntryReader {
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 1_710_763_200_000_000_000 };
    EntryReader::new(stamps, None)
}

/// Severity, message, number of lines and trace of each entry.
fn entries(text: &str) -> Vec<String> {
    let (mut reader, mut found) = (reader(), Vec::new());
    let mut emit = |entry: &Entry<'_>| {
        let severity = entry.severity.map_or("-".to_owned(), |severity| severity.to_string());
        let trace = entry.trace.as_ref().map_or(String::new(), |trace| format!(" {{{trace}}}"));
        found.push(format!("{severity} `{}` {}{trace}", entry.message, entry.lines));
    };
    for line in text.lines() {
        reader.push(line, LineContext::default(), &mut emit);
    }
    reader.finish(emit);
    found
}

#[test]
fn a_java_trace_with_causes_is_one_entry() {
    let text = "\
2024-03-18 10:11:12,123 ERROR [http-1] shop.Shop - booking failed
shop.BookingException: seat 12
	at shop.Booking.book(Booking.java:10)
	at org.springframework.Foo.bar(Foo.java:5)
	Suppressed: java.io.IOException: close
		at shop.Closer.close(Closer.java:1)
	... 10 more
Caused by: java.sql.SQLException: lock
	at org.postgresql.Driver.run(Driver.java:5)
	at shop.Seats$$Lambda$14/0x00000008000c8.apply(Unknown Source)
	at app//shop.Seats.lambda$load$3(Seats.java:99)
	... 12 more

2024-03-18 10:11:12,124 INFO [http-1] shop.Shop - next";
    assert_eq!(
        entries(text),
        [
            "error `booking failed` 12 {shop.BookingException <- java.sql.SQLException at shop.Seats$$Lambda.apply < shop.Seats.lambda$load}",
            "info `next` 1"
        ]
    );
}

#[test]
fn traces_without_stamps_are_single_entries() {
    let java = "\
starting
Exception in thread \"main\" java.lang.IllegalStateException: no seat
	at shop.Main.main(Main.java:3)
Caused by: java.lang.NullPointerException
	at java.base/java.util.Objects.requireNonNull(Objects.java:1)
	at shop.Main.load(Main.java:9)
	... 1 more
done";
    assert_eq!(
        entries(java),
        [
            "- `starting` 1",
            "error `Exception in thread \"main\" java.lang.IllegalStateException: no seat` 6 \
             {java.lang.IllegalStateException <- java.lang.NullPointerException at shop.Main.load}",
            "- `done` 1",
        ]
    );
    let hot = "SEVERE: booking failed\njava.lang.NullPointerException\nINFO: next";
    assert_eq!(
        entries(hot),
        ["error `booking failed` 2 {java.lang.NullPointerException (no frames)}", "info `next` 1"]
    );
}

#[test]
fn a_python_traceback_is_one_entry() {
    let text = "\
ERROR:shop:booking failed
Traceback (most recent call last):
  File \"/srv/app/shop/seats.py\", line 12, in load
    return rows[0]
IndexError: list index out of range

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File \"/usr/lib/python3/dist-packages/flask/app.py\", line 1, in run
    f()
  File \"/srv/app/shop/book.py\", line 5, in book
    raise SeatError(5)
shop.SeatError: 5
INFO:shop:next";
    assert_eq!(
        entries(text),
        ["error `booking failed` 12 {shop.SeatError <- IndexError at load (shop/seats.py)}", "info `next` 1"]
    );
}

#[test]
fn a_go_panic_is_one_entry() {
    let text = "\
2024/03/18 10:11:12 listening
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.(*Shop).Book(0xc0000, 0x5)
	/src/shop.go:12 +0x1d
github.com/acme/web.Serve(...)
	/src/web.go:5
net/http.(*conn).serve(0xc000)
	/usr/local/go/src/net/http/server.go:1 +0x2

goroutine 7 [select]:
main.other()
	/src/other.go:1 +0x1
exit status 2
started again";
    assert_eq!(
        entries(text),
        [
            "- `listening` 1",
            "fatal `panic: runtime error: index out of range [5] with length 3` 12 {panic at main.(*Shop).Book < github.com/acme/web.Serve}",
            "- `started again` 1",
        ]
    );
}

#[test]
fn traces_of_node_and_dotnet_are_single_entries() {
    let node = "\
TypeError: Cannot read properties of undefined (reading 'id')
    at book (/srv/app/shop/seats.js:12:5)
    at /srv/app/shop/web.js:3:1
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  code: 'E5'
}
ready";
    assert_eq!(
        entries(node),
        [
            "- `TypeError: Cannot read properties of undefined (reading 'id')` 6 \
             {TypeError at book (shop/seats.js) < shop/web.js}",
            "- `ready` 1",
        ]
    );
    let dotnet = "\
Unhandled exception. System.InvalidOperationException: no seat
 ---> System.TimeoutException: late
   at Npgsql.Conn.Open() in /src/n.cs:line 1
   at Shop.Seats.Load(Int32 id) in /src/Seats.cs:line 12
   --- End of inner exception stack trace ---
   at Shop.Program.Main() in /src/Program.cs:line 3";
    assert_eq!(
        entries(dotnet),
        ["fatal `Unhandled exception. System.InvalidOperationException: no seat` 6 \
          {System.InvalidOperationException <- System.TimeoutException at Shop.Seats.Load}"]
    );
}

#[test]
fn the_second_line_of_java_util_logging_is_the_message() {
    let text = "\
Mar 18, 2024 10:11:12 AM shop.Shop book
SEVERE: booking failed
java.lang.NullPointerException: x
	at shop.Shop.book(Shop.java:1)
Mar 18, 2024 10:11:13 AM shop.Shop book
INFO: ok";
    assert_eq!(
        entries(text),
        ["error `booking failed` 4 {java.lang.NullPointerException at shop.Shop.book}", "info `ok` 2"]
    );
}

#[test]
fn the_message_of_dotnet_is_below_its_header() {
    let text = "\
fail: Shop.Seats[0]
      booking failed
      System.InvalidOperationException: no seat
         at Shop.Seats.Load(Int32 id) in /src/Seats.cs:line 12
info: Shop.Seats[0]
      next";
    assert_eq!(
        entries(text),
        ["error `booking failed` 4 {System.InvalidOperationException at Shop.Seats.Load}", "info `next` 2"]
    );
}

#[test]
fn a_line_in_json_is_an_entry_with_its_trace() {
    let text = r#"{"@timestamp":"2024-03-18T10:00:00Z","level":"ERROR","logger_name":"a.B","message":"no seat","stack_trace":"a.SeatException: x\n\tat a.B.c(B.java:1)"}"#;
    let mut count = 0;
    reader().push(text, LineContext::default(), |entry| {
        count += 1;
        assert_eq!(entry.logger, Some("a.B"));
        assert_eq!(entry.time, EntryTime::UnixNs(1_710_756_000_000_000_000));
        assert_eq!(entry.text, "no seat\na.SeatException: x\n\tat a.B.c(B.java:1)");
        assert_eq!(entry.trace.as_ref().unwrap().to_string(), "a.SeatException at a.B.c");
    });
    assert_eq!(count, 1);
}

#[test]
fn records_of_access_logs_are_read() {
    let line = "10.0.0.1 - - [18/Mar/2024:10:11:12 +0000] \"GET /book HTTP/1.1\" 503 12 0.250";
    let mut reader = reader();
    reader.push(line, LineContext::default(), |_| panic!("not complete"));
    let mut count = 0;
    reader.finish(|entry| {
        count += 1;
        let access = entry.access.unwrap();
        assert_eq!((access.status, access.duration_ns), (503, Some(250_000_000)));
        assert_eq!(entry.message, line);
    });
    assert_eq!(count, 1);
}

#[test]
fn the_time_of_the_transport_is_used_if_the_stamp_is_missing() {
    let context = LineContext { received_unix_ns: Some(5), severity: Some(EntrySeverity::Warn) };
    let mut reader = reader();
    reader.push("no stamp", context, |_| {});
    reader.push("1970-01-01 00:00:01 ERROR x", context, |entry| {
        assert_eq!((entry.time, entry.severity), (EntryTime::UnixNs(5), Some(EntrySeverity::Warn)));
    });
    reader.finish(|entry| {
        assert_eq!(
            (entry.time, entry.severity),
            (EntryTime::UnixNs(1_000_000_000), Some(EntrySeverity::Error))
        );
    });
}

#[test]
fn long_entries_are_limited_and_their_key_is_complete() {
    let mut reader = reader();
    let context = LineContext::default();
    reader.push("2024-03-18 10:11:12 ERROR deep", context, |_| {});
    reader.push("a.DeepException: x", context, |_| {});
    for _ in 0..200_000 {
        reader.push("\tat java.util.Deep.er(Deep.java:1)", context, |_| panic!("one entry"));
    }
    reader.push("Caused by: a.Root", context, |_| {});
    reader.push("\tat shop.Shop.book(Shop.java:5)", context, |_| {});
    reader.finish(|entry| {
        assert!(entry.text.len() <= ENTRY_BYTES_MAX);
        assert_eq!(entry.lines, 200_004);
        assert!(entry.omitted_lines > 190_000);
        // `a.Root` does not end like the usual names of exceptions, but follows `Caused by`.
        assert!(entry.trace.as_ref().unwrap().to_string().contains("shop.Shop.book"), "{:?}", entry.trace);
    });
}

#[test]
fn plain_lines_after_an_entry_are_limited() {
    let text = format!("2024-03-18 10:11:12 INFO first\n{}", "print\n".repeat(1_200));
    let found = entries(&text);
    assert_eq!(found[0], "info `first` 501");
    assert_eq!(found[1], "- `print` 1");
    assert_eq!(found.len(), 1 + 700);
}

proptest::proptest! {
    #[test]
    fn no_line_is_lost(lines in proptest::collection::vec(
        "(2024-03-18 10:11:12 |Mar 18, 2024 10:11:12 AM a.B|\t|Caused by: |goroutine 1 \\[|Traceback \\(most|panic: |)[ -~é]{1,20}",
        1..40,
    )) {
        let mut reader = reader();
        let (mut count, mut bytes) = (0, 0);
        let mut emit = |entry: &Entry<'_>| {
            count += entry.lines;
            bytes += entry.text.lines().map(str::len).sum::<usize>();
            assert!(entry.body.len() <= entry.text.len() && entry.body.starts_with(entry.message));
        };
        for line in &lines {
            reader.push(line, LineContext::default(), &mut emit);
        }
        reader.finish(emit);
        let kept: Vec<_> = lines.iter().filter(|line| !line.trim_ascii().is_empty()).collect();
        proptest::prop_assert_eq!(count, kept.len() as u64);
        proptest::prop_assert_eq!(bytes, kept.iter().map(|line| line.len()).sum::<usize>());
    }
}
