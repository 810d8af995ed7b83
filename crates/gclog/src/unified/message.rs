//! The text of an event: `Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms`.

use crate::size::{SharedSizes, SizeChange, change, change_with_shares, duration_s};

/// The parts of the text of an event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message<'l> {
    /// The words before the first group: `Pause Young`.
    pub name: &'l str,
    /// The texts in round brackets after the name, at most [`GROUPS_MAX`].
    pub groups: Vec<&'l str>,
    /// The text after the groups.
    pub ending: Ending,
}

/// Sizes and duration at the end of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ending {
    /// Nothing: a start, or a line that was cut off after its name.
    None,
    /// Text that cannot be read.
    Damaged,
    /// Sizes, a duration, or both.
    Complete { sizes: Option<EventSizes>, duration_s: Option<f64> },
}

/// The sizes of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum EventSizes {
    /// With capacity.
    Plain(SizeChange),
    /// With shares of the maximum heap (ZGC).
    Shared(SharedSizes),
}

/// The largest number of groups that are kept; the JVM prints at most three.
const GROUPS_MAX: usize = 8;

/// Splits the text of an event. Any text has a name; whether it names an event is for the caller to decide.
pub(crate) fn parse(text: &str) -> Message<'_> {
    let (name, mut rest) = split_name(text);
    let mut groups = Vec::new();
    while let Some((group, after)) = group(rest.trim_start()) {
        if groups.len() < GROUPS_MAX {
            groups.push(group);
        }
        rest = after;
    }
    Message { name: name.trim_end().trim_end_matches(':'), groups, ending: ending(rest.trim()) }
}

/// The name ends before a group or before a size or duration at the end.
fn split_name(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        match bytes[at] {
            b'(' => return text.split_at(at),
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let (name, rest) = text.split_at(at);
                // `Phase 1: Mark live objects 3.6ms` has a number in its name.
                if ending(rest.trim()) != Ending::Damaged {
                    return (name, rest);
                }
            }
            _ => {}
        }
    }
    (text, "")
}

/// Reads `(text)` with brackets inside.
fn group(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[1..at], &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

fn ending(text: &str) -> Ending {
    if text.is_empty() {
        return Ending::None;
    }
    let (sizes, rest) = match change(text) {
        Some((sizes, rest)) => (Some(EventSizes::Plain(sizes)), rest),
        None => match change_with_shares(text) {
            Some((shared, rest)) => (Some(EventSizes::Shared(shared)), rest),
            None => (None, text),
        },
    };
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Ending::Complete { sizes, duration_s: None };
    }
    // The unit follows without a blank; statistics at the end of a log print `111 us`.
    match duration_s(rest) {
        Some((duration_s, "")) if !rest.contains(' ') => {
            Ending::Complete { sizes, duration_s: Some(duration_s) }
        }
        _ => Ending::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_may_contain_brackets() {
        let message = parse("Pause Full (System.gc()) 63M->12M(96M) 11.996ms");
        assert_eq!((message.name, message.groups), ("Pause Full", vec!["System.gc()"]));
        let Ending::Complete { sizes: Some(EventSizes::Plain(sizes)), duration_s } = message.ending else {
            panic!("{:?}", message.ending);
        };
        assert_eq!((sizes.before_kib, sizes.capacity_kib), (63 * 1024, Some(96 * 1024)));
        assert!((duration_s.unwrap() - 0.011_996).abs() < 1e-12);
    }

    #[test]
    fn names_may_contain_numbers() {
        assert_eq!(parse("Phase 1: Mark live objects 3,635ms").name, "Phase 1: Mark live objects");
        assert_eq!(parse("Pre Evacuate Collection Set: 0.0ms").name, "Pre Evacuate Collection Set");
    }

    #[test]
    fn starts_cut_off_lines_and_statistics_are_no_complete_events() {
        assert_eq!(parse("Pause Young (Normal) (G1 Evacuation Pause)").ending, Ending::None);
        assert_eq!(parse("Concurrent Mark").ending, Ending::None);
        for text in
            ["Pause Young (Normal) 6M->1M(96", "Pause Young (Normal) 6M->1M(96M) 4.0", "Pause Young x(y) z"]
        {
            assert_eq!(parse(text).ending, Ending::Damaged, "{text}");
        }
        assert!(!matches!(parse("Pause Init Mark (G)    111 us").ending, Ending::Complete { .. }));
    }

    #[test]
    fn unbalanced_groups_end_the_name() {
        let message = parse("Pause Young (((((((");
        assert_eq!(message.ending, Ending::Damaged);
        assert!(message.groups.is_empty());
    }
}
