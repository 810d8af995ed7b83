//! Scripting languages: JEXL, JavaScript, Groovy and BeanShell, as JMeter's plans use them.
//!
//! The crate knows nothing of the engine: a script sees the world only through [`Scope`]. Each language has a
//! `compile` that parses a text and refuses, with a place in the text, whatever it cannot promise to run as JMeter
//! 5.6.3 would, and a `Script::evaluate` that runs it. Refusing at parse time lets a check of a plan name the
//! script before the first request is sent.
//!
//! | module | JMeter's name for it | engine behind it there |
//! |---|---|---|
//! | [`jexl`] | `__jexl3`, `__jexl2`, `__jexl` | Commons JEXL 3.2.1 and 2.1.1 |
//! | [`java_like`] | `__groovy`, `__BeanShell`, JSR223 and BeanShell elements | Groovy 3.0, BeanShell 2.0b6 |
//! | [`javascript`] | `__javaScript`, conditions of the If Controller, JSR223 and BSF elements | Rhino 1.7.14, Nashorn |

mod error;
mod evaluate;
mod identifiers;
pub mod java_like;
pub mod javascript;
pub mod jexl;
mod jvm;
mod language;
mod number;
mod request;
mod scope;
mod syntax;
mod unbound;
mod value;

pub use error::{Place, ScriptError};
pub use identifiers::{Identifiers, ResultReads};
pub use jvm::{Binding, Memory, Warning};
pub use made_result::MadeResult;
pub use request::{RequestArgument, RequestCookie, RequestFacts, RequestFile, RequestFlag, RequestText};
pub use scope::{
    Level, SAMPLE_CHANGES, SAMPLE_FACTS, SUB_RESULT_GETTERS, SampleFacts, Scope, StopRequest, UserCounts,
    Verdict,
};
pub use unbound::refuse_unbound;
pub use value::Value;
