//! Generates reproducible result files of any length in the default format of JMeter 5.6.3.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;

/// The columns that JMeter writes by default.
const NAMES: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                     sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

const LABELS: [&str; 20] = [
    "Home",
    "Login",
    "Search",
    "Search results",
    "Product page",
    "Add to cart",
    "Cart",
    "Checkout",
    "Payment",
    "Confirmation",
    "Logout",
    "Category",
    "Help",
    "Register",
    "Profile",
    "Orders",
    "Order details",
    "Wish list",
    "Reviews",
    "Static content",
];

/// The number of users, each of which sends a request when its previous one has ended.
const USERS: usize = 200;

/// A small random number generator (splitmix64), so that the file does not depend on the version of a dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A random number above 0, up to 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A random duration in ms: exponential, with a tail of slow ones.
    fn elapsed_ms(&mut self, mean: f64) -> u64 {
        let slow = if self.next().is_multiple_of(200) { 10.0 } else { 1.0 };
        (-self.unit().ln() * mean * slow) as u64 + 2
    }
}

/// The path of the file with this number of rows in `folder`; it is created if it does not exist.
pub(super) fn result_file(folder: &Path, rows: u64) -> Result<PathBuf> {
    let path = folder.join(format!("results-{rows}.csv"));
    if path.exists() {
        return Ok(path);
    }
    eprintln!("creating {}", path.display());
    let unfinished = path.with_extension("new");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
    writeln!(out, "{NAMES}")?;
    let mut random = Random(1);
    // The users' requests in flight, ordered by end time.
    let mut in_flight = std::collections::BinaryHeap::new();
    for user in 0..USERS {
        let start = 1_700_000_000_000 + user as u64 * 10;
        in_flight.push(std::cmp::Reverse((start + random.elapsed_ms(40.0), start, user)));
    }
    for _ in 0..rows {
        let Some(std::cmp::Reverse((end, start, user))) = in_flight.pop() else { break };
        let label = LABELS[(random.next() % LABELS.len() as u64) as usize];
        let elapsed = end - start;
        let failed = random.next().is_multiple_of(500);
        let (code, message) = if failed { (503, "Service Unavailable") } else { (200, "OK") };
        let bytes = 500 + random.next() % 20_000;
        writeln!(
            out,
            "{start},{elapsed},{label},{code},{message},Thread Group 1-{},text,{},,{bytes},{},{USERS},{USERS},http://shop.example/{},{},0,{}",
            user + 1,
            !failed,
            120 + label.len(),
            user % 50,
            elapsed - elapsed / 4,
            u64::from(random.next().is_multiple_of(50)),
        )?;
        let start = end + random.elapsed_ms(5.0);
        in_flight.push(std::cmp::Reverse((start + random.elapsed_ms(40.0), start, user)));
    }
    out.flush()?;
    fs::rename(&unfinished, &path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_by_end_and_reproducible() {
        let folder = tempfile::tempdir().unwrap();
        let first = fs::read_to_string(result_file(folder.path(), 500).unwrap()).unwrap();
        let ends = first.lines().skip(1).map(|line| {
            let mut cells = line.split(',').map(|cell| cell.parse::<u64>().unwrap_or(0));
            cells.next().unwrap() + cells.next().unwrap()
        });
        assert!(ends.clone().is_sorted() && ends.count() == 500);
        assert!(first.lines().all(|line| line.split(',').count() == 17));
        fs::remove_file(folder.path().join("results-500.csv")).unwrap();
        assert_eq!(fs::read_to_string(result_file(folder.path(), 500).unwrap()).unwrap(), first);
    }
}
