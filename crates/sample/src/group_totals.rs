//! Totals by thread group.

use rustc_hash::FxHashMap;

use crate::labels::LABELS_MAX;
use crate::nanos::Nanos;
use crate::run_names::{GroupName, RunNames};
use crate::sample::Sample;
use crate::totals::{LabelTotals, Totals, TotalsSettings};

/// Maximum number of pairs of a label and a thread group with their own totals in a run, because each of these totals takes
/// about 100 KiB. Samples of further pairs are counted under [`OTHER_GROUPS`]; the totals of their label are not affected.
const PARTS_MAX: usize = 2 * LABELS_MAX;

/// The name of the row for thread groups beyond the limit.
pub const OTHER_GROUPS: &str = "(other thread groups)";

/// The group index of samples beyond [`PARTS_MAX`].
pub const OTHER_GROUP: u32 = u32::MAX;

/// The totals of one thread group.
#[derive(Debug, Clone)]
pub struct GroupTotals {
    /// Index into [`RunNames::groups`].
    pub group: u32,
    /// Name and number of the group; [`OTHER_GROUPS`] for groups beyond the limit.
    pub name: GroupName,
    /// Whether it is a setUp or tearDown group. False for JMeter's result files, which do not contain this information.
    pub is_set_up_or_tear_down: bool,
    /// Totals of all requests of the group.
    pub total: Totals,
    /// Totals of each label and kind, without sub-results, in order of first appearance in the run. They have no time series.
    pub labels: Vec<LabelTotals>,
}

impl GroupTotals {
    /// Empty totals of a group.
    pub fn new(group: u32) -> GroupTotals {
        GroupTotals {
            group,
            name: GroupName { name: OTHER_GROUPS.to_owned(), number: 0 },
            is_set_up_or_tear_down: false,
            total: Totals::new(),
            labels: Vec::new(),
        }
    }

    fn merge(&mut self, other: GroupTotals) {
        self.is_set_up_or_tear_down |= other.is_set_up_or_tear_down;
        self.total.merge(&other.total);
        for label in other.labels {
            let same = |known: &&mut LabelTotals| known.name == label.name && known.kind == label.kind;
            match self.labels.iter_mut().find(same) {
                Some(known) => known.totals.merge(&label.totals),
                None => self.labels.push(label),
            }
        }
    }

    /// All totals of the group.
    pub fn all_totals(&mut self) -> impl Iterator<Item = &mut Totals> {
        self.labels.iter_mut().map(|label| &mut label.totals).chain([&mut self.total])
    }

    /// First start and last end of its requests; `None` if it has no requests.
    #[must_use]
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        (self.total.samples > 0).then_some((self.total.first_start, self.total.last_end))
    }
}

/// Sorts the groups of result files by their first start, because their indices depend on the order of the rows.
pub fn sort_groups(groups: &mut [GroupTotals]) {
    let order = |group: &GroupTotals| {
        let is_other = group.group == OTHER_GROUP;
        (is_other, group.total.first_start.0 / 1_000_000, group.name.number, group.name.name.clone())
    };
    groups.sort_by_cached_key(order);
}

/// Sets the names of the groups. Merges groups with the same name and number, which occur if several generators run one test.
pub fn name_groups(groups: Vec<GroupTotals>, names: &RunNames) -> Vec<GroupTotals> {
    let mut named: Vec<GroupTotals> = Vec::new();
    for mut group in groups {
        if let Some(name) = names.groups.get(group.group as usize) {
            group.name = name.clone();
        }
        group.is_set_up_or_tear_down = names.set_up_and_tear_down.contains(&group.group);
        // setUp, main and tearDown groups are numbered separately.
        let is_same = |known: &&mut GroupTotals| {
            known.name == group.name && known.is_set_up_or_tear_down == group.is_set_up_or_tear_down
        };
        match named.iter_mut().find(is_same) {
            Some(known) => known.merge(group),
            None => named.push(group),
        }
    }
    if named.len() > 1 { named } else { Vec::new() }
}

/// The totals of one label, by thread group.
#[derive(Default)]
pub struct LabelParts {
    parts: Vec<(u32, Box<Totals>)>,
    /// Index in `parts` by group.
    index: FxHashMap<u32, usize>,
    /// Index of the part to which the last sample was added, because consecutive samples of a label mostly belong to one group.
    last: usize,
}

impl LabelParts {
    /// Adds a sample; `parts` is the number of parts of all labels of the run.
    #[inline]
    pub fn add(&mut self, sample: &Sample<'_>, settings: &TotalsSettings, parts: &mut usize) {
        if self.parts.get(self.last).is_none_or(|(group, _)| *group != sample.group) {
            self.last = self.find(sample.group, parts);
        }
        self.parts[self.last].1.add(sample, settings);
    }

