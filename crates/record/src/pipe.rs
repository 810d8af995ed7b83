//! Named pipes as result files: a reader that is missing or slow holds the recorder up, but never the end of the run.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[cfg(unix)]
pub(crate) use unix::{Pipe, is_pipe};

/// Ends all waiting for the readers of pipes.
///
/// Before it is released, the recorder waits until a pipe has a reader and until the reader takes what is written. After
/// that, rows which a pipe does not take at once are lost, and counted as such.
#[derive(Clone, Debug, Default)]
pub struct PipeRelease(Arc<(Mutex<bool>, Condvar)>);

impl PipeRelease {
    /// Ends the waiting, for good.
    pub fn release(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Whether nobody waits any more.
    #[must_use]
    pub fn is_released(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the release, for at most so long.
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
    use crate::write_target::Target;

    /// How often a pipe that takes nothing is tried again.
    const RETRY: Duration = Duration::from_millis(1);

    /// Whether `path` leads to a pipe.
    pub(crate) fn is_pipe(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }

    /// The writing end of a named pipe. It never blocks in the kernel.
    pub(crate) struct Pipe {
        file: File,
        release: PipeRelease,
    }

    impl Pipe {
        /// Opens the pipe at `path`, waiting until it has a reader.
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

        fn cut(&mut self, _len: u64) -> io::Result<()> {
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
        fn a_pipe_without_a_reader_is_given_up_when_it_is_released() {
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
        fn a_reader_that_does_not_read_costs_rows_and_not_the_end() {
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
