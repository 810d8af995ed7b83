//! The JSON form of entities, with the properties in TicketMonster's order.

mod sales;
mod texts;

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row};

use self::texts::{float_text, timestamp_text};

/// A JSON form of an entity. Several entities have more than one form, and entities also occur inside other entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum View {
    MediaItem,
    EventCategory,
    TicketCategory,
    /// `events/1`.
    Event,
    /// `forge/events/1`.
    ForgeEvent,
    /// An event inside a forge show.
    BareEvent,
    /// `venues/1`.
    Venue,
    /// `forge/venues/1`.
    ForgeVenue,
    /// A venue inside a section or a forge show.
    BareVenue,
    /// A section inside another entity.
    Section,
    /// `sections/1`.
    SectionWithVenue,
    /// `shows/1`.
    Show,
    /// `forge/shows/1`.
    ForgeShow,
    /// A show inside a performance or a price.
    BareShow,
    /// `performances/1`.
    Performance,
    /// A performance inside a show or a booking.
    BarePerformance,
    /// A performance inside a forge show, a forge booking or an allocation.
    TitledPerformance,
    /// `ticketprices/1`.
    TicketPrice,
    /// A price inside a show.
    ShowPrice,
    /// A price inside a forge show.
    TitledPrice,
    SectionAllocation,
    /// `tickets/1`.
    Ticket,
    /// `bookings/1`.
    Booking,
    /// `forge/bookings/1`.
    ForgeBooking,
}

/// One entity; `None` if the id is unknown.
pub(super) fn entity(connection: &Connection, view: View, id: i64) -> rusqlite::Result<Option<Bytes>> {
    let mut writer = JsonWriter::new(connection);
    Ok(writer.write_entity(view, id)?.then(|| writer.out.into()))
}

/// Several entities as a JSON array.
pub(super) fn list(connection: &Connection, view: View, ids: &[i64]) -> rusqlite::Result<Bytes> {
    let mut writer = JsonWriter::new(connection);
    writer.array(view, ids)?;
    Ok(writer.out.into())
}

/// A JSON string.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    // Text can always be serialized, and writing to a vector does not fail.
    let _ = serde_json::to_writer(out, text);
}

/// The ids that a statement selects.
pub(super) fn ids(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<i64>> {
    connection.prepare_cached(sql)?.query_map(parameters, |row| row.get(0))?.collect()
}

/// Writes JSON.
struct JsonWriter<'c> {
    connection: &'c Connection,
    out: Vec<u8>,
    /// The positions in `out` of entities that were already written: a list of shows contains the same few venues thousands
    /// of times.
    parts: HashMap<(View, i64), Range<usize>>,
}

