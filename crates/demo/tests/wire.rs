//! Compares responses with the bytes of the original, as far as they are known.

mod support;

use busyhour_demo::{BackendOptions, BackendTime, DataSet, ShopOptions};
use support::{Client, TestShop, booking, inject};

const MEDIA: &str = r#"{"id":1,"mediaType":"IMAGE","url":"http://127.0.0.1:8080/ticket-monster/resources/img/splash-ticketmonster.png"}"#;
const SEC: &str = r#"{"id":1,"name":"A","description":"yada yada yada yada yada","numberOfRows":100,"rowCapacity":100,"capacity":10000}"#;
const ADDR: &str = r#"{"street":"venue street","city":"venue city","country":"venue country"}"#;
const ECAT: &str = r#"{"id":1,"description":"event event event"}"#;
const TCAT: &str = r#"{"id":1,"description":"ticket ticket ticket"}"#;
const Y: &str = "yada yada yada yada yada";
const DATE: &str = "1605247200000";

fn shop() -> (TestShop, Client) {
    let shop = TestShop::open(ShopOptions::default());
    let client = shop.client();
    (shop, client)
}

fn filled(data_set: DataSet) -> (TestShop, Client) {
    let shop = TestShop::open(ShopOptions { data_set: Some(data_set), ..ShopOptions::default() });
    let client = shop.client();
    (shop, client)
}

/// Replaces the time of the booking, which differs in every run, in a body.
fn without_creation_time(text: &str) -> String {
    let start = text.find("\"createdOn\":").expect("a time") + "\"createdOn\":".len();
    let digits = text[start..].find(|c: char| !c.is_ascii_digit()).expect("an end");
    assert_eq!(digits, 13, "milliseconds");
    format!("{}NOW{}", &text[..start], &text[start + digits..])
}

