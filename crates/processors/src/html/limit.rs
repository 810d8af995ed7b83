//! The limit of steps for a selection and for the texts of selected elements.

/// Limit of steps for a selection, and the same limit again for the texts of the selected elements. A visited node is one
/// step, and so are 16 bytes of text.
pub(super) const STEPS_MAX: u64 = 30_000_000;

/// Steps for each node whose text is collected.
pub(super) const STEPS_FOR_TEXT: u64 = 4;

/// A selection exceeded its maximum number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the selector needs more than {STEPS_MAX} steps on this page")]
pub(crate) struct SelectLimit;
