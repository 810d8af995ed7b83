//! Files, readers and writers. Files are read as a whole; writers write when they are flushed or closed.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;

use busyhour_limits::files::read_in_run;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::objects::Sink;
use super::super::operators::pattern_of;
use super::super::value::V;
use super::{encode, lists, print, unknown};

/// Maximum size of a file that a script may read, in bytes.
const BYTES_MAX: u64 = 16 << 20;

fn io_exception(path: &Path, error: &std::io::Error) -> Fault {
    let class =
        if error.kind() == std::io::ErrorKind::NotFound { "FileNotFoundException" } else { "IOException" };
    let what = if class == "FileNotFoundException" {
        "(No such file or directory)".to_owned()
    } else {
        error.to_string()
    };
    thrown(class, format!("{} {what}", path.display()))
}

pub fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    read_in_run(path, BYTES_MAX).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            unsupported(format!("a file of more than {} MiB", BYTES_MAX >> 20))
        }
        _ => io_exception(path, &error),
    })
}

pub fn text(path: &Path) -> Result<String, Fault> {
    Ok(String::from_utf8_lossy(&bytes(path)?).into_owned())
}

fn lines(text: &str) -> VecDeque<String> {
    text.lines().map(str::to_owned).collect()
}

fn reader_of_lines(class: Class, lines: VecDeque<String>) -> V {
    V::object(Object::Reader(class, Rc::new(RefCell::new(lines))))
}

/// Creates a reader of a string.
pub fn reader_of_text(class: Class, text: &str) -> V {
    reader_of_lines(class, lines(text))
}

/// Creates a reader of a file, which is a `File` or a path.
pub fn reader_of(class: Class, value: &V) -> Outcome {
    let found = match value {
        V::Object(object) => match &**object {
            Object::File(path) => lines(&text(path)?),
            _ => return Err(unsupported(format!("`new {}` of {}", class.name(), value.kind()))),
        },
        other => match other.as_text() {
            Some(path) => lines(&text(Path::new(path))?),
            None => return Err(unsupported(format!("`new {}` of {}", class.name(), value.kind()))),
        },
    };
    Ok(reader_of_lines(class, found))
}

/// The exception for a constructor that does not accept the argument.
fn no_matching_constructor(machine: &mut Machine<'_>, class: Class, given: &V) -> Fault {
    let given = super::super::missing::class_name(given);
    let name = class.qualified_name();
    let message = format!("Could not find matching constructor for: {name}({given})");
    thrown(if machine.groovy() { "GroovyRuntimeException" } else { "RuntimeException" }, message)
}

/// Creates a reader around another reader. It continues at the other's position.
pub fn reader_around(machine: &mut Machine<'_>, class: Class, value: &V) -> Outcome {
    match value {
        V::Object(object) => match &**object {
            Object::Reader(_, lines) => Ok(V::object(Object::Reader(class, lines.clone()))),
            Object::Library(instance) if instance.bytes().is_some() => {
                let text = machine.invoke(value, "getText", Vec::new())?;
                Ok(reader_of_text(class, text.as_text().unwrap_or("")))
            }
            _ => Err(no_matching_constructor(machine, class, value)),
        },
        V::Plain(crate::Value::Null) => Err(thrown("NullPointerException", "the reader is null")),
        _ => Err(no_matching_constructor(machine, class, value)),
    }
}

/// Creates a writer that stores its text in memory.
pub fn writer_to_memory(class: Class) -> V {
    let sink = Sink { path: None, open: true.into(), written: RefCell::default() };
    V::object(Object::Writer(class, Rc::new(sink)))
}

/// Creates a writer around another writer.
pub fn writer_around(machine: &mut Machine<'_>, class: Class, value: &V) -> Outcome {
    match value {
        V::Object(object) => match &**object {
            Object::Writer(_, sink) => Ok(V::object(Object::Writer(class, sink.clone()))),
            _ => Err(no_matching_constructor(machine, class, value)),
        },
        V::Plain(crate::Value::Null) => Err(thrown("NullPointerException", "the writer is null")),
        _ => Err(no_matching_constructor(machine, class, value)),
    }
}

/// Creates a writer to a file, which is truncated unless `append` is set, or to another writer.
pub fn writer_of(class: Class, value: &V, append: bool) -> Outcome {
    let refused = || unsupported(format!("`new {}` of {}", class.name(), value.kind()));
    let path = match value {
        V::Object(object) => match &**object {
            Object::File(path) => path.clone(),
            Object::Writer(_, sink) => return Ok(V::object(Object::Writer(class, sink.clone()))),
            _ => return Err(refused()),
        },
        other => match other.as_text() {
            Some(path) => path.into(),
            None => return Err(refused()),
        },
    };
    let open = fs::OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(&path);
    open.map_err(|error| io_exception(&path, &error))?;
    let sink = Sink { path: Some(path), open: true.into(), written: RefCell::default() };
    Ok(V::object(Object::Writer(class, Rc::new(sink))))
}