    #[cold]
    fn find(&mut self, group: u32, parts: &mut usize) -> usize {
        if let Some(at) = self.index.get(&group) {
            return *at;
        }
        let group = if *parts < PARTS_MAX { group } else { OTHER_GROUP };
        if let Some(at) = self.index.get(&group) {
            return *at;
        }
        *parts += 1;
        self.index.insert(group, self.parts.len());
        self.parts.push((group, Box::new(Totals::new())));
        self.parts.len() - 1
    }

    /// The earliest start of a sample; `Nanos::MAX` without samples.
    pub fn first_start(&self) -> Nanos {
        self.parts.iter().map(|(_, totals)| totals.first_start).min().unwrap_or(Nanos::MAX)
    }

    /// The totals over all groups, and those of each group by its index.
    pub fn finish(self) -> (Totals, Vec<(u32, Totals)>) {
        let mut all = Totals::new();
        self.parts.iter().for_each(|(_, totals)| all.merge(totals));
        (all, self.parts.into_iter().map(|(group, totals)| (group, *totals)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregator::Aggregator;
    use crate::labels::Labels;
    use crate::sample::SampleTimes;
    use crate::sample_flags::SampleFlags;

    fn names(groups: &[&str]) -> RunNames {
        let name = |(name, number): (&&str, u32)| GroupName { name: (*name).to_owned(), number };
        RunNames { groups: groups.iter().zip(1..).map(name).collect(), ..RunNames::default() }
    }

    #[test]
    fn a_label_of_two_groups_has_totals_per_group_and_overall() {
        let labels = Labels::new();
        let label = labels.intern("add booking");
        let mut aggregator = Aggregator::new(labels, TotalsSettings::default());
        for (group, ms) in [(0, 100), (1, 10), (1, 30), (0, 300)] {
            let end = Nanos::from_millis(ms);
            aggregator.add(&Sample {
                label,
                times: SampleTimes { end, ..SampleTimes::default() },
                group,
                ..Sample::default()
            });
            aggregator.add(&Sample {
                label,
                times: SampleTimes { end, ..SampleTimes::default() },
                group,
                flags: SampleFlags::SUB_RESULT,
                ..Sample::default()
            });
        }
        aggregator.close_all();
        let mut totals = aggregator.finish(Vec::new());
        totals.name_groups(&names(&["injection", "load"]));
        assert_eq!((totals.total.samples, totals.labels[0].totals.response.max_ms()), (4, 300.0));
        let found: Vec<_> = totals
            .groups
            .iter()
            .map(|group| {
                let labels: Vec<f64> =
                    group.labels.iter().map(|label| label.totals.response.mean_ms()).collect();
                (group.name.name.as_str(), group.total.samples, labels)
            })
            .collect();
        assert_eq!(found, [("injection", 2, vec![200.0]), ("load", 2, vec![20.0])]);
    }

    #[test]
    fn a_single_group_has_no_separate_totals() {
        let mut aggregator = Aggregator::new(Labels::new(), TotalsSettings::default());
        aggregator.add(&Sample {
            times: SampleTimes { end: Nanos(5), ..SampleTimes::default() },
            ..Sample::default()
        });
        aggregator.close_all();
        let mut totals = aggregator.finish(Vec::new());
        totals.name_groups(&names(&["load"]));
        assert!(totals.groups.is_empty());
    }

    #[test]
    fn groups_of_several_generators_with_the_same_name_are_merged() {
        let mut groups: Vec<GroupTotals> = (0..3).map(GroupTotals::new).collect();
        groups.iter_mut().for_each(|group| group.total.samples = 5);
        let mut names = names(&["load", "load", "other"]);
        names.groups[1].number = 1;
        let named = name_groups(groups, &names);
        let found: Vec<_> =
            named.iter().map(|group| (group.name.name.as_str(), group.total.samples)).collect();
        assert_eq!(found, [("load", 10), ("other", 5)]);
    }

    #[test]
    fn further_groups_are_counted_together() {
        let labels = Labels::new();
        let label = labels.intern("page");
        let mut aggregator = Aggregator::new(labels, TotalsSettings::default());
        let further = 7;
        for group in 0..PARTS_MAX as u32 + further {
            aggregator.add(&Sample {
                label,
                times: SampleTimes { end: Nanos(5), ..SampleTimes::default() },
                group,
                ..Sample::default()
            });
        }
        aggregator.close_all();
        let mut totals = aggregator.finish(Vec::new());
        totals.name_groups(&names(&["first"]));
        assert_eq!(totals.total.samples, PARTS_MAX as u64 + u64::from(further));
        let other = totals.groups.last().unwrap();
        assert_eq!(other.name.name, OTHER_GROUPS);
        assert_eq!(totals.groups.iter().map(|group| group.total.samples).sum::<u64>(), totals.total.samples);
    }
}
