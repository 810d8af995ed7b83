//! The begin and the end of an XML file, and how a file that has an end is continued.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::config::SaveConfig;

const HEADER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
const START: &str = "<testResults>";
const END: &str = "</testResults>";

/// What a new file begins with.
pub(crate) fn head(config: &SaveConfig, out: &mut Vec<u8>) {
    out.extend_from_slice(HEADER.as_bytes());
    out.push(b'\n');
    if !config.xml_pi.is_empty() {
        out.extend_from_slice(config.xml_pi.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"<testResults version=\"1.2\">\n");
}

/// What every file ends with.
pub(crate) fn tail(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n</testResults>\n");
}

/// Takes the end of the file at `path` off, so that it can go on; false when there is none: the file is to begin anew.
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

/// Where the end tag begins.
fn end_of_samples(file: &mut File) -> io::Result<Option<u64>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() < (HEADER.len() + START.len() + END.len()) as u64 {
        return Ok(None);
    }
    // The end tag with a few line ends around it.
    let from = metadata.len() - (END.len() as u64 + 10);
    file.seek(SeekFrom::Start(from))?;
    let mut last = Vec::new();
    file.read_to_end(&mut last)?;
    let found = last.windows(END.len()).position(|bytes| bytes == END.as_bytes());
    Ok(found.map(|at| from + at as u64))
}
