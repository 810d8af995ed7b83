//! The script and the style sheet of all pages, as built by `npm run build` in `ui/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style sheet.
pub(super) const STYLE: &str = include_str!("../../ui/dist/report.css");

/// The script.
pub(super) const SCRIPT: &str = include_str!("../../ui/dist/report.js");

/// Version of the data in a page; the script accepts only this version.
pub(super) const MODEL_VERSION: u32 = 1;

/// Marks the page as one with scripts before anything is drawn, so that the style sheet reserves space for plots.
pub(super) const HEAD_SCRIPT: &str = "document.documentElement.classList.add(\"js\")";

/// The content security policy. It allows only these two scripts and this style sheet; nothing else is loaded, and nothing is
/// sent. Only the live page may connect to the server that it was loaded from.
pub(super) fn content_security_policy(is_live: bool) -> String {
    let connect = if is_live { "connect-src 'self'; " } else { "" };
    format!(
        "default-src 'none'; {connect}base-uri 'none'; form-action 'none'; style-src {}; script-src {} {}",
        hash(STYLE),
        hash(HEAD_SCRIPT),
        hash(SCRIPT)
    )
}

/// The source expression that allows exactly this inline text (CSP Level 3, section 2.3.1).
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_can_be_embedded_in_a_page() {
        let script = SCRIPT.to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"), "it would end its own element");
        assert!(!STYLE.to_ascii_lowercase().contains("</style"));
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("sourceMappingURL") && !text.contains("@import"), "it would load a file");
        }
    }

    #[test]
    fn the_hash_of_an_example_equals_that_of_the_standard() {
        // The example of CSP Level 3, section 8.3.
        let text = "alert('Hello, world.');";
        assert_eq!(hash(text), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }
}
