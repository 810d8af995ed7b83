//! The functions `__FileToString`, `__StringFromFile` and `__StringToFile`.
//!
//! File access blocks the core that runs the user (in JMeter: the user's thread). This is acceptable because such files are
//! small and cached by the operating system.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_java::format::DecimalFormat;
use busyhour_java::{parse_boolean, trim};
use busyhour_limits::files::{TEXT_FILE_BYTES, open_regular, read_in_run};
use busyhour_program::ElementError;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, Target, with_text};

/// JMeter's result for a file that cannot be read.
const ERROR: &str = "**ERR**";

/// Encodings that can be read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
}

fn find_encoding(name: &str) -> Option<Encoding> {
    match name.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" => Some(Encoding::Utf8),
        "us-ascii" | "ascii" => Some(Encoding::Ascii),
        "iso-8859-1" | "iso8859-1" | "iso8859_1" | "latin1" => Some(Encoding::Latin1),
        _ => None,
    }
}

/// Rejects a constant encoding that is not supported.
fn check_encoding(arguments: &Arguments<'_, '_>, index: usize) -> Result<(), crate::Problem> {
    match arguments.literal(index).map(trim).filter(|name| !name.is_empty() && find_encoding(name).is_none())
    {
        Some(name) => Err(arguments.unsupported(format!("the encoding {name:?} is not supported"), "")),
        None => Ok(()),
    }
}

#[derive(Debug)]
struct FileToString {
    file: Template,
    encoding: Option<Template>,
    target: Target,
}

/// Builds `${__FileToString(file, encoding, variable)}`.
pub(crate) fn file_to_string(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    check_encoding(arguments, 1)?;
    let (encoding, target) = (arguments.optional(1), arguments.target(2));
    Ok(Arc::new(FileToString { file: arguments.take(0), encoding, target }))
}

impl Function for FileToString {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let name = self.encoding.as_ref().map(|name| name.text(user).into_owned()).unwrap_or_default();
        let name = trim(&name);
        let encoding = if name.is_empty() { Some(Encoding::Utf8) } else { find_encoding(name) };
        with_text(&self.file, user, |user, file| {
            match (read_in_run(Path::new(file), TEXT_FILE_BYTES), encoding) {
                (Ok(bytes), Some(Encoding::Utf8)) => out.push_str(&String::from_utf8_lossy(&bytes)),
                (Ok(bytes), Some(Encoding::Latin1)) => out.extend(bytes.iter().map(|&byte| char::from(byte))),
                (Ok(bytes), Some(Encoding::Ascii)) => {
                    out.extend(
                        bytes.iter().map(|&byte| if byte < 128 { char::from(byte) } else { '\u{fffd}' }),
                    );
                }
                (Ok(_), None) => {
                    user.log(
                        LogLevel::Error,
                        &format!("Could not read file: {file}: the encoding {name} is not supported"),
                    );
                    out.push_str(ERROR);
                }
                (Err(error), _) => {
                    user.log(LogLevel::Warn, &format!("Could not read file: {file} {error}"));
                    out.push_str(ERROR);
                }
            }
        });
        self.target.store(user, &out[start..]);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reading position of a `__StringFromFile` call, which all users share.
#[derive(Debug, Default)]
struct ReadPosition {
    /// Whether the first file was opened, successfully or not.
    has_started: bool,
    reader: Option<BufReader<File>>,
    /// Number of the next file in a sequence of files.
    next_file: Option<i32>,
    last_file: Option<i32>,
}

#[derive(Debug)]
struct StringFromFile {
    file: Template,
    first: Option<Template>,
    last: Option<Template>,
    target: Target,
    position: Mutex<ReadPosition>,
}

/// Builds `${__StringFromFile(file, variable, first, last)}`, which returns the next line and starts again after the last line.
/// With `first`, the file name is a pattern for a sequence of files numbered from `first` to `last`.
pub(crate) fn string_from_file(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let (first, last) = (arguments.optional(2), arguments.optional(3));
    let target = if arguments.count >= 2 {
        arguments.target(1)
    } else {
        Target::Named { name: Template::literal("StringFromFile_"), trimmed: false }
    };
    let file = arguments.take(0);
    Ok(Arc::new(StringFromFile { file, first, last, target, position: Mutex::default() }))
}

impl StringFromFile {
    fn open(&self, user: &mut UserState, position: &mut ReadPosition) {
        position.reader = None;
        let mut file = self.file.text(user).into_owned();
        let number = |user: &mut UserState, template: &Option<Template>, role: &str| {
            let text = template.as_ref()?.text(user).into_owned();
            let number = text.parse().ok();
            if number.is_none() {
                user.log(
                    LogLevel::Warn,
                    &format!("Exception parsing {text} as int, value will not be considered as {role}"),
                );
            }
            // JMeter uses −2 for a missing number.
            number.filter(|&number: &i32| number != -2)
        };
        let first = number(user, &self.first, "Start Number sequence");
        let current = *position.next_file.get_or_insert(first.unwrap_or(1));
        position.last_file = number(user, &self.last, "End Number sequence");
        if self.first.is_some() {
            if position.last_file.is_some_and(|last| current > last) {
                user.log(LogLevel::Info, "No more files to process");
                return;
            }
            if first.is_some() {
                match DecimalFormat::new(&file) {
                    Ok(format) => {
                        file.clear();
                        format.format_integer(i64::from(current), &mut file);
                    }
                    Err(message) => user.log(LogLevel::Warn, &format!("Bad file name format {message}")),
                }
            }
            position.next_file = Some(current.wrapping_add(1));
        }
        match open_regular(Path::new(&file)) {
            Ok(opened) => position.reader = Some(BufReader::new(opened)),
            Err(error) => user.log(LogLevel::Error, &format!("openFile() error: {file}: {error}")),
        }
    }

