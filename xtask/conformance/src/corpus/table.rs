//! The tables of `conformance/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check::{State, Verdict};
use super::missing::{Item, Need};
use super::plans::SOURCES;
use super::side_by_side::Outcome;

/// Obstacles of fewer plans are only counted in the last line of the table.
const PLANS_MIN: usize = 2;

/// The table of outcomes of running plans in both programs.
pub(super) fn outcome_table(outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes {
        if let Outcome::Skipped(why) = outcome {
            // Missing jars count as one reason, whatever their names.
            let why = why.split(" without the jar of ").next().unwrap_or(why);
            *skipped.entry(why).or_default() += 1;
        }
    }
    let compared = outcomes.len() - skipped.values().sum::<usize>();
    let mut out = String::from("| plans run in JMeter and in Busyhour | |\n|---|---:|\n");
    for (name, count) in [
        ("**compared**", compared),
        ("requests and rows are equal", count(|outcome| matches!(outcome, Outcome::Same))),
        (
            "equal except for random values (in which two runs of JMeter differ, too)",
            count(|outcome| matches!(outcome, Outcome::RandomDifferences(_))),
        ),
        ("**differ**", count(|outcome| matches!(outcome, Outcome::Differs(_)))),
    ] {
        writeln!(out, "| {name} | {count} |").expect("a string");
    }
    for (why, count) in skipped {
        writeln!(out, "| skipped: {why} | {count} |").expect("a string");
    }
    out
}

pub(super) fn markdown(verdicts: &[Verdict]) -> String {
    let mut out = counts(verdicts);
    out.push('\n');
    out.push_str(&missing(verdicts));
    out.push('\n');
    out.push_str(&broken(verdicts));
    out
}

