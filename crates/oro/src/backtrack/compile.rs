//! Compiles a pattern to the instructions of the backtracking matcher.

use std::collections::HashMap;

use fancy_regex::{Assertion as ParsedAssertion, Expr, LookAround};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::inner::Inner;
use crate::translate::PatternError;

/// Maximum number of instructions of a pattern: `(a{1000}){1000}` would have a million.
const INSNS_MAX: usize = 200_000;

/// A set of characters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    ascii: u128,
    /// Sorted ranges, both ends included.
    ranges: Box<[(char, char)]>,
}

impl Set {
    fn new(ranges: impl Iterator<Item = (char, char)>) -> Self {
        let ranges: Box<[(char, char)]> = ranges.collect();
        let mut set = Self { ascii: 0, ranges };
        for byte in 0..128_u8 {
            let character = char::from(byte);
            if set.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) {
                set.ascii |= 1 << byte;
            }
        }
        set
    }

    /// The only character of the set, if it has a single ASCII character.
    fn only(&self) -> Option<u8> {
        match *self.ranges {
            [(low, high)] if low == high => u8::try_from(low).ok().filter(u8::is_ascii),
            _ => None,
        }
    }

    pub(super) fn contains(&self, character: char) -> bool {
        if character.is_ascii() {
            return self.ascii >> (character as u32) & 1 == 1;
        }
        let next = self.ranges.partition_point(|(low, _)| *low <= character);
        next > 0 && self.ranges[next - 1].1 >= character
    }
}

/// A condition on a position in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Assertion {
    StartText,
    EndText,
    StartLine,
    EndLine,
    WordBoundary,
    NotWordBoundary,
    WordStart,
    WordEnd,
}

impl Assertion {
    pub(super) fn holds(self, text: &str, at: usize) -> bool {
        let is_word = |character: Option<char>| {
            character.is_some_and(|found| regex_syntax::try_is_word_character(found).unwrap_or(false))
        };
        let before = || is_word(text[..at].chars().next_back());
        let after = || is_word(text[at..].chars().next());
        match self {
            Self::StartText => at == 0,
            Self::EndText => at == text.len(),
            Self::StartLine => at == 0 || text.as_bytes()[at - 1] == b'\n',
            Self::EndLine => at == text.len() || text.as_bytes()[at] == b'\n',
            Self::WordBoundary => before() != after(),
            Self::NotWordBoundary => before() == after(),
            Self::WordStart => !before() && after(),
            Self::WordEnd => before() && !after(),
        }
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) enum Insn {
    /// The match of the pattern or of an inner part is complete.
    Done,
    Text(Box<str>),
    /// A character of the set.
    Char(Set),
    /// A repetition of a character of the set.
    RepeatedChar {
        set: Set,
        min: usize,
        max: usize,
        greedy: bool,
    },
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    /// Stores the position in a slot.
    Save(usize),
    /// Leaves a loop after an iteration with an empty match, which would repeat endlessly.
    LeaveIfEmpty {
        slot: usize,
        exit: usize,
    },
    Assert(Assertion),
    BackReference(usize),
    /// The following instructions up to their [`Insn::Done`] are matched separately; the next instruction is `end`.
    Inner {
        kind: Inner,
        end: usize,
    },
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) insns: Vec<Insn>,
    pub(super) slots: usize,
    /// Number of slots of groups, which precede all other slots.
    pub(super) group_slots: usize,
    /// Whether the pattern can match only at the start of the text.
    pub(super) only_at_start: bool,
    /// The byte with which every match begins, if it is known and ASCII.
    pub(super) first: Option<u8>,
    /// Numbers of the named groups.
    pub(crate) names: HashMap<String, usize>,
}

impl Program {
    /// Compiles a pattern in the syntax of `fancy-regex`.
    ///
    /// # Errors
    /// For patterns that the library rejects, that this matcher does not support, or whose programs are too large.
    pub(crate) fn compile(text: &str) -> Result<Self, PatternError> {
        let unsupported = |error: fancy_regex::Error| PatternError::Unsupported(error.to_string());
        let tree = Expr::parse_tree(text).map_err(unsupported)?;
        let mut count = Groups::default();
        count.count_in(&tree.expr);
        let group_slots = 2 * (count.0 + 1);
        let mut compiler = Compiler { insns: Vec::new(), group: 0, slots: group_slots };
        compiler.expr(&tree.expr)?;
        compiler.add(Insn::Done)?;
        let only_at_start = matches!(compiler.insns.first(), Some(Insn::Assert(Assertion::StartText)));
        let first = match compiler.insns.iter().find(|insn| !matches!(insn, Insn::Save(_))) {
            Some(Insn::Text(text)) => text.bytes().next().filter(u8::is_ascii),
            Some(Insn::Char(set)) => set.only(),
            _ => None,
        };
        let names = tree.named_groups;
        Ok(Self { insns: compiler.insns, slots: compiler.slots, group_slots, only_at_start, first, names })
    }
}

