//! Parts of a pattern that are matched separately.

/// The kind of a part of a pattern that is matched separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// `(?=…)`, `(?!…)`
    Ahead {
        /// The part must not match.
        negative: bool,
    },
    /// `(?<=…)`, `(?<!…)`
    Behind {
        /// The part must not match.
        negative: bool,
    },
    /// `(?>…)`
    Atomic,
}
