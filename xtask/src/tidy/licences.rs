//! Checks licence expressions (SPDX) against the licences that are compatible with MIT OR Apache-2.0.

/// Permissive licences; each requires only its notice.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether the allowed licences satisfy the expression: one side of an `OR` is enough, both sides of an `AND` are
/// required, and `/` is the old form of `OR`.
pub fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    disjunction(&mut rest) == Some(true) && rest.is_empty()
}

/// `conjunction (OR conjunction)*`; `None` if the expression is malformed.
fn disjunction(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = conjunction(words)?;
    while take(words, "OR") {
        allowed |= conjunction(words)?;
    }
    Some(allowed)
}

/// `term (AND term)*`
fn conjunction(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = term(words)?;
    while take(words, "AND") {
        allowed &= term(words)?;
    }
    Some(allowed)
}

/// `( disjunction )`, or a licence with or without an exception.
fn term(words: &mut &[&str]) -> Option<bool> {
    if take(words, "(") {
        let allowed = disjunction(words)?;
        return take(words, ")").then_some(allowed);
    }
    let (name, rest) = words.split_first()?;
    *words = rest;
    if take(words, "WITH") {
        let (exception, rest) = words.split_first()?;
        *words = rest;
        return Some(ALLOWED.contains(&format!("{name} WITH {exception}").as_str()));
    }
    Some(ALLOWED.contains(name))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    match words.split_first() {
        Some((first, rest)) if *first == word => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_parsed() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "(MIT OR GPL-3.0-only) AND Unicode-3.0",
            "GPL-3.0-only OR (MIT AND ISC)",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in
            ["GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT", "", "MIT OR", "MIT ISC", "Apache-2.0 WITH X"]
        {
            assert!(!is_allowed(bad), "{bad}");
        }
    }
}
