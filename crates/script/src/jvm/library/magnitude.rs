//! Large integers that scripts create from hashes: `new BigInteger(1, digest).toString(16)`.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::Instance;
use super::unknown;

/// A non-negative integer of more than 15 bytes, most significant byte first.
#[derive(Debug)]
struct Magnitude(Vec<u8>);

/// The integer with these bytes, most significant first.
pub fn from_bytes(bytes: Vec<u8>) -> V {
    V::object(Object::Library(Box::new(Magnitude(bytes))))
}

/// The hexadecimal digits of a large integer; `None` for other values.
pub fn hexadecimal_of(value: &V) -> Option<String> {
    let V::Object(object) = value else { return None };
    let instance = object.library().filter(|instance| instance.class().name() == "BigInteger")?;
    Some(digits(&instance.bytes()?, 16))
}

/// The digits of an integer in a radix, by long division.
fn digits(bytes: &[u8], radix: u32) -> String {
    let mut number = bytes.to_vec();
    let mut out = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut rest = 0_u32;
        for byte in &mut number {
            let part = rest << 8 | u32::from(*byte);
            *byte = (part / radix) as u8;
            rest = part % radix;
        }
        out.push(char::from_digit(rest, radix).unwrap_or('0'));
    }
    if out.is_empty() {
        out.push('0');
    }
    out.iter().rev().collect()
}

impl Instance for Magnitude {
    fn class(&self) -> Class {
        Class::known("BigInteger")
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }

    fn is_equal(&self, other: &V) -> bool {
        hexadecimal_of(other).is_some_and(|other| other == digits(&self.0, 16))
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("toString", [radix]) => {
                let radix = radix.as_long().and_then(|radix| u32::try_from(radix).ok());
                let radix =
                    radix.filter(|radix| (2..=36).contains(radix)).ok_or_else(|| unknown(object, method))?;
                machine.spend(self.0.len() * self.0.len())?;
                Ok(V::text(digits(&self.0, radix)))
            }
            ("signum", []) => Ok(V::int(i64::from(self.0.iter().any(|byte| *byte != 0)))),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        machine.spend(self.0.len() * self.0.len())?;
        Ok(digits(&self.0, 10))
    }
}
