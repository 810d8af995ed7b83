//! The initial data of a shop: the same data that the workload's data injection creates in an empty shop.

use rusqlite::{Connection, params};

use super::seats::SeatMaps;
use crate::data_set::DataSet;

const URL: &str = "http://127.0.0.1:8080/ticket-monster/resources/img/splash-ticketmonster.png";
const WORDS: &str = "yada yada yada yada yada";
const SECTION_SIDE: i64 = 100;
const VENUE_CAPACITY: i64 = 10_000;
const PRICE: f64 = 200.0;
const DATE_MS: i64 = 1_605_247_200_000;
const SEATS: i64 = 2;

/// Fills an empty database. A database that contains data is not changed.
pub(super) fn fill(connection: &Connection, maps: &mut SeatMaps, size: DataSet) -> rusqlite::Result<()> {
    let used: bool =
        connection.query_row("SELECT EXISTS (SELECT 1 FROM media_items)", [], |row| row.get(0))?;
    if used {
        return Ok(());
    }
    maps.clear();
    let change = connection.unchecked_transaction()?;
    let id = |sql: &str, values: &[&dyn rusqlite::ToSql]| connection.prepare_cached(sql)?.insert(values);
    let media = id("INSERT INTO media_items (media_type, url) VALUES ('IMAGE', ?1)", &[&URL])?;
    let event_category =
        id("INSERT INTO event_categories (description) VALUES (?1)", &[&"event event event"])?;
    let category = id("INSERT INTO ticket_categories (description) VALUES (?1)", &[&"ticket ticket ticket"])?;
    let mut events = Vec::new();
    for number in 1..=size.events {
        events.push(id(
            "INSERT INTO events (name, description, media_item_id, category_id) VALUES (?1, ?2, ?3, ?4)",
            &[&format!("event{number}"), &WORDS, &media, &event_category],
        )?);
    }
    let created_on_ms = jiff::Timestamp::now().as_millisecond();
    for number in 1..=size.venues {
        let venue = id(
            "INSERT INTO venues (name, description, street, city, country, capacity, media_item_id)
             VALUES (?1, ?2, 'venue street', 'venue city', 'venue country', ?3, ?4)",
            &[&number.to_string(), &WORDS, &VENUE_CAPACITY, &media],
        )?;
        let section = id(
            "INSERT INTO sections (name, description, number_of_rows, row_capacity, venue_id)
             VALUES ('A', ?1, ?2, ?2, ?3)",
            &[&WORDS, &SECTION_SIDE, &venue],
        )?;
        for event in &events {
            let show = id("INSERT INTO shows (event_id, venue_id) VALUES (?1, ?2)", &[event, &venue])?;
            let performance =
                id("INSERT INTO performances (show_id, date_ms) VALUES (?1, ?2)", &[&show, &DATE_MS])?;
            id(
                "INSERT INTO ticket_prices (show_id, section_id, ticket_category_id, price) VALUES (?1, ?2, ?3, ?4)",
                &[&show, &section, &category, &PRICE],
            )?;
            let booking = id(
                "INSERT INTO bookings (performance_id, created_on_ms, cancellation_code, contact_email)
                 VALUES (?1, ?2, 'abc', 'a@b.c')",
                &[&performance, &created_on_ms],
            )?;
            id(
                "INSERT INTO section_allocations (performance_id, section_id, occupied) VALUES (?1, ?2, ?3)",
                &[&performance, &section, &SEATS],
            )?;
            let mut ticket = connection.prepare_cached(
                "INSERT INTO tickets
                   (booking_id, performance_id, section_id, row_number, seat_number, ticket_category_id, price)
                 VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)",
            )?;
            for seat in 1..=SEATS {
                ticket.execute(params![booking, performance, section, seat, category, PRICE])?;
            }
        }
    }
    change.commit()
}
