//! The tables of `conformance/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check::{State, Verdict};
use super::missing::{Item, Need};
use super::plans::SOURCES;
use super::side_by_side::Outcome;

/// An item that fewer plans miss is counted in the table's last line.
const PLANS_MIN: usize = 2;

/// The outcomes of running plans side by side.
pub(super) fn runs(outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes {
        if let Outcome::LeftOut(why) = outcome {
            // Which jar is wanting does not make another reason.
            let why = why.split(" without the jar of ").next().unwrap_or(why);
            *left_out.entry(why).or_default() += 1;
        }
    }
    let compared = outcomes.len() - left_out.values().sum::<usize>();
    let mut out = String::from("| plans run in JMeter and in Busyhour | |\n|---|---:|\n");
    for (name, count) in [
        ("**compared**", compared),
        ("requests and rows are the same", count(|outcome| matches!(outcome, Outcome::Same))),
        (
            "the same but for what the plan leaves to chance (JMeter differs from itself there)",
            count(|outcome| matches!(outcome, Outcome::SameButForChance(_))),
        ),
        ("**differ**", count(|outcome| matches!(outcome, Outcome::Differs(_)))),
    ] {
        writeln!(out, "| {name} | {count} |").expect("a string");
    }
    for (why, count) in left_out {
        writeln!(out, "| left out: {why} | {count} |").expect("a string");
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

/// A line of the first table: its name, and the condition of the plans that it counts.
type Count = (&'static str, fn(&Verdict) -> bool);

const COUNTS: [Count; 11] = [
    ("files", |_| true),
    ("cannot be read as XML plans", |verdict| matches!(verdict.state, State::Broken(_))),
    ("parts of plans", |verdict| matches!(verdict.state, State::Part(_))),
    ("**readable plans**", |verdict| verdict.items().is_some()),
    ("… that need Java", Verdict::needs_java),
    ("**… that need no Java**", is_of_us),
    ("… of these: **supported as they are**", Verdict::is_supported),
    ("… among which: with no thread group that runs", Verdict::is_idle),
    ("… of these: supported but for data files that are not there", Verdict::lacks_files_only),
    ("… of these: with a mistake that keeps JMeter from doing it, too", has_mistakes_only),
    ("… of these: refused because something is missing", is_refused),
];

fn is_of_us(verdict: &Verdict) -> bool {
    verdict.items().is_some() && !verdict.needs_java()
}

fn has_mistakes_only(verdict: &Verdict) -> bool {
    let Some(items) = verdict.items() else { return false };
    items.iter().any(|item| item.need == Need::Mistake)
        && items.iter().all(|item| matches!(item.need, Need::Mistake | Need::File))
}

fn is_refused(verdict: &Verdict) -> bool {
    is_of_us(verdict) && !verdict.is_supported() && !verdict.lacks_files_only() && !has_mistakes_only(verdict)
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
    out.push_str("| **share supported of those that need no Java, data files aside** |");
    let share = |verdicts: &[&Verdict]| {
        let of_us = verdicts.iter().filter(|verdict| is_of_us(verdict)).count();
        let good = |verdict: &&&Verdict| verdict.is_supported() || verdict.lacks_files_only();
        let good = verdicts.iter().filter(good).count();
        if of_us == 0 { "–".to_owned() } else { format!("{:.0} %", 100.0 * good as f64 / of_us as f64) }
    };
    for source in 0..SOURCES.len() {
        let of_source: Vec<_> = verdicts.iter().filter(|verdict| verdict.plan.source == source).collect();
        write!(out, " {} |", share(&of_source)).expect("a string");
    }
    writeln!(out, " {} |", share(&verdicts.iter().collect::<Vec<_>>())).expect("a string");
    out
}

/// How many plans miss something, and how many miss nothing else.
#[derive(Default)]
struct Tally {
    plans: usize,
    alone: usize,
}

fn missing(verdicts: &[Verdict]) -> String {
    let mut tallies: BTreeMap<&Item, Tally> = BTreeMap::new();
    for items in verdicts.iter().filter_map(Verdict::items) {
        let wanted = items.iter().filter(|item| item.need != Need::File).count();
        for item in items {
            let tally = tallies.entry(item).or_default();
            tally.plans += 1;
            tally.alone += usize::from(if item.need == Need::File { wanted == 0 } else { wanted == 1 });
        }
    }
    let mut rows: Vec<_> = tallies.into_iter().collect();
    rows.sort_by(|(a, x), (b, y)| (y.plans, y.alone).cmp(&(x.plans, x.alone)).then_with(|| a.cmp(b)));
    let rare = rows.iter().filter(|(_, tally)| tally.plans < PLANS_MIN).count();
    let mut out = String::from(
        "| what plans miss | it takes | plans | of these miss nothing else, files aside |\n|---|---|---:|---:|\n",
    );
    for (item, tally) in rows.iter().filter(|(_, tally)| tally.plans >= PLANS_MIN) {
        let name = item.name.replace('|', "\\|");
        writeln!(out, "| {name} | {} | {} | {} |", item.need, tally.plans, tally.alone).expect("a string");
    }
    writeln!(out, "| {rare} further things, each in one plan (`--list` names them) | | | |")
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
        Verdict { plan, state: State::Readable { wants: items, runs: true } }
    }

    #[test]
    fn files_do_not_count_against_a_plan_and_java_counts_apart() {
        let text = markdown(&[
            verdict(0, &[]),
            verdict(0, &[(Need::File, "f")]),
            verdict(0, &[(Need::File, "f"), (Need::Busyhour, "b")]),
            verdict(1, &[(Need::Java, "j"), (Need::Busyhour, "b")]),
        ]);
        assert!(text.contains("| **… that need no Java** | 3 | 0 | 3 |"), "{text}");
        assert!(text.contains("data files aside** | 67 % | – | 67 % |"), "{text}");
        assert!(text.contains("| b | Busyhour | 2 | 1 |"), "{text}");
        assert!(text.contains("| f | a data file | 2 | 1 |"), "{text}");
    }

    #[test]
    fn outcomes_are_counted_by_kind_and_reason() {
        let left = |why: &str| Outcome::LeftOut(why.into());
        let text = runs(&[
            Outcome::Same,
            Outcome::Differs("x".into()),
            left("JMeter does not load it without the jar of a.B"),
            left("JMeter does not load it without the jar of c.D"),
        ]);
        assert!(text.contains("| **compared** | 2 |"), "{text}");
        assert!(text.contains("| left out: JMeter does not load it | 2 |"), "{text}");
    }
}
