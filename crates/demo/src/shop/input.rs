//! The JSON input of clients.
//!
//! As in TicketMonster's JSON reader, unknown properties are rejected, numbers can be strings, and dates are
//! milliseconds or ISO 8601. Properties that the shop computes (capacities, titles) are accepted and ignored.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::fault::Fault;

/// Parses a body.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|_| Fault::Malformed)
}

/// An integer, sent as a number or as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer(pub(super) i64);

/// A single-precision number, sent as a number or as a string.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Float(pub(super) f32);

/// Milliseconds since the epoch, sent as a number or as ISO 8601.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateMs(pub(super) i64);

/// A reference to another entity; only the id of that entity is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference(pub(super) Option<i64>);

struct NumberVisitor;

/// The JSON types in which a number may be sent.
enum Number {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        i64::try_from(value).map(Number::Integer).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Number, E> {
        Ok(Number::Text(value.trim().to_owned()))
    }
}

/// All integers up to this limit can be represented exactly as a float.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(NumberVisitor)? {
            Number::Integer(value) => Ok(Self(value)),
            Number::Float(value) if value.abs() <= EXACT_MAX => Ok(Self(value as i64)),
            Number::Float(_) => Err(de::Error::custom("too large")),
            Number::Text(text) => text.parse().map(Self).map_err(de::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match deserializer.deserialize_any(NumberVisitor)? {
            Number::Integer(value) => value as f32,
            Number::Float(value) => value as f32,
            Number::Text(text) => text.parse().map_err(de::Error::custom)?,
        };
        if value.is_finite() { Ok(Self(value)) } else { Err(de::Error::custom("not finite")) }
    }
}

impl<'de> Deserialize<'de> for DateMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(NumberVisitor)? {
            Number::Integer(value) => Ok(Self(value)),
            Number::Float(_) => Err(de::Error::custom("a date has whole milliseconds")),
            Number::Text(text) => moment(&text).map(Self).ok_or_else(|| de::Error::custom("not a date")),
        }
    }
}

fn moment(text: &str) -> Option<i64> {
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(stamp.as_millisecond());
    }
    let date: jiff::civil::Date = text.parse().ok()?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// The names of the properties of all entities: a client may send a complete entity where only its id is needed.
const PROPERTIES: &[&str] = &[
    "address",
    "cancellationCode",
    "capacity",
    "category",
    "contactEmail",
    "createdOn",
    "date",
    "description",
    "displayTitle",
    "event",
    "mediaItem",
    "mediaType",
    "name",
    "number",
    "numberOfRows",
    "occupiedCount",
    "performance",
    "performances",
    "price",
    "rowCapacity",
    "rowNumber",
    "seat",
    "section",
    "sections",
    "show",
    "ticketCategory",
    "ticketPrices",
    "tickets",
    "totalTicketPrice",
    "url",
    "venue",
];

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReferenceVisitor;
        impl<'de> Visitor<'de> for ReferenceVisitor {
            type Value = Reference;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an entity with an id")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reference, A::Error> {
                let mut id = None;
                while let Some(property) = map.next_key::<String>()? {
                    if property == "id" {
                        id = map.next_value::<Option<Integer>>()?.map(|id| id.0);
                    } else if PROPERTIES.contains(&property.as_str()) {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        return Err(de::Error::unknown_field(&property, PROPERTIES));
                    }
                }
                Ok(Reference(id))
            }
        }
        deserializer.deserialize_map(ReferenceVisitor)
    }
}

/// Declares the properties of an entity. The parser treats all properties as optional, because a missing property is
/// reported as a violated rule and not as a parse error.
macro_rules! entity {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty,)* } ignored { $($ignored:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct $name {
            $(pub(super) $field: Option<$kind>,)*
            $(#[serde(default)] #[allow(dead_code, reason = "clients may send it, but the shop computes it")] $ignored: IgnoredAny,)*
        }
    };
}

/// The type of a media item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum MediaType {
    /// An image.
    Image,
}

