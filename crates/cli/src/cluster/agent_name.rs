//! The name of an agent.

/// Maximum length of an agent's name.
const NAME_MAX: usize = 60;

/// Reads the name of an agent. Names are parts of messages, tables and file names.
pub(super) fn agent_name(text: &str) -> Result<String, String> {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.chars().count() > NAME_MAX || !text.chars().all(is_allowed) {
        return Err(format!("a name has 1 to {NAME_MAX} letters, digits, '-', '_' and '.'"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::agent_name;

    #[test]
    fn names_of_agents_are_simple() {
        for good in ["load1", "eu-west.example", "größe_2"] {
            assert_eq!(agent_name(good).as_deref(), Ok(good));
        }
        for bad in ["", "a b", "a*", "a>", "a/b", "a\n", &"x".repeat(61)] {
            assert!(agent_name(bad).is_err(), "{bad:?}");
        }
    }
}
