//! The input of a log: a file or the journal.

use std::io;
use std::path::PathBuf;
#[cfg(unix)]
use std::process::Command;

use busyhour_logs::Envelope;
use busyhour_logs::follow::{FileFollower, FollowError, Piece, PolledFile, StartAt};
#[cfg(unix)]
use busyhour_logs::follow::{JournalFollower, JournalOptions};
use busyhour_observe::ProbeError;

/// A log that is read while it grows.
#[derive(Debug)]
pub(crate) enum LogInput {
    /// A file.
    File {
        /// Its path as the user gave it.
        path: PathBuf,
        /// `None` until it can be opened.
        follower: Option<FileFollower>,
        /// Whether the file has existed.
        was_seen: bool,
    },
    /// The journal.
    #[cfg(unix)]
    Journal {
        /// How the program that writes the records is started.
        start: JournalStart,
        /// `None` before it was started, and after it has ended.
        follower: Option<JournalFollower>,
        /// The next start reads records from this time on, in nanoseconds since 1970.
        since_unix_ns: i64,
        /// The time of the last attempt to start the program, in nanoseconds since 1970.
        started_unix_ns: Option<i64>,
    },
}

/// How the records of a journal are obtained.
#[cfg(unix)]
#[derive(Debug, Clone)]
pub(crate) enum JournalStart {
    /// `journalctl` of a unit, or of all.
    Unit(Option<String>),
    /// Another program that writes records as `journalctl --output=json` does, with its arguments.
    #[cfg_attr(not(test), expect(dead_code, reason = "for tests on machines without a journal"))]
    Program(Vec<String>),
}

/// The pause between attempts to start `journalctl`.
#[cfg(unix)]
const RESTART_PAUSE_NS: i64 = 10 * 1_000_000_000;

impl LogInput {
    /// Follows a file from its current end, or from its beginning if it does not exist yet.
    pub(crate) fn file(path: PathBuf) -> LogInput {
        let follower = FileFollower::open(&path, StartAt::End).ok();
        let was_seen = path.exists();
        LogInput::File { path, follower, was_seen }
    }

    /// Follows a journal from a time on.
    #[cfg(unix)]
    pub(crate) fn journal(start: JournalStart, since_unix_ns: i64) -> LogInput {
        LogInput::Journal { start, follower: None, since_unix_ns, started_unix_ns: None }
    }

    /// The envelope of the lines, if it is known.
    pub(crate) fn envelope(&self) -> Option<Envelope> {
        match self {
            LogInput::File { .. } => None,
            #[cfg(unix)]
            LogInput::Journal { .. } => Some(Envelope::Journal),
        }
    }

    /// Reads the bytes that have arrived, up to a limit, and passes them to `piece`. `now_unix_ns` is the current time.
    pub(crate) fn poll(
        &mut self,
        now_unix_ns: i64,
        mut piece: impl FnMut(Piece<'_>),
    ) -> Result<PolledFile, ProbeError> {
        match self {
            LogInput::File { path, follower, was_seen } => {
                let opened = match follower {
                    Some(opened) => opened,
                    None => {
                        let opened = FileFollower::open(path, StartAt::End).map_err(file_error)?;
                        follower.insert(opened)
                    }
                };
                let polled = opened.poll(piece).map_err(file_error)?;
                if polled.bytes > 0 || polled.was_truncated {
                    *was_seen = true;
                } else if !*was_seen {
                    *was_seen = path.exists();
                }
                if *was_seen {
                    return Ok(polled);
                }
                Err(ProbeError::Missing {
                    what: format!("the log {}", path.display()),
                    advice: String::from("it does not exist yet and is read as soon as it does"),
                })
            }
            #[cfg(unix)]
            LogInput::Journal { start, follower, since_unix_ns, started_unix_ns } => {
                let running = match follower {
                    Some(running) => running,
                    None => {
                        let pause = started_unix_ns.map(|started| now_unix_ns - started);
                        if pause.is_some_and(|pause| pause < RESTART_PAUSE_NS) {
                            return Err(ended());
                        }
                        *started_unix_ns = Some(now_unix_ns);
                        follower.insert(start.start(*since_unix_ns).map_err(journal_error)?)
                    }
                };
                let polled = running.poll(|bytes| piece(Piece::Bytes(bytes)));
                if polled.as_ref().is_ok_and(|polled| !polled.has_ended) {
                    return polled.map_err(journal_error);
                }
                // The next start reads the records that are written from now on.
                (*follower, *since_unix_ns) = (None, now_unix_ns);
                Err(polled.err().map_or_else(ended, journal_error))
            }
        }
    }
}

#[cfg(unix)]
impl JournalStart {
    fn start(&self, since_unix_ns: i64) -> Result<JournalFollower, FollowError> {
        match self {
            JournalStart::Unit(unit) => JournalFollower::start(&JournalOptions {
                units: unit.iter().cloned().collect(),
                namespace: None,
                since_unix_ns: Some(since_unix_ns),
            }),
            JournalStart::Program(arguments) => {
                let mut command = Command::new(arguments.first().map_or("", String::as_str));
                command.args(arguments.iter().skip(1));
                JournalFollower::of(command)
            }
        }
    }
}

#[cfg(unix)]
fn ended() -> ProbeError {
    ProbeError::Missing {
        what: String::from("the journal"),
        advice: String::from("journalctl has ended; it is started again after 10 s"),
    }
}

/// The error of a log file.
pub(crate) fn file_error(error: FollowError) -> ProbeError {
    match error {
        FollowError::File { path, source } if source.kind() == io::ErrorKind::PermissionDenied => {
            let path = path.display();
            ProbeError::Denied {
                what: format!("the log {path}"),
                advice: format!(
                    "permit this user to read it: setfacl -m u:$USER:r {path}, or run as a member of its group"
                ),
            }
        }
        FollowError::File { path, source } => ProbeError::read(path, source),
        other @ (FollowError::Journal { .. } | FollowError::JournalEnded { .. }) => journal_error(other),
    }
}

fn journal_error(error: FollowError) -> ProbeError {
    match error {
        FollowError::Journal { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            ProbeError::Missing {
                what: String::from("the journal"),
                advice: String::from("this machine has no journalctl; name the log's file: log:FILE"),
            }
        }
        other => ProbeError::Other { what: String::from("the journal"), source: Box::new(other) },
    }
}
