//! Pre-processors, post-processors and assertions over a sample's result.

pub mod jsonpath;
pub mod oro;
mod refusal;
pub mod scope;

pub use refusal::{Refusal, RefusalKind};
