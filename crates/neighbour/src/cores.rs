//! Lists of cores, and the cores on which threads may run.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A set of cores, at least one, in ascending order. Its text form is that of the kernel: `0,2-3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreList(Vec<usize>);

/// The reason why a list of cores cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoreListError {
    /// A part of the list is neither a number nor a range.
    #[error("{part:?} is neither a core nor a range of cores, such as 0,2-3")]
    Syntax {
        /// The part between commas.
        part: String,
    },
    /// A range whose end is smaller than its start.
    #[error("the range {part} ends before it starts")]
    Reversed {
        /// The range.
        part: String,
    },
    /// A number larger than the kernel's interface allows.
    #[error("core {core} is too large; the largest number is {}", CpuSet::MAX_CPU - 1)]
    TooLarge {
        /// The number.
        core: usize,
    },
    /// The process may not run on some of the cores.
    #[error("this process cannot run on {}; it may use {allowed}", cores_in_words(.missing))]
    NotAllowed {
        /// The cores of the list that are not allowed.
        missing: CoreList,
        /// The cores that the process may use.
        allowed: CoreList,
    },
    /// The kernel rejected a request about the cores of a thread.
    #[error("cannot {action} the cores of this process")]
    System {
        /// What was requested: `read` or `set`.
        action: &'static str,
        /// The error.
        source: rustix::io::Errno,
    },
}

impl CoreList {
    /// The cores that this thread may use.
    ///
    /// # Errors
    /// The kernel does not return them.
    pub fn allowed() -> Result<Self, CoreListError> {
        let set =
            sched_getaffinity(None).map_err(|source| CoreListError::System { action: "read", source })?;
        Ok(Self((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()))
    }

    /// The cores in ascending order.
    pub fn cores(&self) -> &[usize] {
        &self.0
    }

    /// A list with only the highest core.
    pub fn highest(&self) -> Self {
        Self(self.0.last().copied().into_iter().collect())
    }

    /// Checks that all cores are among the allowed ones.
    ///
    /// # Errors
    /// Some are not.
    pub fn check_within(&self, allowed: &Self) -> Result<(), CoreListError> {
        let missing: Vec<usize> =
            self.0.iter().copied().filter(|core| allowed.0.binary_search(core).is_err()).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(CoreListError::NotAllowed { missing: Self(missing), allowed: allowed.clone() }),
        }
    }

    /// Restricts this thread, and the threads that it starts afterwards, to these cores.
    ///
    /// # Errors
    /// The kernel refuses it, for example because the cores went offline.
    pub fn pin_this_thread(&self) -> Result<(), CoreListError> {
        pin(&self.0)
    }

    /// Restricts this thread, and the threads that it starts afterwards, to one core of the list.
    pub(crate) fn pin_this_thread_to(&self, index: usize) -> Result<(), CoreListError> {
        pin(&self.0[index..=index])
    }
}

fn pin(cores: &[usize]) -> Result<(), CoreListError> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    sched_setaffinity(None, &set).map_err(|source| CoreListError::System { action: "set", source })
}

impl FromStr for CoreList {
    type Err = CoreListError;

    fn from_str(text: &str) -> Result<Self, CoreListError> {
        let mut is_listed = vec![false; CpuSet::MAX_CPU];
        for part in text.split(',').map(str::trim) {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first, part)?, number(last, part)?),
                None => (number(part, part)?, number(part, part)?),
            };
            if last < first {
                return Err(CoreListError::Reversed { part: part.to_owned() });
            }
            let range = is_listed.get_mut(first..=last).ok_or(CoreListError::TooLarge { core: last })?;
            range.fill(true);
        }
        Ok(Self((0..CpuSet::MAX_CPU).filter(|&core| is_listed[core]).collect()))
    }
}

/// Parses the number of a core; `part` is the part of the list that contains it.
fn number(text: &str, part: &str) -> Result<usize, CoreListError> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| CoreListError::Syntax { part: part.to_owned() })
}

impl fmt::Display for CoreList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let length = (0..rest.len()).take_while(|&offset| rest[offset] == first + offset).count();
            write!(f, "{separator}{first}")?;
            if length > 1 {
                write!(f, "-{}", first + length - 1)?;
            }
            rest = &rest[length..];
            separator = ",";
        }
        Ok(())
    }
}

/// "core 1" or "cores 1-2".
pub(crate) fn cores_in_words(cores: &CoreList) -> String {
    let plural = if cores.0.len() == 1 { "" } else { "s" };
    format!("core{plural} {cores}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> CoreList {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn lists_are_parsed_and_shown_in_their_shortest_form() {
        for (text, cores, shown) in [
            ("0", &[0][..], "0"),
            ("0,2-3", &[0, 2, 3], "0,2-3"),
            ("3,1,2,2", &[1, 2, 3], "1-3"),
            (" 5 , 7 - 8 ", &[5, 7, 8], "5,7-8"),
            ("1023", &[1023], "1023"),
        ] {
            assert_eq!((list(text).cores(), list(text).to_string()), (cores, shown.to_owned()), "{text}");
        }
        assert_eq!(list("0-1023").cores().len(), 1024);
        assert_eq!(list("1-3").highest(), list("3"));
    }

    #[test]
    fn wrong_lists_are_rejected_with_the_wrong_part() {
        for (text, words) in [
            ("", "\"\" is neither"),
            ("1,", "\"\" is neither"),
            ("a", "\"a\" is neither"),
            ("0,1-x", "\"1-x\" is neither"),
            ("-1", "\"-1\" is neither"),
            ("+1", "\"+1\" is neither"),
            ("1-2-3", "\"1-2-3\" is neither"),
            ("3-1", "3-1 ends before"),
            ("0-1024", "core 1024 is too large; the largest number is 1023"),
            ("99999999999999999999", "is neither"),
        ] {
            let message = text.parse::<CoreList>().unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn cores_outside_the_allowed_set_are_named() {
        assert_eq!(list("0-1").check_within(&list("0-3")), Ok(()));
        let error = list("1,4,6-7").check_within(&list("0-3")).unwrap_err();
        assert_eq!(error.to_string(), "this process cannot run on cores 4,6-7; it may use 0-3");
    }

    #[test]
    fn a_pinned_thread_may_only_use_its_cores() {
        let all = CoreList::allowed().unwrap();
        std::thread::spawn(move || {
            all.pin_this_thread_to(all.cores().len() - 1).unwrap();
            assert_eq!(CoreList::allowed().unwrap(), all.highest());
        })
        .join()
        .unwrap();
    }
}
