//! The bot: while it runs, it books a few seats every second.

use std::collections::VecDeque;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;

use super::booking;
use super::fault::Fault;
use super::input::{BookingRequest, Integer, TicketRequest};
use super::seats::SeatMaps;

/// The number of messages that are retained.
const MESSAGES_MAX: usize = 100;
/// The maximum number of tickets in one booking.
const TICKETS_MAX: i64 = 10;
const EMAIL: &str = "bot@ticketmonster.example";
/// The seed of the bot's random numbers: its bookings are the same in every run.
const SEED: u64 = 1;

/// Commands of the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Command {
    /// Start the bot.
    Running,
    /// Stop the bot.
    NotRunning,
    /// Stop the bot and delete every booking.
    Reset,
}

/// The bot: its state and its messages.
#[derive(Debug)]
pub(super) struct Bot {
    running: bool,
    messages: VecDeque<String>,
    random: StdRng,
}

impl Default for Bot {
    fn default() -> Self {
        Self { running: false, messages: VecDeque::new(), random: StdRng::seed_from_u64(SEED) }
    }
}

impl Bot {
    /// The state of the bot as JSON.
    pub(super) fn status_json(&self) -> &'static str {
        if self.running { "\"RUNNING\"" } else { "\"NOT_RUNNING\"" }
    }

    /// The recent messages of the bot as JSON.
    pub(super) fn messages(&self) -> Vec<u8> {
        // Strings can always be serialized.
        serde_json::to_vec(&self.messages).unwrap_or_default()
    }

    /// Executes a command.
    pub(super) fn execute(
        &mut self,
        command: Command,
        connection: &Connection,
        seats: &mut SeatMaps,
    ) -> Result<(), Fault> {
        self.running = command == Command::Running;
        match command {
            Command::Running => self.log("Bot started".to_owned()),
            Command::NotRunning => self.log("Bot stopped".to_owned()),
            Command::Reset => {
                booking::cancel_all(connection, seats)?;
                self.messages.clear();
            }
        }
        Ok(())
    }

    /// Makes a booking if the bot is running.
    pub(super) fn step(&mut self, connection: &Connection, seats: &mut SeatMaps) {
        if !self.running {
            return;
        }
        let printed = match self.book(connection, seats) {
            Ok(Some((tickets, performance))) => {
                format!("Booked {tickets} tickets for performance {performance}")
            }
            Ok(None) => "There is nothing to book".to_owned(),
            Err(Fault::Booking(why)) => why.to_owned(),
            Err(fault) => format!("Booking failed: {fault:?}"),
        };
        self.log(printed);
    }

    fn book(&mut self, connection: &Connection, seats: &mut SeatMaps) -> Result<Option<(i64, i64)>, Fault> {
        let count: i64 = connection
            .prepare_cached("SELECT count(*) FROM performances")?
            .query_row([], |row| row.get(0))?;
        if count == 0 {
            return Ok(None);
        }
        let found: Option<(i64, i64)> = connection
            .prepare_cached(
                "SELECT performances.id, ticket_prices.id FROM
                   (SELECT id, show_id FROM performances ORDER BY id LIMIT 1 OFFSET ?1) AS performances
                 JOIN ticket_prices ON ticket_prices.show_id = performances.show_id ORDER BY 2 LIMIT 1",
            )?
            .query_row([self.random.random_range(0..count)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((performance, price)) = found else { return Ok(None) };
        let tickets = self.random.random_range(1..=TICKETS_MAX);
        let request = BookingRequest {
            ticket_requests: Some(vec![TicketRequest {
                ticket_price: Some(Integer(price)),
                quantity: Some(Integer(tickets)),
            }]),
            email: Some(EMAIL.to_owned()),
            performance: Some(Integer(performance)),
        };
        booking::book(connection, seats, request, false)?;
        Ok(Some((tickets, performance)))
    }

    fn log(&mut self, message: String) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_set::DataSet;
    use crate::shop::data;
    use crate::shop::schema;

    #[test]
    fn a_running_bot_books_and_a_stopped_one_does_not() {
        let connection = schema::open(None).expect("a database");
        let mut seats = SeatMaps::default();
        let mut bot = Bot::default();
        let booked = || -> i64 {
            connection.query_row("SELECT count(*) FROM bookings", [], |row| row.get(0)).expect("a count")
        };
        bot.execute(Command::Running, &connection, &mut seats).expect("executed");
        bot.step(&connection, &mut seats);
        assert_eq!(bot.messages(), br#"["Bot started","There is nothing to book"]"#);
        data::fill(&connection, &mut seats, DataSet { venues: 2, events: 2 }).expect("filled");
        for _ in 0..2 * MESSAGES_MAX {
            bot.step(&connection, &mut seats);
        }
        assert_eq!(booked(), 4 + 2 * MESSAGES_MAX as i64);
        assert_eq!(bot.messages.len(), MESSAGES_MAX);
        bot.execute(Command::NotRunning, &connection, &mut seats).expect("executed");
        bot.step(&connection, &mut seats);
        assert_eq!(booked(), 4 + 2 * MESSAGES_MAX as i64);
        bot.execute(Command::Reset, &connection, &mut seats).expect("executed");
        assert_eq!((booked(), bot.status_json()), (0, "\"NOT_RUNNING\""));
    }
}