/// Number of groups.
#[derive(Default)]
struct Groups(usize);

impl Groups {
    fn count_in(&mut self, expr: &Expr) {
        match expr {
            Expr::Group(child) => {
                self.0 += 1;
                self.count_in(child);
            }
            Expr::Concat(parts) | Expr::Alt(parts) => parts.iter().for_each(|part| self.count_in(part)),
            Expr::LookAround(child, _) | Expr::AtomicGroup(child) | Expr::Repeat { child, .. } => {
                self.count_in(child);
            }
            // All other expressions with subexpressions are rejected.
            _ => {}
        }
    }
}

struct Compiler {
    insns: Vec<Insn>,
    /// Number of groups that have begun so far.
    group: usize,
    slots: usize,
}

fn unsupported<T>(what: &str) -> Result<T, PatternError> {
    Err(PatternError::Unsupported(what.to_owned()))
}

impl Compiler {
    fn add(&mut self, insn: Insn) -> Result<usize, PatternError> {
        if self.insns.len() >= INSNS_MAX {
            return unsupported("repetitions that make the pattern too large");
        }
        self.insns.push(insn);
        Ok(self.insns.len() - 1)
    }

    fn expr(&mut self, expr: &Expr) -> Result<(), PatternError> {
        match expr {
            Expr::Empty => Ok(()),
            Expr::Any { newline: true } => self.hir("(?s:.)"),
            Expr::Any { newline: false } => self.hir("."),
            Expr::Assertion(parsed) => self.assertion(*parsed),
            Expr::Literal { val, casei: false } => self.add(Insn::Text(val.as_str().into())).map(drop),
            Expr::Literal { val, casei: true } => val
                .chars()
                .try_for_each(|c| self.hir(&format!("(?i:{})", regex_syntax::escape(&c.to_string())))),
            Expr::Delegate { inner, casei, .. } => {
                self.hir(&if *casei { format!("(?i:{inner})") } else { inner.clone() })
            }
            Expr::Concat(parts) => parts.iter().try_for_each(|part| self.expr(part)),
            Expr::Alt(parts) => self.alternatives(parts),
            Expr::Group(child) => {
                self.group += 1;
                let group = self.group;
                self.add(Insn::Save(2 * group))?;
                self.expr(child)?;
                self.add(Insn::Save(2 * group + 1)).map(drop)
            }
            Expr::LookAround(child, look) => self.inner(
                match look {
                    LookAround::LookAhead => Inner::Ahead { negative: false },
                    LookAround::LookAheadNeg => Inner::Ahead { negative: true },
                    LookAround::LookBehind => Inner::Behind { negative: false },
                    LookAround::LookBehindNeg => Inner::Behind { negative: true },
                },
                child,
            ),
            Expr::AtomicGroup(child) => self.inner(Inner::Atomic, child),
            Expr::Repeat { child, lo, hi, greedy } => self.repetition(child, *lo, *hi, *greedy),
            Expr::Backref { group, casei: false } if 2 * group + 1 < self.slots => {
                self.add(Insn::BackReference(*group)).map(drop)
            }
            _ => unsupported("a construct that this matcher does not support"),
        }
    }

    fn assertion(&mut self, parsed: ParsedAssertion) -> Result<(), PatternError> {
        let assertion = match parsed {
            ParsedAssertion::StartText => Assertion::StartText,
            ParsedAssertion::EndText => Assertion::EndText,
            ParsedAssertion::StartLine { crlf: false } => Assertion::StartLine,
            ParsedAssertion::EndLine { crlf: false } => Assertion::EndLine,
            ParsedAssertion::StartLine { crlf: true } | ParsedAssertion::EndLine { crlf: true } => {
                return unsupported("line breaks of two characters");
            }
            ParsedAssertion::LeftWordBoundary => Assertion::WordStart,
            ParsedAssertion::RightWordBoundary => Assertion::WordEnd,
            ParsedAssertion::WordBoundary => Assertion::WordBoundary,
            ParsedAssertion::NotWordBoundary => Assertion::NotWordBoundary,
        };
        self.add(Insn::Assert(assertion)).map(drop)
    }

