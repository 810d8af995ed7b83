//! Scripting languages: JEXL, JavaScript, Groovy and BeanShell, as JMeter's plans use them.
//!
//! The crate does not depend on the engine: a script accesses its environment only through [`Scope`]. Each language has
//! a `compile` function and a `Script::evaluate` method. `compile` rejects constructs that might not run as in JMeter
//! 5.6.3, with their place in the text, so that the check of a plan reports them before the first request is sent.
//!
//! | module | functions and elements of JMeter | engine in JMeter |
//! |---|---|---|
//! | [`jexl`] | `__jexl3`, `__jexl2`, `__jexl` | Commons JEXL 3.2.1 and 2.1.1 |
//! | [`java_like`] | `__groovy`, `__BeanShell`, JSR223 and BeanShell elements | Groovy 3.0, BeanShell 2.0b6 |
//! | [`javascript`] | `__javaScript`, conditions of the If Controller, JSR223 and BSF elements | Rhino 1.7.14, Nashorn |

mod decimal;
mod error;
mod identifiers;
pub mod java_like;
pub mod javascript;
pub mod jexl;
mod jvm;
mod language;
mod plain;
mod scope;
mod script_result;
mod unbound;
mod value;

pub use error::{ScriptError, TextPlace};
pub use identifiers::{Identifiers, ResultReads};
pub use jvm::{Binding, Memory, Warning};
pub use script_result::{ScriptResult, ScriptTimes};

pub use busyhour_request::{
    RequestAccess, RequestArgument, RequestCookie, RequestFile, RequestFlag, RequestText,
};
pub use scope::{
    AssertionFacts, AssertionVerdict, LineSeverity, SAMPLE_CHANGES, SAMPLE_FACTS, SUB_RESULT_GETTERS,
    SampleChanges, SampleFacts, Scope, ScriptClock, ScriptOutput, ScriptPlan, ScriptProperties,
    ScriptRequests, ScriptSamples, ScriptThread, ScriptVariables, StopRequest, ThreadNumbers,
};
pub use unbound::refuse_unbound;
pub use value::Value;
