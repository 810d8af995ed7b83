//! Ways to see more of the results of a run: a command for the terminal, and the page in the browser.

use std::path::Path;
use std::process::{Command, Stdio};

use busyhour_terminal::exit::say;

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
