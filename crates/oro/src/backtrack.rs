//! A backtracking matcher that counts its steps.
//!
//! The `regex` crate matches in linear time, but it supports neither look-ahead nor back-references. The crate `fancy-regex`
//! supports both. However, it delegates parts of a pattern to `regex` and counts only its own backtracking steps, so the work
//! for a text is not limited. This matcher counts every character and every instruction as a step, over all start positions of a
//! search.

mod compile;
mod inner;

use busyhour_slices::tick;
use compile::Insn;
pub(crate) use compile::Program;
use inner::Inner;

use crate::search_limit::{STEPS_MAX, SearchLimit};

/// Maximum number of entries on the backtracking stack: 32 MB.
const STACK_LEN_MAX: usize = 1_000_000;
/// The value of a slot without a position.
const UNSET: usize = usize::MAX;

/// The remaining steps of a search.
#[derive(Debug)]
pub(crate) struct Steps(u64);

impl Steps {
    /// A budget of `STEPS_MAX` steps.
    pub(crate) fn full() -> Self {
        Self(STEPS_MAX)
    }

    /// A budget of `steps` steps.
    pub(crate) fn new(steps: u64) -> Self {
        Self(steps)
    }

    /// Number of remaining steps.
    pub(crate) fn left(&self) -> u64 {
        self.0
    }

    fn spend(&mut self, steps: usize) -> Result<(), SearchLimit> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(SearchLimit)?;
        tick(steps);
        Ok(())
    }
}

/// An entry of the backtracking stack: an alternative to try, or a change to undo, if the current path fails.
#[derive(Clone, Copy, Debug)]
enum StackEntry {
    /// Continue at this instruction and byte.
    Branch { pc: usize, at: usize },
    /// Shorten a greedy repetition that ends at `high` by one character, but not below `low`. Then continue at `pc`.
    Shrink { pc: usize, low: usize, high: usize },
    /// Extend the lazy repetition at instruction `pc`, which ends at `at`, by one character. At most `left` more are allowed.
    Grow { pc: usize, at: usize, left: usize },
    /// Reset a slot.
    Restore { slot: usize, old: usize },
}

/// The state of a search.
struct Machine<'p, 't, 's> {
    insns: &'p [Insn],
    text: &'t str,
    slots: Vec<usize>,
    stack: Vec<StackEntry>,
    steps: &'s mut Steps,
}

/// Byte positions of the groups of a match; group 0 is the whole match.
#[derive(Debug)]
pub(crate) struct Slots(Vec<usize>);

impl Slots {
    /// The slots for groups with these byte ranges.
    pub(crate) fn from_groups(groups: impl Iterator<Item = Option<(usize, usize)>>) -> Self {
        let places = groups.map(|group| group.unwrap_or((UNSET, UNSET)));
        Self(places.flat_map(|(start, end)| [start, end]).collect())
    }

    /// The range of a group.
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = (*self.0.get(2 * group)?, *self.0.get(2 * group + 1)?);
        (start != UNSET && end != UNSET).then_some((start, end))
    }

    /// The ranges of all groups.
    pub(crate) fn groups(&self) -> Vec<Option<(usize, usize)>> {
        (0..self.0.len() / 2).map(|group| self.group(group)).collect()
    }
}

impl Program {
    /// Number of groups, including the whole match.
    pub(crate) fn group_count(&self) -> usize {
        self.group_slots / 2
    }

    /// The first match that starts at byte `from` or later.
    ///
    /// # Errors
    /// If the steps are exhausted.
    pub(crate) fn search(
        &self,
        text: &str,
        from: usize,
        steps: &mut Steps,
    ) -> Result<Option<Slots>, SearchLimit> {
        let slots = vec![UNSET; self.slots];
        let mut machine = Machine { insns: &self.insns, text, slots, stack: Vec::new(), steps };
        let mut start = from;
        while start <= text.len() {
            if let Some(first) = self.first {
                let Some(skipped) = memchr::memchr(first, &text.as_bytes()[start..]) else { break };
                machine.steps.spend(skipped / 64)?;
                start += skipped;
            }
            machine.steps.spend(1)?;
            machine.slots.fill(UNSET);
            machine.stack.clear();
            if let Some(end) = machine.run(0, start, None)? {
                machine.slots[0] = start;
                machine.slots[1] = end;
                machine.slots.truncate(self.group_slots);
                return Ok(Some(Slots(machine.slots)));
            }
            if self.only_at_start {
                break;
            }
            start += text[start..].chars().next().map_or(1, char::len_utf8);
        }
        Ok(None)
    }
}

