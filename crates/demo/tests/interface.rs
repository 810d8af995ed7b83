//! The behaviour of the interface, including mistakes of clients, in both modes.

mod support;

use busyhour_demo::{DataSet, DemoError, ShopOptions};
use support::{Client, Reply, TestShop, WORDS, booking, inject};

const INVALID: &str =
    r#"{"errors":["The submitted request is invalid. Please retry after correcting the input values."]}"#;
const NO_SEATS: &str = r#"{"errors":["Cannot allocate the requested number of seats!"]}"#;

fn small(strict: bool) -> (TestShop, Client) {
    let shop = TestShop::open(ShopOptions {
        strict,
        data_set: Some(DataSet { venues: 2, events: 3 }),
        ..ShopOptions::default()
    });
    let client = shop.client();
    (shop, client)
}

fn printed(reply: &Reply) -> (u16, &str) {
    (reply.status, reply.text())
}

fn rows_and_seats(reply: &Reply) -> Vec<(u64, u64)> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let booking = reply.json();
    let tickets = booking["tickets"].as_array().expect("tickets").iter();
    tickets
        .map(|ticket| {
            let number = |name: &str| ticket["seat"][name].as_u64().expect("a number");
            (number("rowNumber"), number("number"))
        })
        .collect()
}

#[test]
fn seats_are_assigned_as_in_the_original() {
    let shop = TestShop::open(ShopOptions::default());
    let mut client = shop.client();
    inject(&mut client, 0, 1, 1);
    client.post("forge/venues", r#"{"name":"v","capacity":10}"#);
    let section = r#"{"name":"A","numberOfRows":2,"rowCapacity":5,"venue":{"id":1}}"#;
    assert_eq!(client.post("sections", section).status, 201);
    client.post("forge/shows", r#"{"event":{"id":1},"venue":{"id":1}}"#);
    client.post("performances", r#"{"show":{"id":1},"date":4102444800000}"#);
    client.post("ticketcategories", r#"{"description":"reduced"}"#);
    for category in [1, 2] {
        let price = format!(
            r#"{{"show":{{"id":1}},"section":{{"id":1}},"ticketCategory":{{"id":{category}}},"price":{category}.5}}"#
        );
        assert_eq!(client.post("ticketprices", &price).status, 201);
    }
    let mut book = |seats: i64| client.post("bookings", &booking(1, 1, seats));
    assert_eq!(rows_and_seats(&book(3)), [(1, 1), (1, 2), (1, 3)]);
    assert_eq!(rows_and_seats(&book(3)), [(2, 1), (2, 2), (2, 3)]);
    assert_eq!(printed(&book(3)), (400, NO_SEATS));
    assert_eq!(rows_and_seats(&book(2)), [(1, 4), (1, 5)]);
    assert_eq!(rows_and_seats(&book(2)), [(2, 4), (2, 5)]);
    assert_eq!(printed(&book(1)), (400, NO_SEATS));
    assert_eq!(printed(&book(6)), (400, NO_SEATS));
    assert_eq!(printed(&book(i64::MAX)), (400, NO_SEATS));
    assert_eq!(client.get("sectionallocations/1").json()["occupiedCount"], 10);
    let metrics = r#"[{"show":1,"event":"event1","venue":"v","capacity":10,"performances":[{"date":4102444800000,"occupiedCount":10}]}]"#;
    assert_eq!(client.get("metrics").text(), metrics);

    // Seats are freed immediately; two categories of one section share a block.
    assert_eq!(client.delete("bookings/2").status, 204);
    assert_eq!(client.delete("bookings/2").status, 404);
    let both = r#"{"ticketRequests":[{"ticketPrice":2,"quantity":1},{"ticketPrice":1,"quantity":2}],"email":"a@b.c","performance":1}"#;
    let shared = client.post("bookings", both);
    assert_eq!(rows_and_seats(&shared), [(2, 1), (2, 2), (2, 3)]);
    assert_eq!(shared.json()["totalTicketPrice"], 5.5);
    assert_eq!(shared.json()["tickets"][0]["ticketCategory"]["id"], 2);
    assert_eq!(shared.json()["id"], 5, "ids are never reused");
    assert_eq!(client.delete("bookings").status, 204);
    assert_eq!(client.get("bookings/count").text(), r#"{"count":0}"#);
    assert_eq!(client.get("sectionallocations/1").json()["occupiedCount"], 0);
    assert_eq!(client.get("tickets").text(), "[]");
}

#[test]
fn impossible_bookings_are_explained() {
    let (_shop, mut client) = small(false);
    let order = |requests: &str, email: &str, performance: &str| {
        format!(r#"{{"ticketRequests":[{requests}],"email":{email},"performance":{performance}}}"#)
    };
    let one = r#"{"ticketPrice":1,"quantity":1}"#;
    let good = r#""a@b.c""#;
    let cases = [
        (order(one, r#""nobody""#, "1"), "\"Not a valid email format\""),
        (order(one, "null", "1"), "\"may not be empty\""),
        (order("", good, "1"), "\"may not be empty\""),
        (order(r#"{"ticketPrice":1,"quantity":0}"#, good, "1"), "\"may not be empty\""),
        (order(&format!("{one},{one}"), good, "1"), "\"Duplicate price category id\""),
        (order(one, good, "77"), "\"there is no performance 77\""),
        (order(r#"{"ticketPrice":77,"quantity":1}"#, good, "\"1\""), "\"there is no ticket price 77\""),
        (order(r#"{"ticketPrice":2,"quantity":1}"#, good, "1"), "\"ticket price 2 belongs to another show\""),
    ];
    for (body, why) in &cases {
        let reply = client.post("bookings", body);
        assert_eq!(printed(&reply), (400, format!("{{\"errors\":[{why}]}}").as_str()), "{body}");
        assert_eq!(reply.header("Connection"), Some("close"));
    }
    for body in ["", "{", "[]", r#"{"who":1}"#, r#"{"performance":"one"}"#] {
        assert_eq!(printed(&client.post("bookings", body)), (400, INVALID), "{body}");
    }
    assert_eq!(client.get("bookings/count").text(), r#"{"count":6}"#, "nothing was booked");

    let (_shop, mut strict) = small(true);
    let null = r#"{"errors":[null]}"#;
    assert_eq!(printed(&strict.post("bookings", &order(one, good, "77"))), (400, null));
    assert_eq!(printed(&strict.post("bookings", &order(one, r#""nobody""#, "1"))).0, 400);
    // The original ignores a price with quantity 0 if there is another one.
    let none = r#"{"ticketPrice":2,"quantity":0}"#;
    let both = order(&format!("{one},{none}"), good, "1");
    assert_eq!((client.post("bookings", &both).status, strict.post("bookings", &both).status), (400, 200));
    assert_eq!(strict.post("bookings", &order(none, good, "1")).status, 400);
    // It repeats the charset of a body that it cannot read.
    let utf8 = "Content-Type: application/json;charset=utf-8\r\n";
    for (shop, content_type) in
        [(&mut client, "application/json"), (&mut strict, "application/json;charset=utf-8")]
    {
        let reply = shop.request("POST", "bookings", utf8, "{");
        assert_eq!((reply.status, reply.header("Content-Type")), (400, Some(content_type)));
    }
}

#[test]
fn missing_entities_give_404_or_the_originals_error() {
    let (_shop, mut client) = small(false);
    let (_other, mut strict) = small(true);
    for path in ["venues/99", "events/99", "shows/99", "bookings/99", "shows/performance/99"] {
        assert_eq!((client.get(path).status, strict.get(path).status), (404, 500), "{path}");
    }
    for path in
        ["forge/venues/99", "performances/99", "nothing", "venues/x", "forge/nothing", "venues/1/2", "media"]
    {
        assert_eq!((client.get(path).status, strict.get(path).status), (404, 404), "{path}");
    }
    assert_eq!((client.delete("bookings/99").status, strict.delete("bookings/99").status), (404, 404));
    assert_eq!(client.put("sections/99", "{}").status, 404);
    assert_eq!((client.get("venues?first=x").status, strict.get("venues?first=x").status), (400, 404));
    let placeholder = strict.get("media/99");
    assert_eq!(
        (client.get("media/99").status, placeholder.status, placeholder.body.len()),
        (404, 200, 180_634)
    );
    let wrong_type = "Content-Type: text/plain\r\n";
    for shop in [&mut client, &mut strict] {
        assert_eq!(shop.request("POST", "sections", wrong_type, "{}").status, 415);
        shop.accept = "text/html".into();
        assert_eq!(shop.get("venues").status, 406);
        assert_eq!(shop.get("media/1").status, 200);
        shop.accept = "*/*".into();
        for (method, path, allow) in [
            ("POST", "venues", "GET, OPTIONS, HEAD"),
            ("DELETE", "venues/1", "GET, OPTIONS, HEAD"),
            ("PUT", "bookings/1", "GET, DELETE, OPTIONS, HEAD"),
            ("DELETE", "sections", "GET, POST, OPTIONS, HEAD"),
            ("PATCH", "sections/1", "GET, PUT, DELETE, OPTIONS, HEAD"),
        ] {
            let reply = shop.request(method, path, "", "");
            assert_eq!((reply.status, reply.header("Allow")), (405, Some(allow)), "{method} {path}");
        }
        assert_eq!(
            shop.request("OPTIONS", "sections", "", "").header("Allow"),
            Some("GET, POST, OPTIONS, HEAD")
        );
    }
}

#[test]
fn rules_are_enforced() {
    let (_shop, mut client) = small(false);
    let (_other, mut strict) = small(true);
    let event = |name: &str, words: &str, category: i64| {
        format!(r#"{{"name":"{name}","description":"{words}","category":{{"id":{category}}}}}"#)
    };
    let cases = [
        ("forge/events", event("four", WORDS, 1), 400),
        ("forge/events", event(&"x".repeat(51), WORDS, 1), 400),
        ("forge/events", event("event9", "too short", 1), 400),
        ("forge/events", event("event9", WORDS, 9), 400),
        ("forge/events", format!(r#"{{"name":"event9","description":"{WORDS}"}}"#), 400),
        ("forge/events", event("event1", WORDS, 1), 409),
        ("forge/venues", r#"{"name":"1"}"#.into(), 409),
        ("sections", r#"{"name":"A","numberOfRows":1,"rowCapacity":1,"venue":{"id":1}}"#.into(), 409),
        ("sections", r#"{"name":"B","numberOfRows":0,"rowCapacity":1,"venue":{"id":1}}"#.into(), 400),
        ("forge/shows", r#"{"event":{"id":1},"venue":{"id":1}}"#.into(), 409),
        ("performances", r#"{"show":{"id":1},"date":1605247200000}"#.into(), 409),
        ("ticketcategories", r#"{"description":"ticket ticket ticket"}"#.into(), 409),
        ("eventcategories", r#"{"description":""}"#.into(), 400),
        (
            "tickets",
            r#"{"ticketCategory":{"id":1},"price":1,"seat":{"section":{"id":1},"rowNumber":101,"number":1}}"#
                .into(),
            400,
        ),
    ];
    for (path, body, status) in &cases {
        assert_eq!(client.post(path, body).status, *status, "{path} {body}");
        assert_eq!(strict.post(path, body).status, 500, "{path} {body}");
    }
    assert_eq!(printed(&client.post("sections", r#"{"colour":1}"#)), (400, INVALID));
    // These entities are still in use.
    for path in [
        "forge/venues/1",
        "sections/1",
        "forge/events/1",
        "performances/1",
        "sectionallocations/1",
        "tickets/1",
    ] {
        assert_eq!((client.delete(path).status, strict.delete(path).status), (409, 500), "{path}");
    }
}

#[test]
fn the_cache_follows_changed_and_deleted_entities() {
    let (_shop, mut client) = small(false);
    assert!(client.get("shows/1").text().contains("\"name\":\"event1\""));
    let body = format!(r#"{{"id":1,"name":"another","description":"{WORDS}","category":{{"id":1}}}}"#);
    assert_eq!(client.put("forge/events/1", &body).status, 204);
    assert!(client.get("shows/1").text().contains("\"name\":\"another\""));
    assert!(client.get("performances/1").text().contains("another at 1"));
    assert!(client.get("events/1").text().contains("\"mediaItem\":null"));

    assert_eq!(client.delete("bookings/1").status, 204);
    assert_eq!(client.delete("sectionallocations/1").status, 204);
    assert_eq!(client.delete("forge/shows/1").status, 204);
    assert_eq!(client.get("shows/1").status, 404);
    assert_eq!(client.get("performances/1").status, 404, "it is deleted with its show");
    assert_eq!(client.get("shows/count").text(), r#"{"count":5}"#);

    // Sold seats stay when a section changes its size.
    let section = |rows: u32, seats: u32| {
        format!(r#"{{"name":"A","numberOfRows":{rows},"rowCapacity":{seats},"venue":{{"id":1}}}}"#)
    };
    assert_eq!(client.put("sections/1", &section(1, 1)).status, 409);
    assert_eq!(client.put("sections/1", &section(1, 3)).status, 204);
    assert_eq!(printed(&client.post("bookings", &booking(2, 2, 2))), (400, NO_SEATS));
    assert_eq!(rows_and_seats(&client.post("bookings", &booking(2, 2, 1))), [(1, 3)]);
}

#[test]
fn a_booking_of_existing_tickets_never_sells_a_seat_twice() {
    let (_shop, mut client) = small(false);
    let ticket = |seat: u32| {
        format!(
            r#"{{"ticketCategory":{{"id":1}},"price":7.25,"seat":{{"section":{{"id":1}},"rowNumber":1,"number":{seat}}}}}"#
        )
    };
    let order = |ticket: u32| {
        format!(
            r#"{{"tickets":[{{"id":{ticket}}}],"performance":{{"id":1}},"createdOn":1,"cancellationCode":"xyz","contactEmail":"a@b.c"}}"#
        )
    };
    for seat in [3, 1] {
        assert_eq!(client.post("tickets", &ticket(seat)).status, 201);
    }
    assert_eq!(client.post("forge/bookings", &order(13)).status, 201);
    assert_eq!(client.get("forge/bookings/7").json()["totalTicketPrice"], 7.25);
    assert_eq!(client.post("forge/bookings", &order(14)).status, 409, "seat 1 is sold");
    assert_eq!(client.post("forge/bookings", &order(13)).status, 409, "the ticket is taken");
    assert_eq!(client.put("tickets/13", &ticket(4)).status, 409);
    assert_eq!(rows_and_seats(&client.post("bookings", &booking(1, 1, 2))), [(1, 4), (1, 5)]);
    assert_eq!(client.get("sectionallocations/1").json()["occupiedCount"], 5);
    assert_eq!(client.delete("forge/bookings/7").status, 204);
    assert_eq!(rows_and_seats(&client.post("bookings", &booking(1, 1, 1))), [(1, 3)]);
}

#[test]
fn lists_are_paged_and_filtered() {
    let (_shop, mut client) = small(false);
    let ids = |reply: Reply| -> Vec<u64> {
        reply.json().as_array().expect("a list").iter().map(|e| e["id"].as_u64().expect("an id")).collect()
    };
    assert_eq!(ids(client.get("shows")), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ids(client.get("shows?first=2&maxResults=3")), [2, 3, 4]);
    assert_eq!(ids(client.get("forge/shows?start=2&max=3")), [3, 4, 5]);
    assert_eq!(ids(client.get("shows?venue=2")), [4, 5, 6]);
    assert_eq!(ids(client.get("shows?venue=2&event=3")), [6]);
    assert_eq!(ids(client.get("events?category=1&maxResults=1")), [1]);
    assert_eq!(ids(client.get("events?category=2")), [0; 0]);
    assert_eq!(client.get("shows/count?venue=1").text(), r#"{"count":3}"#);
    assert_eq!(client.get("shows/performance/4").json()["id"], 4);
    assert_eq!(ids(client.get("bookings?first=6")), [6]);
}

#[test]
fn the_bot_executes_commands() {
    let (_shop, mut client) = small(false);
    assert_eq!(client.get("bot/status").text(), "\"NOT_RUNNING\"");
    assert_eq!(client.put("bot/status", "\"RUNNING\"").status, 204);
    assert_eq!(client.get("bot/status").text(), "\"RUNNING\"");
    assert_eq!(client.put("bot/status", "\"SLEEPING\"").status, 400);
    assert_eq!(client.put("bot/status", "\"RESET\"").status, 204);
    assert_eq!(client.get("bot/status").text(), "\"NOT_RUNNING\"");
    assert_eq!(client.get("bookings").text(), "[]");
    assert_eq!(client.get("bot/messages").text(), "[]");
}

#[test]
fn a_database_file_is_persistent_and_locked_while_the_shop_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ShopOptions {
        database: Some(folder.path().join("shop.db")),
        data_set: Some(DataSet { venues: 1, events: 1 }),
        public_url: Some("https://shop.example/".into()),
        ..ShopOptions::default()
    };
    {
        let shop = TestShop::open(options.clone());
        let mut client = shop.client();
        assert_eq!(rows_and_seats(&client.post("bookings", &booking(1, 1, 3))), [(1, 3), (1, 4), (1, 5)]);
        let made = client.post("eventcategories", r#"{"description":"kept"}"#);
        let location = made.header("Location");
        assert_eq!(location, Some("https://shop.example/ticket-monster/rest/eventcategories/2"));
        let listener = busyhour_demo::listen(([127, 0, 0, 1], 0).into()).expect("a port");
        let second = busyhour_demo::run_blocking(listener, options.clone(), std::future::pending());
        assert!(matches!(second, Err(DemoError::Database { .. })), "{second:?}");
    }
    let shop = TestShop::open(options);
    let mut client = shop.client();
    assert_eq!(client.get("bookings/count").text(), r#"{"count":2}"#);
    assert!(client.get("eventcategories").text().contains("kept"));
    assert_eq!(rows_and_seats(&client.post("bookings", &booking(1, 1, 1))), [(1, 6)]);
}
