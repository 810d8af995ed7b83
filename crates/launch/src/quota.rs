//! The CPU quota of the control groups that contain this process.

use std::path::PathBuf;

use crate::system::group_files;

/// How often the quotas of the groups were enforced since the groups were created. In containers with a CPU limit, the kernel stops
/// all threads that have used up the quota of a period (usually 100 ms) until the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuotaUse {
    groups: Vec<(PathBuf, Periods)>,
}

/// Enforcement periods of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Periods {
    /// Periods in which the group was active and had a quota.
    all: u64,
    /// Those in which it had used up the quota.
    throttled: u64,
}

impl QuotaUse {
    /// The current counts; without groups if the system does not report them.
    pub(crate) fn now() -> QuotaUse {
        let cgroup = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let files = group_files(&cgroup, "cpu.stat", "cpu", "cpu.stat");
        let read = |path: PathBuf| {
            let periods = Periods::read(&std::fs::read_to_string(&path).ok()?)?;
            Some((path, periods))
        };
        QuotaUse { groups: files.into_iter().filter_map(read).collect() }
    }

    /// The share (0 to 1) of the periods since `earlier` in which the quota was used up, in the group with the largest share;
    /// `None` if no group has a quota.
    pub(crate) fn throttled_since(&self, earlier: &QuotaUse) -> Option<f64> {
        let share = |(path, now): &(PathBuf, Periods)| {
            let (_, before) = earlier.groups.iter().find(|(known, _)| known == path)?;
            let all = now.all.checked_sub(before.all).filter(|all| *all > 0)?;
            Some(now.throttled.checked_sub(before.throttled)? as f64 / all as f64)
        };
        self.groups.iter().filter_map(share).reduce(f64::max)
    }
}

impl Periods {
    /// Reads `nr_periods` and `nr_throttled` of a file `cpu.stat`.
    fn read(text: &str) -> Option<Periods> {
        let number = |name: &str| -> Option<u64> {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
        };
        Some(Periods { all: number("nr_periods")?, throttled: number("nr_throttled")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(groups: &[(&str, u64, u64)]) -> QuotaUse {
        let group =
            |&(path, all, throttled): &(&str, u64, u64)| (PathBuf::from(path), Periods { all, throttled });
        QuotaUse { groups: groups.iter().map(group).collect() }
    }

    #[test]
    fn both_versions_of_the_file_are_read() {
        let second = "usage_usec 5\nnr_periods 40\nnr_throttled 3\nthrottled_usec 9\n";
        assert_eq!(Periods::read(second), Some(Periods { all: 40, throttled: 3 }));
        assert_eq!(
            Periods::read("nr_periods 4\nnr_throttled 0\nthrottled_time 0\n"),
            Some(Periods { all: 4, throttled: 0 })
        );
        // The root group has no quota.
        assert_eq!(Periods::read("usage_usec 5\n"), None);
    }

    #[test]
    fn the_group_with_the_largest_share_counts() {
        let before = quota(&[("outer", 100, 50), ("inner", 10, 0), ("idle", 7, 7)]);
        let after = quota(&[("outer", 200, 51), ("inner", 30, 5), ("idle", 7, 7), ("new", 9, 9)]);
        assert_eq!(after.throttled_since(&before), Some(0.25));
        assert_eq!(before.throttled_since(&before), None, "no period has passed");
        assert_eq!(before.throttled_since(&after), None, "the counts are in the wrong order");
        assert_eq!(QuotaUse::default().throttled_since(&before), None);
    }
}
