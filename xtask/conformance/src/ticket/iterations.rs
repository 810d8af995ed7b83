//! Compares the iterations of each user of the load.
//!
//! Each iteration runs four parts in random order. One of these parts, the reads, runs its seven samplers in random order, too;
//! the other parts run their samplers in a fixed order. The *signature* of an iteration is its content independent of the
//! random order.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Row;

/// Rows by user and iteration, in the order in which the user sent them.
pub type Users<'r> = BTreeMap<&'r str, BTreeMap<u64, Vec<&'r Row>>>;

/// The part of the workload whose samplers are shuffled.
const READS: &str = "reads";

/// Groups the rows of the load by user and iteration.
pub fn by_user(rows: &[Row]) -> Users<'_> {
    let mut users = Users::new();
    for row in rows.iter().filter(|row| row.is_load()) {
        // A row without a number is stored under a number at which it causes a difference.
        let iteration = row.iteration.unwrap_or(u64::MAX);
        users.entry(&row.thread).or_default().entry(iteration).or_default().push(row);
    }
    users
}

/// The part of the workload that contains a sampler.
fn part_of(label: &str) -> &'static str {
    match label {
        "Get venues Keepalive=F" | "Get events Keepalive=F" => "new connection",
        "Add booking" => "booking",
        "Get 1 booking" | "Delete Booking" => "deletion",
        _ => READS,
    }
}

/// The parts of an iteration, in the order in which they were run.
fn parts<'a, 'r>(rows: &'a [&'r Row]) -> impl Iterator<Item = (&'static str, &'a [&'r Row])> {
    rows.chunk_by(|a, b| part_of(&a.label) == part_of(&b.label)).map(|part| (part_of(&part[0].label), part))
}

/// The fixed content of an iteration.
fn signature(rows: &[&Row]) -> String {
    let mut signatures: Vec<String> = parts(rows)
        .map(|(name, part)| {
            let runs = part.chunk_by(|a, b| a.label == b.label);
            let mut steps: Vec<String> =
                runs.map(|run| format!("{} × {}", run[0].label, run.len())).collect();
            if name == READS {
                steps.sort();
            }
            steps.join(", ")
        })
        .collect();
    signatures.sort();
    signatures.join("; ")
}

/// Compares all iterations that both programs completed; returns their number and the differences.
pub fn compare(theirs: &Users<'_>, ours: &Users<'_>) -> (u64, Vec<String>) {
    let (mut compared, mut differences) = (0, Vec::new());
    let users: BTreeSet<&str> = theirs.keys().chain(ours.keys()).copied().collect();
    for user in users {
        let (Some(theirs), Some(ours)) = (theirs.get(user), ours.get(user)) else {
            let program = if ours.contains_key(user) { "Busyhour" } else { "JMeter" };
            differences.push(format!("only {program} has rows of {user}"));
            continue;
        };
        // The last iteration of each may be incomplete.
        let last = |rows: &BTreeMap<u64, _>| rows.last_key_value().map_or(0, |(&at, _)| at);
        for iteration in 0..last(theirs).min(last(ours)) {
            let signature_of = |rows: &BTreeMap<u64, Vec<&Row>>| {
                rows.get(&iteration).map_or_else(String::new, |rows| signature(rows))
            };
            let (theirs, ours) = (signature_of(theirs), signature_of(ours));
            compared += 1;
            if theirs != ours {
                differences.push(format!(
                    "{user}, iteration {iteration}\n      JMeter:   {theirs}\n      Busyhour: {ours}"
                ));
            }
        }
    }
    (compared, differences)
}

/// Random and sequential ids that are contained in URLs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// The number of passes through the reads that began with each sampler.
    pub first: BTreeMap<String, u64>,
    /// The randomly drawn shows of the passes through the reads.
    pub shows: Vec<u64>,
    /// The randomly drawn venues of these passes.
    pub venues: Vec<u64>,
    /// The ids in deletion requests, in any order.
    pub deleted: Vec<u64>,
    /// Passes in which an id changed unexpectedly.
    pub changed: Vec<String>,
}

