//! Keys of the terminal view.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A command that the user gives with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// `p`: pause or resume.
    Pause,
    /// `+`: increase the rate.
    Faster,
    /// `-`: decrease the rate.
    Slower,
    /// `0`: reset the rate to the requested one.
    ResetRate,
    /// `q`: stop; users finish their samples.
    Stop,
    /// Ctrl-C, which sends no signal while the terminal is in raw mode.
    Interrupt,
    /// `?`: show or hide the help.
    Help,
    /// The size of the terminal has changed.
    Resized,
}

impl Key {
    /// The command for a terminal event; `None` if there is none.
    pub(super) fn of(event: &Event) -> Option<Key> {
        match event {
            Event::Resize(..) => Some(Key::Resized),
            Event::Key(KeyEvent { code, modifiers, kind, .. }) if *kind != KeyEventKind::Release => {
                match code {
                    KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Interrupt),
                    _ if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => None,
                    KeyCode::Char('p' | 'P' | ' ') => Some(Key::Pause),
                    KeyCode::Char('+' | '=') | KeyCode::Up => Some(Key::Faster),
                    KeyCode::Char('-' | '_' | '−') | KeyCode::Down => Some(Key::Slower),
                    KeyCode::Char('0') => Some(Key::ResetRate),
                    KeyCode::Char('q' | 'Q') => Some(Key::Stop),
                    KeyCode::Char('?' | 'h') => Some(Key::Help),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_meaning_described_in_the_help() {
        let of = |code, modifiers| Key::of(&Event::Key(KeyEvent::new(code, modifiers)));
        let plain = |c| of(KeyCode::Char(c), KeyModifiers::NONE);
        assert_eq!(
            ['p', '+', '-', '0', 'q', '?'].map(plain),
            [Key::Pause, Key::Faster, Key::Slower, Key::ResetRate, Key::Stop, Key::Help].map(Some)
        );
        assert_eq!(of(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(of(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
        assert_eq!((plain('x'), Key::of(&Event::Resize(1, 1))), (None, Some(Key::Resized)));
        let released =
            KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE) };
        assert_eq!(Key::of(&Event::Key(released)), None);
    }
}
