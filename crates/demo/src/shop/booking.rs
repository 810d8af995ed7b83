//! Sells seats and cancels bookings.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::input::BookingRequest;
use super::schema::atomically;
use super::seats::{Block, SeatMaps};

/// The cancellation code of every booking in TicketMonster.
const CANCELLATION_CODE: &str = "abc";

const NO_SEATS: &str = "Cannot allocate the requested number of seats!";
const EMPTY: &str = "may not be empty";

/// A requested number of tickets at one price.
struct RequestedTickets {
    section: i64,
    category: i64,
    price: f32,
    quantity: u32,
}

/// Books one block of adjacent seats in one row of each section. If this is not possible, nothing is booked. Returns the id
/// of the booking.
pub(super) fn book(
    connection: &Connection,
    maps: &mut SeatMaps,
    request: BookingRequest,
    strict: bool,
) -> Result<i64, Fault> {
    let email = request.email.filter(|email| !email.is_empty()).ok_or(Fault::Booking(EMPTY))?;
    if !is_email(&email) {
        return Err(Fault::Booking("Not a valid email format"));
    }
    let (performance, mut requested) = {
        let performance = request.performance.map(|performance| performance.0);
        let mut asked: Vec<(i64, i64)> = Vec::new();
        for request in request.ticket_requests.unwrap_or_default() {
            let (Some(price), Some(quantity)) = (request.ticket_price, request.quantity) else {
                return Err(Fault::Booking(EMPTY));
            };
            if quantity.0 == 0 && strict {
                continue;
            }
            if quantity.0 < 1 {
                return Err(Fault::Booking(EMPTY));
            }
            if asked.iter().any(|(other, _)| *other == price.0) {
                return Err(Fault::Booking("Duplicate price category id"));
            }
            asked.push((price.0, quantity.0));
        }
        if asked.is_empty() {
            return Err(Fault::Booking(EMPTY));
        }
        let (performance, show) = show_of(connection, performance)?;
        let requested: Vec<RequestedTickets> = asked
            .into_iter()
            .map(|(price, quantity)| look_up_price(connection, price, quantity, (!strict).then_some(show)))
            .collect::<Result<_, _>>()?;
        (performance, requested)
    };
    // The sort is stable: categories of one section keep the order of the request.
    requested.sort_by_key(|tickets| tickets.section);

    let mut blocks: Vec<(Block, &[RequestedTickets])> = Vec::new();
    for group in requested.chunk_by(|left, right| left.section == right.section) {
        let seats = group.iter().try_fold(0_u32, |sum, tickets| sum.checked_add(tickets.quantity));
        let map = maps.get(connection, performance, group[0].section)?;
        let block = seats.and_then(|seats| map.find(seats)).ok_or(Fault::Booking(NO_SEATS))?;
        blocks.push((block, group));
    }
    let sold = atomically(connection, || sell(connection, performance, &email, &blocks));
    match sold {
        Ok(booking) => {
            for (block, group) in &blocks {
                if let Some(map) = maps.loaded(performance, group[0].section) {
                    map.occupy(*block);
                }
            }
            Ok(booking)
        }
        Err(fault) => {
            // If the seat maps differ from the tickets in the database, the tickets take precedence.
            maps.clear();
            Err(fault)
        }
    }
}

fn sell(
    connection: &Connection,
    performance: i64,
    email: &str,
    blocks: &[(Block, &[RequestedTickets])],
) -> Result<i64, Fault> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let booking = connection
        .prepare_cached(
            "INSERT INTO bookings (performance_id, created_on_ms, cancellation_code, contact_email)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .insert(params![performance, now.as_millis() as i64, CANCELLATION_CODE, email])?;
    let mut ticket = connection.prepare_cached(
        "INSERT INTO tickets (booking_id, performance_id, section_id, row_number, seat_number, ticket_category_id, price)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (block, group) in blocks {
        let mut seat = block.first;
        for tickets in *group {
            for _ in 0..tickets.quantity {
                ticket.execute(params![
                    booking,
                    performance,
                    tickets.section,
                    block.row,
                    seat,
                    tickets.category,
                    tickets.price
                ])?;
                seat += 1;
            }
        }
        occupy(connection, performance, group[0].section, i64::from(block.seats))?;
    }
    Ok(booking)
}

