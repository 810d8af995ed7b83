//! Unicode properties of characters.

use std::sync::OnceLock;

use regex::Regex;

/// Whether the character is assigned and not in a private use area.
pub(crate) fn is_assigned(c: char) -> bool {
    static EXCLUDED: OnceLock<Option<Regex>> = OnceLock::new();
    let excluded = EXCLUDED.get_or_init(|| Regex::new(r"\A[\p{Cn}\p{Co}]\z").ok());
    let mut buffer = [0; 4];
    excluded.as_ref().is_none_or(|excluded| !excluded.is_match(c.encode_utf8(&mut buffer)))
}

#[cfg(test)]
mod tests {
    use super::is_assigned;

    #[test]
    fn private_and_unassigned_characters_are_excluded() {
        assert!(is_assigned('a') && is_assigned('\u{24186}'));
        assert!(!is_assigned('\u{e000}') && !is_assigned('\u{378}') && !is_assigned('\u{50000}'));
    }
}
