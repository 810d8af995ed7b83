//! No seat is ever sold twice, for any sequence of requests.

mod support;

use std::collections::BTreeMap;
use std::thread;

use busyhour_demo::{DataSet, ShopOptions};
use proptest::prelude::*;
use support::{Client, TestShop, booking};

type Seat = (u64, u64);

/// An action of a client: book this number of seats, or cancel one of its own bookings.
#[derive(Debug, Clone)]
enum Step {
    Book(u8),
    Delete(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1_u8..=12).prop_map(Step::Book),
        2 => any::<prop::sample::Index>().prop_map(Step::Delete),
    ];
    prop::collection::vec(step, 1..40)
}

/// Executes the steps of a client; returns its remaining bookings and the number of rejected ones.
fn run_client(mut client: Client, performance: i64, steps: &[Step]) -> (BTreeMap<u64, Vec<Seat>>, usize) {
    let mut held: BTreeMap<u64, Vec<Seat>> = BTreeMap::new();
    let mut refused = 0;
    for step in steps {
        match step {
            Step::Book(quantity) => {
                let reply = client.post("bookings", &booking(performance, performance, i64::from(*quantity)));
                if reply.status == 400 {
                    refused += 1;
                    continue;
                }
                assert_eq!(reply.status, 200, "{}", reply.text());
                let (id, seats) = read(&reply.json());
                assert_eq!(seats.len(), usize::from(*quantity));
                let neighbours =
                    seats.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1);
                assert!(neighbours, "{seats:?}");
                assert!(held.insert(id, seats).is_none(), "booking {id} was made twice");
            }
            Step::Delete(which) if !held.is_empty() => {
                let id = *which.get(&held.keys().copied().collect::<Vec<_>>());
                let reply = client.delete(&format!("bookings/{id}"));
                assert_eq!(reply.status, 204, "{}", reply.text());
                held.remove(&id);
            }
            Step::Delete(_) => {}
        }
    }
    (held, refused)
}

fn read(booking: &serde_json::Value) -> (u64, Vec<Seat>) {
    let seats = booking["tickets"].as_array().expect("tickets").iter().map(|ticket| {
        let number = |name: &str| ticket["seat"][name].as_u64().expect("a number");
        (number("rowNumber"), number("number"))
    });
    (booking["id"].as_u64().expect("an id"), seats.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_seat_is_sold_at_most_once_and_freed_seats_return(
        plans in prop::collection::vec(steps(), 2..9),
        rows in 1_u32..6,
        row_capacity in 5_u32..15,
    ) {
        let shop = TestShop::open(ShopOptions {
            data_set: Some(DataSet { venues: 1, events: 1 }),
            ..ShopOptions::default()
        });
        let mut client = shop.client();
        prop_assert_eq!(client.delete("bookings/1").status, 204);
        let section = format!(
            r#"{{"name":"A","numberOfRows":{rows},"rowCapacity":{row_capacity},"venue":{{"id":1}}}}"#
        );
        prop_assert_eq!(client.put("sections/1", &section).status, 204);

        let outcomes: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> =
                plans.iter().map(|steps| { let client = shop.client(); scope.spawn(move || run_client(client, 1, steps)) }).collect();
            running.into_iter().map(|client| client.join().expect("a client that did not panic")).collect()
        });

        // The bookings of the clients equal those of the shop, and no seat is booked twice.
        let mut sold = std::collections::BTreeSet::new();
        let mut held = BTreeMap::new();
        for (id, seats) in outcomes.into_iter().flat_map(|(held, _)| held) {
            for seat in &seats {
                prop_assert!(seat.0 >= 1 && seat.0 <= u64::from(rows) && seat.1 >= 1 && seat.1 <= u64::from(row_capacity));
                prop_assert!(sold.insert(*seat), "seat {:?} was sold twice", seat);
            }
            held.insert(id, seats);
        }
        let listed: BTreeMap<u64, Vec<Seat>> =
            client.get("bookings").json().as_array().expect("a list").iter().map(read).collect();
        prop_assert_eq!(&listed, &held);
        let count = |reply: support::Reply| reply.json()["count"].as_u64();
        prop_assert_eq!(count(client.get("bookings/count")), Some(held.len() as u64));
        prop_assert_eq!(client.get("sectionallocations").json()[0]["occupiedCount"].as_u64(), Some(sold.len() as u64));
        prop_assert_eq!(client.get("tickets").json().as_array().map(Vec::len), Some(sold.len()));

        // All free seats can be sold one by one until the section is full, and not one more.
        let places = u64::from(rows * row_capacity);
        for _ in sold.len() as u64..places {
            let reply = client.post("bookings", &booking(1, 1, 1));
            prop_assert_eq!(reply.status, 200);
            prop_assert!(sold.insert(read(&reply.json()).1[0]));
        }
        prop_assert_eq!(client.post("bookings", &booking(1, 1, 1)).status, 400);
        // When all bookings are cancelled, all seats are free.
        prop_assert_eq!(client.delete("bookings").status, 204);
        let whole_row = client.post("bookings", &booking(1, 1, i64::from(row_capacity)));
        prop_assert_eq!(whole_row.status, 200);
        prop_assert_eq!(&read(&whole_row.json()).1[0], &(1, 1));
    }
}
