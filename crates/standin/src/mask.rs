//! Replaces texts that may differ between two runs of a plan with placeholders.

use std::io;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::settings::CaseSettings;

/// Columns that contain times or the name of the machine.
const VARYING_COLUMNS: [&str; 6] = ["timeStamp", "elapsed", "Latency", "IdleTime", "Connect", "Hostname"];

/// The masks of one case and one run.
pub(crate) struct Masks {
    ports: [String; 2],
    out_dir: String,
    case_dirs: [String; 2],
    patterns: Vec<(Regex, String)>,
    xml: Regex,
    columns: Vec<String>,
}

impl Masks {
    pub(crate) fn new(
        settings: &CaseSettings,
        case_dir: &Path,
        ports: [u16; 2],
        out_dir: &Path,
    ) -> io::Result<Self> {
        let compile = |pattern: &str| Regex::new(pattern).map_err(io::Error::other);
        let patterns = settings.masks.iter().map(|mask| Ok((compile(&mask.pattern)?, mask.with.clone())));
        Ok(Self {
            ports: ports.map(|port| port.to_string()),
            out_dir: out_dir.display().to_string(),
            case_dirs: names(case_dir)?,
            patterns: patterns.collect::<io::Result<_>>()?,
            // These are the attributes elapsed, idle time, latency, connect time, time stamp and host name in XML results.
            xml: compile(r#" (t|it|lt|ct|ts|hn)="[^"]*""#)?,
            columns: settings.mask_columns.clone(),
        })
    }

    /// Masks a text: first the folders, then the ports, then the patterns of the case in their order.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.replace(&self.out_dir, "{OUT}");
        for dir in &self.case_dirs {
            text = text.replace(dir, "{CASE}");
        }
        text = mask_port(&mask_port(&text, &self.ports[0], "{PORT}"), &self.ports[1], "{TLS_PORT}");
        for (pattern, with) in &self.patterns {
            text = pattern.replace_all(&text, with.as_str()).into_owned();
        }
        text
    }

    /// Masks a line of XML results.
    pub(crate) fn xml(&self, line: &str) -> String {
        self.text(&self.xml.replace_all(line, " $1=\"{T}\""))
    }

    /// Whether the values of this column are masked.
    pub(crate) fn hides_column(&self, name: &str) -> bool {
        VARYING_COLUMNS.contains(&name) || self.columns.iter().any(|column| column == name)
    }
}

/// Replaces a port if it is a separate number, and not a part of a digest or of a longer number.
fn mask_port(text: &str, port: &str, placeholder: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, _) in text.match_indices(port) {
        let end = start + port.len();
        if ends_before_number(&text[..start]) && !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            masked.push_str(&text[copied..start]);
            masked.push_str(placeholder);
            copied = end;
        }
    }
    masked.push_str(&text[copied..]);
    masked
}

/// Whether a number may start after this text. It may start after an encoded character (`%3A`), an escape (`\n`, `\r`
/// or `\t`), or any character that is neither a letter nor a digit.
fn ends_before_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// The forms in which programs write the folder's path in messages.
fn names(dir: &Path) -> io::Result<[String; 2]> {
    let text = |path: PathBuf| path.display().to_string();
    Ok([text(std::path::absolute(dir)?), text(dir.canonicalize()?)])
}

#[cfg(test)]
mod tests {
    use super::mask_port;

    #[test]
    fn only_whole_numbers_are_ports() {
        let masked = |text| mask_port(text, "36821", "{PORT}");
        assert_eq!(masked("127.0.0.1:36821,36821"), "127.0.0.1:{PORT},{PORT}");
        assert_eq!(masked("http%3A%2F%2F127.0.0.1%3A36821%2F"), "http%3A%2F%2F127.0.0.1%3A{PORT}%2F");
        assert_eq!(masked(r"a\n36821"), r"a\n{PORT}");
        let digest = r#"response="cb86c096f64274dd36821a07267e428e""#;
        assert_eq!(masked(digest), digest);
        assert_eq!(masked("1368210"), "1368210");
    }
}
