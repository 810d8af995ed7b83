//! A fresh ticket shop, and what it holds.

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

/// Every list that the shop's interface has, of both families.
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

/// The only property that depends on when the shop was filled. Ids do not: one user fills it, in order.
const TIME: &str = "createdOn";

/// How long a shop may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A shop of ours; it ends with its owner.
#[derive(Debug)]
pub struct Shop {
    child: Child,
    port: u16,
}

impl Shop {
    /// Starts an empty shop; `folder` is made and takes its log.
    ///
    /// # Errors
    /// Fails when it does not accept connections.
    pub fn start(busyhour: &Path, port: u16, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let log = folder.join("shop.log");
        let file = File::create(&log)?;
        let child = Command::new(busyhour)
            .args(["demo-server", "ticket-monster", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("{} does not start", busyhour.display()))?;
        let mut shop = Self { child, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = shop.child.try_wait()?.is_some();
            ensure!(!ended && start.elapsed() < PATIENCE, "the shop does not start:\n{}", tail(&log));
            thread::sleep(Duration::from_millis(20));
        }
        Ok(shop)
    }

    /// All lists, without their times.
    ///
    /// # Errors
    /// Fails when one cannot be read.
    pub fn lists(&self) -> Result<BTreeMap<&'static str, Value>> {
        LISTS
            .iter()
            .map(|&path| Ok((path, self.list(path).with_context(|| format!("reading {path}"))?)))
            .collect()
    }

    /// Its bookings.
    ///
    /// # Errors
    /// Fails when they cannot be read.
    pub fn bookings(&self) -> Result<Vec<Booking>> {
        let bookings = self.list("bookings")?;
        let bookings = bookings.as_array().context("bookings are no list")?;
        bookings
            .iter()
            .map(|booking| {
                Ok(Booking {
                    performance: booking["performance"]["id"]
                        .as_u64()
                        .context("a booking of no performance")?,
                    tickets: booking["tickets"].as_array().context("a booking without tickets")?.len(),
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
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer without a head")?;
        ensure!(head.starts_with("HTTP/1.1 200 "), "{}", head.lines().next().unwrap_or_default());
        let mut value = serde_json::from_str(body)?;
        forget_times(&mut value);
        Ok(value)
    }
}

/// A booking, as far as it is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Booking {
    /// Its performance's id.
    pub performance: u64,
    /// How many tickets it holds.
    pub tickets: usize,
}

impl Drop for Shop {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone after this.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                if name == TIME && field.is_u64() {
                    *field = Value::Null;
                } else {
                    forget_times(field);
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
        forget_times(&mut value);
        let forgotten =
            serde_json::json!([{"id": 1, "createdOn": null, "in": {"createdOn": null}}, {"createdOn": "x"}]);
        assert_eq!(value, forgotten);
    }
}
