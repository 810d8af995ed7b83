//! The start and end of an XML file, and how an existing file is continued.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::config::SaveConfig;

const HEADER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
const START: &str = "<testResults>";
const END: &str = "</testResults>";

/// Appends the start of a new file.
pub(crate) fn head(config: &SaveConfig, out: &mut Vec<u8>) {
    out.extend_from_slice(HEADER.as_bytes());
    out.push(b'\n');
    if !config.xml_pi.is_empty() {
        out.extend_from_slice(config.xml_pi.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"<testResults version=\"1.2\">\n");
}

/// Appends the end of a file.
pub(crate) fn tail(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n</testResults>\n");
}

/// Removes the end tag of the file at `path`, so that elements can be appended. Returns false if the file has no end tag and
/// must be overwritten.
pub(crate) fn continued(path: &Path) -> io::Result<bool> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let Some(end) = end_of_samples(&mut file)? else { return Ok(false) };
    file.set_len(end)?;
    Ok(true)
}

/// The offset of the end tag; `None` if there is none.
fn end_of_samples(file: &mut File) -> io::Result<Option<u64>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() < (HEADER.len() + START.len() + END.len()) as u64 {
        return Ok(None);
    }
    // The last bytes of the file: enough for the end tag with a few line ends around it.
    let from = metadata.len() - (END.len() as u64 + 10);
    file.seek(SeekFrom::Start(from))?;
    let mut last = Vec::new();
    file.read_to_end(&mut last)?;
    let found = last.windows(END.len()).position(|bytes| bytes == END.as_bytes());
    Ok(found.map(|at| from + at as u64))
}
