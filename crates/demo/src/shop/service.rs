//! The read-only interface for customers: complete entities, filtered and paged.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};

use super::entity_json::{self, View};
use super::fault::Fault;
use super::query::number;
use crate::http::request::Request;

/// A family of entities that customers can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Venues,
    Events,
    Shows,
    Bookings,
}

impl Family {
    /// The family that a path segment names.
    pub(super) fn from_segment(segment: &str) -> Option<Self> {
        Some(match segment {
            "venues" => Self::Venues,
            "events" => Self::Events,
            "shows" => Self::Shows,
            "bookings" => Self::Bookings,
            _ => return None,
        })
    }

    fn table(self) -> &'static str {
        match self {
            Self::Venues => "venues",
            Self::Events => "events",
            Self::Shows => "shows",
            Self::Bookings => "bookings",
        }
    }

    /// The JSON form of the entities of the family.
    pub(super) fn view(self) -> View {
        match self {
            Self::Venues => View::Venue,
            Self::Events => View::Event,
            Self::Shows => View::Show,
            Self::Bookings => View::Booking,
        }
    }

    /// The name of an entity of the family in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Venues => "venue",
            Self::Events => "event",
            Self::Shows => "show",
            Self::Bookings => "booking",
        }
    }

    /// The query parameters that filter the entities, and the columns to which they apply.
    fn filters(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Events => &[("category", "category_id")],
            Self::Shows => &[("venue", "venue_id"), ("event", "event_id")],
            Self::Venues | Self::Bookings => &[],
        }
    }
}

/// The entities of a family that a request selects.
#[derive(Debug)]
pub(super) struct Selection {
    family: Family,
    /// The columns to filter by, and the values that they must have.
    filters: Vec<(&'static str, i64)>,
    /// The first entity to return, counted from 1.
    first: i64,
    /// Maximum number of entities to return; -1 for all.
    most: i64,
}

impl Selection {
    /// Parses the query of a request.
    pub(super) fn from_request(request: &Request<'_>, family: Family) -> Result<Self, Fault> {
        let mut filters = Vec::new();
        for (parameter, column) in family.filters() {
            if let Some(value) = number(request, parameter)? {
                filters.push((*column, value));
            }
        }
        Ok(Self {
            family,
            filters,
            first: number(request, "first")?.unwrap_or(1).max(1),
            most: number(request, "maxResults")?.unwrap_or(-1),
        })
    }

    fn condition(&self) -> (String, Vec<i64>) {
        let mut sql = format!("FROM {} WHERE true", self.family.table());
        for (column, _) in &self.filters {
            sql.push_str(" AND ");
            sql.push_str(column);
            sql.push_str(" = ?");
        }
        (sql, self.filters.iter().map(|(_, value)| *value).collect())
    }

    /// The selected entities as a JSON array.
    pub(super) fn render(&self, connection: &Connection) -> Result<Bytes, Fault> {
        let (condition, mut values) = self.condition();
        values.extend([self.most, self.first - 1]);
        let sql = format!("SELECT id {condition} ORDER BY id LIMIT ? OFFSET ?");
        let ids = entity_json::ids(connection, &sql, rusqlite::params_from_iter(values))?;
        Ok(entity_json::list(connection, self.family.view(), &ids)?)
    }

    /// The total number of entities that match the filters, on all pages.
    pub(super) fn count(&self, connection: &Connection) -> Result<i64, Fault> {
        let (condition, values) = self.condition();
        let sql = format!("SELECT count(*) {condition}");
        let mut statement = connection.prepare_cached(&sql)?;
        Ok(statement.query_row(rusqlite::params_from_iter(values), |row| row.get(0))?)
    }
}

/// The show to which a performance belongs.
pub(super) fn show_of_performance(
    connection: &Connection,
    performance: i64,
) -> rusqlite::Result<Option<Bytes>> {
    let show: Option<i64> = connection
        .prepare_cached("SELECT show_id FROM performances WHERE id = ?1")?
        .query_row([performance], |row| row.get(0))
        .optional()?;
    match show {
        Some(show) => entity_json::entity(connection, View::Show, show),
        None => Ok(None),
    }
}
