//! A backtracking matcher that counts its steps.
//!
//! The `regex` crate matches in linear time but has neither look-ahead nor back-references. A library with both hands
//! parts of a pattern to `regex` and counts only its own steps back, so that the work on one text has no bound. Here every
//! character and every instruction is a step, over all start positions of a search.

mod compile;
mod inner;

use busyhour_slices::tick;
use compile::Insn;
pub(crate) use compile::Program;
use inner::Inner;

use crate::search_limit::{STEPS_MAX, SearchLimit};

/// Choices that may be open at one time: 32 MB.
const OPEN_MAX: usize = 1_000_000;
/// A slot without a position.
const UNSET: usize = usize::MAX;

/// Steps that are left to a search.
#[derive(Debug)]
pub(crate) struct Steps(u64);

impl Steps {
    /// A full budget.
    pub(crate) fn full() -> Self {
        Self(STEPS_MAX)
    }

    /// So many steps.
    pub(crate) fn of(steps: u64) -> Self {
        Self(steps)
    }

    /// How many are left.
    pub(crate) fn left(&self) -> u64 {
        self.0
    }

    fn spend(&mut self, steps: usize) -> Result<(), SearchLimit> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(SearchLimit)?;
        tick(steps);
        Ok(())
    }
}

/// Something to undo or to try when a path fails.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// Continue at this instruction and byte.
    Branch { pc: usize, at: usize },
    /// Give back one character of a greedy repetition that may shrink down to `low`.
    Shrink { pc: usize, low: usize, high: usize },
    /// Take one more character for the lazy repetition at this instruction.
    Grow { pc: usize, at: usize, left: usize },
    /// Reset a slot.
    Restore { slot: usize, old: usize },
}

/// One attempt to match.
struct Machine<'p, 't, 's> {
    insns: &'p [Insn],
    text: &'t str,
    slots: Vec<usize>,
    open: Vec<Open>,
    steps: &'s mut Steps,
}

/// Byte positions of the groups of a match; group 0 is the whole.
#[derive(Debug)]
pub(crate) struct Slots(Vec<usize>);

impl Slots {
    /// Of groups that lie at these places.
    pub(crate) fn of(groups: impl Iterator<Item = Option<(usize, usize)>>) -> Self {
        let places = groups.map(|group| group.unwrap_or((UNSET, UNSET)));
        Self(places.flat_map(|(start, end)| [start, end]).collect())
    }

    /// The range of a group.
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = (*self.0.get(2 * group)?, *self.0.get(2 * group + 1)?);
        (start != UNSET && end != UNSET).then_some((start, end))
    }

    /// Where all groups lie.
    pub(crate) fn groups(&self) -> Vec<Option<(usize, usize)>> {
        (0..self.0.len() / 2).map(|group| self.group(group)).collect()
    }
}

impl Program {
    /// How many groups the pattern has, the whole match included.
    pub(crate) fn group_count(&self) -> usize {
        self.group_slots / 2
    }

