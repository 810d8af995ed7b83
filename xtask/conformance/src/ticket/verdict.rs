//! Compares the results of both programs and prints agreements and differences.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::Value;
use xtask_common::table::Table;

use super::iterations::{self, Ids, Users};
use super::rows::Row;
use super::run_results::{EVENTS, RunResults, VENUES};
use super::samples::{self, Label};

/// The maximum difference between the shares of a label, in percentage points.
const TOLERANCE_PP: f64 = 0.5;

/// The maximum number of printed differences of one kind.
const PRINTED_MAX: usize = 5;

/// The number of shuffled samplers in the reads; the ten images are one of them.
const READS: usize = 7;

/// The number of tickets in a booking of the load.
const TICKETS: usize = 10;

/// A comparison.
struct Check {
    what: String,
    differences: Vec<String>,
    /// Whether there were too few samples for finding differences.
    is_inconclusive: bool,
}

impl Check {
    fn new(what: impl Into<String>, differences: Vec<String>) -> Self {
        Self { what: what.into(), differences, is_inconclusive: false }
    }
}

type Labels<'r> = BTreeMap<&'r str, Label>;

/// Prints the comparison.
///
/// # Errors
/// There is an unexpected difference.
pub fn compare(theirs: &RunResults, ours: &RunResults) -> Result<()> {
    let load = |done: &'_ RunResults| -> Vec<Row> {
        done.whole.iter().filter(|row| row.is_load()).cloned().collect()
    };
    let (their_load, our_load) = (load(theirs), load(ours));
    let (their_labels, our_labels) = (samples::labels(&their_load), samples::labels(&our_load));
    let (their_users, our_users) = (iterations::by_user(&their_load), iterations::by_user(&our_load));

    let mut checks = vec![
        filling("filling, alone", &theirs.filling, &ours.filling),
        filling("filling, before the load", &not_load(&theirs.whole), &not_load(&ours.whole)),
        lists(&theirs.lists, &ours.lists),
        Check::new("no errors in the logs", [&theirs.errors[..], &ours.errors[..]].concat()),
        same_labels(&their_labels, &our_labels),
    ];
    let (count, differences) = iterations::compare(&their_users, &our_users);
    checks.push(Check::new(
        format!("{count} iterations of {} users: their samplers and the order of these", their_users.len()),
        differences,
    ));
    checks.push(outcomes(&their_labels, &our_labels));
    checks.push(sizes(&their_labels, &our_labels));
    for (program, done, users) in [("JMeter", theirs, &their_users), ("Busyhour", ours, &our_users)] {
        checks.extend(ids(program, users));
        checks.extend(bookings(program, done));
    }
    checks.push(shares(&their_labels, &our_labels));

    println!();
    for check in &checks {
        let mark = match (check.differences.is_empty(), check.is_inconclusive) {
            (false, _) => "DIFFERS",
            (true, true) => "unsure ",
            (true, false) => "ok     ",
        };
        println!("{mark}  {}", check.what);
        for difference in check.differences.iter().take(PRINTED_MAX) {
            println!("    {difference}");
        }
        if check.differences.len() > PRINTED_MAX {
            println!("    … and {} more", check.differences.len() - PRINTED_MAX);
        }
    }
    let differing = checks.iter().filter(|check| !check.differences.is_empty()).count();
    ensure!(differing == 0, "{differing} of {} comparisons differ", checks.len());
    Ok(())
}

fn not_load(rows: &[Row]) -> Vec<Row> {
    rows.iter().filter(|row| !row.is_load()).cloned().collect()
}

fn filling(name: &str, theirs: &[Row], ours: &[Row]) -> Check {
    let mut differences = Vec::new();
    if theirs.is_empty() {
        differences.push("JMeter filled no data".to_owned());
    }
    if theirs.len() != ours.len() {
        differences.push(format!("{} rows in JMeter, {} in Busyhour", theirs.len(), ours.len()));
    }
    for (at, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
        if theirs.columns != ours.columns {
            let (theirs, ours) = (theirs.columns.join(","), ours.columns.join(","));
            differences.push(format!("row {}\n      JMeter:   {theirs}\n      Busyhour: {ours}", at + 1));
        }
    }
    Check::new(format!("{name}: {} rows in order, all columns except times", theirs.len()), differences)
}

