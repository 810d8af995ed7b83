//! The JSON form of tickets, bookings and section allocations.

use std::io::Write as _;

use rusqlite::Row;

use super::{JsonWriter, View};

impl JsonWriter<'_> {
    pub(super) fn section_allocation(&mut self, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT occupied, performance_id, section_id FROM section_allocations WHERE id = ?1";
        let found = self.row(sql, id, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let Some((occupied, performance, section)) = found else { return Ok(false) };
        self.raw("{");
        self.integer("occupiedCount", occupied);
        self.raw(",");
        self.reference("performance", View::TitledPerformance, performance)?;
        self.raw(",");
        self.reference("section", View::Section, section)?;
        self.raw(",");
        self.integer("id", id);
        self.raw("}");
        Ok(true)
    }

    pub(super) fn ticket(&mut self, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT section_id, row_number, seat_number, ticket_category_id, price FROM tickets WHERE id = ?1";
        let Some(ticket) = self.row(sql, id, |row| Ticket::read(id, row))? else { return Ok(false) };
        self.open(id);
        self.reference("ticketCategory", View::TicketCategory, Some(ticket.category))?;
        self.raw(",");
        self.price("price", ticket.price);
        self.raw(",\"seat\":{");
        self.reference("section", View::Section, Some(ticket.section))?;
        let _ = write!(self.out, ",\"rowNumber\":{},\"number\":{}}}}}", ticket.row, ticket.seat);
        Ok(true)
    }

    pub(super) fn booking(&mut self, id: i64) -> rusqlite::Result<bool> {
        let Some(booking) = self.row(BookingRow::SQL, id, BookingRow::read)? else { return Ok(false) };
        let tickets = self.tickets(id)?;
        self.open(id);
        self.raw("\"tickets\":[");
        for (index, ticket) in tickets.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let Ticket { id, row, seat, .. } = ticket;
            let _ =
                write!(self.out, "{comma}{{\"id\":{id},\"seat\":{{\"rowNumber\":{row},\"number\":{seat},");
            self.reference("section", View::Section, Some(ticket.section))?;
            self.raw("},");
            self.reference("ticketCategory", View::TicketCategory, Some(ticket.category))?;
            self.raw(",");
            self.price("price", ticket.price);
            self.raw("}");
        }
        self.raw("],");
        self.reference("performance", View::BarePerformance, Some(booking.performance))?;
        self.raw(",");
        self.text("cancellationCode", Some(&booking.cancellation_code));
        self.raw(",");
        self.integer("createdOn", booking.created_on_ms);
        self.raw(",");
        self.text("contactEmail", Some(&booking.contact_email));
        self.raw(",");
        self.price("totalTicketPrice", tickets.iter().map(|ticket| ticket.price).sum());
        self.raw("}");
        Ok(true)
    }

    pub(super) fn forge_booking(&mut self, id: i64) -> rusqlite::Result<bool> {
        let Some(booking) = self.row(BookingRow::SQL, id, BookingRow::read)? else { return Ok(false) };
        let tickets = self.tickets(id)?;
        self.raw("{");
        self.price("totalTicketPrice", tickets.iter().map(|ticket| ticket.price).sum());
        self.raw(",");
        self.integer("id", id);
        self.raw(",\"tickets\":[");
        for (index, ticket) in tickets.iter().enumerate() {
            self.raw(if index > 0 { ",{" } else { "{" });
            self.integer("id", ticket.id);
            self.raw(",");
            self.price("price", ticket.price);
            self.raw(",\"seat\":{");
            self.reference("section", View::Section, Some(ticket.section))?;
            let _ = write!(self.out, ",\"rowNumber\":{},\"number\":{}}}}}", ticket.row, ticket.seat);
        }
        self.raw("],");
        self.integer("createdOn", booking.created_on_ms);
        self.raw(",");
        self.text("cancellationCode", Some(&booking.cancellation_code));
        self.raw(",");
        self.text("contactEmail", Some(&booking.contact_email));
        self.raw(",");
        self.reference("performance", View::TitledPerformance, Some(booking.performance))?;
        self.raw("}");
        Ok(true)
    }

    fn tickets(&self, booking: i64) -> rusqlite::Result<Vec<Ticket>> {
        self.connection
            .prepare_cached(
                "SELECT section_id, row_number, seat_number, ticket_category_id, price, id FROM tickets
                 WHERE booking_id = ?1 ORDER BY id",
            )?
            .query_map([booking], |row| Ticket::read(row.get(5)?, row))?
            .collect()
    }
}

struct Ticket {
    id: i64,
    section: i64,
    row: i64,
    seat: i64,
    category: i64,
    price: f32,
}

impl Ticket {
    fn read(id: i64, row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id,
            section: row.get(0)?,
            row: row.get(1)?,
            seat: row.get(2)?,
            category: row.get(3)?,
            price: row.get(4)?,
        })
    }
}

struct BookingRow {
    performance: i64,
    created_on_ms: i64,
    cancellation_code: String,
    contact_email: String,
}

impl BookingRow {
    const SQL: &'static str =
        "SELECT performance_id, created_on_ms, cancellation_code, contact_email FROM bookings WHERE id = ?1";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            performance: row.get(0)?,
            created_on_ms: row.get(1)?,
            cancellation_code: row.get(2)?,
            contact_email: row.get(3)?,
        })
    }
}
