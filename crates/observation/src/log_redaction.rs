//! The rules by which secrets are removed from texts of logs.

use busyhour_logs::Redactor;

/// Removes secrets from examples and templates of logs, by the rules for command lines. With `keep_secrets`, all texts are kept.
#[must_use]
pub fn log_redactor(keep_secrets: bool) -> Redactor {
    if keep_secrets { Redactor::keeping_secrets() } else { Redactor::standard() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_logs_are_redacted_unless_they_are_kept() {
        let text = "login of ann failed: apiKey=S3CRET, sent Authorization: Bearer S3CRET to https://ann:S3CRET@host/";
        let redacted = log_redactor(false).redact(text);
        assert_eq!(
            redacted,
            "login of ann failed: apiKey=[redacted], sent Authorization: Bearer [redacted] to https://ann:[redacted]@host/"
        );
        assert_eq!(log_redactor(true).redact(text), text);
    }
}
