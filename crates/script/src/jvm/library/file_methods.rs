//! Further methods of files, and of `Files` and `FileUtils`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::{print, text_of, unknown};
use crate::Value;

fn io_exception(error: &std::io::Error) -> Fault {
    thrown("IOException", error.to_string())
}

fn file(path: std::path::PathBuf) -> V {
    V::object(Object::File(path))
}

/// Calls the methods of a file that `files` does not implement.
pub fn call(machine: &mut Machine<'_>, path: &Path, object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("withWriter" | "withWriterAppend" | "withPrintWriter", [_, closure @ V::Closure(_)]) => {
            machine.invoke(object, method, vec![closure.clone()])
        }
        ("deleteDir", []) => Ok(V::truth(fs::remove_dir_all(path).is_ok())),
        // Has no effect here: the file is not deleted.
        ("deleteOnExit", []) => Ok(V::NULL),
        ("renameTo", [V::Object(to)]) => match &**to {
            Object::File(to) => Ok(V::truth(fs::rename(path, to).is_ok())),
            _ => Err(unknown(object, method)),
        },
        ("canWrite", []) => Ok(V::truth(fs::metadata(path).is_ok_and(|data| !data.permissions().readonly()))),
        ("isAbsolute", []) => Ok(V::truth(path.is_absolute())),
        ("lastModified", []) => {
            let time = fs::metadata(path).and_then(|data| data.modified()).ok();
            let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            Ok(V::long(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))))
        }
        ("getAbsoluteFile" | "getCanonicalFile" | "toAbsolutePath", []) => {
            Ok(file(std::path::absolute(path).map_err(|error| io_exception(&error))?))
        }
        ("getFileName", []) => Ok(path.file_name().map_or(V::NULL, |name| file(name.into()))),
        ("resolve", [other]) => {
            let other = print::java(machine, other)?;
            Ok(file(path.join(other)))
        }
        ("eachFile", [closure @ V::Closure(_)]) => {
            let all = machine.invoke(object, "listFiles", Vec::new())?;
            machine.invoke(&all, "each", vec![closure.clone()])?;
            Ok(V::NULL)
        }
        _ => Err(unknown(object, method)),
    }
}

/// Implements `File.createTempFile(prefix, suffix)` and `File.createTempDir()`.
pub fn create_temporary(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let mut parts = Vec::new();
    for part in arguments.iter().take(2) {
        parts.push(if part.is_null() { None } else { Some(text_of(machine, part)?) });
    }
    let prefix = parts.first().cloned().flatten().unwrap_or_else(|| "groovy-generated-".to_owned());
    let default = if method == "createTempFile" { ".tmp" } else { "tmpdir-" };
    let suffix = parts.get(1).cloned().flatten().unwrap_or_else(|| default.to_owned());
    if method == "createTempFile" && prefix.chars().count() < 3 {
        let message = format!("Prefix string \"{prefix}\" too short: length must be at least 3");
        return Err(thrown("IllegalArgumentException", message));
    }
    if prefix.contains('/') || suffix.contains('/') {
        return Err(unsupported("a temporary file with a folder in its name"));
    }
    let folder = match arguments.get(2) {
        Some(V::Object(folder)) => match &**folder {
            Object::File(folder) => folder.clone(),
            _ => return Err(unsupported("a temporary file in this folder")),
        },
        _ => std::env::temp_dir(),
    };
    // Users may have equal random numbers. The counter prevents a user from reusing the name of a file that another user has
    // just deleted.
    static CREATED: AtomicU64 = AtomicU64::new(0);
    loop {
        let serial = CREATED.fetch_add(1, Ordering::Relaxed) << 32 | u64::from(std::process::id());
        let number = machine.scope.random_bits().wrapping_add(serial);
        let path = folder.join(format!("{prefix}{number}{suffix}"));
        let outcome = if method == "createTempFile" {
            fs::OpenOptions::new().write(true).create_new(true).open(&path).map(|_| ())
        } else {
            fs::create_dir(&path)
        };
        match outcome {
            Ok(()) => return Ok(file(path)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => machine.spend(100)?,
            Err(error) => return Err(io_exception(&error)),
        }
    }
}

/// Calls static methods of `Files`, such as `Files.write(path, bytes)`; `None` for other methods.
pub fn call_files(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    let appends = |rest: &[V]| rest.iter().any(|option| option.as_text() == Some("APPEND"));
    Some(match (method, arguments) {
        ("write" | "writeString", [path, content, rest @ ..]) => {
            let content = match content {
                V::List(_) => match machine.invoke(content, "join", vec![V::text("\n")]) {
                    Ok(joined) => V::text(joined.as_text().unwrap_or("").to_owned() + "\n"),
                    Err(fault) => return Some(Err(fault)),
                },
                content => content.clone(),
            };
            let method = match (appends(rest), content.as_bytes().is_some()) {
                (true, _) => "append",
                (false, true) => "setBytes",
                (false, false) => "write",
            };
            machine.invoke(path, method, vec![content]).map(|_| path.clone())
        }
        ("lines", [path, ..]) => machine.invoke(path, "readLines", Vec::new()),
        ("deleteIfExists", [path]) => machine.invoke(path, "delete", Vec::new()),
        ("createDirectories" | "createDirectory", [path, ..]) => {
            machine.invoke(path, "mkdirs", Vec::new()).map(|_| path.clone())
        }
        ("isDirectory" | "isRegularFile", [path, ..]) => {
            let method = if method == "isDirectory" { method } else { "isFile" };
            machine.invoke(path, method, Vec::new())
        }
        ("newBufferedReader", [path, ..]) => machine.invoke(path, "newReader", Vec::new()),
        _ => return None,
    })
}

/// Calls static methods of `FileUtils`, such as `FileUtils.write(file, text, charset, append)`; `None` for other methods.
pub fn call_file_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    Some(match (method, arguments) {
        ("write" | "writeByteArrayToFile", [file, content, rest @ ..]) => {
            let appends = matches!(rest.last(), Some(V::Plain(Value::Boolean(true))));
            let method = match (appends, content.as_bytes().is_some()) {
                (true, _) => "append",
                (false, true) => "setBytes",
                (false, false) => "write",
            };
            machine.invoke(file, method, vec![content.clone()])
        }
        ("readFileToByteArray", [file]) => machine.invoke(file, "getBytes", Vec::new()),
        ("deleteQuietly", [file]) => machine.invoke(file, "delete", Vec::new()),
        ("deleteDirectory", [file]) => machine.invoke(file, "deleteDir", Vec::new()).map(|_| V::NULL),
        ("forceMkdir", [file]) => machine.invoke(file, "mkdirs", Vec::new()).map(|_| V::NULL),
        ("getFile", parts) => {
            let mut path = std::path::PathBuf::new();
            for part in parts {
                path.push(part.as_text().unwrap_or(""));
            }
            Ok(file(path))
        }
        _ => return None,
    })
}
