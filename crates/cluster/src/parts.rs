//! Parts of files in messages, hashes of files, and paths that may come from another machine.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path};

use sha2::{Digest as _, Sha256};

use crate::messages::{FILE_PART_BYTES, FileFact};

/// The first byte of a message with a part of a file.
const PART: u8 = 1;

/// The first byte of a message with the reason why there is no part.
const REASON: u8 = 0;

/// Creates a directory that only its owner can read, because records can contain secrets.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Whether a path stays inside the directory to which it is relative.
pub(crate) fn is_inside(path: &str) -> bool {
    let mut components = Path::new(path).components();
    !path.is_empty() && components.all(|component| matches!(component, Component::Normal(_)))
}

/// The message with the part of a file that starts at `from`; at the end of the file, the part is empty.
pub(crate) fn part_message(path: &Path, from: u64) -> Vec<u8> {
    match read_part(path, from) {
        Ok(part) => {
            let mut message = vec![PART];
            // Records are compact already, but texts are not.
            message.extend(zstd::bulk::compress(&part, 1).unwrap_or_default());
            message
        }
        Err(error) => reason_message(&format!("cannot read {}: {error}", path.display())),
    }
}

/// The message that there is no part.
pub(crate) fn reason_message(reason: &str) -> Vec<u8> {
    [&[REASON], reason.as_bytes()].concat()
}

/// The part in a message.
///
/// # Errors
/// The message contains a reason, or is damaged.
pub(crate) fn part_of_message(message: &[u8]) -> Result<Vec<u8>, String> {
    match message.split_first() {
        Some((&PART, part)) => zstd::bulk::decompress(part, FILE_PART_BYTES)
            .map_err(|error| format!("a part is damaged: {error}")),
        Some((_, reason)) => Err(String::from_utf8_lossy(reason).into_owned()),
        None => Err("an empty answer".to_owned()),
    }
}

fn read_part(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut part = Vec::new();
    file.take(FILE_PART_BYTES as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// The length and hash of a file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn file_fact(dir: &Path, path: &str) -> io::Result<FileFact> {
    let (bytes, sha256) = hash(&dir.join(path))?;
    Ok(FileFact { path: path.to_owned(), bytes, sha256 })
}

/// The length and the hash of a file (SHA-256, hexadecimal).
///
/// # Errors
/// The file cannot be read.
pub(crate) fn hash(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let bytes = io::copy(&mut file, &mut digest)?;
    let hash = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((bytes, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_together_are_the_file() {
        let room = tempfile::tempdir().unwrap();
        let contents: Vec<u8> = (0..1_000_000_u32).map(|n| (n * 7 / 3) as u8).collect();
        std::fs::write(room.path().join("a"), &contents).unwrap();
        let mut read = Vec::new();
        loop {
            let part = part_of_message(&part_message(&room.path().join("a"), read.len() as u64)).unwrap();
            if part.is_empty() {
                break;
            }
            read.extend(part);
        }
        assert!(read == contents);
        let fact = file_fact(room.path(), "a").unwrap();
        assert_eq!((fact.bytes, fact.sha256.len()), (1_000_000, 64));
        let reason = part_of_message(&part_message(&room.path().join("b"), 0)).unwrap_err();
        assert!(reason.contains("cannot read"), "{reason}");
    }

    #[test]
    fn paths_cannot_leave_their_directory() {
        assert!(is_inside("data/users.csv"));
        for path in ["", "/etc/passwd", "../x", "a/../../x", "./a"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
