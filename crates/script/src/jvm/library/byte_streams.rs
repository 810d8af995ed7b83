//! Streams of bytes in memory, ciphers and checksums.

use std::cell::{Cell, RefCell};

use busyhour_program::user::Thrown;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{aes, encode, files, print, text_of, unknown};
use crate::Value;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "ByteArrayOutputStream",
        statics: "",
        constructor_arguments: Some((0, 1)),
        methods: "write toByteArray size reset close flush leftShift print println writeTo",
        call_static: no_static_method,
        construct: |_, _| Ok(new_object(Written(RefCell::default()))),
    },
    LibraryClass {
        class: "ByteArrayInputStream",
        statics: "",
        constructor_arguments: Some((1, 1)),
        methods: "getText getBytes readAllBytes readLines available close read eachLine newReader withReader \
                  withStream withCloseable transferTo",
        call_static: no_static_method,
        construct: |_, given| match given.first().and_then(V::as_bytes) {
            Some(bytes) => Ok(new_object(Read {
                class: "ByteArrayInputStream",
                rest: RefCell::new(bytes),
                failure: None,
            })),
            None => Err(unsupported("`new ByteArrayInputStream` with these arguments")),
        },
    },
    LibraryClass {
        class: "IvParameterSpec",
        statics: "",
        constructor_arguments: Some((1, 1)),
        methods: "getIV",
        call_static: no_static_method,
        construct: |_, given| match given.first().and_then(V::as_bytes) {
            Some(bytes) => Ok(new_object(Vector(bytes))),
            None => Err(unsupported("`new IvParameterSpec` with these arguments")),
        },
    },
    LibraryClass {
        class: "Cipher",
        statics: "getInstance",
        constructor_arguments: None,
        methods: "init doFinal update getBlockSize getAlgorithm getIV",
        call_static: cipher,
        construct: no_constructor,
    },
    LibraryClass {
        class: "CRC32",
        statics: "",
        constructor_arguments: Some((0, 0)),
        methods: "update getValue reset",
        call_static: no_static_method,
        construct: |_, _| Ok(new_object(Checksum(Cell::new(0)))),
    },
    LibraryClass {
        class: "IOUtils",
        statics: "toString toByteArray readLines closeQuietly",
        constructor_arguments: None,
        methods: "",
        call_static: io_utils,
        construct: no_constructor,
    },
];

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// The bytes that were written to an output stream in memory, or that remain to be read from an input stream in memory.
fn bytes_of(value: &V) -> Option<Vec<u8>> {
    let V::Object(object) = value else { return None };
    object.library()?.bytes()
}

/// A `ByteArrayOutputStream`.
#[derive(Debug)]
struct Written(RefCell<Vec<u8>>);

impl Instance for Written {
    fn class(&self) -> Class {
        Class::known("ByteArrayOutputStream")
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.0.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("write" | "leftShift" | "print" | "println", [value, rest @ ..]) => {
                let bytes = match (value, value.as_bytes()) {
                    (_, Some(bytes)) => match rest {
                        [from, len] => {
                            let at = |value: &V| usize::try_from(value.as_long().unwrap_or(0)).unwrap_or(0);
                            let (from, len) = (at(from), at(len));
                            bytes.get(from..from.saturating_add(len)).unwrap_or_default().to_vec()
                        }
                        _ => bytes,
                    },
                    (V::Plain(Value::Integer(byte)), _) if method == "write" => vec![*byte as u8],
                    _ => print::groovy(machine, value)?.into_bytes(),
                };
                machine.spend_text(self.0.borrow().len() + bytes.len())?;
                self.0.borrow_mut().extend(bytes);
                if method == "println" {
                    self.0.borrow_mut().push(b'\n');
                }
                Ok(if method == "leftShift" { object.clone() } else { V::NULL })
            }
            ("toByteArray", []) => Ok(V::bytes(&self.0.borrow())),
            ("size", []) => Ok(V::int(self.0.borrow().len() as i64)),
            ("reset", []) => {
                self.0.borrow_mut().clear();
                Ok(V::NULL)
            }
            ("close" | "flush", []) => Ok(V::NULL),
            ("toString", [charset]) => {
                let charset = text_of(machine, charset)?;
                Ok(V::text(encode::decode_text(&self.0.borrow(), &charset)?))
            }
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.0.borrow()).into_owned())
    }
}

