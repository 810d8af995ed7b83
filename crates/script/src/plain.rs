//! Operations on plain values that the languages of the interpreter share: conversions, methods of strings, functions of
//! `Math`.

mod arithmetic;
pub(crate) mod beanshell;
pub(crate) mod convert;
mod fault;
pub(crate) mod groovy;
mod math;
mod operator;
mod parse;
pub(crate) mod text;

pub(crate) use arithmetic::negated;
pub(crate) use convert::{printed, single_unit, to_decimal, to_double};
pub(crate) use fault::{Fault, Outcome};
pub(crate) use math::math;
pub(crate) use operator::{Binary, Type};
