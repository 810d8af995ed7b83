//! Reads garbage-collection logs from files.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::with_hint;
use busyhour_gclog::{GcLog, GcLogReader, LineStamp, first_stamp, part_order};

/// Number of bytes at the beginning of a part that are searched for its first time stamp.
const START_BYTES: u64 = 1 << 18;

/// The reason why there are no figures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GcFileError {
    /// A file cannot be read.
    #[error("cannot read {}: {}", path.display(), with_hint(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The files contain no line about garbage collection.
    #[error(
        "{} contains no garbage collection\n  hint: the log is written by java -Xlog:gc*:file=gc.log (JDK 9 and later) or \
         -Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps",
        path.display()
    )]
    NoCollection {
        /// The first file.
        path: PathBuf,
    },
}

/// Reads the parts of a log in the order of their first stamps.
pub(super) fn read_log(paths: &[PathBuf]) -> Result<GcLog, GcFileError> {
    let unreadable = |path: &PathBuf| {
        let path = path.clone();
        move |source| GcFileError::Unreadable { path, source }
    };
    let order = if paths.len() > 1 {
        let stamps: Vec<Option<LineStamp>> =
            paths.iter().map(|path| stamp_of(path).map_err(unreadable(path))).collect::<Result<_, _>>()?;
        part_order(&stamps)
    } else {
        vec![0]
    };
    let mut reader = GcLogReader::new();
    for path in order.into_iter().filter_map(|index| paths.get(index)) {
        feed(&mut reader, path).map_err(unreadable(path))?;
    }
    let log = reader.finish();
    match paths.first() {
        Some(path) if log.events.is_empty() => Err(GcFileError::NoCollection { path: path.clone() }),
        _ => Ok(log),
    }
}

fn stamp_of(path: &Path) -> io::Result<Option<LineStamp>> {
    let mut start = Vec::new();
    File::open(path)?.take(START_BYTES).read_to_end(&mut start)?;
    Ok(first_stamp(String::from_utf8_lossy(&start).lines()))
}

fn feed(reader: &mut GcLogReader, path: &Path) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, File::open(path)?);
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        reader.feed(bytes);
        let length = bytes.len();
        input.consume(length);
    }
    // The next part begins on a new line, even if the last line of this part was cut off.
    reader.feed(b"\n");
    Ok(())
}
