//! For tests of parsers: inputs in which one part is repeated.
//!
//! Limits have to count siblings as well as depth and bytes. A parser that compares each part with all before it, or that
//! calls itself for each, is fine with 10 and 10,000 parts. With 1,000,000 its work takes hours or its stack overflows, so that a
//! test needs no clock to notice.

use std::fmt::Write as _;
use std::thread;

/// How often a part is repeated.
pub const COUNTS: [usize; 3] = [10, 10_000, 1_000_000];

/// Bytes of the smallest stack on which parsers run.
const STACK_BYTES: usize = 1 << 20;

/// An input with a part that is repeated. `~` in the part stands for the number of the repetition.
#[derive(Debug, Clone, Copy)]
pub struct Repeated<'t> {
    /// What precedes the parts.
    pub before: &'t str,
    /// The part.
    pub part: &'t str,
    /// What follows the parts.
    pub after: &'t str,
}

impl Repeated<'_> {
    /// The input with so many parts.
    pub fn text(self, count: usize) -> String {
        let mut text = String::with_capacity(count * (self.part.len() + 4));
        text.push_str(self.before);
        match self.part.split_once('~') {
            None => text.extend(std::iter::repeat_n(self.part, count)),
            Some(_) => {
                let pieces: Vec<&str> = self.part.split('~').collect();
                for number in 0..count {
                    text.push_str(pieces[0]);
                    for piece in &pieces[1..] {
                        let _ = write!(text, "{number}{piece}");
                    }
                }
            }
        }
        text.push_str(self.after);
        text
    }
}

/// Gives `read` each input with each count, on a stack of 1 MiB.
///
/// # Panics
/// When `read` does; the message of a failed assertion does not show the input, so that `read` names it.
pub fn read_all(inputs: &[Repeated<'_>], read: impl Fn(&Repeated<'_>, usize, &str) + Sync) {
    thread::scope(|scope| {
        let work = || {
            for input in inputs {
                for count in COUNTS {
                    read(input, count, &input.text(count));
                }
            }
        };
        let reader = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        assert!(reader.is_ok_and(|reader| reader.join().is_ok()), "a parser panicked");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_repeated_and_numbered() {
        let input = Repeated { before: "<", part: "a~=~,", after: ">" };
        assert_eq!(input.text(3), "<a0=0,a1=1,a2=2,>");
        assert_eq!(Repeated { part: "x", ..input }.text(2), "<xx>");
    }
}
