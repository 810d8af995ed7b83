//! Properties of standard output: width, colours and links.

use busyhour_report::Look;

/// Properties of standard output.
pub struct Output {
    /// Width and colours of tables.
    pub look: Look,
    /// Whether it is a terminal, not a file or a pipe.
    pub is_terminal: bool,
    /// Whether addresses can be written as links.
    pub has_links: bool,
}

impl Output {
    /// Determines the properties of standard output.
    pub fn of_stdout() -> Output {
        let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stdout());
        let colour = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        // The Linux console and terminals without a type print the escape sequence of a link as text.
        let knows_links =
            std::env::var("TERM").is_ok_and(|term| !matches!(term.as_str(), "" | "dumb" | "linux"));
        Output {
            look: Look { width: width().filter(|_| is_terminal), colour },
            is_terminal,
            has_links: colour && knows_links,
        }
    }
}

/// Width of the terminal at standard error or standard output.
pub fn width() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stderr())
            .or_else(|_| rustix::termios::tcgetwinsize(std::io::stdout()))
            .ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    }
    #[cfg(not(unix))]
    None
}
