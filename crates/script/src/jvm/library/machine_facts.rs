//! Classes about the computer and the process, and locks, which never block because users do not share them.

use std::cell::Cell;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{print, text_of, unknown};
use crate::Scope;

const LOCK_METHODS: &str = "lock unlock tryLock isLocked lockInterruptibly readLock writeLock countDown getCount await acquire \
                    release tryAcquire availablePermits";

const fn lock(class: &'static str) -> LibraryClass {
    LibraryClass {
        class,
        statics: "",
        constructor_arguments: Some((0, 2)),
        methods: LOCK_METHODS,
        call_static: no_static_method,
        construct: |_, given| {
            let count = given.first().and_then(V::as_long).unwrap_or(0);
            Ok(V::object(Object::Library(Box::new(Lock(Cell::new(count))))))
        },
    }
}

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    lock("ReentrantLock"),
    lock("ReentrantReadWriteLock"),
    lock("CountDownLatch"),
    lock("Semaphore"),
    LibraryClass {
        class: "Runtime",
        statics: "getRuntime",
        constructor_arguments: None,
        methods: "availableProcessors totalMemory freeMemory maxMemory gc",
        call_static: |_, _, _| Ok(V::object(Object::Library(Box::new(JavaRuntime)))),
        construct: no_constructor,
    },
    LibraryClass {
        class: "InetAddress",
        statics: "getLocalHost getByName getLoopbackAddress",
        constructor_arguments: None,
        methods: "getHostName getHostAddress getCanonicalHostName",
        call_static: call_inet_address,
        construct: no_constructor,
    },
    LibraryClass {
        class: "GroovySystem",
        statics: "getVersion getShortVersion",
        constructor_arguments: None,
        methods: "",
        call_static: |_, method, _| Ok(V::text(if method == "getVersion" { "3.0.20" } else { "3.0" })),
        construct: no_constructor,
    },
    LibraryClass {
        class: "StringJoiner",
        statics: "",
        constructor_arguments: Some((1, 3)),
        methods: "add length setEmptyValue",
        call_static: no_static_method,
        construct: |machine, given| {
            let mut parts = Vec::new();
            for part in given {
                parts.push(text_of(machine, part)?);
            }
            let mut parts = parts.into_iter();
            let mut next = || parts.next().unwrap_or_default();
            let joiner =
                Joiner { separator: next(), prefix: next(), suffix: next(), parts: Default::default() };
            Ok(V::object(Object::Library(Box::new(joiner))))
        },
    },
];

/// A lock, latch or semaphore with its count.
#[derive(Debug)]
struct Lock(Cell<i64>);

impl Instance for Lock {
    fn class(&self) -> Class {
        Class::known("ReentrantLock")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("lock" | "unlock" | "lockInterruptibly", []) => Ok(V::NULL),
            ("release" | "acquire", []) => {
                self.0.set(self.0.get() + if method == "release" { 1 } else { -1 });
                Ok(V::NULL)
            }
            ("tryLock" | "tryAcquire", _) => Ok(V::truth(true)),
            ("isLocked", []) => Ok(V::truth(false)),
            ("readLock" | "writeLock", []) => Ok(object.clone()),
            ("countDown", []) => {
                self.0.set((self.0.get() - 1).max(0));
                Ok(V::NULL)
            }
            ("getCount", []) => Ok(V::long(self.0.get())),
            ("availablePermits", []) => Ok(V::int(self.0.get())),
            ("await", _) if self.0.get() == 0 => Ok(V::NULL),
            _ => Err(unknown(object, method)),
        }
    }
}

#[derive(Debug)]
struct JavaRuntime;

/// The heap size that `Runtime` reports, in bytes.
const HEAP_BYTES: i64 = 1 << 30;

impl Instance for JavaRuntime {
    fn class(&self) -> Class {
        Class::known("Runtime")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("availableProcessors", []) => {
                Ok(V::int(std::thread::available_parallelism().map_or(1, |count| count.get() as i64)))
            }
            ("totalMemory" | "maxMemory", []) => Ok(V::long(HEAP_BYTES)),
            ("freeMemory", []) => Ok(V::long(HEAP_BYTES / 2)),
            ("gc", []) => Ok(V::NULL),
            _ => Err(unknown(object, method)),
        }
    }
}

/// The name of this computer.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}

fn call_inet_address(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let new_address =
        |name: String, address: String| Ok(V::object(Object::Library(Box::new(Address { name, address }))));
    match (method, arguments) {
        ("getLocalHost", []) => new_address(host_name(), "127.0.0.1".into()),
        ("getLoopbackAddress", []) => new_address("localhost".into(), "127.0.0.1".into()),
        ("getByName", [name]) => {
            let name = text_of(machine, name)?;
            // Other names require a DNS lookup, which scripts cannot do.
            match (name.parse::<std::net::IpAddr>(), name.as_str()) {
                (Ok(address), _) => new_address(name, address.to_string()),
                (_, "localhost") => new_address(name, "127.0.0.1".into()),
                _ => Err(unsupported("looking up the address of a host name")),
            }
        }
        _ => Err(unsupported(format!("`InetAddress.{method}` with these arguments"))),
    }
}

#[derive(Debug)]
struct Address {
    name: String,
    address: String,
}

impl Instance for Address {
    fn class(&self) -> Class {
        Class::known("InetAddress")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getHostName" | "getCanonicalHostName", []) => Ok(V::text(&self.name)),
            ("getHostAddress", []) => Ok(V::text(&self.address)),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(format!("{}/{}", self.name, self.address))
    }
}

#[derive(Debug)]
struct Joiner {
    separator: String,
    prefix: String,
    suffix: String,
    parts: std::cell::RefCell<Vec<String>>,
}

impl Instance for Joiner {
    fn class(&self) -> Class {
        Class::known("StringJoiner")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("add", [part]) => {
                let part = print::java(machine, part)?;
                machine.spend_text(part.len())?;
                self.parts.borrow_mut().push(part);
                Ok(object.clone())
            }
            ("length", []) => Ok(V::int(self.text(machine)?.encode_utf16().count() as i64)),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        let text = format!("{}{}{}", self.prefix, self.parts.borrow().join(&self.separator), self.suffix);
        machine.spend_text(text.len())?;
        Ok(text)
    }
}

/// The value of a Java system property; `None` if it is not one of [`SYSTEM_PROPERTIES`] or not set.
pub fn system_property(scope: &dyn Scope, name: &str) -> Option<String> {
    let variable = |name: &str| scope.environment(name);
    Some(match name {
        "line.separator" => "\n".to_owned(),
        "file.separator" => "/".to_owned(),
        "path.separator" => ":".to_owned(),
        "user.dir" => std::env::current_dir().ok()?.display().to_string(),
        "user.home" => variable("HOME")?,
        "user.name" => variable("USER").unwrap_or_else(|| "user".to_owned()),
        "java.io.tmpdir" => std::env::temp_dir().display().to_string(),
        "os.name" => if cfg!(target_os = "macos") { "Mac OS X" } else { "Linux" }.to_owned(),
        "os.arch" => if cfg!(target_arch = "x86_64") { "amd64" } else { std::env::consts::ARCH }.to_owned(),
        "java.version" => "17.0.15".to_owned(),
        "file.encoding" => "UTF-8".to_owned(),
        _ => return None,
    })
}

/// The names of the supported system properties.
pub const SYSTEM_PROPERTIES: &[&str] = &[
    "line.separator",
    "file.separator",
    "path.separator",
    "user.dir",
    "user.home",
    "user.name",
    "java.io.tmpdir",
    "os.name",
    "os.arch",
    "java.version",
    "file.encoding",
];