fn append(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| io_exception(path, &error))?;
    file.write_all(bytes).map_err(|error| io_exception(path, &error))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    fs::write(path, bytes).map_err(|error| io_exception(path, &error))
}

pub fn call_file(
    machine: &mut Machine<'_>,
    path: &Path,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let name = || path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    match (method, arguments) {
        ("exists", []) => Ok(V::truth(path.exists())),
        ("isFile", []) => Ok(V::truth(path.is_file())),
        ("isDirectory", []) => Ok(V::truth(path.is_dir())),
        ("canRead", []) => Ok(V::truth(fs::File::open(path).is_ok())),
        ("length" | "size", []) => Ok(V::long(fs::metadata(path).map_or(0, |data| data.len() as i64))),
        ("getName", []) => Ok(V::text(name())),
        ("getPath", []) => Ok(V::text(path.display().to_string())),
        ("getAbsolutePath" | "getCanonicalPath", []) => {
            let absolute = std::path::absolute(path).map_err(|error| io_exception(path, &error))?;
            Ok(V::text(absolute.display().to_string()))
        }
        ("getParent", []) => Ok(V::text_or_null(path.parent().map(|path| path.display().to_string()))),
        ("getParentFile", []) => {
            Ok(path.parent().map_or(V::NULL, |path| V::object(Object::File(path.into()))))
        }
        ("toPath" | "toFile", []) => Ok(object.clone()),
        ("delete", []) => Ok(V::truth(fs::remove_file(path).is_ok())),
        ("mkdir", []) => Ok(V::truth(fs::create_dir(path).is_ok())),
        ("mkdirs", []) => Ok(V::truth(!path.exists() && fs::create_dir_all(path).is_ok())),
        ("createNewFile", []) => {
            let made = fs::OpenOptions::new().write(true).create_new(true).open(path);
            match made {
                Ok(_) => Ok(V::truth(true)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(V::truth(false)),
                Err(error) => Err(io_exception(path, &error)),
            }
        }
        _ => call_content(machine, path, object, method, arguments),
    }
}

/// Calls methods that read or write a file's content.
fn call_content(
    machine: &mut Machine<'_>,
    path: &Path,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("getText", rest) => {
            let bytes = bytes(path)?;
            let charset = rest.first().and_then(V::as_text).unwrap_or("UTF-8");
            let text = encode::decode_text(&bytes, charset)?;
            machine.spend_text(text.len())?;
            Ok(V::text(text))
        }
        ("getBytes" | "readBytes", []) => {
            let bytes = bytes(path)?;
            machine.spend(bytes.len())?;
            Ok(V::bytes(&bytes))
        }
        ("readLines", _) => {
            let text = text(path)?;
            machine.spend_text(text.len())?;
            Ok(V::list(text.lines().map(V::text).collect()))
        }
        // The lines of files and readers are numbered from 1, those of strings from 0.
        ("eachLine", [closure @ V::Closure(_)]) => {
            let text = text(path)?;
            lists::each_line(machine, text.lines(), 1, closure)
        }
        ("eachLine", [V::Plain(crate::Value::Integer(first)), closure @ V::Closure(_)]) => {
            let text = text(path)?;
            lists::each_line(machine, text.lines(), i64::from(*first), closure)
        }
        ("splitEachLine", [pattern, closure @ V::Closure(_)]) => {
            let (text, pattern) = (text(path)?, pattern_of(machine, pattern)?);
            lists::split_each_line(machine, text.lines(), &pattern, closure)
        }
        ("setText" | "write", [value, ..]) => {
            let text = print::groovy(machine, value)?;
            replace(path, text.as_bytes())?;
            Ok(V::NULL)
        }
        ("append" | "leftShift", [value, ..]) => {
            let bytes = match value.as_bytes() {
                Some(bytes) => bytes,
                None => print::groovy(machine, value)?.into_bytes(),
            };
            append(path, &bytes)?;
            Ok(if method == "leftShift" { object.clone() } else { V::NULL })
        }
        ("setBytes", [value]) => {
            replace(path, &value.as_bytes().ok_or_else(|| unknown(object, method))?)?;
            Ok(V::NULL)
        }
        ("list" | "listFiles", []) => {
            let Ok(entries) = fs::read_dir(path) else { return Ok(V::NULL) };
            let mut names: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            names.sort();
            let make = |path: std::path::PathBuf| {
                if method == "list" {
                    V::text(
                        path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned()),
                    )
                } else {
                    V::object(Object::File(path))
                }
            };
            Ok(V::array(names.into_iter().map(make).collect(), super::super::tree::Base::Any))
        }
        ("newReader", _) => reader_of(Class::known("BufferedReader"), object),
        ("newWriter", rest) => writer_of(
            Class::known("BufferedWriter"),
            object,
            matches!(rest.last(), Some(V::Plain(crate::Value::Boolean(true)))),
        ),
        ("withWriter" | "withWriterAppend" | "withPrintWriter", [closure @ V::Closure(_)]) => {
            let class =
                Class::known(if method == "withPrintWriter" { "PrintWriter" } else { "BufferedWriter" });
            let writer = writer_of(class, object, method == "withWriterAppend")?;
            let value = machine.call_value(closure, vec![writer.clone()]);
            machine.invoke(&writer, "close", Vec::new())?;
            value
        }
        ("withReader", [closure @ V::Closure(_)]) => {
            let reader = reader_of(Class::known("BufferedReader"), object)?;
            machine.call_value(closure, vec![reader])
        }
        _ => super::file_methods::call(machine, path, object, method, arguments),
    }
}

