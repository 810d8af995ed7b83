//! The points of a what-if.

use super::answers::{Answer, Unanswered};
use super::file::ModelFile;

/// One combination of values with its result.
pub(super) struct Point {
    pub(super) values: Vec<String>,
    pub(super) result: Result<Answer, Unanswered>,
}

/// A model and all its points.
pub(super) struct Varied {
    pub(super) model: ModelFile,
    pub(super) points: Vec<Point>,
}
