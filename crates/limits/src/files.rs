//! Reading whole local files within a limit.
//!
//! Variables, scripts and command lines can name any file. Devices such as `/dev/zero` have no end, and opening a pipe waits
//! for its writer, so every file that a plan names must be a regular file. Files on the command line may also be pipes, because
//! shells make them (`<(command)`). `docs/limits.md` lists the limits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{Limit, count_exceeded};

/// Maximum number of bytes of a file whose content becomes a text of a plan, a document or a script.
pub const TEXT_FILE_BYTES: u64 = 64 << 20;

/// Maximum number of bytes of a file that the program reads before it starts: plans, models, properties, thresholds.
pub const INPUT_BYTES: u64 = 256 << 20;

/// Maximum number of bytes of a file that is sent in a request.
pub const UPLOAD_BYTES: u64 = 2 << 30;

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// The system's error; [`io::ErrorKind::FileTooLarge`] if the file is longer; [`io::ErrorKind::InvalidInput`] for a device, a
/// pipe or a socket.
///
/// # Examples
/// ```
/// use busyhour_limits::files::read_regular;
///
/// let zeros = read_regular("/dev/zero".as_ref(), 1 << 20).unwrap_err();
/// assert_eq!(zeros.to_string(), "it is not a regular file");
/// ```
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    regular(path)?;
    read_input(path, most)
}

/// Like [`read_regular`], for use during a run: a file that is too long is counted as [`Limit::FileBytes`] of this thread.
///
/// # Errors
/// Those of [`read_regular`].
pub fn read_in_run(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_regular(path, most).inspect_err(count_too_large)
}

/// Opens a regular file.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] for a device, a pipe or a socket.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(path)?;
    File::open(path)
}

/// Counts an error of [`read_regular`] as [`Limit::FileBytes`] of this thread if the file was too long.
pub fn count_too_large(error: &io::Error) {
    if error.kind() == io::ErrorKind::FileTooLarge {
        count_exceeded(Limit::FileBytes);
    }
}

/// Reads a file of any kind, at most `most` bytes.
///
/// # Errors
/// The system's error; [`io::ErrorKind::FileTooLarge`] if the file is longer.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let kind = file.metadata()?;
    // The length of a directory is meaningless; reading it fails later.
    let expected = if kind.is_file() { kind.len() } else { 0 };
    if expected > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(expected).unwrap_or(usize::MAX))?;
    // Files in /proc have a length of 0 although they have content; other files may grow while they are read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads a text file of any kind, at most `most` bytes.
///
/// # Errors
/// Those of [`read_input`]; [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_input_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_input(path, most)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text (line {line})"))
    })
}

fn regular(path: &Path) -> io::Result<()> {
    // Directories are accepted here, because opening or reading one returns the system's error.
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {}", size(most)))
}

fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_long_files_are_refused() {
        let zero = Path::new("/dev/zero");
        assert_eq!(read_regular(zero, 10).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(open_regular(zero).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let endless = read_input(zero, 1 << 20).unwrap_err();
        assert_eq!(
            (endless.kind(), endless.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it has more than 1 MiB")
        );
        assert_eq!(read_regular(Path::new("/"), 10).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        // The length of this file in /proc is reported as 0.
        assert!(!read_regular(Path::new("/proc/self/status"), 1 << 20).unwrap().is_empty());
    }

    #[test]
    fn a_file_at_its_limit_is_read() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let len = std::fs::metadata(&own).unwrap().len();
        assert_eq!(read_in_run(&own, len).unwrap().len() as u64, len);
        assert!(crate::take_counts().is_empty());
        assert_eq!(
            read_in_run(&own, len - 1).unwrap_err().to_string(),
            format!("it has more than {} bytes", len - 1)
        );
        assert_eq!(crate::take_counts(), [(Limit::FileBytes, 1)]);
        assert!(read_input_text(&own, len).unwrap().contains("busyhour-limits"));
    }
}
