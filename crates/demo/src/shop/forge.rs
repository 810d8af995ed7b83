//! Making, changing and deleting single entities.

use rusqlite::{Connection, OptionalExtension, ToSql, params_from_iter};

use super::booking;
use super::fault::Fault;
use super::input::{self, MediaType, Moment, Reference, Whole};
use super::page::View;
use super::schema::atomically;

/// Largest number of rows, and of seats in a row.
const SECTION_SIDE_MAX: i64 = 100_000;

/// What can be made by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    MediaItem,
    EventCategory,
    TicketCategory,
    Event,
    Venue,
    Section,
    Show,
    Performance,
    TicketPrice,
    SectionAllocation,
    Ticket,
    Booking,
}

impl Entity {
    /// The entity behind a path segment, with or without `forge/` before it.
    pub(super) fn at(forge: bool, segment: &str) -> Option<Self> {
        Some(match (forge, segment) {
            (false, "mediaitems") => Self::MediaItem,
            (false, "eventcategories") => Self::EventCategory,
            (false, "ticketcategories") => Self::TicketCategory,
            (true, "events") => Self::Event,
            (true, "venues") => Self::Venue,
            (false, "sections") => Self::Section,
            (true, "shows") => Self::Show,
            (false, "performances") => Self::Performance,
            (false, "ticketprices") => Self::TicketPrice,
            (false, "sectionallocations") => Self::SectionAllocation,
            (false, "tickets") => Self::Ticket,
            (true, "bookings") => Self::Booking,
            _ => return None,
        })
    }

    /// Its table.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::MediaItem => "media_items",
            Self::EventCategory => "event_categories",
            Self::TicketCategory => "ticket_categories",
            Self::Event => "events",
            Self::Venue => "venues",
            Self::Section => "sections",
            Self::Show => "shows",
            Self::Performance => "performances",
            Self::TicketPrice => "ticket_prices",
            Self::SectionAllocation => "section_allocations",
            Self::Ticket => "tickets",
            Self::Booking => "bookings",
        }
    }

    /// How it is shown.
    pub(super) fn view(self) -> View {
        match self {
            Self::MediaItem => View::MediaItem,
            Self::EventCategory => View::EventCategory,
            Self::TicketCategory => View::TicketCategory,
            Self::Event => View::ForgeEvent,
            Self::Venue => View::ForgeVenue,
            Self::Section => View::SectionWithVenue,
            Self::Show => View::ForgeShow,
            Self::Performance => View::Performance,
            Self::TicketPrice => View::TicketPrice,
            Self::SectionAllocation => View::SectionAllocation,
            Self::Ticket => View::Ticket,
            Self::Booking => View::ForgeBooking,
        }
    }

    /// Whether it changes with every sale.
    pub(super) fn is_sale(self) -> bool {
        matches!(self, Self::SectionAllocation | Self::Ticket | Self::Booking)
    }

    /// What a message calls it.
    fn name(self) -> &'static str {
        match self {
            Self::MediaItem => "media item",
            Self::EventCategory => "event category",
            Self::TicketCategory => "ticket category",
            Self::Event => "event",
            Self::Venue => "venue",
            Self::Section => "section",
            Self::Show => "show",
            Self::Performance => "performance",
            Self::TicketPrice => "ticket price",
            Self::SectionAllocation => "section allocation",
            Self::Ticket => "ticket",
            Self::Booking => "booking",
        }
    }
}

/// Makes an entity from a body, or gives entity `id` new properties. Returns its id.
pub(super) fn save(
    connection: &Connection,
    entity: Entity,
    body: &[u8],
    id: Option<i64>,
) -> Result<i64, Fault> {
    if let Some(id) = id
        && !exists(connection, entity, id)?
    {
        return Err(Fault::Missing);
    }
    let row = Saved { connection, entity, id };
    match entity {
        Entity::MediaItem => {
            let input::MediaItem { media_type, url, .. } = input::read(body)?;
            let MediaType::Image = needed(media_type, "mediaType")?;
            row.write(&[("media_type", &"IMAGE"), ("url", &filled(url, "url")?)])
        }
        Entity::EventCategory | Entity::TicketCategory => {
            let input::Category { description, .. } = input::read(body)?;
            row.write(&[("description", &filled(description, "description")?)])
        }
        Entity::Event => {
            let input::Event { name, description, media_item, category, .. } = input::read(body)?;
            row.write(&[
                ("name", &sized(name, "name", 5, 50)?),
                ("description", &sized(description, "description", 20, 1000)?),
                ("media_item_id", &row.reference(Entity::MediaItem, media_item)?),
                ("category_id", &row.needed_reference(Entity::EventCategory, category)?),
            ])
        }
        Entity::Venue => {
            let input::Venue { name, description, address, media_item, capacity, .. } = input::read(body)?;
            let (street, city, country) =
                address.map_or((None, None, None), |address| (address.street, address.city, address.country));
            row.write(&[
                ("name", &filled(name, "name")?),
                ("description", &description),
                ("street", &street),
                ("city", &city),
                ("country", &country),
                ("capacity", &capacity.map_or(0, |capacity| capacity.0)),
                ("media_item_id", &row.reference(Entity::MediaItem, media_item)?),
            ])
        }
        Entity::Section => save_section(&row, body),
        Entity::Show => {
            let input::Show { event, venue, .. } = input::read(body)?;
            row.write(&[
                ("event_id", &row.needed_reference(Entity::Event, event)?),
                ("venue_id", &row.needed_reference(Entity::Venue, venue)?),
            ])
        }
        Entity::Performance => {
            let input::Performance { show, date, .. } = input::read(body)?;
            let Moment(date_ms) = needed(date, "date")?;
            if jiff::Timestamp::from_millisecond(date_ms).is_err() {
                return Err(Fault::invalid("date must lie between the years -9999 and 9999"));
            }
            row.write(&[("show_id", &row.needed_reference(Entity::Show, show)?), ("date_ms", &date_ms)])
        }
        Entity::TicketPrice => {
            let input::TicketPrice { show, section, ticket_category, price, .. } = input::read(body)?;
            row.write(&[
                ("show_id", &row.needed_reference(Entity::Show, show)?),
                ("section_id", &row.needed_reference(Entity::Section, section)?),
                ("ticket_category_id", &row.needed_reference(Entity::TicketCategory, ticket_category)?),
                ("price", &needed(price, "price")?.0),
            ])
        }
        Entity::SectionAllocation => save_section_allocation(&row, body),
        Entity::Ticket => save_ticket(connection, &row, body),
        Entity::Booking => save_booking(&row, input::read(body)?),
    }
}