/// The input stream of a response body. Reading past the last of its bytes throws `failure`.
pub fn input(bytes: Vec<u8>, failure: Option<Thrown>) -> V {
    new_object(Read { class: "InputStream", rest: RefCell::new(bytes), failure })
}

/// An input stream whose bytes are in memory.
#[derive(Debug)]
struct Read {
    class: &'static str,
    rest: RefCell<Vec<u8>>,
    /// The exception that is thrown after the last byte.
    failure: Option<Thrown>,
}

impl Read {
    /// Reads all remaining bytes.
    fn take(&self, machine: &mut Machine<'_>) -> Result<Vec<u8>, Fault> {
        machine.spend(self.rest.borrow().len() / 64)?;
        match &self.failure {
            None => Ok(self.rest.take()),
            Some(failure) => {
                let class = failure.class.rsplit('.').next().unwrap_or(failure.class);
                Err(thrown(class, failure.message.clone()))
            }
        }
    }

    fn take_text(&self, machine: &mut Machine<'_>, charset: Option<&V>) -> Result<String, Fault> {
        let charset = charset.and_then(V::as_text).unwrap_or("UTF-8").to_owned();
        machine.check_text(self.rest.borrow().len())?;
        encode::decode_text(&self.take(machine)?, &charset)
    }

    /// Implements `read(buffer, from, len)`.
    fn read_into(&self, machine: &mut Machine<'_>, buffer: &V, from: usize, len: usize) -> Outcome {
        let V::Array(buffer) = buffer else { return Err(unsupported("reading into this object")) };
        if self.rest.borrow().is_empty() {
            self.take(machine)?;
            return Ok(V::int(-1));
        }
        let mut items = buffer.items.borrow_mut();
        let mut rest = self.rest.borrow_mut();
        let len = len.min(items.len().saturating_sub(from)).min(rest.len());
        machine.spend(len + rest.len() / 64)?;
        for (item, byte) in items.iter_mut().skip(from).zip(rest.drain(..len)) {
            *item = V::int(i64::from(byte as i8));
        }
        Ok(V::int(len as i64))
    }
}

impl Instance for Read {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.rest.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getText", rest) => {
                let text = self.take_text(machine, rest.first())?;
                machine.spend_text(text.len())?;
                Ok(V::text(text))
            }
            ("getBytes" | "readAllBytes", []) => {
                machine.spend_items(self.rest.borrow().len())?;
                Ok(V::bytes(&self.take(machine)?))
            }
            ("readLines", rest) => {
                let text = self.take_text(machine, rest.first())?;
                machine.invoke(&V::text(text), method, Vec::new())
            }
            // The lines of a stream are numbered from 1.
            ("eachLine", [rest @ .., V::Closure(_)]) => {
                let reader = self.reader(machine, rest.first())?;
                machine.invoke(&reader, method, arguments[arguments.len() - 1..].to_vec())
            }
            ("newReader", rest) => self.reader(machine, rest.first()),
            ("withReader", [rest @ .., closure @ V::Closure(_)]) => {
                let reader = self.reader(machine, rest.first())?;
                machine.call_value(closure, vec![reader])
            }
            ("withStream" | "withCloseable", [closure @ V::Closure(_)]) => {
                machine.call_value(closure, vec![object.clone()])
            }
            ("transferTo", [target]) => {
                machine.spend_items(self.rest.borrow().len())?;
                let bytes = self.take(machine)?;
                machine.invoke(target, "write", vec![V::bytes(&bytes)])?;
                Ok(V::long(bytes.len() as i64))
            }
            ("available", []) => Ok(V::int(self.rest.borrow().len() as i64)),
            ("read", []) => {
                if self.rest.borrow().is_empty() {
                    self.take(machine)?;
                    return Ok(V::int(-1));
                }
                machine.spend(1 + self.rest.borrow().len() / 64)?;
                Ok(V::int(i64::from(self.rest.borrow_mut().remove(0))))
            }
            ("read", [buffer]) => self.read_into(machine, buffer, 0, usize::MAX),
            ("read", [buffer, from, len]) => {
                let at = |value: &V| value.as_long().and_then(|at| usize::try_from(at).ok());
                let length = if let V::Array(buffer) = buffer { buffer.items.borrow().len() } else { 0 };
                match (at(from), at(len)) {
                    (Some(from), Some(len)) if from.saturating_add(len) <= length => {
                        self.read_into(machine, buffer, from, len)
                    }
                    _ => Err(thrown("IndexOutOfBoundsException", "Range out of bounds".to_owned())),
                }
            }
            ("close", []) => Ok(V::NULL),
            _ => Err(unknown(object, method)),
        }
    }
}

