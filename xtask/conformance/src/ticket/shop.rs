//! A new ticket shop, and its data.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use xtask_common::process::tail;

/// All lists of the shop's interface, of both families.
const LISTS: [&str; 17] = [
    "mediaitems",
    "eventcategories",
    "ticketcategories",
    "forge/events",
    "forge/venues",
    "sections",
    "forge/shows",
    "performances",
    "ticketprices",
    "sectionallocations",
    "tickets",
    "forge/bookings",
    "venues",
    "events",
    "shows",
    "bookings",
    "metrics",
];

/// The only property that depends on the time at which the shop was filled. Ids do not, because one user fills it
/// sequentially.
const TIME_PROPERTY: &str = "createdOn";

/// The maximum time for the start of the shop.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running shop, which is killed when dropped.
#[derive(Debug)]
pub struct Shop {
    child: Child,
    port: u16,
}

impl Shop {
    /// Starts an empty shop; creates `folder` for its log.
    ///
    /// # Errors
    /// The shop does not accept connections.
    pub fn start(busyhour: &Path, port: u16, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let log = folder.join("shop.log");
        let file = File::create(&log)?;
        let child = Command::new(busyhour)
            .args(["lab", "server", "shop", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("{} cannot be started", busyhour.display()))?;
        let mut shop = Self { child, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = shop.child.try_wait()?.is_some();
            ensure!(!ended && start.elapsed() < PATIENCE, "the shop did not start:\n{}", tail(&log));
            thread::sleep(Duration::from_millis(20));
        }
        Ok(shop)
    }

    /// Reads all lists, without times.
    ///
    /// # Errors
    /// A list cannot be read.
    pub fn lists(&self) -> Result<BTreeMap<&'static str, Value>> {
        LISTS
            .iter()
            .map(|&path| Ok((path, self.list(path).with_context(|| format!("reading {path}"))?)))
            .collect()
    }

    /// Reads the bookings.
    ///
    /// # Errors
    /// The bookings cannot be read.
    pub fn bookings(&self) -> Result<Vec<Booking>> {
        let bookings = self.list("bookings")?;
        let bookings = bookings.as_array().context("the bookings are not a list")?;
        bookings
            .iter()
            .map(|booking| {
                Ok(Booking {
                    performance: booking["performance"]["id"]
                        .as_u64()
                        .context("a booking has no performance")?,
                    tickets: booking["tickets"].as_array().context("a booking has no tickets")?.len(),
                })
            })
            .collect()
    }

    fn list(&self, path: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /ticket-monster/rest/{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
            self.port
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let (head, body) = response.split_once("\r\n\r\n").context("the response has no head")?;
        ensure!(head.starts_with("HTTP/1.1 200 "), "{}", head.lines().next().unwrap_or_default());
        let mut value = serde_json::from_str(body)?;
        remove_times(&mut value);
        Ok(value)
    }
}

/// A booking, with the fields that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Booking {
    /// The id of its performance.
    pub performance: u64,
    /// The number of tickets.
    pub tickets: usize,
}

impl Drop for Shop {
    fn drop(&mut self) {
        // Errors are ignored, because the shop may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                if name == TIME_PROPERTY && field.is_u64() {
                    *field = Value::Null;
                } else {
                    remove_times(field);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_masked_everywhere() {
        let mut value =
            serde_json::json!([{"id": 1, "createdOn": 5, "in": {"createdOn": 6}}, {"createdOn": "x"}]);
        remove_times(&mut value);
        let expected =
            serde_json::json!([{"id": 1, "createdOn": null, "in": {"createdOn": null}}, {"createdOn": "x"}]);
        assert_eq!(value, expected);
    }
}
