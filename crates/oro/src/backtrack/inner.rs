//! Parts of a pattern that are matched separately.

/// A part of a pattern that is matched by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// `(?=…)`, `(?!…)`
    Ahead {
        /// It must not match.
        negative: bool,
    },
    /// `(?<=…)`, `(?<!…)`
    Behind {
        /// It must not match.
        negative: bool,
    },
    /// `(?>…)`
    Atomic,
}