entity! {
    /// A media item.
    MediaItem { media_type: MediaType, url: String, } ignored { id, }
}
entity! {
    /// An event or ticket category.
    Category { description: String, } ignored { id, }
}
entity! {
    /// An event.
    Event { name: String, description: String, media_item: Reference, category: Reference, } ignored { id, }
}
entity! {
    /// The address of a venue.
    Address { street: String, city: String, country: String, } ignored {}
}
entity! {
    /// A venue.
    Venue { name: String, description: String, address: Address, media_item: Reference, capacity: Integer, }
    ignored { id, sections, }
}
entity! {
    /// A section of a venue.
    Section { name: String, description: String, number_of_rows: Integer, row_capacity: Integer, venue: Reference, }
    ignored { id, capacity, }
}
entity! {
    /// A show: an event at a venue.
    Show { event: Reference, venue: Reference, } ignored { id, performances, ticket_prices, display_title, }
}
entity! {
    /// A performance of a show.
    Performance { show: Reference, date: DateMs, } ignored { id, display_title, }
}
entity! {
    /// The price of a ticket of a category in a section at a show.
    TicketPrice { show: Reference, section: Reference, ticket_category: Reference, price: Float, }
    ignored { id, display_title, }
}
entity! {
    /// The sold seats of a section at a performance.
    SectionAllocation { performance: Reference, section: Reference, } ignored { id, occupied_count, }
}
entity! {
    /// A seat.
    Seat { section: Reference, row_number: Integer, number: Integer, } ignored {}
}
entity! {
    /// A ticket.
    Ticket { ticket_category: Reference, price: Float, seat: Seat, } ignored { id, }
}
entity! {
    /// A booking created from existing tickets.
    ForgeBooking {
        tickets: Vec<Reference>, performance: Reference, created_on: DateMs, cancellation_code: String,
        contact_email: String,
    }
    ignored { id, total_ticket_price, }
}
entity! {
    /// A requested number of tickets at a price.
    TicketRequest { ticket_price: Integer, quantity: Integer, } ignored {}
}
entity! {
    /// A requested booking.
    BookingRequest { ticket_requests: Vec<TicketRequest>, email: String, performance: Integer, } ignored {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_are_parsed_in_several_forms() {
        let request: BookingRequest = read(
            br#"{"ticketRequests":[{"ticketPrice":"7","quantity":2}],"email":"a@b.c","performance":"12"}"#,
        )
        .expect("read");
        assert_eq!(request.performance, Some(Integer(12)));
        assert_eq!(request.ticket_requests.expect("requests")[0].ticket_price, Some(Integer(7)));
        for date in [r#""2020-11-13T06:00:00.000Z""#, "1605247200000", r#""2020-11-13T07:00:00+01:00""#] {
            let body = format!(r#"{{"show":{{"id":1}},"date":{date}}}"#);
            let performance: Performance = read(body.as_bytes()).expect("read");
            assert_eq!(performance.date, Some(DateMs(1_605_247_200_000)), "{date}");
        }
    }

    #[test]
    fn computed_properties_are_accepted_and_unknown_ones_rejected() {
        let section: Section =
            read(br#"{"name":"A","capacity":5,"venue":{"id":3,"name":"v"}}"#).expect("read");
        assert_eq!(section.venue, Some(Reference(Some(3))));
        for refused in [
            &br#"{"name":"A","colour":1}"#[..],
            br#"{"venue":{"id":1,"colour":2}}"#,
            br#"{"numberOfRows":"many"}"#,
            br#"{"venue":7}"#,
            br#"{"name":"A"} x"#,
            b"",
            b"null",
        ] {
            assert!(matches!(read::<Section>(refused), Err(Fault::Malformed)), "{refused:?}");
        }
        assert!(read::<MediaItem>(br#"{"mediaType":"FILM"}"#).is_err());
        assert!(read::<Performance>(br#"{"date":"yesterday"}"#).is_err());
    }
}
