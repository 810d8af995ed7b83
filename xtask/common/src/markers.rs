//! Generated parts of Markdown pages, between comments with their names.

use anyhow::{Context as _, Result};

/// Replaces the part `name` of `page`: the lines between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
///
/// # Errors
/// One of the two comments is missing.
pub fn replace_part(page: &str, name: &str, part: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->\n"));
    let missing = |mark: &str| format!("the page has no line {}", mark.trim_end());
    let (before, rest) = page.split_once(&begin).with_context(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).with_context(|| missing(&end))?;
    Ok(format!("{before}{begin}{part}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_between_its_comments() {
        let old = "a\n<!-- x: begin -->\nold<!-- x: end -->\nb\n";
        let new = replace_part(old, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert!(replace_part(old, "y", "z").unwrap_err().to_string().contains("<!-- y: begin -->"));
    }
}
