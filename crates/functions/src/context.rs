//! What the parsing of a text collects, and where the names of the text are looked up.

use std::sync::Arc;

use busyhour_program::result::Retention;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::{Function, Segment};
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Names;

use crate::problem::{Problem, ProblemKind};

/// Parses a text during the run and appends its value.
pub type RenderText = fn(&str, &mut UserState, &mut String);

/// Where the names of a text are looked up.
pub(crate) enum Place<'a> {
    /// A program that is being compiled: names get slots, functions get a state in every user.
    Program(&'a mut Symbols),
    /// A text that is built during the run: names with a slot use it, others are looked up by name.
    Run(&'a Names),
}

/// Problems of each kind that are kept. A text that is built during the run may be a million invalid calls.
const PROBLEMS_MAX: u32 = 100;

/// State of the parser across nested texts.
pub(crate) struct Context<'a> {
    pub(crate) place: Place<'a>,
    problems: Vec<Problem>,
    /// How many of each kind are kept.
    counts: [u32; 4],
    /// Nesting depth of function calls in arguments of function calls.
    pub(crate) depth: u32,
    /// For functions that parse a text when they are evaluated. Passed in, because the parser itself depends on
    /// the functions.
    pub(crate) render_text: RenderText,
}

impl<'a> Context<'a> {
    pub(crate) fn new(place: Place<'a>, render_text: RenderText) -> Self {
        Self { place, problems: Vec::new(), counts: [0; 4], depth: 0, render_text }
    }

    /// Records a problem, unless there are many of its kind.
    pub(crate) fn report(&mut self, problem: Problem) {
        let count = &mut self.counts[problem.kind as usize];
        if *count < PROBLEMS_MAX {
            *count += 1;
            self.problems.push(problem);
        }
    }

    /// Whether further unsupported functions are not recorded: looking for a similar name takes time.
    pub(crate) fn has_many_unsupported(&self) -> bool {
        self.counts[ProblemKind::Unsupported as usize] >= PROBLEMS_MAX
    }

    /// Whether a problem of this kind was reported.
    pub(crate) fn has_reported(&self, kind: ProblemKind) -> bool {
        self.counts[kind as usize] > 0
    }

    /// The problems in their order.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Allocates a function's state in each user. A function that is built during the run has none, because it is
    /// dropped after use.
    pub(crate) fn state(&mut self) -> Option<StateId> {
        match &mut self.place {
            Place::Program(symbols) => Some(symbols.state()),
            Place::Run(_) => None,
        }
    }

    /// Records what a function of the plan may read besides its arguments. The reads of a text that is built during
    /// the run are already recorded for the function that builds it.
    pub(crate) fn note_reads(&mut self, result: Retention, any_variable: bool) {
        if let Place::Program(symbols) = &mut self.place {
            symbols.reads.result = symbols.reads.result.union(result);
            symbols.reads.any_variable |= any_variable;
        }
    }

    /// Records what fails each time a function of the plan is evaluated, in JMeter, too.
    pub(crate) fn warn(&mut self, message: String) {
        if let Place::Program(symbols) = &mut self.place {
            symbols.warnings.push(message);
        }
    }

    /// Records a function of the plan that runs a script, a pattern or an expression.
    pub(crate) fn note_evaluation(&mut self) {
        if let Place::Program(symbols) = &mut self.place {
            symbols.evaluates = true;
        }
    }

    /// Whether the text is part of the plan. Texts built during the run may quote what looks like a function.
    pub(crate) fn in_plan(&self) -> bool {
        matches!(self.place, Place::Program(_))
    }

    /// The segment of a variable.
    pub(crate) fn variable(&mut self, name: &str) -> Segment {
        match &mut self.place {
            Place::Program(symbols) => Segment::Variable(symbols.slot(name)),
            Place::Run(names) => match names.find(name) {
                Some(slot) => Segment::Variable(slot),
                None => Segment::Function(Arc::new(Named { name: name.into() })),
            },
        }
    }
}

/// A variable without a slot.
#[derive(Debug)]
struct Named {
    name: Box<str>,
}

impl Function for Named {
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