impl Read {
    fn reader(&self, machine: &mut Machine<'_>, charset: Option<&V>) -> Outcome {
        let text = self.take_text(machine, charset)?;
        Ok(files::reader_of_text(Class::known("BufferedReader"), &text))
    }
}

/// Calls static methods of `IOUtils`, such as `IOUtils.toString(stream, charset)`.
fn io_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`IOUtils.{method}` with these arguments"));
    match (method, arguments) {
        ("closeQuietly", [..]) => Ok(V::NULL),
        ("toString", [source, rest @ ..]) => {
            let bytes = bytes_of(source).or_else(|| source.as_bytes());
            let charset = match rest.first() {
                Some(charset) if !charset.is_null() => text_of(machine, charset)?,
                _ => "UTF-8".to_owned(),
            };
            match bytes {
                Some(bytes) => Ok(V::text(encode::decode_text(&bytes, &charset)?)),
                None => machine.invoke(source, "getText", Vec::new()),
            }
        }
        ("toByteArray", [source]) => bytes_of(source).map(|bytes| V::bytes(&bytes)).ok_or_else(wrong),
        ("readLines", [source, ..]) => machine.invoke(source, "readLines", Vec::new()),
        _ => Err(wrong()),
    }
}

#[derive(Debug)]
struct Vector(Vec<u8>);

impl Instance for Vector {
    fn class(&self) -> Class {
        Class::known("IvParameterSpec")
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getIV", []) => Ok(V::bytes(&self.0)),
            _ => Err(unknown(object, method)),
        }
    }
}

/// Implements calls such as `Cipher.getInstance("AES/CBC/PKCS5Padding")`.
fn cipher(machine: &mut Machine<'_>, _: &str, arguments: &[V]) -> Outcome {
    let [name, ..] = arguments else { return Err(unsupported("`Cipher.getInstance` without a name")) };
    let name = text_of(machine, name)?;
    let parts: Vec<&str> = name.split('/').collect();
    let upper: Vec<String> = parts.iter().map(|part| part.to_uppercase()).collect();
    let has_chain = match upper.get(1).map(String::as_str) {
        None | Some("ECB") => false,
        Some("CBC") => true,
        Some(_) => return Err(unsupported(format!("the cipher `{name}`"))),
    };
    let has_padding = match upper.get(2).map(String::as_str) {
        None | Some("PKCS5PADDING") => true,
        Some("NOPADDING") => false,
        Some(_) => return Err(unsupported(format!("the cipher `{name}`"))),
    };
    if upper[0] != "AES" {
        return Err(unsupported(format!("the cipher `{name}`")));
    }
    Ok(new_object(Cipher {
        name,
        has_chain,
        has_padding,
        state: RefCell::new(None),
        data: RefCell::default(),
    }))
}

#[derive(Debug)]
struct Cipher {
    name: String,
    has_chain: bool,
    has_padding: bool,
    /// Whether the cipher encrypts, its key, and the initialization vector. `None` before the cipher is initialized.
    state: RefCell<Option<(bool, aes::Key, [u8; 16])>>,
    data: RefCell<Vec<u8>>,
}

impl Cipher {
    fn init(&self, mode: i64, key: &[u8], vector: Option<Vec<u8>>) -> Result<(), Fault> {
        let Some(key) = aes::Key::new(key) else {
            let message = format!("Invalid AES key length: {} bytes", key.len());
            return Err(thrown("InvalidKeyException", message));
        };
        let block = match (vector, self.has_chain) {
            (Some(vector), true) => <[u8; 16]>::try_from(vector).map_err(|_| {
                let message = "Wrong IV length: must be 16 bytes long";
                thrown("InvalidAlgorithmParameterException", message)
            })?,
            (Some(_), false) => {
                let message = "ECB mode cannot use IV";
                return Err(thrown("InvalidAlgorithmParameterException", message));
            }
            (None, true) if mode == 2 => return Err(thrown("InvalidKeyException", "Parameters missing")),
            (None, true) => return Err(unsupported("a cipher that generates its initialization vector")),
            (None, false) => [0; 16],
        };
        self.state.replace(Some((mode == 1, key, block)));
        self.data.borrow_mut().clear();
        Ok(())
    }

