//! The function `__digest`, and `__MD5` of jmeter-plugins.

use std::fmt::Write as _;
use std::sync::Arc;

use busyhour_java::parse_boolean;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use crate::arguments::{Arguments, BuildResult, Target, with_text};
use crate::text::TextFunction;

/// Appends the hash of a text and its salt in hexadecimal digits.
type Hash = fn(&str, &str, &mut String);

/// The algorithms by their names in Java, which are case-insensitive.
const ALGORITHMS: &[(&str, Hash)] = &[
    ("MD5", hex::<Md5>),
    ("SHA", hex::<Sha1>),
    ("SHA1", hex::<Sha1>),
    ("SHA-1", hex::<Sha1>),
    ("SHA-224", hex::<Sha224>),
    ("SHA224", hex::<Sha224>),
    ("SHA-256", hex::<Sha256>),
    ("SHA256", hex::<Sha256>),
    ("SHA-384", hex::<Sha384>),
    ("SHA384", hex::<Sha384>),
    ("SHA-512", hex::<Sha512>),
    ("SHA512", hex::<Sha512>),
    ("SHA-512/224", hex::<Sha512_224>),
    ("SHA-512/256", hex::<Sha512_256>),
];

fn hex<D: Digest>(text: &str, salt: &str, out: &mut String) {
    let digest = D::new().chain_update(text).chain_update(salt).finalize();
    for byte in digest.iter() {
        let _ = write!(out, "{byte:02x}");
    }
}

fn algorithm(name: &str) -> Option<Hash> {
    ALGORITHMS.iter().find(|known| known.0.eq_ignore_ascii_case(name)).map(|known| known.1)
}

#[derive(Debug)]
struct DigestFunction {
    algorithm: Template,
    text: Template,
    salt: Option<Template>,
    upper: Option<Template>,
    target: Target,
}

/// Builds `${__digest(algorithm, text, salt, whether in upper case, variable)}`.
pub(crate) fn digest(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    if let Some(name) = arguments.literal(0).filter(|name| algorithm(name).is_none()) {
        let hint =
            "MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224 and SHA-512/256 are supported";
        return Err(arguments.unsupported(format!("the algorithm {name:?} is not known"), hint));
    }
    let (salt, upper, target) = (arguments.optional(2), arguments.optional(3), arguments.target(4));
    Ok(Arc::new(DigestFunction {
        algorithm: arguments.take(0),
        text: arguments.take(1),
        salt,
        upper,
        target,
    }))
}

impl Function for DigestFunction {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let Some(hash) = with_text(&self.algorithm, user, |user, name| {
            let found = algorithm(name);
            if found.is_none() {
                user.log(LogLevel::Error, &format!("__digest: the algorithm {name:?} is not known"));
            }
            found
        }) else {
            // JMeter appends Java's null as text.
            out.push_str("null");
            return;
        };
        with_text(&self.text, user, |user, text| match &self.salt {
            Some(salt) => with_text(salt, user, |_, salt| hash(text, salt, out)),
            None => hash(text, "", out),
        });
        if self.upper.as_ref().is_some_and(|upper| with_text(upper, user, |_, text| parse_boolean(text))) {
            out[start..].make_ascii_uppercase();
        }
        self.target.store(user, &out[start..]);
    }
}

/// Builds `${__MD5(text, variable)}` of jmeter-plugins.
pub(crate) fn md5(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        hex::<Md5>(text, "", out);
        Ok(())
    })
}