fn lists(theirs: &BTreeMap<&str, Value>, ours: &BTreeMap<&str, Value>) -> Check {
    let (mut entries, mut differences) = (0, Vec::new());
    for (path, theirs) in theirs {
        let (theirs, ours) = (theirs.as_array(), ours.get(path).and_then(Value::as_array));
        let (Some(theirs), Some(ours)) = (theirs, ours) else {
            differences.push(format!("{path} is not a list"));
            continue;
        };
        entries += theirs.len();
        if theirs.len() != ours.len() {
            differences.push(format!(
                "{path}: {} entries after JMeter, {} after Busyhour",
                theirs.len(),
                ours.len()
            ));
        }
        if let Some((theirs, ours)) = theirs.iter().zip(ours).find(|(theirs, ours)| theirs != ours) {
            differences.push(format!("{path}\n      JMeter:   {theirs}\n      Busyhour: {ours}"));
        }
    }
    Check::new(
        format!("the shop after the filling: {entries} entries in {} lists, except for times", theirs.len()),
        differences,
    )
}

fn same_labels(theirs: &Labels<'_>, ours: &Labels<'_>) -> Check {
    let names = |labels: &Labels<'_>| labels.keys().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    let (theirs, ours) = (names(theirs), names(ours));
    let only = |program: &str, a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
        a.difference(b).map(|label| format!("only in {program}: {label}")).collect()
    };
    let differences = [only("JMeter", &theirs, &ours), only("Busyhour", &ours, &theirs)].concat();
    Check::new(format!("the {} labels of the load", theirs.len()), differences)
}

fn both<'a>(
    theirs: &'a Labels<'_>,
    ours: &'a Labels<'_>,
) -> impl Iterator<Item = (&'a str, &'a Label, &'a Label)> {
    theirs.iter().filter_map(|(name, theirs)| Some((*name, theirs, ours.get(name)?)))
}

fn outcomes(theirs: &Labels<'_>, ours: &Labels<'_>) -> Check {
    let differences = both(theirs, ours).filter(|(_, theirs, ours)| theirs.outcomes != ours.outcomes);
    let differences = differences.map(|(name, theirs, ours)| {
        format!("{name}\n      JMeter:   {:?}\n      Busyhour: {:?}", theirs.outcomes, ours.outcomes)
    });
    Check::new("codes, messages, data types and failures of each label", differences.collect())
}

/// Sizes that do not vary in JMeter must be the same in Busyhour.
fn sizes(theirs: &Labels<'_>, ours: &Labels<'_>) -> Check {
    let (mut fixed, mut differences) = (0, Vec::new());
    for (name, theirs, ours) in both(theirs, ours) {
        let pairs = [
            ("sent beyond the URL", &theirs.sent_without_url, &ours.sent_without_url),
            ("received", &theirs.received, &ours.received),
        ];
        for (what, theirs, ours) in pairs {
            if theirs.len() == 1 {
                fixed += 1;
                if theirs != ours {
                    differences
                        .push(format!("{name}, bytes {what}: {theirs:?} in JMeter, {ours:?} in Busyhour"));
                }
            }
        }
    }
    Check::new(
        format!("bytes sent and received, where they do not vary in JMeter ({fixed} sizes)"),
        differences,
    )
}

/// Checks for each program that ids are drawn and counted as the plan defines.
fn ids(program: &str, users: &Users<'_>) -> Vec<Check> {
    let ids = Ids::collect(users);
    let mut deleted = ids.changed;
    let distinct: BTreeSet<u64> = ids.deleted.iter().copied().collect();
    if distinct.len() < ids.deleted.len() {
        deleted.push(format!("{} of the ids to delete are duplicates", ids.deleted.len() - distinct.len()));
    }
    // At its end, a user may have incremented the counter without sending a request.
    let last = distinct.last().copied().unwrap_or(0);
    let skipped = last.saturating_sub(distinct.len() as u64);
    if skipped > users.len() as u64 {
        deleted.push(format!("{skipped} of the ids to delete up to {last} are missing"));
    }
    let mut first: Vec<u64> = ids.first.values().copied().collect();
    first.resize(READS.max(first.len()), 0);
    let name = format!(
        "{program}: ids are constant within a part; ids to delete are counted from 1 to {last} over all users"
    );
    vec![
        Check::new(name, deleted),
        uniform(program, "the first of the reads", Some(first)),
        uniform(program, "shows drawn", samples::tally(ids.shows, VENUES * EVENTS)),
        uniform(program, "venues drawn", samples::tally(ids.venues, VENUES)),
    ]
}

