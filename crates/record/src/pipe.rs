//! Named pipes as result files. A missing or slow reader delays the recorder, but not the end of the run.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[cfg(unix)]
pub(crate) use unix::{Pipe, is_pipe};

/// Lets the recorder stop waiting for readers of pipes at the end of a run.
///
/// Before the release, the recorder waits until a pipe has a reader, and until the reader accepts the data. After the release,
/// rows that a pipe does not accept at once are discarded and counted as lost.
#[derive(Clone, Debug, Default)]
pub struct PipeRelease(Arc<(Mutex<bool>, Condvar)>);

impl PipeRelease {
    /// Ends all present and future waiting.
    pub fn release(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Whether [`PipeRelease::release`] was called.
    #[must_use]
    pub fn is_released(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the release, but at most for the duration `time`.
    fn wait(&self, time: Duration) {
        let is_released = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.1.wait_timeout_while(is_released, time, |is_released| !*is_released));
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
    use std::path::Path;
    use std::time::Duration;

    use super::PipeRelease;
    use crate::output_target::Target;

    /// Interval between attempts to write to a full pipe.
    const RETRY: Duration = Duration::from_millis(1);

    /// Whether `path` is a named pipe.
    pub(crate) fn is_pipe(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }

    /// The writing end of a named pipe. Its system calls never block.
    pub(crate) struct Pipe {
        file: File,
        release: PipeRelease,
    }

    impl Pipe {
        /// Opens the pipe at `path`; waits until it has a reader.
        pub(crate) fn open(path: &Path, release: PipeRelease) -> io::Result<Pipe> {
            loop {
                match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
                    Ok(file) => return Ok(Pipe { file, release }),
                    Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                        if release.is_released() {
                            return Err(io::Error::new(
                                io::ErrorKind::Interrupted,
                                "the run was stopped before a program opened this pipe for reading",
                            ));
                        }
                    }
                    Err(error) => return Err(error),
                }
                release.wait(RETRY);
            }
        }
    }

    impl Target for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            loop {
                match io::Write::write(&mut self.file, bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if self.release.is_released() {
                            return Err(io::Error::new(
                                io::ErrorKind::TimedOut,
                                "the reader of this pipe did not read before the run was stopped",
                            ));
                        }
                    }
                    other => return other,
                }
                self.release.wait(RETRY);
            }
        }

        fn truncate(&mut self, _len: u64) -> io::Result<()> {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn pipe(dir: &Path) -> std::path::PathBuf {
            let path = dir.join("pipe");
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            path
        }

        #[test]
        fn opening_a_pipe_without_a_reader_fails_after_the_release() {
            let dir = tempfile::tempdir().unwrap();
            let path = pipe(dir.path());
            assert!(is_pipe(&path) && !is_pipe(dir.path()));
            let release = PipeRelease::default();
            let opening = std::thread::spawn({
                let release = release.clone();
                move || Pipe::open(&path, release).map(|_| ())
            });
            release.release();
            let error = opening.join().unwrap().unwrap_err();
            assert!(error.to_string().contains("for reading"), "{error}");
        }

        #[test]
        fn writing_to_a_full_pipe_fails_after_the_release() {
            let dir = tempfile::tempdir().unwrap();
            let path = pipe(dir.path());
            let _reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
            let release = PipeRelease::default();
            let mut pipe = Pipe::open(&path, release.clone()).unwrap();
            release.release();
            let (mut taken, row) = (0, [b'x'; 4096]);
            let error = loop {
                match pipe.write(&row) {
                    Ok(written) => taken += written,
                    Err(error) => break error,
                }
            };
            assert!(taken > 0);
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
    }
}
