//! Descriptions of the changes made during a run.

use busyhour_analysis::RunFacts;
use busyhour_sample::ControlEvent;

use crate::numbers::duration;

/// Maximum number of changes that are listed individually; if there are more, only the first and the last ones are listed.
const LISTED_MAX: usize = 12;

/// Describes a change: `at 10.2 s the rate changed to 3 times the configured rate (from the page)`.
#[must_use]
pub fn describe_change(event: &ControlEvent) -> String {
    format!(
        "at {} {} (from the {})",
        duration(event.at_ns.as_secs_f64()),
        event.description(),
        event.from.name()
    )
}

/// One line for each change; if there are too many, only for the first and the last ones.
pub(crate) fn changes(run: &RunFacts) -> Vec<String> {
    let events = &run.events;
    if events.len() <= LISTED_MAX {
        return events.iter().map(describe_change).collect();
    }
    let half = LISTED_MAX / 2;
    let first = events[..half].iter().map(describe_change);
    let between = std::iter::once(format!("{} more changes", events.len() - LISTED_MAX));
    first.chain(between).chain(events[events.len() - half..].iter().map(describe_change)).collect()
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{ChangedFrom, LoadChange, Nanos};

    use super::*;

    #[test]
    fn only_the_first_and_the_last_of_many_changes_are_listed() {
        let event = |second: u64| ControlEvent {
            at_ns: Nanos::from_secs(second),
            change: LoadChange::Rate { factor: 1.5 },
            from: ChangedFrom::Terminal,
        };
        let run = |count: u64| RunFacts { events: (1..=count).map(event).collect(), ..RunFacts::default() };
        assert_eq!(
            changes(&run(1)),
            ["at 1.0 s the rate changed to 1.5 times the configured rate (from the terminal)"]
        );
        assert_eq!(changes(&run(12)).len(), 12);
        let many = changes(&run(100));
        assert_eq!((many.len(), many[6].as_str()), (13, "88 more changes"));
        assert!(many[12].starts_with("at 1 min 40 s"), "{}", many[12]);
    }
}
