//! Hints for errors of the operating system.

use std::error::Error;
use std::io::{self, ErrorKind};

/// The hint for an error of the operating system; `None` if its message is sufficient.
#[must_use]
pub fn hint(error: &io::Error) -> Option<&'static str> {
    #[cfg(unix)]
    if let Some(hint) = error.raw_os_error().and_then(hint_for_limit) {
        return Some(hint);
    }
    Some(match error.kind() {
        ErrorKind::NotFound => "check the name; a relative one is looked up in the working directory",
        ErrorKind::PermissionDenied => "check the permissions of the file and its directory",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free space on the disk, or use a path on another disk"
        }
        ErrorKind::ReadOnlyFilesystem => "use a path on a writable file system",
        ErrorKind::FileTooLarge if error.raw_os_error().is_some() => {
            "raise the limit of the file size (ulimit -f), or use a path on another file system"
        }
        ErrorKind::IsADirectory => "use the path of a file, not of a directory",
        ErrorKind::NotADirectory => "a part of the path is a file, not a directory",
        ErrorKind::InvalidFilename => "choose a shorter name",
        ErrorKind::AddrInUse => {
            "another program listens there: choose another port, or port 0 for a free one"
        }
        ErrorKind::AddrNotAvailable => "choose an address of this machine, such as 127.0.0.1",
        ErrorKind::ConnectionRefused => "check that a server listens on that address and port",
        ErrorKind::OutOfMemory => "close other programs, or run with fewer users",
        _ => return None,
    })
}

/// Hints for limits for which the standard library has no error kind.
#[cfg(unix)]
fn hint_for_limit(number: i32) -> Option<&'static str> {
    use rustix::io::Errno;
    match Errno::from_raw_os_error(number) {
        Errno::MFILE => Some("raise the limit of open files of this process (ulimit -n)"),
        Errno::NFILE => Some("the system has no open files left: end other programs, or raise its limit"),
        Errno::AGAIN => Some("a limit of the system is reached: end other programs, or raise it (ulimit -u)"),
        _ => None,
    }
}

/// The message of an error of the operating system with its hint, in one line.
#[must_use]
pub fn with_hint(error: &io::Error) -> String {
    match hint(error) {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// The hint for the first error of the operating system in the chain of an error and its causes.
#[must_use]
pub fn hint_in_chain(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(hint) = error.downcast_ref::<io::Error>().and_then(hint) {
            return Some(hint);
        }
        next = error.source();
    }
    None
}

/// The messages of an error and its causes, with the hint, in one line.
#[must_use]
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    if let Some(hint) = hint_in_chain(error) {
        text.push_str("; ");
        text.push_str(hint);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_errors_have_hints() {
        for kind in
            [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::StorageFull, ErrorKind::AddrInUse]
        {
            assert!(hint(&kind.into()).is_some(), "{kind:?}");
        }
        assert_eq!(hint(&io::Error::other("rubbish")), None);
        assert_eq!(with_hint(&io::Error::other("rubbish")), "rubbish");
    }

    #[cfg(unix)]
    #[test]
    fn limits_have_specific_hints() {
        let error = io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(with_hint(&error).ends_with("(ulimit -n)"), "{}", with_hint(&error));
    }

    #[test]
    fn causes_are_searched_for_a_hint() {
        #[derive(Debug)]
        struct Unwritten(io::Error);
        impl std::fmt::Display for Unwritten {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("cannot write x")
            }
        }
        impl Error for Unwritten {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Unwritten(ErrorKind::PermissionDenied.into());
        assert!(chain(&error).starts_with("cannot write x: permission denied; check the permissions"));
        assert!(hint_in_chain(&error).is_some_and(|hint| hint.contains("permissions")));
    }
}
