//! What compiling hands out: slots for variable names and ids for elements' private state.

use crate::result::Keep;
use crate::user::StateId;
use crate::variables::{Names, Slot};

/// Variable that tells whether the last sample succeeded.
pub const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// The symbols of a program while it is being compiled.
#[derive(Debug)]
pub struct Symbols {
    /// Variable names.
    pub names: Names,
    /// What the functions in the texts parsed so far may read.
    pub reads: FunctionReads,
    /// Whether a function in the texts parsed so far runs a script, a pattern or an expression, which may take long.
    pub evaluates: bool,
    states: u32,
}

/// What functions may read besides their arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionReads {
    /// Of the result of the sample before.
    pub result: Keep,
    /// Any variable, by a name that is computed.
    pub any_variable: bool,
}

impl Default for Symbols {
    /// Symbols of a plan of which nothing is known but what every user sets after each sample.
    fn default() -> Self {
        let mut names = Names::default();
        names.slot(LAST_SAMPLE_OK);
        Self { names, reads: FunctionReads::default(), evaluates: false, states: 0 }
    }
}

impl Symbols {
    /// The slot of a variable name.
    pub fn slot(&mut self, name: &str) -> Slot {
        self.names.slot(name)
    }

    /// A new place for an element's private state in every user.
    pub fn state(&mut self) -> StateId {
        self.states += 1;
        StateId(self.states - 1)
    }

    /// Number of private states handed out.
    pub fn state_count(&self) -> u32 {
        self.states
    }
}