/// Creates or changes a ticket.
fn save_ticket(connection: &Connection, row: &Saved<'_>, body: &[u8]) -> Result<i64, Fault> {
    let input::Ticket { ticket_category, price, seat, .. } = input::read(body)?;
    let seat = needed(seat, "seat")?;
    let section = row.needed_reference(Entity::Section, seat.section)?;
    let number = needed(seat.number, "seat.number")?.0;
    let row_number = needed(seat.row_number, "seat.rowNumber")?.0;
    if booking::section_has_seat(connection, section, row_number, number)?.is_none() {
        return Err(Fault::invalid(format!("section {section} has no seat {number} in row {row_number}")));
    }
    if let Some(id) = row.id {
        row.nothing(
            "SELECT 1 FROM tickets WHERE id = ?1 AND booking_id IS NOT NULL
             AND (section_id, row_number, seat_number) != (?2, ?3, ?4)",
            &[&id, &section, &row_number, &number],
            "a sold ticket keeps its seat",
        )?;
    }
    row.write(&[
        ("section_id", &section),
        ("row_number", &row_number),
        ("seat_number", &number),
        ("ticket_category_id", &row.needed_reference(Entity::TicketCategory, ticket_category)?),
        ("price", &needed(price, "price")?.0),
    ])
}

/// Creates or changes a section allocation.
fn save_section_allocation(row: &Saved<'_>, body: &[u8]) -> Result<i64, Fault> {
    let input::SectionAllocation { performance, section, .. } = input::read(body)?;
    let performance = row.needed_reference(Entity::Performance, performance)?;
    let section = row.needed_reference(Entity::Section, section)?;
    if let Some(id) = row.id {
        row.nothing(
            "SELECT 1 FROM section_allocations
             WHERE id = ?1 AND occupied > 0 AND (performance_id, section_id) != (?2, ?3)",
            &[&id, &performance, &section],
            "seats of it are sold",
        )?;
        row.write(&[("performance_id", &performance), ("section_id", &section)])
    } else {
        row.write(&[("performance_id", &performance), ("section_id", &section), ("occupied", &0)])
    }
}

/// Creates or changes a section.
fn save_section(row: &Saved<'_>, body: &[u8]) -> Result<i64, Fault> {
    let input::Section { name, description, number_of_rows, row_capacity, venue, .. } = input::read(body)?;
    let rows = side(number_of_rows, "numberOfRows")?;
    let row_capacity = side(row_capacity, "rowCapacity")?;
    if let Some(id) = row.id {
        row.nothing(
            "SELECT 1 FROM tickets WHERE section_id = ?1 AND (row_number > ?2 OR seat_number > ?3)",
            &[&id, &rows, &row_capacity],
            "there are tickets for seats the section would lose",
        )?;
    }
    row.write(&[
        ("name", &filled(name, "name")?),
        ("description", &description),
        ("number_of_rows", &rows),
        ("row_capacity", &row_capacity),
        ("venue_id", &row.needed_reference(Entity::Venue, venue)?),
    ])
}

/// Deletes an entity. A booking's seats are free then.
pub(super) fn delete(connection: &Connection, entity: Entity, id: i64) -> Result<(), Fault> {
    let row = Saved { connection, entity, id: Some(id) };
    match entity {
        Entity::Ticket => row.nothing(
            "SELECT 1 FROM tickets WHERE id = ?1 AND booking_id IS NOT NULL",
            &[&id],
            "the ticket belongs to a booking",
        )?,
        Entity::SectionAllocation => row.nothing(
            "SELECT 1 FROM section_allocations WHERE id = ?1 AND occupied > 0",
            &[&id],
            "seats of it are sold",
        )?,
        _ => {}
    }
    let sql = format!("DELETE FROM {} WHERE id = ?1", entity.table());
    match connection.prepare_cached(&sql)?.execute([id])? {
        0 => Err(Fault::Missing),
        _ => Ok(()),
    }
}

