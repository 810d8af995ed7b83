//! Symbols that the compiler assigns: slots for variable names, and ids for the private state of elements.

use crate::result::Retention;
use crate::user::StateId;
use crate::variables::{Names, Slot};

/// Name of the variable with the success of the last sample.
pub const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// The symbols of a program while it is being compiled.
#[derive(Debug)]
pub struct Symbols {
    /// Variable names.
    pub names: Names,
    /// What the functions in the texts parsed so far may read.
    pub reads: FunctionReads,
    /// Whether a function in the texts parsed so far evaluates a script, a regular expression or an expression, which may
    /// take long.
    pub evaluates: bool,
    /// Messages about function calls that fail at each evaluation, in the texts parsed since the list was last emptied.
    pub warnings: Vec<String>,
    states: u32,
}

/// The data that functions may read besides their arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionReads {
    /// Parts of the previous result.
    pub result: Retention,
    /// Whether they may read any variable, by a computed name.
    pub any_variable: bool,
}

impl Default for Symbols {
    /// Symbols of a plan with only the variables that are set after each sample.
    fn default() -> Self {
        let mut names = Names::default();
        names.slot(LAST_SAMPLE_OK);
        Self { names, reads: FunctionReads::default(), evaluates: false, warnings: Vec::new(), states: 0 }
    }
}

impl Symbols {
    /// The slot of a variable name.
    pub fn slot(&mut self, name: &str) -> Slot {
        self.names.slot(name)
    }

    /// A new id for an element's private state in every user.
    pub fn state(&mut self) -> StateId {
        self.states += 1;
        StateId(self.states - 1)
    }

    /// Number of private states.
    pub fn state_count(&self) -> u32 {
        self.states
    }
}