/// A line of the first table: its name, and the condition for the counted plans.
type Count = (&'static str, fn(&Verdict) -> bool);

const COUNTS: [Count; 11] = [
    ("files", |_| true),
    ("cannot be read as XML plans", |verdict| matches!(verdict.state, State::Broken(_))),
    ("parts of plans", |verdict| matches!(verdict.state, State::Part(_))),
    ("**readable plans**", |verdict| verdict.items().is_some()),
    ("… that need Java", Verdict::needs_java),
    ("**… that do not need Java**", needs_no_java),
    ("… of these: **supported without changes**", Verdict::is_supported),
    ("… among them: without an active thread group", Verdict::is_idle),
    ("… of these: supported except for missing data files", Verdict::lacks_only_files),
    ("… of these: with a mistake that JMeter reports, too", has_only_mistakes),
    ("… of these: rejected because a feature is missing", is_rejected),
];

fn needs_no_java(verdict: &Verdict) -> bool {
    verdict.items().is_some() && !verdict.needs_java()
}

fn has_only_mistakes(verdict: &Verdict) -> bool {
    let Some(items) = verdict.items() else { return false };
    items.iter().any(|item| item.need == Need::Mistake)
        && items.iter().all(|item| matches!(item.need, Need::Mistake | Need::File))
}

fn is_rejected(verdict: &Verdict) -> bool {
    needs_no_java(verdict)
        && !verdict.is_supported()
        && !verdict.lacks_only_files()
        && !has_only_mistakes(verdict)
}

fn counts(verdicts: &[Verdict]) -> String {
    let mut out = String::from("| |");
    SOURCES.iter().for_each(|(_, what)| write!(out, " {what} |").expect("a string"));
    out.push_str(" all |\n|---|");
    (0..=SOURCES.len()).for_each(|_| out.push_str("---:|"));
    out.push('\n');
    for (name, counts) in COUNTS {
        write!(out, "| {name} |").expect("a string");
        for source in 0..SOURCES.len() {
            let of_source = verdicts.iter().filter(|verdict| verdict.plan.source == source);
            write!(out, " {} |", of_source.filter(|verdict| counts(verdict)).count()).expect("a string");
        }
        writeln!(out, " {} |", verdicts.iter().filter(|verdict| counts(verdict)).count()).expect("a string");
    }
    out.push_str("| **supported share of the plans that do not need Java, ignoring data files** |");
    let share = |verdicts: &[&Verdict]| {
        let relevant = verdicts.iter().filter(|verdict| needs_no_java(verdict)).count();
        let good = |verdict: &&&Verdict| verdict.is_supported() || verdict.lacks_only_files();
        let good = verdicts.iter().filter(good).count();
        if relevant == 0 {
            "–".to_owned()
        } else {
            format!("{:.0} %", 100.0 * good as f64 / relevant as f64)
        }
    };
    for source in 0..SOURCES.len() {
        let of_source: Vec<_> = verdicts.iter().filter(|verdict| verdict.plan.source == source).collect();
        write!(out, " {} |", share(&of_source)).expect("a string");
    }
    writeln!(out, " {} |", share(&verdicts.iter().collect::<Vec<_>>())).expect("a string");
    out
}

/// The number of plans with an obstacle, and the number of plans without other obstacles.
#[derive(Default)]
struct Tally {
    plans: usize,
    only: usize,
}

fn missing(verdicts: &[Verdict]) -> String {
    let mut tallies: BTreeMap<&Item, Tally> = BTreeMap::new();
    for items in verdicts.iter().filter_map(Verdict::items) {
        let wanted = items.iter().filter(|item| item.need != Need::File).count();
        for item in items {
            let tally = tallies.entry(item).or_default();
            tally.plans += 1;
            tally.only += usize::from(if item.need == Need::File { wanted == 0 } else { wanted == 1 });
        }
    }
    let mut rows: Vec<_> = tallies.into_iter().collect();
    rows.sort_by(|(a, x), (b, y)| (y.plans, y.only).cmp(&(x.plans, x.only)).then_with(|| a.cmp(b)));
    let rare = rows.iter().filter(|(_, tally)| tally.plans < PLANS_MIN).count();
    let mut out = String::from(
        "| obstacle | requires | plans | of these without other obstacles, ignoring files |\n|---|---|---:|---:|\n",
    );
    for (item, tally) in rows.iter().filter(|(_, tally)| tally.plans >= PLANS_MIN) {
        let name = item.name.replace('|', "\\|");
        writeln!(out, "| {name} | {} | {} | {} |", item.need, tally.plans, tally.only).expect("a string");
    }
    writeln!(out, "| {rare} further obstacles, each in one plan (`--list` prints them) | | | |")
        .expect("a string");
    out
}

fn broken(verdicts: &[Verdict]) -> String {
    let mut out = String::from("| file that is not a plan | message |\n|---|---|\n");
    for verdict in verdicts {
        let message = match &verdict.state {
            State::Crash(how) => format!("**the program failed: {how}**"),
            State::Broken(why) | State::Part(why) => why.clone(),
            State::Readable { .. } => continue,
        };
        writeln!(out, "| `{}` | {} |", verdict.plan.name, message.replace('|', "\\|")).expect("a string");
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::plans::Plan;
    use super::*;

    fn verdict(source: usize, items: &[(Need, &str)]) -> Verdict {
        let items: BTreeSet<_> = items.iter().map(|&(need, name)| Item { need, name: name.into() }).collect();
        let plan = Plan { source, path: "p".into(), name: "p".into() };
        Verdict { plan, state: State::Readable { obstacles: items, has_thread_group: true } }
    }

    #[test]
    fn files_are_ignored_and_java_is_counted_separately() {
        let text = markdown(&[
            verdict(0, &[]),
            verdict(0, &[(Need::File, "f")]),
            verdict(0, &[(Need::File, "f"), (Need::Busyhour, "b")]),
            verdict(1, &[(Need::Java, "j"), (Need::Busyhour, "b")]),
        ]);
        assert!(text.contains("| **… that do not need Java** | 3 | 0 | 3 |"), "{text}");
        assert!(text.contains("ignoring data files** | 67 % | – | 67 % |"), "{text}");
        assert!(text.contains("| b | Busyhour | 2 | 1 |"), "{text}");
        assert!(text.contains("| f | a data file | 2 | 1 |"), "{text}");
    }

    #[test]
    fn outcomes_are_counted_by_kind_and_reason() {
        let skipped = |why: &str| Outcome::Skipped(why.into());
        let text = outcome_table(&[
            Outcome::Same,
            Outcome::Differs("x".into()),
            skipped("JMeter does not load it without the jar of a.B"),
            skipped("JMeter does not load it without the jar of c.D"),
        ]);
        assert!(text.contains("| **compared** | 2 |"), "{text}");
        assert!(text.contains("| skipped: JMeter does not load it | 2 |"), "{text}");
    }
}