    fn finish(&self) -> Result<Vec<u8>, Fault> {
        let mut data = self.data.take();
        let state = self.state.borrow();
        let Some((encrypts, key, vector)) = &*state else {
            return Err(thrown("IllegalStateException", "Cipher not initialized"));
        };
        if *encrypts && self.has_padding {
            let missing = 16 - data.len() % 16;
            data.resize(data.len() + missing, missing as u8);
        }
        if !data.len().is_multiple_of(16) {
            let message = match (encrypts, self.has_padding) {
                (true, _) => "Input length not multiple of 16 bytes",
                _ => "Input length must be multiple of 16 when decrypting with padded cipher",
            };
            return Err(thrown("IllegalBlockSizeException", message));
        }
        let mut chain = *vector;
        for block in data.chunks_exact_mut(16) {
            let before: [u8; 16] = block.try_into().unwrap_or([0; 16]);
            if *encrypts {
                if self.has_chain {
                    block.iter_mut().zip(chain).for_each(|(byte, with)| *byte ^= with);
                }
                key.encrypt(block);
                chain = (&*block).try_into().unwrap_or([0; 16]);
            } else {
                key.decrypt(block);
                if self.has_chain {
                    block.iter_mut().zip(chain).for_each(|(byte, with)| *byte ^= with);
                }
                chain = before;
            }
        }
        if !*encrypts && self.has_padding {
            let added = usize::from(data.last().copied().unwrap_or(0));
            let fits = (1..=16).contains(&added)
                && data.len() >= added
                && data[data.len() - added..].iter().all(|byte| usize::from(*byte) == added);
            if !fits && !data.is_empty() {
                let message = "Given final block not properly padded. Such issues can arise if a bad key is used \
                               during decryption.";
                return Err(thrown("BadPaddingException", message));
            }
            data.truncate(data.len() - added.min(data.len()));
        }
        Ok(data)
    }
}

impl Instance for Cipher {
    fn class(&self) -> Class {
        Class::known("Cipher")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("init", [mode, V::Object(key), rest @ ..]) => {
                let Object::Key(key) = &**key else { return Err(unknown(object, method)) };
                self.init(mode.as_long().unwrap_or(0), key, rest.first().and_then(bytes_of))?;
                Ok(V::NULL)
            }
            ("update", [bytes]) => {
                self.data.borrow_mut().extend(bytes.as_bytes().ok_or_else(|| unknown(object, method))?);
                Ok(V::bytes(&[]))
            }
            ("doFinal", rest @ ([] | [_])) => {
                if let Some(bytes) = rest.first() {
                    self.data.borrow_mut().extend(bytes.as_bytes().ok_or_else(|| unknown(object, method))?);
                }
                machine.spend(self.data.borrow().len())?;
                Ok(V::bytes(&self.finish()?))
            }
            ("getBlockSize", []) => Ok(V::int(16)),
            ("getAlgorithm", []) => Ok(V::text(&self.name)),
            ("getIV", []) => {
                Ok(self.state.borrow().as_ref().map_or(V::NULL, |(_, _, vector)| V::bytes(vector)))
            }
            _ => Err(unknown(object, method)),
        }
    }
}

#[derive(Debug)]
struct Checksum(Cell<u32>);

impl Instance for Checksum {
    fn class(&self) -> Class {
        Class::known("CRC32")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("update", [bytes]) => {
                let bytes = match bytes {
                    V::Plain(Value::Integer(byte)) => vec![*byte as u8],
                    bytes => bytes.as_bytes().ok_or_else(|| unknown(object, method))?,
                };
                machine.spend(bytes.len())?;
                let mut sum = !self.0.get();
                for byte in bytes {
                    sum ^= u32::from(byte);
                    for _ in 0..8 {
                        sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
                    }
                }
                self.0.set(!sum);
                Ok(V::NULL)
            }
            ("getValue", []) => Ok(V::long(i64::from(self.0.get()))),
            ("reset", []) => {
                self.0.set(0);
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        }
    }
}
