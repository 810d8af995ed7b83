//! Properties of standard output (width, colours and links), and opening the report in the browser.

use std::path::Path;
use std::process::{Command, Stdio};

use busyhour_report::Look;

use crate::exit::say;
use crate::progress::columns;

/// Properties of standard output.
pub(crate) struct Output {
    pub(crate) look: Look,
    pub(crate) is_terminal: bool,
    /// Whether addresses can be written as links.
    pub(crate) has_links: bool,
}

impl Output {
    pub(crate) fn of_stdout() -> Output {
        let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
        let colour = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        // The Linux console and terminals without a type print the escape sequence of a link as text.
        let knows_links =
            std::env::var("TERM").is_ok_and(|term| !matches!(term.as_str(), "" | "dumb" | "linux"));
        Output {
            look: Look { width: columns().filter(|_| is_terminal), colour },
            is_terminal,
            has_links: colour && knows_links,
        }
    }
}

/// The command that the user can run to see all tables and caveats of results.
pub(crate) fn report_command(inputs: &[&Path]) -> String {
    let quoted = |path: &&Path| {
        let text = path.display().to_string();
        let is_plain = |c: char| c.is_alphanumeric() || "/._-,:=+@%".contains(c);
        if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    format!("busyhour report {} --details", inputs.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// Opens a page with the desktop's default program.
pub(crate) fn open_page(page: &Path) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        say(&format!("warning: the report cannot be opened: {program}: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_commands_are_quoted_where_needed() {
        let command = |path| report_command(&[Path::new(path)]);
        assert_eq!(command("runs/a-1.jtl"), "busyhour report runs/a-1.jtl --details");
        assert_eq!(command("a b's"), "busyhour report 'a b'\\''s' --details");
    }
}
