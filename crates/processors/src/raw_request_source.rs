//! Raw Data Source PreProcessor (jmeter-plugins): pieces of a file, each behind a line with its length.
//!
//! All users share the file and read on where the last one stopped. It is read while its user waits.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _};
use std::sync::{Mutex, PoisonError};

use busyhour_program::element::Processor;
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Settings of a Raw Data Source.
#[derive(Clone, Debug, Default)]
pub struct RawRequestSourceSettings {
    /// `filename`: relative to the working directory.
    pub file_name: Template,
    /// `variable_name`: the variable that gets a piece.
    pub variable: Template,
    /// `rewind`: begin again at the file's end; the user stops otherwise.
    pub rewinds: bool,
    /// `isHex`: bytes as hexadecimal digits; as UTF-8 otherwise.
    pub hex: bool,
}

/// The pre-processor.
#[derive(Debug)]
pub struct RawRequestSource {
    settings: RawRequestSourceSettings,
    /// Opened at the first use, under the name it has then.
    file: Mutex<Option<BufReader<File>>>,
}

/// Why there is no piece.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The end of the file, or a piece of length 0.
    End,
    /// What is there is no piece.
    Wrong(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Wrong(error.to_string())
    }
}

/// The plugin's buffer for the line with the length, in bytes.
const LENGTH_LINE_MAX: usize = 1024;

impl RawRequestSource {
    /// Takes a Raw Data Source out of the plan.
    #[must_use]
    pub fn new(settings: RawRequestSourceSettings) -> Self {
        Self { settings, file: Mutex::default() }
    }

    /// The file's name, when it does not vary and the file cannot be read.
    pub fn missing_file(&self) -> Option<&str> {
        let name = self.settings.file_name.as_literal()?;
        File::open(name).is_err().then_some(name)
    }

    fn next(&self, file: &mut BufReader<File>, user: &mut UserState) -> Option<Vec<u8>> {
        let mut found = piece(file);
        if found == Err(Failure::End) && self.settings.rewinds {
            found = file.rewind().map_err(Failure::from).and_then(|()| piece(file));
        }
        match found {
            Ok(bytes) => return Some(bytes),
            Err(Failure::Wrong(why)) => {
                user.log(Level::Error, &format!("Error reading next chunk: {why}"));
                user.abandon_sample("Error reading next chunk");
            }
            // Where there is nothing after going back, either, the plugin goes back until Java gives its thread up.
            Err(Failure::End) => {
                let name = self.settings.file_name.text(user).into_owned();
                user.log(Level::Info, &format!("End of file reached: {name}"));
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
            user.log(Level::Info, &format!("Creating file object: {name}"));
            match File::open(&name) {
                Ok(file) => *shared = Some(BufReader::new(file)),
                Err(error) => user.log(Level::Error, &format!("{name}: {error}")),
            }
        }
        // Without a file the sample is made all the same.
        let Some(file) = shared.as_mut() else { return };
        let Some(bytes) = self.next(file, user) else { return };
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

fn piece(file: &mut BufReader<File>) -> Result<Vec<u8>, Failure> {
    let length = length(file)?;
    if length == 0 {
        return Err(Failure::End);
    }
    let wanted =
        u64::try_from(length).map_err(|_| Failure::Wrong(format!("the length {length} is negative")))?;
    let mut bytes = Vec::new();
    let count = file.by_ref().take(wanted).read_to_end(&mut bytes)?;
    if count as u64 == wanted {
        return Ok(bytes);
    }
    let count = if count == 0 { "-1".to_owned() } else { count.to_string() };
    Err(Failure::Wrong(format!("Expected chunk size ({length}) differs from read bytes count ({count})")))
}

/// Reads the line with the length; line ends before it are passed over.
fn length(file: &mut BufReader<File>) -> Result<i32, Failure> {
    let mut line = Vec::new();
    loop {
        match byte(file)? {
            b'\n' | b'\r' => {
                // A line feed behind either belongs to it.
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
                return Err(Failure::Wrong("the line with the length is too long".to_owned()));
            }
            other => line.push(other),
        }
    }
    let line = String::from_utf8_lossy(&line);
    let line = busyhour_java::trim(&line);
    let word = line.split([' ', '\t', '\u{b}', '\u{c}']).next().unwrap_or_default();
    word.parse().map_err(|_| Failure::Wrong(format!("the length in {line:?} is no number")))
}

fn byte(file: &mut BufReader<File>) -> Result<u8, Failure> {
    let byte = file.fill_buf()?.first().copied().ok_or(Failure::End)?;
    file.consume(1);
    Ok(byte)
}

#[cfg(test)]
mod tests {
    use busyhour_program::symbols::Symbols;

    use super::*;
    use crate::testing::user;

    /// The values of the variable in the given number of passes, and whether the user continues.
    fn pieces(content: &[u8], passes: usize, rewinds: bool, hex: bool) -> (Vec<String>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pieces.txt");
        std::fs::write(&path, content).expect("written");
        let source = RawRequestSource::new(RawRequestSourceSettings {
            file_name: Template::literal(path.to_str().expect("UTF-8")),
            variable: Template::literal("x"),
            rewinds,
            hex,
        });
        let mut user = user(&Symbols::default());
        let seen = (0..passes)
            .map(|_| {
                user.variables.remove("x");
                source.process(&mut user);
                user.variables.get("x").unwrap_or("-").to_owned()
            })
            .collect();
        (seen, user.running)
    }

    #[test]
    fn pieces_follow_their_lengths() {
        let content = b"\n\r\n5 first one\nab\ncd\n\n2\r\nxy3 \n\xffz\n\r0\n\n";
        assert_eq!(
            pieces(content, 4, false, false),
            (vec!["ab\ncd".into(), "xy".into(), "\u{fffd}z\n".into(), "-".into()], false)
        );
        assert_eq!(
            pieces(b"2\n\x01\xff", 3, true, true),
            (vec!["01ff".into(), "01ff".into(), "01ff".into()], true)
        );
    }

    #[test]
    fn what_is_wrong_leaves_a_sample_out() {
        assert_eq!(pieces(b"9\nabc", 2, false, false), (vec!["-".into(), "-".into()], false));
        assert_eq!(pieces(b"x\n2\nab", 2, false, false), (vec!["-".into(), "ab".into()], true));
        assert_eq!(pieces(b"-1\n2\nab", 2, false, false), (vec!["-".into(), "ab".into()], true));
        assert_eq!(pieces(b"", 1, true, false), (vec!["-".into()], false));
    }
}