    /// The first match that starts at byte `from` or later.
    ///
    /// # Errors
    /// When the steps are used up.
    pub(crate) fn search(
        &self,
        text: &str,
        from: usize,
        steps: &mut Steps,
    ) -> Result<Option<Slots>, SearchLimit> {
        let slots = vec![UNSET; self.slots];
        let mut machine = Machine { insns: &self.insns, text, slots, open: Vec::new(), steps };
        let mut start = from;
        while start <= text.len() {
            if let Some(first) = self.first {
                let Some(skipped) = memchr::memchr(first, &text.as_bytes()[start..]) else { break };
                machine.steps.spend(skipped / 64)?;
                start += skipped;
            }
            machine.steps.spend(1)?;
            machine.slots.fill(UNSET);
            machine.open.clear();
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

    fn push(&mut self, open: Open) -> Result<(), SearchLimit> {
        if self.open.len() >= OPEN_MAX {
            return Err(SearchLimit);
        }
        self.open.push(open);
        Ok(())
    }

    fn set(&mut self, slot: usize, value: usize) -> Result<(), SearchLimit> {
        let old = std::mem::replace(&mut self.slots[slot], value);
        self.push(Open::Restore { slot, old })
    }

    /// Follows the instructions from `pc` on up to a [`Insn::Done`]; gives the byte where the match ends. With `target`
    /// it must end there. Open alternatives remain on the stack after a match, and are removed otherwise.
    fn run(
        &mut self,
        mut pc: usize,
        mut at: usize,
        target: Option<usize>,
    ) -> Result<Option<usize>, SearchLimit> {
        let base = self.open.len();
        loop {
            self.steps.spend(1)?;
            let next = match &self.insns[pc] {
                Insn::Done if target.is_none_or(|target| target == at) => return Ok(Some(at)),
                Insn::Done => None,
                Insn::Text(wanted) => {
                    let fits = self.text.as_bytes()[at..].starts_with(wanted.as_bytes());
                    fits.then(|| (pc + 1, at + wanted.len()))
                }
                Insn::One(set) => self
                    .character(at)
                    .filter(|found| set.contains(*found))
                    .map(|found| (pc + 1, at + found.len_utf8())),
                Insn::Many { greedy: true, .. } => self.greedy(pc, at)?,
                Insn::Many { greedy: false, .. } => self.lazy(pc, at)?,
                &Insn::Split { first, second } => {
                    self.push(Open::Branch { pc: second, at })?;
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

    /// The latest choice above `base` that is still open.
    fn backtrack(&mut self, base: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        while self.open.len() > base {
            self.steps.spend(1)?;
            match self.open.pop() {
                None => break,
                Some(Open::Restore { slot, old }) => self.slots[slot] = old,
                Some(Open::Branch { pc, at }) => return Ok(Some((pc, at))),
                Some(Open::Shrink { pc, low, high }) => {
                    let before = self.text[..high].chars().next_back().map_or(1, char::len_utf8);
                    let high = high - before;
                    if high > low {
                        self.open.push(Open::Shrink { pc, low, high });
                    }
                    return Ok(Some((pc, high)));
                }
                Some(Open::Grow { pc, at, left }) => {
                    let Insn::Many { set, .. } = &self.insns[pc] else { continue };
                    if let Some(found) = self.character(at).filter(|found| set.contains(*found)) {
                        let at = at + found.len_utf8();
                        if left > 1 {
                            self.open.push(Open::Grow { pc, at, left: left - 1 });
                        }
                        return Ok(Some((pc + 1, at)));
                    }
                }
            }
        }
        Ok(None)
    }

    fn greedy(&mut self, pc: usize, at: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        let Insn::Many { set, min, max, .. } = &self.insns[pc] else { return Ok(None) };
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
            self.push(Open::Shrink { pc: pc + 1, low, high })?;
        }
        Ok(Some((pc + 1, high)))
    }

    fn lazy(&mut self, pc: usize, mut at: usize) -> Result<Option<(usize, usize)>, SearchLimit> {
        let Insn::Many { set, min, max, .. } = &self.insns[pc] else { return Ok(None) };
        for _ in 0..*min {
            self.steps.spend(1)?;
            match self.character(at).filter(|found| set.contains(*found)) {
                Some(found) => at += found.len_utf8(),
                None => return Ok(None),
            }
        }
        if max > min {
            self.push(Open::Grow { pc, at, left: max - min })?;
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
        let base = self.open.len();
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
        self.steps.spend(self.open.len() - base)?;
        match kind {
            Inner::Ahead { negative: true } | Inner::Behind { negative: true } => {
                while self.open.len() > base {
                    if let Some(Open::Restore { slot, old }) = self.open.pop() {
                        self.slots[slot] = old;
                    }
                }
                Ok(if found.is_some() { None } else { Some(at) })
            }
            Inner::Ahead { .. } | Inner::Behind { .. } | Inner::Atomic => {
                // Its choices are settled; its groups are still undone when the path fails later.
                let mut kept = base;
                for index in base..self.open.len() {
                    if matches!(self.open[index], Open::Restore { .. }) {
                        self.open[kept] = self.open[index];
                        kept += 1;
                    }
                }
                self.open.truncate(kept);
                Ok(found.map(|end| if kind == Inner::Atomic { end } else { at }))
            }
        }
    }
}

#[cfg(test)]
mod tests;