impl Ids {
    /// Collects the ids.
    pub fn collect(users: &Users<'_>) -> Self {
        let mut ids = Self::default();
        for (user, iterations) in users {
            for (iteration, rows) in iterations {
                for (name, part) in parts(rows) {
                    ids.add(name, part, &format!("{user}, iteration {iteration}"));
                }
            }
        }
        ids
    }

    fn add(&mut self, name: &str, part: &[&Row], place: &str) {
        let with_id: &[&str] = match name {
            READS => &["Get 1 show", "Get 1 performance", "Get 1 ticketprice"],
            "deletion" => &["Get 1 booking", "Delete Booking"],
            _ => return,
        };
        let found: BTreeSet<u64> = part
            .iter()
            .filter(|row| with_id.contains(&row.label.as_str()))
            .filter_map(|row| row.id())
            .collect();
        if found.len() > 1 {
            self.changed.push(format!("{place}: {name} with the ids {found:?}"));
        }
        if name == READS {
            *self.first.entry(part[0].label.clone()).or_default() += 1;
            self.shows.extend(found);
            self.venues
                .extend(part.iter().filter(|row| row.label == "Get 1 section").filter_map(|row| row.id()));
        } else {
            self.deleted.extend(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    fn reads(user: u64, iteration: u64, id: u64, turned: bool) -> Vec<Row> {
        let mut rows = vec![
            row(user, iteration, "Get cached image", "media/1"),
            row(user, iteration, "Get cached image", "media/1"),
            row(user, iteration, "Get 1 show", &format!("shows/{id}")),
            row(user, iteration, "Get 1 ticketprice", &format!("ticketprices/{id}")),
        ];
        if turned {
            rows.reverse();
        }
        rows
    }

    fn deletion(user: u64, iteration: u64, id: u64) -> Vec<Row> {
        ["Get 1 booking", "Delete Booking"]
            .map(|label| row(user, iteration, label, &format!("bookings/{id}")))
            .to_vec()
    }

    #[test]
    fn the_random_order_is_ignored() {
        let theirs = [deletion(1, 0, 7), reads(1, 0, 3, false), reads(1, 1, 3, false)].concat();
        let ours = [reads(1, 0, 9, true), deletion(1, 0, 8), reads(1, 1, 3, false)].concat();
        assert_eq!(compare(&by_user(&theirs), &by_user(&ours)), (1, Vec::new()));
    }

    #[test]
    fn the_order_within_a_part_is_compared() {
        let last = reads(1, 1, 3, false);
        let theirs = [deletion(1, 0, 7), last.clone()].concat();
        let mut turned = deletion(1, 0, 7);
        turned.reverse();
        let ours = [turned, last.clone()].concat();
        assert_eq!(compare(&by_user(&theirs), &by_user(&ours)).1.len(), 1);
        let mut apart = reads(1, 0, 3, false);
        apart.swap(1, 2);
        let theirs = [reads(1, 0, 3, false), last.clone()].concat();
        assert_eq!(compare(&by_user(&theirs), &by_user(&[apart, last].concat())).1.len(), 1);
    }

    #[test]
    fn empty_iterations_are_compared() {
        let theirs = [deletion(1, 0, 7), deletion(1, 2, 8)].concat();
        let ours = [deletion(1, 0, 7), deletion(1, 1, 8), deletion(1, 2, 9)].concat();
        let (compared, differences) = compare(&by_user(&theirs), &by_user(&ours));
        assert_eq!((compared, differences.len()), (2, 1));
        assert_eq!(
            compare(&by_user(&theirs), &by_user(&[])).1,
            ["only JMeter has rows of Throughput test 2-1"]
        );
    }

    #[test]
    fn ids_are_constant_within_a_part() {
        let mut rows = [deletion(1, 0, 7), reads(1, 0, 3, true), reads(2, 5, 4, false)].concat();
        let ids = Ids::collect(&by_user(&rows));
        assert_eq!((ids.deleted, ids.changed), (vec![7], Vec::new()));
        assert_eq!((ids.shows, ids.venues), (vec![3, 4], vec![]));
        assert_eq!(
            ids.first,
            BTreeMap::from([("Get cached image".into(), 1), ("Get 1 ticketprice".into(), 1)])
        );
        rows[1].url = "http://127.0.0.1/bookings/8".into();
        assert_eq!(Ids::collect(&by_user(&rows)).changed.len(), 1);
    }
}
