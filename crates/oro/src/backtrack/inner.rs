//! Parts of a pattern that are matched separately.

/// The kind of a part of a pattern that is matched separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// Look-ahead: `(?=…)`, `(?!…)`.
    Ahead {
        /// Whether the part must not match.
        negative: bool,
    },
    /// Look-behind: `(?<=…)`, `(?<!…)`.
    Behind {
        /// Whether the part must not match.
        negative: bool,
    },
    /// Atomic group: `(?>…)`.
    Atomic,
}
