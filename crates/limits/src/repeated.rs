//! Inputs in which one part is repeated, for tests of parsers.
//!
//! Limits have to count siblings as well as depth and bytes. A parser that compares each part with all previous parts, or that
//! calls itself for each part, passes with 10 and 10,000 parts. With 1,000,000 parts it takes hours or its stack overflows, so a
//! test detects the problem without measuring time.

use std::fmt::Write as _;
use std::thread;

/// The numbers of repetitions that are tested.
pub const COUNTS: [usize; 3] = [10, 10_000, 1_000_000];

/// Numbers of repetitions for inputs that take too long to parse with a million parts in a build without optimization. A parser
/// with quadratic time takes minutes even with these numbers.
pub const COUNTS_UNOPTIMIZED: [usize; 3] = [10, 10_000, 100_000];

/// Bytes of the smallest stack on which parsers run.
const STACK_BYTES: usize = 1 << 20;

/// An input with a part that is repeated. Each `~` in the part is replaced by the number of the repetition, from 0.
#[derive(Debug, Clone, Copy)]
pub struct Repeated<'t> {
    /// The text before the parts.
    pub before: &'t str,
    /// The part.
    pub part: &'t str,
    /// The text after the parts.
    pub after: &'t str,
}

impl Repeated<'_> {
    /// The input with `count` parts.
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

/// Maximum number of fragments in the repeated part of a generated input. The texts before and after the parts have at most one
/// fewer.
const FRAGMENTS_MAX: usize = 6;

/// An input that is generated from arbitrary bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratedInput {
    /// The text before the parts.
    pub before: String,
    /// The part.
    pub part: String,
    /// The text after the parts.
    pub after: String,
    /// How often the part is repeated.
    pub count: usize,
}

impl GeneratedInput {
    /// Returns an input of these fragments with at most `count_max` parts and `bytes_max` bytes, and the unused rest of `bytes`.
    /// The first byte determines the number of parts, on a logarithmic scale from 10; it is smaller if `bytes_max` requires
    /// it. Each further byte determines a fragment or a number of fragments.
    pub fn new<'b>(
        bytes: &'b [u8],
        fragments: &[&str],
        count_max: usize,
        bytes_max: usize,
    ) -> (Self, &'b [u8]) {
        let mut rest = bytes;
        let mut next = || {
            let (first, left) = rest.split_first().unwrap_or((&0, rest));
            rest = left;
            usize::from(*first)
        };
        let share = next() as f64 / 255.0;
        let count = (10.0 * (count_max as f64 / 10.0).powf(share)) as usize;
        let mut text = |least: usize| {
            let number = least + next() % FRAGMENTS_MAX;
            (0..number).map(|_| fragments[next() % fragments.len()]).collect::<String>()
        };
        let (before, part, after) = (text(0), text(1), text(0));
        let part_bytes = part.len() + 6 * part.matches('~').count();
        let count = count.min(bytes_max.saturating_sub(before.len() + after.len()) / part_bytes.max(1));
        (Self { before, part, after, count }, rest)
    }

    /// The whole input.
    pub fn text(&self) -> String {
        Repeated { before: &self.before, part: &self.part, after: &self.after }.text(self.count)
    }
}

/// Calls `check` with pseudo-random bytes; the same seed gives the same bytes.
pub fn check_generated(seed: u64, cases: u32, check: impl Fn(&[u8])) {
    // SplitMix64.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()[0]
    };
    for _ in 0..cases {
        let bytes: [u8; 32] = std::array::from_fn(|_| next());
        check(&bytes);
    }
}

/// Calls `read` for each input and each of [`COUNTS`], on a stack of 1 MiB.
///
/// # Panics
/// If `read` panics. The panic of this function does not name the input, so the assertions in `read` should.
pub fn read_all(inputs: &[Repeated<'_>], read: impl Fn(&Repeated<'_>, usize, &str) + Sync) {
    read_counts(inputs, &COUNTS, read);
}

/// The numbers of repetitions for input `index` of a list: up to a million for the first input, fewer for the others.
pub const fn counts_at(index: usize) -> &'static [usize; 3] {
    if index == 0 { &COUNTS } else { &COUNTS_UNOPTIMIZED }
}

/// Calls `read` for each input and each of `counts`, on a stack of 1 MiB.
///
/// # Panics
/// If `read` panics, as for [`read_all`].
pub fn read_counts(
    inputs: &[Repeated<'_>],
    counts: &[usize],
    read: impl Fn(&Repeated<'_>, usize, &str) + Sync,
) {
    thread::scope(|scope| {
        let work = || {
            for input in inputs {
                for &count in counts {
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

    #[test]
    fn generated_inputs_have_many_counts_and_are_limited() {
        let (least, rest) = GeneratedInput::new(&[0, 1, 0, 0, 1, 1, 2, 9], &["a", "b~", "c"], 1_000, 1 << 20);
        assert_eq!(least.text(), "ab0b1b2b3b4b5b6b7b8b9c");
        assert_eq!(rest, [9]);
        let (most, _) = GeneratedInput::new(&[255, 0, 0, 1], &["a", "b~"], 100_000, 1_000);
        assert_eq!((most.count, most.part.as_str()), (125, "b~"));
        let counts = std::sync::Mutex::new(Vec::new());
        check_generated(1, 200, |bytes| {
            let (input, _) = GeneratedInput::new(bytes, &["a", "b", "~"], 100_000, 1 << 20);
            assert!(input.text().len() <= 1 << 20);
            counts.lock().expect("no panic").push(input.count);
        });
        let counts = counts.into_inner().expect("no panic");
        for range in [10..100, 100..1_000, 1_000..10_000, 10_000..100_001] {
            assert!(counts.iter().filter(|count| range.contains(*count)).count() > 30, "{range:?}");
        }
    }
}