impl<'c> JsonWriter<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self { connection, out: Vec::with_capacity(1024), parts: HashMap::new() }
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn integer(&mut self, name: &str, value: i64) {
        let _ = write!(self.out, "\"{name}\":{value}");
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        let _ = write!(self.out, "\"{name}\":");
        match value {
            Some(value) => text(&mut self.out, value),
            None => self.raw("null"),
        }
    }

    fn price(&mut self, name: &str, value: f32) {
        let _ = write!(self.out, "\"{name}\":{}", float_text(value));
    }

    fn reference(&mut self, name: &str, view: View, id: Option<i64>) -> rusqlite::Result<()> {
        let _ = write!(self.out, "\"{name}\":");
        match id {
            Some(id) if self.write_entity(view, id)? => {}
            _ => self.raw("null"),
        }
        Ok(())
    }

    fn array(&mut self, view: View, ids: &[i64]) -> rusqlite::Result<()> {
        self.raw("[");
        for (index, id) in ids.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.write_entity(view, *id)?;
        }
        self.raw("]");
        Ok(())
    }

    fn children(&mut self, name: &str, view: View, sql: &str, of: i64) -> rusqlite::Result<()> {
        let _ = write!(self.out, "\"{name}\":");
        let ids = ids(self.connection, sql, [of])?;
        self.array(view, &ids)
    }

    fn row<T>(
        &self,
        sql: &str,
        id: i64,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_row([id], read).optional()
    }

    /// Appends an entity; returns false, and appends nothing, if the id is unknown.
    fn write_entity(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        if let Some(range) = self.parts.get(&(view, id)) {
            self.out.extend_from_within(range.clone());
            return Ok(true);
        }
        let start = self.out.len();
        let found = match view {
            View::MediaItem => self.media_item(id),
            View::EventCategory => {
                self.category("SELECT description FROM event_categories WHERE id = ?1", id)
            }
            View::TicketCategory => {
                self.category("SELECT description FROM ticket_categories WHERE id = ?1", id)
            }
            View::Event | View::ForgeEvent | View::BareEvent => self.event(view, id),
            View::Venue | View::ForgeVenue | View::BareVenue => self.venue(view, id),
            View::Section | View::SectionWithVenue => self.section(view, id),
            View::Show | View::ForgeShow | View::BareShow => self.show(view, id),
            View::Performance | View::BarePerformance | View::TitledPerformance => self.performance(view, id),
            View::TicketPrice | View::ShowPrice | View::TitledPrice => self.ticket_price(view, id),
            View::SectionAllocation => self.section_allocation(id),
            View::Ticket => self.ticket(id),
            View::Booking => self.booking(id),
            View::ForgeBooking => self.forge_booking(id),
        }?;
        if found {
            self.parts.insert((view, id), start..self.out.len());
        }
        Ok(found)
    }

    fn open(&mut self, id: i64) {
        self.raw("{");
        self.integer("id", id);
        self.raw(",");
    }

    fn media_item(&mut self, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT media_type, url FROM media_items WHERE id = ?1";
        let found = self.row(sql, id, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let Some((media_type, url)) = found else { return Ok(false) };
        self.open(id);
        self.text("mediaType", Some(&media_type));
        self.raw(",");
        self.text("url", Some(&url));
        self.raw("}");
        Ok(true)
    }

    fn category(&mut self, sql: &str, id: i64) -> rusqlite::Result<bool> {
        let Some(description) = self.row(sql, id, |row| row.get::<_, String>(0))? else { return Ok(false) };
        self.open(id);
        self.text("description", Some(&description));
        self.raw("}");
        Ok(true)
    }

    fn event(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT name, description, media_item_id, category_id FROM events WHERE id = ?1";
        let read = |row: &Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get::<_, i64>(3)?))
        };
        let Some((name, description, media, category)) = self.row(sql, id, read)? else { return Ok(false) };
        self.open(id);
        self.text("name", Some(&name));
        self.raw(",");
        if view != View::ForgeEvent {
            self.text("description", Some(&description));
        }
        if view != View::BareEvent {
            self.raw(if view == View::Event { "," } else { "" });
            self.reference("mediaItem", View::MediaItem, media)?;
            self.raw(",");
            self.reference("category", View::EventCategory, Some(category))?;
        }
        if view == View::ForgeEvent {
            self.raw(",");
            self.text("description", Some(&description));
        }
        self.raw("}");
        Ok(true)
    }

    fn venue(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT name, description, capacity, media_item_id, street, city, country FROM venues WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let address: [Option<String>; 3] = [row.get(4)?, row.get(5)?, row.get(6)?];
            let description: Option<String> = row.get(1)?;
            Ok((row.get::<_, String>(0)?, description, row.get::<_, i64>(2)?, row.get(3)?, address))
        };
        let Some((name, description, capacity, media, address)) = self.row(sql, id, read)? else {
            return Ok(false);
        };
        self.open(id);
        self.text("name", Some(&name));
        self.raw(",\"address\":");
        if address.iter().all(Option::is_none) {
            self.raw("null");
        } else {
            for (name, value) in [("{\"street\":", 0), (",\"city\":", 1), (",\"country\":", 2)] {
                self.raw(name);
                match &address[value] {
                    Some(value) => text(&mut self.out, value),
                    None => self.raw("null"),
                }
            }
            self.raw("}");
        }
        self.raw(",");
        if view == View::ForgeVenue {
            self.reference("mediaItem", View::MediaItem, media)?;
            self.raw(",");
        }
        self.text("description", description.as_deref());
        self.raw(",");
        if view != View::BareVenue {
            let sql = "SELECT id FROM sections WHERE venue_id = ?1 ORDER BY id";
            self.children("sections", View::Section, sql, id)?;
            self.raw(",");
        }
        self.integer("capacity", capacity);
        if view == View::Venue {
            self.raw(",");
            self.reference("mediaItem", View::MediaItem, media)?;
        }
        self.raw("}");
        Ok(true)
    }

    fn section(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql =
            "SELECT name, description, number_of_rows, row_capacity, venue_id FROM sections WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let description: Option<String> = row.get(1)?;
            Ok((
                row.get::<_, String>(0)?,
                description,
                row.get::<_, i64>(2)?,
                row.get::<_, i64>(3)?,
                row.get(4)?,
            ))
        };
        let Some((name, description, rows, row_capacity, venue)) = self.row(sql, id, read)? else {
            return Ok(false);
        };
        self.open(id);
        self.text("name", Some(&name));
        self.raw(",");
        self.text("description", description.as_deref());
        let _ = write!(
            self.out,
            ",\"numberOfRows\":{rows},\"rowCapacity\":{row_capacity},\"capacity\":{}",
            rows * row_capacity
        );
        if view == View::SectionWithVenue {
            self.raw(",");
            self.reference("venue", View::BareVenue, venue)?;
        }
        self.raw("}");
        Ok(true)
    }

    fn show(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT event_id, venue_id, events.name || ' at ' || venues.name FROM shows
                   JOIN events ON events.id = event_id JOIN venues ON venues.id = venue_id WHERE shows.id = ?1";
        let found = self.row(sql, id, |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?;
        let Some((event, venue, title)) = found else { return Ok(false) };
        let performances = "SELECT id FROM performances WHERE show_id = ?1 ORDER BY date_ms, id";
        let prices = "SELECT id FROM ticket_prices WHERE show_id = ?1 ORDER BY id";
        self.open(id);
        match view {
            View::Show => {
                self.reference("event", View::Event, event)?;
                self.raw(",");
                self.reference("venue", View::Venue, venue)?;
                self.raw(",");
                self.children("performances", View::BarePerformance, performances, id)?;
                self.raw(",");
                self.children("ticketPrices", View::ShowPrice, prices, id)?;
            }
            View::ForgeShow => {
                self.reference("event", View::BareEvent, event)?;
                self.raw(",");
                self.children("performances", View::TitledPerformance, performances, id)?;
                self.raw(",");
                self.reference("venue", View::BareVenue, venue)?;
                self.raw(",");
                self.children("ticketPrices", View::TitledPrice, prices, id)?;
                self.raw(",");
                self.text("displayTitle", Some(&title));
            }
            _ => self.text("displayTitle", Some(&title)),
        }
        self.raw("}");
        Ok(true)
    }

    fn performance(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT show_id, date_ms, events.name || ' at ' || venues.name FROM performances
                   JOIN shows ON shows.id = show_id JOIN events ON events.id = event_id
                   JOIN venues ON venues.id = venue_id WHERE performances.id = ?1";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?));
        let Some((show, date_ms, show_title)) = self.row(sql, id, read)? else { return Ok(false) };
        self.open(id);
        if view == View::Performance {
            self.reference("show", View::BareShow, show)?;
            self.raw(",");
        }
        self.integer("date", date_ms);
        if view != View::BarePerformance {
            self.raw(",");
            self.text("displayTitle", Some(&format!("{show_title} on {}", timestamp_text(date_ms))));
        }
        self.raw("}");
        Ok(true)
    }

    fn ticket_price(&mut self, view: View, id: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT show_id, section_id, ticket_category_id, price, ticket_categories.description, sections.name
                   FROM ticket_prices JOIN sections ON sections.id = section_id
                   JOIN ticket_categories ON ticket_categories.id = ticket_category_id WHERE ticket_prices.id = ?1";
        let read = |row: &Row<'_>| {
            let title: (String, String) = (row.get(4)?, row.get(5)?);
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, f32>(3)?, title))
        };
        let Some((show, section, category, price, (kind, place))) = self.row(sql, id, read)? else {
            return Ok(false);
        };
        self.open(id);
        if view == View::TicketPrice {
            self.reference("show", View::BareShow, show)?;
            self.raw(",");
        }
        if view != View::TitledPrice {
            self.reference("section", View::Section, section)?;
            self.raw(",");
            self.reference("ticketCategory", View::TicketCategory, category)?;
            self.raw(",");
        }
        self.price("price", price);
        if view != View::ShowPrice {
            self.raw(",");
            self.text("displayTitle", Some(&format!("$ {} for {kind} in {place}", float_text(price))));
        }
        self.raw("}");
        Ok(true)
    }
}