#[test]
fn every_entity_has_the_originals_properties_in_the_originals_order() {
    let (_shop, mut client) = shop();
    inject(&mut client, 1, 1, 100);
    let event =
        format!(r#"{{"id":1,"name":"event1","description":"{Y}","mediaItem":{MEDIA},"category":{ECAT}}}"#);
    let venue = format!(
        r#"{{"id":1,"name":"1","address":{ADDR},"description":"{Y}","sections":[{SEC}],"capacity":10000,"mediaItem":{MEDIA}}}"#
    );
    let bare_venue =
        format!(r#"{{"id":1,"name":"1","address":{ADDR},"description":"{Y}","capacity":10000}}"#);
    let title = r#""displayTitle":"event1 at 1""#;
    let performance =
        format!(r#"{{"id":1,"date":{DATE},"displayTitle":"event1 at 1 on 2020-11-13 06:00:00.0"}}"#);
    let seats = |n: u32| format!(r#""seat":{{"section":{SEC},"rowNumber":1,"number":{n}}}"#);
    let cases: Vec<(&str, String)> = vec![
        ("mediaitems/1", MEDIA.into()),
        ("eventcategories", format!("[{ECAT}]")),
        ("ticketcategories/1", TCAT.into()),
        ("events", format!("[{event}]")),
        ("events/1", event.clone()),
        ("venues", format!("[{venue}]")),
        ("venues/1", venue.clone()),
        (
            "shows/1",
            format!(
                r#"{{"id":1,"event":{event},"venue":{venue},"performances":[{{"id":1,"date":{DATE}}}],"ticketPrices":[{{"id":1,"section":{SEC},"ticketCategory":{TCAT},"price":200.0}}]}}"#
            ),
        ),
        (
            "performances/1",
            format!(
                r#"{{"id":1,"show":{{"id":1,{title}}},"date":{DATE},"displayTitle":"event1 at 1 on 2020-11-13 06:00:00.0"}}"#
            ),
        ),
        (
            "ticketprices/1",
            format!(
                r#"{{"id":1,"show":{{"id":1,{title}}},"section":{SEC},"ticketCategory":{TCAT},"price":200.0,"displayTitle":"$ 200.0 for ticket ticket ticket in A"}}"#
            ),
        ),
        ("sections/1", format!(r#"{},"venue":{bare_venue}}}"#, SEC.strip_suffix('}').expect("an object"))),
        (
            "forge/events/1",
            format!(
                r#"{{"id":1,"name":"event1","mediaItem":{MEDIA},"category":{ECAT},"description":"{Y}"}}"#
            ),
        ),
        (
            "forge/venues/1",
            format!(
                r#"{{"id":1,"name":"1","address":{ADDR},"mediaItem":{MEDIA},"description":"{Y}","sections":[{SEC}],"capacity":10000}}"#
            ),
        ),
        (
            "forge/shows/1",
            format!(
                r#"{{"id":1,"event":{{"id":1,"name":"event1","description":"{Y}"}},"performances":[{performance}],"venue":{bare_venue},"ticketPrices":[{{"id":1,"price":200.0,"displayTitle":"$ 200.0 for ticket ticket ticket in A"}}],{title}}}"#
            ),
        ),
        ("tickets/2", format!(r#"{{"id":2,"ticketCategory":{TCAT},"price":200.0,{}}}"#, seats(2))),
        (
            "sectionallocations",
            format!(r#"[{{"occupiedCount":2,"performance":{performance},"section":{SEC},"id":1}}]"#),
        ),
        ("metrics", "[]".into()),
        ("shows/count", r#"{"count":1}"#.into()),
    ];
    for (path, expected) in &cases {
        for _ in 0..2 {
            // The second response comes from the cache.
            assert_eq!(client.get(path).text(), expected, "{path}");
        }
    }
    let ticket = |n: u32| {
        format!(
            r#"{{"id":{n},"seat":{{"rowNumber":1,"number":{n},"section":{SEC}}},"ticketCategory":{TCAT},"price":200.0}}"#
        )
    };
    assert_eq!(
        without_creation_time(client.get("bookings/1").text()),
        format!(
            r#"{{"id":1,"tickets":[{},{}],"performance":{{"id":1,"date":{DATE}}},"cancellationCode":"abc","createdOn":NOW,"contactEmail":"a@b.c","totalTicketPrice":400.0}}"#,
            ticket(1),
            ticket(2)
        )
    );
    assert_eq!(
        without_creation_time(client.get("forge/bookings/1").text()),
        format!(
            r#"{{"totalTicketPrice":400.0,"id":1,"tickets":[{{"id":1,"price":200.0,{}}},{{"id":2,"price":200.0,{}}}],"createdOn":NOW,"cancellationCode":"abc","contactEmail":"a@b.c","performance":{performance}}}"#,
            seats(1),
            seats(2)
        )
    );
}

#[test]
fn initial_data_equals_the_data_of_an_injection() {
    let (_shop, mut client) = shop();
    inject(&mut client, 3, 2, 100);
    let (_filled, mut other) = filled(DataSet { venues: 3, events: 2 });
    for path in [
        "mediaitems",
        "eventcategories",
        "ticketcategories",
        "events",
        "venues",
        "shows",
        "forge/events",
        "forge/venues",
        "sections",
        "forge/shows",
        "performances",
        "ticketprices",
        "sectionallocations",
        "tickets",
    ] {
        assert_eq!(client.get(path).text(), other.get(path).text(), "{path}");
    }
    for id in 1..=6 {
        let path = format!("bookings/{id}");
        assert_eq!(
            without_creation_time(client.get(&path).text()),
            without_creation_time(other.get(&path).text())
        );
    }
}

#[test]
fn sizes_on_the_wire_are_those_of_the_study() {
    let (_shop, mut client) = filled(DataSet::FULL);
    let venues = client.get_and_close("venues");
    assert_eq!(venues.body.len(), 41_577);
    assert_eq!(venues.wire.len(), 41_711);
    assert!(!venues.head.contains("Transfer-Encoding"));
    assert_eq!(client.get_and_close("venues").wire.len(), 41_711, "from the cache");

    let chunked = client.get("venues");
    assert_eq!(chunked.body, venues.body);
    assert_eq!(chunked.head.len(), 143);

    let image = client.get("media/1");
    assert_eq!(image.wire.len(), 192_955);
    assert_eq!(image.body.len(), 192_829);
    assert_eq!(image.header("Content-Type"), Some("*/*"));

    // The published lines do not contain the ids. These ids have those sizes.
    assert_eq!(client.get("performances/5100").wire.len(), 294);
    let prices: Vec<usize> =
        (9_900..=10_000).map(|id| client.get(&format!("ticketprices/{id}")).wire.len()).collect();
    assert!(prices.contains(&475), "{prices:?}");
    assert_eq!(client.get("shows/5050").wire.len(), 1127);
    assert_eq!(client.get("shows/5100").wire.len(), 1129);
    // 2835 in the study, where six of the ten tickets had an id of one more digit.
    let booked = client.post("bookings", &booking(5050, 5050, 10));
    assert_eq!(booked.wire.len(), 2829, "{}", booked.text());
}

#[test]
fn heads_are_those_of_the_original() {
    let (shop, mut client) = filled(DataSet { venues: 1, events: 1 });
    let names = |head: &str| -> Vec<String> {
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let open = client.get("events");
    assert!(
        open.head.starts_with(
            "HTTP/1.1 200 OK\r\nServer: Apache-Coyote/1.1\r\nContent-Type: application/json\r\n"
        )
    );
    assert_eq!(names(&open.head), ["Server", "Content-Type", "Transfer-Encoding", "Date"]);
    assert!(open.header("Date").is_some_and(|date| date.len() == 29 && date.ends_with(" GMT")));
    let close = client.get_and_close("events");
    assert_eq!((close.head.len(), close.body), (134, open.body));

    let made = client.post("eventcategories", r#"{"description":"another"}"#);
    assert_eq!(made.status, 201);
    assert_eq!(names(&made.head), ["Server", "Location", "Content-Length", "Date"]);
    assert_eq!(made.header("Content-Length"), Some("0"));
    let location = made.header("Location").expect("a location").to_owned();
    let expected = format!("http://{}/ticket-monster/rest/eventcategories/2", shop.address);
    assert_eq!(location, expected);

    let gone = client.delete("eventcategories/2");
    assert_eq!((gone.status, names(&gone.head)), (204, vec!["Server".to_owned(), "Date".to_owned()]));
    assert_eq!(client.request("HEAD", "events", "", "").status, 200);
    assert_eq!(client.get("events").status, 200, "the response to HEAD has no body");
}

#[test]
fn pipelined_and_split_requests_are_answered_in_order() {
    let (shop, mut client) = filled(DataSet { venues: 1, events: 1 });
    let one = format!("GET /ticket-monster/rest/events/1 HTTP/1.1\r\nHost: {}\r\n\r\n", shop.address);
    let two = one.replace("events/1", "venues/count");
    client.send(format!("{one}{two}{one}").as_bytes());
    assert!(client.receive(false).text().contains("event1"));
    assert_eq!(client.receive(false).text(), r#"{"count":1}"#);
    assert!(client.receive(false).text().contains("event1"));
    let (start, end) = two.split_at(20);
    client.send(start.as_bytes());
    client.send(end.as_bytes());
    assert_eq!(client.receive(false).text(), r#"{"count":1}"#);
    let body = r#"{"description":"in chunks"}"#;
    let (left, right) = body.split_at(9);
    client.send(
        format!(
            "POST /ticket-monster/rest/eventcategories HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{left}\r\n{:x}\r\n{right}\r\n0\r\n\r\n",
            left.len(),
            right.len()
        )
        .as_bytes(),
    );
    let made = client.receive(false);
    assert_eq!(made.header("Location"), Some("http://h/ticket-monster/rest/eventcategories/2"));
}

#[test]
fn an_invalid_request_is_answered_and_the_connection_closed() {
    let (shop, mut client) = filled(DataSet { venues: 1, events: 1 });
    let head = "POST /ticket-monster/rest/bookings HTTP/1.1\r\nHost: h\r\n";
    for (text, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("{head}Content-Length: 9999999999\r\n\r\n{{"), 413),
        (format!("{head}Transfer-Encoding: gzip\r\n\r\n"), 501),
        (format!("GET /{} HTTP/1.1\r\n", "x".repeat(70_000)), 413),
    ] {
        client.send(text.as_bytes());
        assert_eq!(client.receive(false).status, status);
        assert_eq!(client.get("events/count").status, 200, "the shop still responds");
    }
    // The client disconnects in the middle of a request.
    client.send(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes());
    drop(client);
    let mut client = shop.client();
    client.send(
        format!("{head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            .as_bytes(),
    );
    let reported = client.receive(true);
    assert_eq!((reported.status, reported.wire.len()), (100, 25));
    client.send(b"{}");
    assert_eq!(client.receive(false).text(), r#"{"errors":["may not be empty"]}"#);
    // Also if the body is sent immediately.
    client.send(
        format!(
            "{head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{{}}"
        )
        .as_bytes(),
    );
    assert_eq!(client.receive(true).status, 100);
    assert_eq!(client.receive(false).text(), r#"{"errors":["may not be empty"]}"#);
    // For an HTTP/1.0 client, the body ends with the connection.
    client.send(b"GET /ticket-monster/rest/events/count HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let old = client.receive(false);
    assert_eq!((old.text(), old.head.len()), (r#"{"count":1}"#, 134));
}

#[test]
fn absolute_targets_and_the_root_are_understood() {
    let (_shop, mut client) = filled(DataSet { venues: 1, events: 1 });
    client
        .send(b"GET http://shop.example:81/ticket-monster/rest/events/count HTTP/1.1\r\nHost: other\r\n\r\n");
    assert_eq!(client.receive(false).text(), r#"{"count":1}"#);
    client.send(b"GET http://shop.example:81/ticket-monster HTTP/1.1\r\nHost: other\r\n\r\n");
    let moved = client.receive(false);
    assert_eq!(
        (moved.status, moved.header("Location")),
        (302, Some("http://shop.example:81/ticket-monster/"))
    );
}

#[test]
fn idle_connections_are_closed_if_requested() {
    let idle_timeout = Some(std::time::Duration::from_millis(20));
    let shop = TestShop::open(ShopOptions { idle_timeout, ..ShopOptions::default() });
    let mut stream = std::net::TcpStream::connect(shop.address).expect("a connection");
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut rest).expect("the shop closes");
    assert!(rest.is_empty());
}

#[test]
fn a_backend_delays_responses_without_changing_them() {
    let connections = std::num::NonZeroUsize::MIN;
    let time = BackendTime::Constant(std::time::Duration::from_micros(200));
    let backend = Some(BackendOptions { connections, time });
    let delayed =
        TestShop::open(ShopOptions { data_set: Some(DataSet::SMALL), backend, ..ShopOptions::default() });
    let (_at_once, mut client) = filled(DataSet::SMALL);
    let wanted: Vec<Vec<u8>> =
        ["shows?maxResults=3", "events/2", "nothing"].iter().map(|path| client.get(path).body).collect();
    // Three clients concurrently wait for the single connection, and each gets its own response.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = delayed.client();
                for (path, wanted) in ["shows?maxResults=3", "events/2", "nothing"].iter().zip(&wanted) {
                    assert_eq!(&client.get(path).body, wanted, "{path}");
                }
            });
        }
    });
}
