//! The state of the parser: the problems of a text, and how its names are looked up.

use std::sync::Arc;

use busyhour_program::result::Retention;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::{Function, Segment};
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Names;

use crate::problem::{Problem, ProblemKind};

/// Parses a text during the run and appends its value.
pub type RenderText = fn(&str, &mut UserState, &mut String);

/// The way in which the names of a text are looked up.
pub(crate) enum NameLookup<'a> {
    /// In a program that is being compiled: each name gets a slot, and each function gets a state in every user.
    Program(&'a mut Symbols),
    /// In a text that is built during the run: names that have a slot use the slot; other names are looked up by name.
    Run(&'a Names),
}

/// Number of problems of each kind that are recorded. A text that is built during the run may contain a million invalid
/// calls.
const PROBLEMS_MAX: u32 = 100;

/// State of the parser across nested texts.
pub(crate) struct Context<'a> {
    pub(crate) lookup: NameLookup<'a>,
    problems: Vec<Problem>,
    /// Number of recorded problems of each kind.
    counts: [u32; 4],
    /// Nesting depth of function calls in arguments of function calls.
    pub(crate) depth: u32,
    /// The function that parses and renders a text during the run, for functions that evaluate such a text. It is passed in
    /// because the parser depends on the functions.
    pub(crate) render_text: RenderText,
}

impl<'a> Context<'a> {
    pub(crate) fn new(lookup: NameLookup<'a>, render_text: RenderText) -> Self {
        Self { lookup, problems: Vec::new(), counts: [0; 4], depth: 0, render_text }
    }

    /// Records a problem, up to [`PROBLEMS_MAX`] of each kind.
    pub(crate) fn report(&mut self, problem: Problem) {
        let count = &mut self.counts[problem.kind as usize];
        if *count < PROBLEMS_MAX {
            *count += 1;
            self.problems.push(problem);
        }
    }

    /// Whether so many unsupported functions have been recorded that further ones are ignored. Callers then skip the search for
    /// a similar name, which takes time.
    pub(crate) fn has_many_unsupported(&self) -> bool {
        self.counts[ProblemKind::Unsupported as usize] >= PROBLEMS_MAX
    }

    /// Whether a problem of this kind was reported.
    pub(crate) fn has_reported(&self, kind: ProblemKind) -> bool {
        self.counts[kind as usize] > 0
    }

    /// The problems in the order in which they were recorded.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Allocates a function's state in each user. A function that is built during the run has none, because it is
    /// dropped after use.
    pub(crate) fn state(&mut self) -> Option<StateId> {
        match &mut self.lookup {
            NameLookup::Program(symbols) => Some(symbols.state()),
            NameLookup::Run(_) => None,
        }
    }

    /// Records the data that a function of the plan may read besides its arguments. The reads of a text that is built
    /// during the run are already recorded for the function that builds it.
    pub(crate) fn note_reads(&mut self, result: Retention, any_variable: bool) {
        if let NameLookup::Program(symbols) = &mut self.lookup {
            symbols.reads.result = symbols.reads.result.union(result);
            symbols.reads.any_variable |= any_variable;
        }
    }

    /// Records a warning about a function of the plan that fails on every evaluation, as it does in JMeter.
    pub(crate) fn warn(&mut self, message: String) {
        if let NameLookup::Program(symbols) = &mut self.lookup {
            symbols.warnings.push(message);
        }
    }

    /// Records a function of the plan that runs a script, a pattern or an expression.
    pub(crate) fn note_evaluation(&mut self) {
        if let NameLookup::Program(symbols) = &mut self.lookup {
            symbols.evaluates = true;
        }
    }

    /// Whether the text is part of the plan. A text that is built during the run may quote text that looks like a function.
    pub(crate) fn in_plan(&self) -> bool {
        matches!(self.lookup, NameLookup::Program(_))
    }

    /// The segment of a variable.
    pub(crate) fn variable(&mut self, name: &str) -> Segment {
        match &mut self.lookup {
            NameLookup::Program(symbols) => Segment::Variable(symbols.slot(name)),
            NameLookup::Run(names) => match names.find(name) {
                Some(slot) => Segment::Variable(slot),
                None => Segment::Function(Arc::new(NamedVariable { name: name.into() })),
            },
        }
    }
}

/// A variable without a slot.
#[derive(Debug)]
struct NamedVariable {
    name: Box<str>,
}

impl Function for NamedVariable {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        match user.variables.get(&self.name) {
            Some(text) => out.push_str(text),
            None => {
                out.push_str("${");
                out.push_str(&self.name);
                out.push('}');
            }
        }
    }
}