    /// Appends the next line, or JMeter's text for an error. Returns `false` at the end of a sequence of files.
    fn append_next(&self, user: &mut UserState, out: &mut String) -> bool {
        let mut position = lock(&self.position);
        if !position.has_started {
            position.has_started = true;
            self.open(user, &mut position);
        }
        for attempt in 0..2 {
            let Some(reader) = &mut position.reader else {
                return position.last_file.is_none() && {
                    out.push_str(ERROR);
                    true
                };
            };
            match read_line(reader, out) {
                Ok(true) => return true,
                Ok(false) if attempt == 0 => self.open(user, &mut position),
                Ok(false) => {
                    // The file is empty: JMeter returns Java's null as text.
                    out.push_str("null");
                    return true;
                }
                Err(error) => {
                    user.log(LogLevel::Error, &format!("error reading file {error}"));
                    out.push_str(ERROR);
                    return true;
                }
            }
        }
        true
    }
}

/// Appends a line without its terminator. Returns `false` at the end of the file.
fn read_line(reader: &mut BufReader<File>, out: &mut String) -> std::io::Result<bool> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(false);
    }
    while bytes.last().is_some_and(|&byte| byte == b'\n' || byte == b'\r') {
        bytes.pop();
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
    Ok(true)
}

impl Function for StringFromFile {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        if self.append_next(user, out) {
            self.target.store(user, &out[start..]);
        } else {
            user.log(LogLevel::Info, "Detected end of sequence.");
            user.running = false;
        }
    }
}

#[derive(Debug)]
struct StringToFile {
    file: Template,
    text: Template,
    append: Option<Template>,
    encoding: Option<Template>,
    /// Serializes the writes of all users that evaluate this call. Texts that other calls append to the same file do
    /// not interleave with them, because each text is written with one call.
    write_lock: Mutex<()>,
}

/// Builds `${__StringToFile(file, text, whether to append, encoding)}`.
pub(crate) fn string_to_file(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    check_encoding(arguments, 3)?;
    let (append, encoding) = (arguments.optional(2), arguments.optional(3));
    let (file, text) = (arguments.take(0), arguments.take(1));
    Ok(Arc::new(StringToFile { file, text, append, encoding, write_lock: Mutex::new(()) }))
}

impl StringToFile {
    fn write(&self, user: &mut UserState) -> Result<(), ElementError> {
        let file = self.file.text(user).into_owned();
        let file = trim(&file);
        let text = self.text.text(user).replace("\\n", "\n");
        let append = match &self.append {
            Some(append) => {
                with_text(append, user, |_, append| trim(append).is_empty() || parse_boolean(trim(append)))
            }
            None => true,
        };
        let name = self.encoding.as_ref().map(|name| name.text(user).into_owned()).unwrap_or_default();
        let encoding = if name.is_empty() {
            Encoding::Utf8
        } else {
            find_encoding(&name).ok_or(format!("unsupported encoding {name}"))?
        };
        if file.is_empty() {
            return Err("the file name is empty".into());
        }
        let bytes: Vec<u8> = match encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Ascii => {
                text.chars().map(|c| u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(b'?')).collect()
            }
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
        };
        let _guard = lock(&self.write_lock);
        let opened = File::options().create(true).write(true).append(append).truncate(!append).open(file);
        opened
            .and_then(|mut opened| opened.write_all(&bytes))
            .map_err(|error| format!("{file}: {error}").into())
    }
}

impl Function for StringToFile {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        match self.write(user) {
            Ok(()) => out.push_str("true"),
            Err(message) => {
                user.log(LogLevel::Error, &format!("__StringToFile: {message}"));
                out.push_str("false");
            }
        }
    }
}
