//! The Raw Data Source PreProcessor of jmeter-plugins: reads a file of chunks, each preceded by a line with its length.
//!
//! All users share the file; each reads the next chunk. Reading blocks the user's core.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _};
use std::sync::{Mutex, PoisonError};

use busyhour_program::element::Processor;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Settings of a Raw Data Source.
#[derive(Clone, Debug, Default)]
pub struct RawRequestSourceSettings {
    /// `filename`: relative to the working directory.
    pub file_name: Template,
    /// `variable_name`: the variable to set to a chunk.
    pub variable: Template,
    /// `rewind`: start again at the end of the file; otherwise the user stops.
    pub rewinds: bool,
    /// `isHex`: store the bytes as hexadecimal digits instead of UTF-8 text.
    pub hex: bool,
}

/// The pre-processor.
#[derive(Debug)]
pub struct RawRequestSource {
    settings: RawRequestSourceSettings,
    /// The file. It is opened at the first use; later changes of the file name have no effect.
    file: Mutex<Option<BufReader<File>>>,
}

/// Why no chunk was read.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The end of the file, or a chunk of length 0.
    End,
    /// The file cannot be read, or its content is invalid.
    Invalid(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// Maximum size in bytes of the line with the length; the plugin's buffer has this size.
const LENGTH_LINE_MAX: usize = 1024;

impl RawRequestSource {
    /// Creates the Raw Data Source from its settings.
    #[must_use]
    pub fn new(settings: RawRequestSourceSettings) -> Self {
        Self { settings, file: Mutex::default() }
    }

    /// The file name, if it is constant and the file cannot be opened.
    pub fn missing_file(&self) -> Option<&str> {
        let name = self.settings.file_name.as_literal()?;
        File::open(name).is_err().then_some(name)
    }

    fn next_chunk(&self, file: &mut BufReader<File>, user: &mut UserState) -> Option<Vec<u8>> {
        let mut chunk = read_chunk(file);
        if chunk == Err(Failure::End) && self.settings.rewinds {
            chunk = file.rewind().map_err(Failure::from).and_then(|()| read_chunk(file));
        }
        match chunk {
            Ok(bytes) => return Some(bytes),
            Err(Failure::Invalid(why)) => {
                user.log(LogLevel::Error, &format!("Error reading next chunk: {why}"));
                user.abandon_sample("Error reading next chunk");
            }
            // The plugin would rewind a file without chunks repeatedly until Java ends the thread.
            Err(Failure::End) => {
                let name = self.settings.file_name.text(user).into_owned();
                user.log(LogLevel::Info, &format!("End of file reached: {name}"));
                user.running = false;
                user.abandon_sample("End of file reached");
            }
        }
        None
    }
}

impl Processor for RawRequestSource {
    fn process(&self, user: &mut UserState) {
        let mut shared = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.is_none() {
            let name = self.settings.file_name.text(user).into_owned();
            user.log(LogLevel::Info, &format!("Creating file object: {name}"));
            match File::open(&name) {
                Ok(file) => *shared = Some(BufReader::new(file)),
                Err(error) => user.log(LogLevel::Error, &format!("{name}: {error}")),
            }
        }
        // If the file cannot be opened, the sampler runs without a new value.
        let Some(file) = shared.as_mut() else { return };
        let Some(bytes) = self.next_chunk(file, user) else { return };
        drop(shared);
        let text = if self.settings.hex {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let variable = self.settings.variable.text(user).into_owned();
        user.variables.set(&variable, &text);
    }
}

fn read_chunk(file: &mut BufReader<File>) -> Result<Vec<u8>, Failure> {
    let length = read_length(file)?;
    if length == 0 {
        return Err(Failure::End);
    }
    let wanted =
        u64::try_from(length).map_err(|_| Failure::Invalid(format!("the length {length} is negative")))?;
    let mut bytes = Vec::new();
    let count = file.by_ref().take(wanted).read_to_end(&mut bytes)?;
    if count as u64 == wanted {
        return Ok(bytes);
    }
    let count = if count == 0 { "-1".to_owned() } else { count.to_string() };
    Err(Failure::Invalid(format!("Expected chunk size ({length}) differs from read bytes count ({count})")))
}

/// Reads the line with the length and skips empty lines before it.
fn read_length(file: &mut BufReader<File>) -> Result<i32, Failure> {
    let mut line = Vec::new();
    loop {
        match read_byte(file)? {
            b'\n' | b'\r' => {
                // As in the plugin, a line feed after `\n` or `\r` is part of the line end.
                match file.fill_buf()?.first() {
                    None => return Err(Failure::End),
                    Some(b'\n') => file.consume(1),
                    Some(_) => {}
                }
                if !line.is_empty() {
                    break;
                }
            }
            _ if line.len() == LENGTH_LINE_MAX => {
                return Err(Failure::Invalid("the line with the length is too long".to_owned()));
            }
            other => line.push(other),
        }
    }
    let line = String::from_utf8_lossy(&line);
    let line = busyhour_java::trim(&line);
    let word = line.split([' ', '\t', '\u{b}', '\u{c}']).next().unwrap_or_default();
    word.parse().map_err(|_| Failure::Invalid(format!("the length in {line:?} is not a number")))
}

fn read_byte(file: &mut BufReader<File>) -> Result<u8, Failure> {
    let byte = file.fill_buf()?.first().copied().ok_or(Failure::End)?;
    file.consume(1);
    Ok(byte)
}

#[cfg(test)]
mod tests {
    use busyhour_program::symbols::Symbols;

    use super::*;
    use crate::testing::user;

    /// The values of the variable after each of `passes` samples, and whether the user continues.
    fn chunks(content: &[u8], passes: usize, rewinds: bool, hex: bool) -> (Vec<String>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chunks.txt");
        std::fs::write(&path, content).expect("written");
        let source = RawRequestSource::new(RawRequestSourceSettings {
            file_name: Template::literal(path.to_str().expect("UTF-8")),
            variable: Template::literal("x"),
            rewinds,
            hex,
        });
        let mut user = user(&Symbols::default());
        let values = (0..passes)
            .map(|_| {
                user.variables.remove("x");
                source.process(&mut user);
                user.variables.get("x").unwrap_or("-").to_owned()
            })
            .collect();
        (values, user.running)
    }

    #[test]
    fn chunks_follow_their_lengths() {
        let content = b"\n\r\n5 first one\nab\ncd\n\n2\r\nxy3 \n\xffz\n\r0\n\n";
        assert_eq!(
            chunks(content, 4, false, false),
            (vec!["ab\ncd".into(), "xy".into(), "\u{fffd}z\n".into(), "-".into()], false)
        );
        assert_eq!(
            chunks(b"2\n\x01\xff", 3, true, true),
            (vec!["01ff".into(), "01ff".into(), "01ff".into()], true)
        );
    }

    #[test]
    fn an_invalid_chunk_skips_a_sample() {
        assert_eq!(chunks(b"9\nabc", 2, false, false), (vec!["-".into(), "-".into()], false));
        assert_eq!(chunks(b"x\n2\nab", 2, false, false), (vec!["-".into(), "ab".into()], true));
        assert_eq!(chunks(b"-1\n2\nab", 2, false, false), (vec!["-".into(), "ab".into()], true));
        assert_eq!(chunks(b"", 1, true, false), (vec!["-".into()], false));
    }
}
