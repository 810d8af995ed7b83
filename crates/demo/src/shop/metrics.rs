//! The sales of upcoming performances.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::entity_json;

/// Renders every show with an upcoming performance, and the number of sold seats of all its performances.
pub(super) fn render(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut out = b"[".to_vec();
    let mut shows = connection.prepare_cached(
        "SELECT shows.id, events.name, venues.name, venues.capacity FROM shows
         JOIN events ON events.id = event_id JOIN venues ON venues.id = venue_id
         WHERE shows.id IN (SELECT show_id FROM performances WHERE date_ms > ?1) ORDER BY shows.id",
    )?;
    let mut performances = connection.prepare_cached(
        "SELECT date_ms, coalesce(sum(occupied), 0) FROM performances
         LEFT JOIN section_allocations ON performance_id = performances.id
         WHERE show_id = ?1 GROUP BY performances.id ORDER BY date_ms, performances.id",
    )?;
    let mut rows = shows.query([now.as_millis() as i64])?;
    while let Some(row) = rows.next()? {
        let (show, event, venue, capacity): (i64, String, String, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let comma = if out.len() > 1 { "," } else { "" };
        let _ = write!(out, "{comma}{{\"show\":{show},\"event\":");
        entity_json::text(&mut out, &event);
        out.extend_from_slice(b",\"venue\":");
        entity_json::text(&mut out, &venue);
        let _ = write!(out, ",\"capacity\":{capacity},\"performances\":[");
        let mut comma = "";
        let mut of_show = performances.query([show])?;
        while let Some(row) = of_show.next()? {
            let (date_ms, occupied): (i64, i64) = (row.get(0)?, row.get(1)?);
            let _ = write!(out, "{comma}{{\"date\":{date_ms},\"occupiedCount\":{occupied}}}");
            comma = ",";
        }
        out.extend_from_slice(b"]}");
    }
    out.push(b']');
    Ok(out)
}