pub fn call_writer(
    machine: &mut Machine<'_>,
    inner: &Rc<Object>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let Object::Writer(_, sink) = &**inner else { return Err(unknown(object, method)) };
    let Sink { path, open, written } = &**sink;
    let flush = || match path {
        Some(path) => append(path, &std::mem::take(&mut *written.borrow_mut())),
        None => Ok(()),
    };
    match (method, arguments) {
        ("write" | "append" | "print" | "println" | "leftShift", rest @ ([] | [_])) => {
            if !open.get() {
                return Err(thrown("IOException", "Stream closed"));
            }
            let bytes = match rest.first() {
                None => Vec::new(),
                Some(V::Plain(crate::Value::Integer(code))) if method == "write" => {
                    char::from_u32(*code as u32).unwrap_or('?').to_string().into_bytes()
                }
                Some(value) => match value.as_bytes() {
                    Some(bytes) => bytes,
                    None => print::groovy(machine, value)?.into_bytes(),
                },
            };
            machine.spend_text(written.borrow().len() + bytes.len())?;
            written.borrow_mut().extend(bytes);
            if method == "println" {
                written.borrow_mut().push(b'\n');
            }
            Ok(if matches!(method, "append" | "leftShift") { object.clone() } else { V::NULL })
        }
        ("write", [bytes, from, len]) if bytes.as_bytes().is_some() => {
            let bytes = bytes.as_bytes().unwrap_or_default();
            let at = |value: &V| usize::try_from(value.as_long().unwrap_or(0)).unwrap_or(0);
            let (from, len) = (at(from), at(len));
            machine.spend_text(written.borrow().len() + bytes.len())?;
            let part = bytes.get(from..from.saturating_add(len)).unwrap_or_default();
            written.borrow_mut().extend_from_slice(part);
            Ok(V::NULL)
        }
        ("writeBytes", [text]) => {
            let text = print::java(machine, text)?;
            machine.spend_text(written.borrow().len() + text.len())?;
            written.borrow_mut().extend(text.chars().map(|character| character as u32 as u8));
            Ok(V::NULL)
        }
        ("withWriter" | "withPrintWriter", [_, closure @ V::Closure(_)]) => {
            machine.invoke(object, "withWriter", vec![closure.clone()])
        }
        ("printf" | "format", [pattern, rest @ ..]) => {
            let pattern = print::groovy(machine, pattern)?;
            let text = super::format::format(machine, &pattern, rest)?;
            written.borrow_mut().extend(text.into_bytes());
            Ok(object.clone())
        }
        ("newLine" | "writeLine", rest) => {
            if let Some(value) = rest.first() {
                let text = print::groovy(machine, value)?;
                written.borrow_mut().extend(text.into_bytes());
            }
            written.borrow_mut().push(b'\n');
            Ok(V::NULL)
        }
        ("withStream" | "withWriter" | "withPrintWriter" | "withCloseable", [closure @ V::Closure(_)]) => {
            let value = machine.call_value(closure, vec![object.clone()]);
            machine.invoke(object, "close", Vec::new())?;
            value
        }
        ("getBuffer", []) if path.is_none() => {
            let text = String::from_utf8_lossy(&written.borrow()).into_owned();
            Ok(V::object(Object::Builder(RefCell::new(text), Class::known("StringBuffer"))))
        }
        ("flush", []) => {
            flush()?;
            Ok(V::NULL)
        }
        ("close", []) => {
            if open.replace(false) {
                flush()?;
            }
            Ok(V::NULL)
        }
        _ => Err(unknown(object, method)),
    }
}

pub fn call_reader(
    machine: &mut Machine<'_>,
    rest: &RefCell<VecDeque<String>>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    match (method, arguments) {
        ("readLine", []) => Ok(V::text_or_null(rest.borrow_mut().pop_front())),
        ("readLines" | "lines", []) => Ok(V::list(rest.take().into_iter().map(V::text).collect())),
        ("getText", []) => {
            let lines: Vec<String> = rest.take().into();
            Ok(V::text(lines.join("\n")))
        }
        ("eachLine", [closure @ V::Closure(_)]) => {
            lists::each_line(machine, rest.take().into_iter(), 1, closure)
        }
        ("splitEachLine", [pattern, closure @ V::Closure(_)]) => {
            let pattern = pattern_of(machine, pattern)?;
            lists::split_each_line(machine, rest.take().into_iter(), &pattern, closure)
        }
        ("ready", []) => Ok(V::truth(!rest.borrow().is_empty())),
        ("close", []) => Ok(V::NULL),
        _ => Err(unknown(object, method)),
    }
}