/// Tests whether drawn values are uniform; `counts` is `None` if some values are out of range.
fn uniform(program: &str, what: &str, counts: Option<Vec<u64>>) -> Check {
    let Some(counts) = counts else {
        return Check::new(format!("{program}: {what}"), vec!["some values are out of range".to_owned()]);
    };
    let cells = counts.len();
    let Some((statistic, limit)) = samples::evenness(&counts) else {
        let what = format!("{program}: {what}: {cells} values; too few samples for a test of uniformity");
        return Check { what, differences: Vec::new(), is_inconclusive: true };
    };
    let uneven = (statistic > limit).then(|| format!("{counts:?}"));
    let name = format!(
        "{program}: {what}: uniform over {cells} values (χ² {statistic:.1}; above {limit:.1} once in 10,000 runs)"
    );
    Check::new(name, uneven.into_iter().collect())
}

/// Checks that the shop's data agree with the rows; a difference indicates requests that were sent but not recorded.
fn bookings(program: &str, done: &RunResults) -> Vec<Check> {
    // The filling and the load use the same label for bookings.
    let rows = |label: &str, is_load: bool| {
        let of_group = done.whole.iter().filter(|row| row.is_load() == is_load);
        of_group.filter(|row| row.label == label && row.success).count()
    };
    let (first, booked, deleted) =
        (rows("Add booking", false), rows("Add booking", true), rows("Delete Booking", true));
    let (expected, found) = ((first + booked).saturating_sub(deleted), done.bookings.len());
    let differs = (expected != found)
        .then(|| format!("{first} + {booked} − {deleted} bookings expected, {found} found"));
    // Bookings of the load have more tickets than those of the filling.
    let drawn =
        done.bookings.iter().filter(|booking| booking.tickets == TICKETS).map(|booking| booking.performance);
    vec![
        Check::new(
            format!("{program}: the {found} bookings in the shop agree with the rows"),
            differs.into_iter().collect(),
        ),
        uniform(program, "performances booked", samples::tally(drawn, VENUES * EVENTS)),
    ]
}

fn shares(theirs: &Labels<'_>, ours: &Labels<'_>) -> Check {
    let total = |labels: &Labels<'_>| labels.values().map(|label| label.count).sum::<u64>();
    let (n, m) = (total(theirs), total(ours));
    let mut table = Table::new(&[
        "label of the load",
        "JMeter",
        "Busyhour",
        "JMeter %",
        "Busyhour %",
        "difference",
        "standard error",
        "outcomes",
    ]);
    let (mut differences, mut noise_pp) = (Vec::new(), 0.0_f64);
    for (name, theirs, ours) in both(theirs, ours) {
        let (their_pp, our_pp) =
            (100.0 * theirs.count as f64 / n as f64, 100.0 * ours.count as f64 / m as f64);
        let pooled = (theirs.count + ours.count) as f64 / (n + m) as f64;
        let error_pp = samples::standard_error_pp(pooled, n, m);
        noise_pp = noise_pp.max(error_pp);
        if (our_pp - their_pp).abs() > TOLERANCE_PP {
            differences.push(format!("{name}: {their_pp:.2} % in JMeter, {our_pp:.2} % in Busyhour"));
        }
        table.row([
            name.to_owned(),
            theirs.count.to_string(),
            ours.count.to_string(),
            format!("{their_pp:.2}"),
            format!("{our_pp:.2}"),
            format!("{:+.2}", our_pp - their_pp),
            format!("{error_pp:.2}"),
            theirs.outcomes.iter().map(String::as_str).collect::<Vec<_>>().join("; "),
        ]);
    }
    table.row(["total", &n.to_string(), &m.to_string()].map(str::to_owned));
    println!("\n{table}");
    println!(
        "Differences in percentage points, with the binomial standard error that they would have if every sample \
         drew its\nlabel, at most {noise_pp:.2}. In this plan labels are not drawn at random: shares differ only because \
         the end interrupts iterations."
    );
    if noise_pp > TOLERANCE_PP {
        println!(
            "The standard error exceeds the tolerance of {TOLERANCE_PP}, because there are too few samples. Increase --seconds or --rate."
        );
    }
    let what = format!("shares of the labels within {TOLERANCE_PP} percentage points");
    Check::new(what, differences)
}
