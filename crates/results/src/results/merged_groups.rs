//! Merges the thread groups of several inputs.

use rustc_hash::FxHashMap;

use busyhour_sample::{GroupName, RunNames};

/// Numbers the thread groups of several inputs. Each input numbers its groups from 0, so each group with samples gets a common
/// number.
#[derive(Default)]
pub(super) struct MergedGroups(FxHashMap<(usize, u32), u32>);

impl MergedGroups {
    pub(super) fn number(&mut self, input: usize, group: u32) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry((input, group)).or_insert(next)
    }

    /// Adds the names of an input's groups to the common names.
    pub(super) fn name(&self, input: usize, groups: &[GroupName], apart: &[u32], names: &mut RunNames) {
        names.groups.resize(self.0.len(), GroupName { name: String::new(), number: 0 });
        for (group, name) in (0..).zip(groups) {
            let Some(number) = self.0.get(&(input, group)) else { continue };
            names.groups[*number as usize] = name.clone();
            if apart.contains(&group) {
                names.set_up_and_tear_down.push(*number);
            }
        }
    }
}