    fn alternatives(&mut self, parts: &[Expr]) -> Result<(), PatternError> {
        let mut jumps = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if index + 1 == parts.len() {
                self.expr(part)?;
                break;
            }
            let split = self.add(Insn::Split { first: 0, second: 0 })?;
            self.expr(part)?;
            jumps.push(self.add(Insn::Jump(0))?);
            self.insns[split] = Insn::Split { first: split + 1, second: self.insns.len() };
        }
        let end = self.insns.len();
        for jump in jumps {
            self.insns[jump] = Insn::Jump(end);
        }
        Ok(())
    }

    fn inner(&mut self, kind: Inner, child: &Expr) -> Result<(), PatternError> {
        let start = self.add(Insn::Inner { kind, end: 0 })?;
        self.expr(child)?;
        let done = self.add(Insn::Done)?;
        self.insns[start] = Insn::Inner { kind, end: done + 1 };
        Ok(())
    }

    fn repetition(&mut self, child: &Expr, lo: usize, hi: usize, greedy: bool) -> Result<(), PatternError> {
        let before = self.insns.len();
        let group = self.group;
        self.expr(child)?;
        if let [Insn::Char(set)] = &self.insns[before..] {
            let many = Insn::RepeatedChar { set: set.clone(), min: lo, max: hi, greedy };
            self.insns.truncate(before);
            return self.add(many).map(drop);
        }
        self.insns.truncate(before);
        let after = self.group;
        for _ in 0..lo {
            self.group = group;
            self.expr(child)?;
        }
        if hi == usize::MAX {
            self.group = group;
            self.unbounded_repetition(child, greedy)?;
        } else {
            let mut splits = Vec::new();
            for _ in lo..hi {
                splits.push(self.add(Insn::Jump(0))?);
                self.group = group;
                self.expr(child)?;
            }
            let end = self.insns.len();
            for split in splits {
                self.insns[split] = choice(split + 1, end, greedy);
            }
        }
        self.group = after;
        Ok(())
    }

    fn unbounded_repetition(&mut self, child: &Expr, greedy: bool) -> Result<(), PatternError> {
        let slot = self.slots;
        self.slots += 1;
        let split = self.add(Insn::Jump(0))?;
        self.add(Insn::Save(slot))?;
        self.expr(child)?;
        let leave = self.add(Insn::Jump(0))?;
        self.add(Insn::Jump(split))?;
        let exit = self.insns.len();
        self.insns[split] = choice(split + 1, exit, greedy);
        self.insns[leave] = Insn::LeaveIfEmpty { slot, exit };
        Ok(())
    }

    /// Compiles a part that needs no backtracking, in the syntax of the `regex` crate.
    fn hir(&mut self, text: &str) -> Result<(), PatternError> {
        let hir = regex_syntax::parse(text).map_err(|error| PatternError::Unsupported(error.to_string()))?;
        self.simple(&hir)
    }

    fn simple(&mut self, hir: &Hir) -> Result<(), PatternError> {
        match hir.kind() {
            HirKind::Empty => Ok(()),
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) if text.chars().count() == 1 => {
                    let set = Set::new(text.chars().map(|c| (c, c)));
                    self.add(Insn::Char(set)).map(drop)
                }
                Ok(text) => self.add(Insn::Text(text.into())).map(drop),
                Err(_) => unsupported("bytes that are not UTF-8"),
            },
            HirKind::Class(Class::Unicode(class)) => {
                let set = Set::new(class.iter().map(|range| (range.start(), range.end())));
                self.add(Insn::Char(set)).map(drop)
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.iter().map(|range| (char::from(range.start()), char::from(range.end())));
                let set = Set::new(ranges);
                self.add(Insn::Char(set)).map(drop)
            }
            HirKind::Look(look) => {
                let assertion = match look {
                    Look::Start => Assertion::StartText,
                    Look::End => Assertion::EndText,
                    Look::StartLF => Assertion::StartLine,
                    Look::EndLF => Assertion::EndLine,
                    Look::WordUnicode => Assertion::WordBoundary,
                    Look::WordUnicodeNegate => Assertion::NotWordBoundary,
                    _ => return unsupported("an assertion that this matcher does not support"),
                };
                self.add(Insn::Assert(assertion)).map(drop)
            }
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.simple(part)),
            HirKind::Repetition(_) | HirKind::Capture(_) | HirKind::Alternation(_) => {
                unsupported("a construct that this matcher does not support")
            }
        }
    }
}

/// The choice between another iteration of a loop and the instruction after it.
fn choice(body: usize, exit: usize, greedy: bool) -> Insn {
    if greedy { Insn::Split { first: body, second: exit } } else { Insn::Split { first: exit, second: body } }
}