impl Machine<'_, '_, '_> {
    fn character(&self, at: usize) -> Option<char> {
        match *self.text.as_bytes().get(at)? {
            byte @ ..=127 => Some(char::from(byte)),
            _ => self.text[at..].chars().next(),
        }
    }

    fn push(&mut self, entry: StackEntry) -> Result<(), SearchLimit> {
        if self.stack.len() >= STACK_LEN_MAX {
            return Err(SearchLimit);
        }
        self.stack.push(entry);
        Ok(())
    }

    fn set(&mut self, slot: usize, value: usize) -> Result<(), SearchLimit> {
        let old = std::mem::replace(&mut self.slots[slot], value);
        self.push(StackEntry::Restore { slot, old })
    }

    /// Executes the instructions from `pc` to an [`Insn::Done`] and returns the end of the match. If `target` is given, the match
    /// must end there. After a match, untried alternatives remain on the stack; otherwise they are removed.
    fn run(
        &mut self,
        mut pc: usize,
        mut at: usize,
        target: Option<usize>,
    ) -> Result<Option<usize>, SearchLimit> {
        let base = self.stack.len();
        loop {
            self.steps.spend(1)?;
            let next = match &self.insns[pc] {
                Insn::Done if target.is_none_or(|target| target == at) => return Ok(Some(at)),
                Insn::Done => None,
                Insn::Text(wanted) => {
                    let fits = self.text.as_bytes()[at..].starts_with(wanted.as_bytes());
                    fits.then(|| (pc + 1, at + wanted.len()))
                }
                Insn::Char(set) => self
                    .character(at)
                    .filter(|found| set.contains(*found))
                    .map(|found| (pc + 1, at + found.len_utf8())),
                Insn::RepeatedChar { greedy: true, .. } => self.greedy(pc, at)?,
                Insn::RepeatedChar { greedy: false, .. } => self.lazy(pc, at)?,
                &Insn::Split { first, second } => {
                    self.push(StackEntry::Branch { pc: second, at })?;
                    Some((first, at))
                }
                &Insn::Jump(to) => Some((to, at)),
                &Insn::Save(slot) => {
                    self.set(slot, at)?;
                    Some((pc + 1, at))
                }
                &Insn::LeaveIfEmpty { slot, exit } => {
                    Some((if self.slots[slot] == at { exit } else { pc + 1 }, at))
                }
                Insn::Assert(assertion) => assertion.holds(self.text, at).then_some((pc + 1, at)),
                &Insn::BackReference(group) => self.back_reference(group, at)?.map(|end| (pc + 1, end)),
                &Insn::Inner { kind, end } => self.inner(kind, pc + 1, at)?.map(|at| (end, at)),
            };
            (pc, at) = match next {
                Some(next) => next,
                None => match self.backtrack(base)? {
                    Some(next) => next,
                    None => return Ok(None),
                },
            };
        }
    }

    /// Pops the latest untried alternative above `base`, and undoes changes up to it.
    fn backtrack(&mut self, base: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        while self.stack.len() > base {
            self.steps.spend(1)?;
            match self.stack.pop() {
                None => break,
                Some(StackEntry::Restore { slot, old }) => self.slots[slot] = old,
                Some(StackEntry::Branch { pc, at }) => return Ok(Some((pc, at))),
                Some(StackEntry::Shrink { pc, low, high }) => {
                    let before = self.text[..high].chars().next_back().map_or(1, char::len_utf8);
                    let high = high - before;
                    if high > low {
                        self.stack.push(StackEntry::Shrink { pc, low, high });
                    }
                    return Ok(Some((pc, high)));
                }
                Some(StackEntry::Grow { pc, at, left }) => {
                    let Insn::RepeatedChar { set, .. } = &self.insns[pc] else { continue };
                    if let Some(found) = self.character(at).filter(|found| set.contains(*found)) {
                        let at = at + found.len_utf8();
                        if left > 1 {
                            self.stack.push(StackEntry::Grow { pc, at, left: left - 1 });
                        }
                        return Ok(Some((pc + 1, at)));
                    }
                }
            }
        }
        Ok(None)
    }

    fn greedy(&mut self, pc: usize, at: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        let Insn::RepeatedChar { set, min, max, .. } = &self.insns[pc] else { return Ok(None) };
        let (mut high, mut low, mut count) = (at, at, 0);
        while count < *max
            && let Some(found) = self.character(high).filter(|found| set.contains(*found))
        {
            high += found.len_utf8();
            count += 1;
            if count == *min {
                low = high;
            }
        }
        self.steps.spend(count)?;
        if count < *min {
            return Ok(None);
        }
        if high > low {
            self.push(StackEntry::Shrink { pc: pc + 1, low, high })?;
        }
        Ok(Some((pc + 1, high)))
    }

    fn lazy(&mut self, pc: usize, mut at: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        let Insn::RepeatedChar { set, min, max, .. } = &self.insns[pc] else { return Ok(None) };
        for _ in 0..*min {
            self.steps.spend(1)?;
            match self.character(at).filter(|found| set.contains(*found)) {
                Some(found) => at += found.len_utf8(),
                None => return Ok(None),
            }
        }
        if max > min {
            self.push(StackEntry::Grow { pc, at, left: max - min })?;
        }
        Ok(Some((pc + 1, at)))
    }

    fn back_reference(&mut self, group: usize, at: usize) -> Result<Option<usize>, SearchLimit> {
        let (start, end) = (self.slots[2 * group], self.slots[2 * group + 1]);
        if start == UNSET || end == UNSET {
            return Ok(None);
        }
        let wanted = &self.text.as_bytes()[start..end];
        self.steps.spend(wanted.len() / 16)?;
        Ok(self.text.as_bytes()[at..].starts_with(wanted).then_some(at + wanted.len()))
    }

    /// Evaluates a look-around or an atomic group; returns the position to continue at.
    fn inner(&mut self, kind: Inner, pc: usize, at: usize) -> Result<Option<usize>, SearchLimit> {
        let base = self.stack.len();
        let found = match kind {
            Inner::Ahead { .. } | Inner::Atomic => self.run(pc, at, None)?,
            Inner::Behind { .. } => {
                let mut start = at;
                loop {
                    let found = self.run(pc, start, Some(at))?;
                    if found.is_some() || start == 0 {
                        break found;
                    }
                    start -= self.text[..start].chars().next_back().map_or(1, char::len_utf8);
                }
            }
        };
        self.steps.spend(self.stack.len() - base)?;
        match kind {
            Inner::Ahead { negative: true } | Inner::Behind { negative: true } => {
                while self.stack.len() > base {
                    if let Some(StackEntry::Restore { slot, old }) = self.stack.pop() {
                        self.slots[slot] = old;
                    }
                }
                Ok(if found.is_some() { None } else { Some(at) })
            }
            Inner::Ahead { .. } | Inner::Behind { .. } | Inner::Atomic => {
                // Discards the alternatives of the inner part. Changes of its groups are still undone if the path fails later.
                let mut len = base;
                for index in base..self.stack.len() {
                    if matches!(self.stack[index], StackEntry::Restore { .. }) {
                        self.stack[len] = self.stack[index];
                        len += 1;
                    }
                }
                self.stack.truncate(len);
                Ok(found.map(|end| if kind == Inner::Atomic { end } else { at }))
            }
        }
    }
}

#[cfg(test)]
mod tests;
