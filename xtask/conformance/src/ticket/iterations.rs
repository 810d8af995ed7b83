//! What each user of the load does in each iteration.
//!
//! Four parts are shuffled in every iteration, and within the reads seven; what runs in an iteration, and how each part
//! goes, is fixed. An iteration's *signature* is what is left when the shuffling is undone.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Row;

/// Rows by user and iteration, in the order in which the user sent them.
pub type Users<'r> = BTreeMap<&'r str, BTreeMap<u64, Vec<&'r Row>>>;

/// The part of the workload with shuffled samplers only.
const READS: &str = "reads";

/// Sorts the rows of the load.
pub fn by_user(rows: &[Row]) -> Users<'_> {
    let mut users = Users::new();
    for row in rows.iter().filter(|row| row.is_load()) {
        // A row without a number is kept where it will be seen to differ.
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

/// The parts of an iteration as they were run.
fn parts<'a, 'r>(rows: &'a [&'r Row]) -> impl Iterator<Item = (&'static str, &'a [&'r Row])> {
    rows.chunk_by(|a, b| part_of(&a.label) == part_of(&b.label)).map(|part| (part_of(&part[0].label), part))
}

/// What is fixed in an iteration.
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

/// Compares all iterations that both completed; returns their number and the differences.
pub fn compare(theirs: &Users<'_>, ours: &Users<'_>) -> (u64, Vec<String>) {
    let (mut compared, mut differences) = (0, Vec::new());
    let users: BTreeSet<&str> = theirs.keys().chain(ours.keys()).copied().collect();
    for user in users {
        let (Some(theirs), Some(ours)) = (theirs.get(user), ours.get(user)) else {
            let who = if ours.contains_key(user) { "Busyhour" } else { "JMeter" };
            differences.push(format!("only {who} has rows of {user}"));
            continue;
        };
        // The last iteration of either may have been cut off.
        let last = |rows: &BTreeMap<u64, _>| rows.last_key_value().map_or(0, |(&at, _)| at);
        for iteration in 0..last(theirs).min(last(ours)) {
            let of = |rows: &BTreeMap<u64, Vec<&Row>>| {
                rows.get(&iteration).map_or_else(String::new, |rows| signature(rows))
            };
            let (theirs, ours) = (of(theirs), of(ours));
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

/// Drawn and counted ids, as far as they can be read off URLs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// How many reads began with which sampler.
    pub first: BTreeMap<String, u64>,
    /// The shows that the passes through the reads drew.
    pub shows: Vec<u64>,
    /// The venues that they drew.
    pub venues: Vec<u64>,
    /// Ids in requests to delete, in any order.
    pub deleted: Vec<u64>,
    /// Passes in which an id changed though it must not.
    pub torn: Vec<String>,
}

impl Ids {
    /// Reads them off.
    pub fn of(users: &Users<'_>) -> Self {
        let mut ids = Self::default();
        for (user, iterations) in users {
            for (iteration, rows) in iterations {
                for (name, part) in parts(rows) {
                    ids.take(name, part, &format!("{user}, iteration {iteration}"));
                }
            }
        }
        ids
    }

    fn take(&mut self, name: &str, part: &[&Row], place: &str) {
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
            self.torn.push(format!("{place}: {name} with the ids {found:?}"));
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
    fn shuffling_makes_no_difference() {
        let theirs = [deletion(1, 0, 7), reads(1, 0, 3, false), reads(1, 1, 3, false)].concat();
        let ours = [reads(1, 0, 9, true), deletion(1, 0, 8), reads(1, 1, 3, false)].concat();
        assert_eq!(compare(&by_user(&theirs), &by_user(&ours)), (1, Vec::new()));
    }

    #[test]
    fn another_order_within_a_part_does() {
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
    fn an_iteration_that_sends_nothing_counts() {
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
    fn ids_hold_through_a_part() {
        let mut rows = [deletion(1, 0, 7), reads(1, 0, 3, true), reads(2, 5, 4, false)].concat();
        let ids = Ids::of(&by_user(&rows));
        assert_eq!((ids.deleted, ids.torn), (vec![7], Vec::new()));
        assert_eq!((ids.shows, ids.venues), (vec![3, 4], vec![]));
        assert_eq!(
            ids.first,
            BTreeMap::from([("Get cached image".into(), 1), ("Get 1 ticketprice".into(), 1)])
        );
        rows[1].url = "http://127.0.0.1/bookings/8".into();
        assert_eq!(Ids::of(&by_user(&rows)).torn.len(), 1);
    }
}