/// Whether there is such an entity.
pub(super) fn exists(connection: &Connection, entity: Entity, id: i64) -> rusqlite::Result<bool> {
    connection.prepare_cached(&format!("SELECT 1 FROM {} WHERE id = ?1", entity.table()))?.exists([id])
}

/// A booking made of tickets that belong to none. It keeps its tickets and its performance.
fn save_booking(row: &Saved<'_>, sent: input::ForgeBooking) -> Result<i64, Fault> {
    let input::ForgeBooking { tickets, performance, created_on, cancellation_code, contact_email, .. } = sent;
    let connection = row.connection;
    let performance = row.needed_reference(Entity::Performance, performance)?;
    let Moment(created_on_ms) = needed(created_on, "createdOn")?;
    let contact_email = filled(contact_email, "contactEmail")?;
    let cancellation_code = filled(cancellation_code, "cancellationCode")?;
    let tickets = tickets
        .unwrap_or_default()
        .into_iter()
        .map(|ticket| row.needed_reference(Entity::Ticket, Some(ticket)))
        .collect::<Result<Vec<i64>, Fault>>()?;
    if let Some(id) = row.id {
        row.nothing(
            "SELECT 1 FROM bookings WHERE id = ?1 AND performance_id != ?2",
            &[&id, &performance],
            "a booking keeps its performance",
        )?;
        for ticket in &tickets {
            row.nothing(
                "SELECT 1 FROM tickets WHERE id = ?1 AND booking_id IS NOT ?2",
                &[&ticket, &id],
                "a booking keeps its tickets",
            )?;
        }
    }
    atomically(connection, || {
        let id = row.write(&[
            ("performance_id", &performance),
            ("created_on_ms", &created_on_ms),
            ("cancellation_code", &cancellation_code),
            ("contact_email", &contact_email),
        ])?;
        if row.id.is_none() {
            booking::adopt(connection, id, performance, &tickets)?;
        }
        Ok(id)
    })
}

/// One row about to be written.
struct Saved<'c> {
    connection: &'c Connection,
    entity: Entity,
    id: Option<i64>,
}

impl Saved<'_> {
    fn write(&self, columns: &[(&str, &dyn ToSql)]) -> Result<i64, Fault> {
        let table = self.entity.table();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let values = columns.iter().map(|(_, value)| *value);
        if let Some(id) = self.id {
            let sets: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
            let sql = format!("UPDATE {table} SET {} WHERE id = ?", sets.join(", "));
            let id_value: &dyn ToSql = &id;
            self.connection.prepare_cached(&sql)?.execute(params_from_iter(values.chain([id_value])))?;
            Ok(id)
        } else {
            let marks = vec!["?"; names.len()].join(", ");
            let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
            Ok(self.connection.prepare_cached(&sql)?.insert(params_from_iter(values))?)
        }
    }

    /// Refuses when a statement finds anything.
    fn nothing(&self, sql: &str, values: &[&dyn ToSql], why: &str) -> Result<(), Fault> {
        match self.connection.prepare_cached(sql)?.query_row(values, |_| Ok(())).optional()? {
            Some(()) => Err(Fault::Conflict(why.to_owned())),
            None => Ok(()),
        }
    }

    /// The id of another entity, which must exist when it is named.
    fn reference(&self, to: Entity, reference: Option<Reference>) -> Result<Option<i64>, Fault> {
        let Some(Reference(Some(id))) = reference else { return Ok(None) };
        if exists(self.connection, to, id)? {
            Ok(Some(id))
        } else {
            Err(Fault::invalid(format!("there is no {} {id}", to.name())))
        }
    }

    fn needed_reference(&self, to: Entity, reference: Option<Reference>) -> Result<i64, Fault> {
        self.reference(to, reference)?
            .ok_or_else(|| Fault::invalid(format!("the {} must be named by its id", to.name())))
    }
}

fn needed<T>(value: Option<T>, name: &str) -> Result<T, Fault> {
    value.ok_or_else(|| Fault::invalid(format!("{name} must be given")))
}

fn filled(value: Option<String>, name: &str) -> Result<String, Fault> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| Fault::invalid(format!("{name} must not be empty")))
}

fn sized(value: Option<String>, name: &str, least: usize, most: usize) -> Result<String, Fault> {
    let value = needed(value, name)?;
    if (least..=most).contains(&value.chars().count()) {
        Ok(value)
    } else {
        Err(Fault::invalid(format!("{name} must have {least} to {most} characters")))
    }
}

fn side(value: Option<Whole>, name: &str) -> Result<i64, Fault> {
    let Whole(value) = needed(value, name)?;
    if (1..=SECTION_SIDE_MAX).contains(&value) {
        Ok(value)
    } else {
        Err(Fault::invalid(format!("{name} must lie between 1 and {SECTION_SIDE_MAX}")))
    }
}