/// Deletes a booking and frees its seats. Returns false if there is no such booking.
pub(super) fn cancel(connection: &Connection, maps: &mut SeatMaps, booking: i64) -> Result<bool, Fault> {
    let performance: Option<i64> = connection
        .prepare_cached("SELECT performance_id FROM bookings WHERE id = ?1")?
        .query_row([booking], |row| row.get(0))
        .optional()?;
    let Some(performance) = performance else { return Ok(false) };
    let seats: Vec<(i64, u32, u32)> = connection
        .prepare_cached(
            "SELECT section_id, row_number, seat_number FROM tickets WHERE booking_id = ?1
             ORDER BY section_id, row_number, seat_number",
        )?
        .query_map([booking], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    atomically(connection, || {
        connection.prepare_cached("DELETE FROM tickets WHERE booking_id = ?1")?.execute([booking])?;
        for freed in seats.chunk_by(|left, right| left.0 == right.0) {
            occupy(connection, performance, freed[0].0, -(freed.len() as i64))?;
        }
        connection.prepare_cached("DELETE FROM bookings WHERE id = ?1")?.execute([booking])?;
        Ok(())
    })?;
    for freed in seats.chunk_by(|left, right| left.0 == right.0) {
        if let Some(map) = maps.loaded(performance, freed[0].0) {
            map.free(freed.iter().map(|(_, row, seat)| (*row, *seat)));
        }
    }
    Ok(true)
}

/// Deletes every booking.
pub(super) fn cancel_all(connection: &Connection, maps: &mut SeatMaps) -> Result<(), Fault> {
    maps.clear();
    atomically(connection, || {
        connection.execute("DELETE FROM tickets WHERE booking_id IS NOT NULL", [])?;
        connection.execute("UPDATE section_allocations SET occupied = 0", [])?;
        connection.execute("DELETE FROM bookings WHERE true", [])?;
        Ok(())
    })
}

/// Assigns tickets that do not belong to a booking to a booking and its performance.
pub(super) fn adopt(
    connection: &Connection,
    booking: i64,
    performance: i64,
    tickets: &[i64],
) -> Result<(), Fault> {
    for ticket in tickets {
        let section: Option<i64> = connection
            .prepare_cached(
                "UPDATE tickets SET booking_id = ?1, performance_id = ?2 WHERE id = ?3 AND booking_id IS NULL
                 RETURNING section_id",
            )?
            .query_row(params![booking, performance, ticket], |row| row.get(0))
            .optional()?;
        let section = section
            .ok_or_else(|| Fault::Conflict(format!("ticket {ticket} already belongs to a booking")))?;
        occupy(connection, performance, section, 1)?;
    }
    Ok(())
}

/// Returns `Some(())` if the section has this seat.
pub(super) fn section_has_seat(
    connection: &Connection,
    section: i64,
    row: i64,
    seat: i64,
) -> rusqlite::Result<Option<()>> {
    connection
        .prepare_cached(
            "SELECT 1 FROM sections
             WHERE id = ?1 AND ?2 BETWEEN 1 AND number_of_rows AND ?3 BETWEEN 1 AND row_capacity",
        )?
        .query_row([section, row, seat], |_| Ok(()))
        .optional()
}

/// Adds to the number of sold seats of a section at a performance; a negative number frees seats.
fn occupy(connection: &Connection, performance: i64, section: i64, seats: i64) -> rusqlite::Result<()> {
    let changed = connection
        .prepare_cached(
            "UPDATE section_allocations SET occupied = occupied + ?3 WHERE performance_id = ?1 AND section_id = ?2",
        )?
        .execute([performance, section, seats])?;
    if changed == 0 {
        connection
            .prepare_cached(
                "INSERT INTO section_allocations (performance_id, section_id, occupied) VALUES (?1, ?2, ?3)",
            )?
            .execute([performance, section, seats])?;
    }
    Ok(())
}

fn show_of(connection: &Connection, performance: Option<i64>) -> Result<(i64, i64), Fault> {
    let missing = |what: String| Fault::BookingReference(what);
    let performance = performance.ok_or_else(|| missing("the performance is required".to_owned()))?;
    let show: Option<i64> = connection
        .prepare_cached("SELECT show_id FROM performances WHERE id = ?1")?
        .query_row([performance], |row| row.get(0))
        .optional()?;
    Ok((performance, show.ok_or_else(|| missing(format!("there is no performance {performance}")))?))
}

/// Looks up a price. TicketMonster accepts the price of any show for any performance; by default, the price must belong to
/// `show`.
fn look_up_price(
    connection: &Connection,
    price_id: i64,
    quantity: i64,
    show: Option<i64>,
) -> Result<RequestedTickets, Fault> {
    let found = connection
        .prepare_cached(
            "SELECT section_id, ticket_category_id, price, show_id FROM ticket_prices WHERE id = ?1",
        )?
        .query_row([price_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, f32>(2)?, row.get::<_, i64>(3)?))
        })
        .optional()?;
    let Some((section, category, price, of_show)) = found else {
        return Err(Fault::BookingReference(format!("there is no ticket price {price_id}")));
    };
    if show.is_some_and(|show| show != of_show) {
        return Err(Fault::BookingReference(format!("ticket price {price_id} belongs to another show")));
    }
    let quantity = u32::try_from(quantity).map_err(|_| Fault::Booking(NO_SEATS))?;
    Ok(RequestedTickets { section, category, price, quantity })
}

/// Whether the text has one `@` with text before and after it, and no white space.
fn is_email(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !host.ends_with('.')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_name_and_a_host() {
        for (text, good) in [
            ("a@b.c", true),
            ("a@b", true),
            ("a", false),
            ("@b", false),
            ("a@", false),
            ("a b@c", false),
            ("a@b@c", false),
        ] {
            assert_eq!(is_email(text), good, "{text}");
        }
    }
}
