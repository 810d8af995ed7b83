//! Unusual but well-formed X.509 certificates for a given public key.

use super::Choices;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const BITS: u8 = 0x03;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// ecdsa-with-SHA256, sha256WithRSAEncryption with its parameter, and an unregistered identifier.
const SIGNATURES: [&[u8]; 3] = [
    &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
    &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b, 0x05, 0x00],
    &[0x06, 0x03, 0x2a, 0x03, 0x04],
];

/// The types of strings in names: UTF8String, PrintableString, TeletexString, BMPString.
const STRINGS: [u8; 4] = [0x0c, 0x13, 0x14, 0x1e];

fn object(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short @ 0..0x80) => bytes.push(short),
        Ok(short) => bytes.extend([0x81, short]),
        Err(_) => bytes.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    bytes.extend_from_slice(content);
    bytes
}

/// A name of attributes whose bytes may be invalid for the type of their string.
fn name(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut attributes = Vec::new();
    for _ in 0..choices.below(4) {
        let kind = STRINGS[choices.below(STRINGS.len())];
        let value = choices.bytes(40);
        let attribute = [object(0x06, &[0x55, 0x04, 0x03]), object(kind, &value)].concat();
        attributes.extend(object(SET, &object(SEQUENCE, &attribute)));
    }
    object(SEQUENCE, &attributes)
}

fn validity(choices: &mut Choices<'_>) -> Vec<u8> {
    const TIMES: [&[u8]; 4] = [b"700101000000Z", b"491231235959Z", b"991332256161Z", b""];
    let times = [(); 2].map(|()| object(UTC_TIME, choices.one_of(&TIMES)));
    object(SEQUENCE, &times.concat())
}

/// Extensions, some of them unknown and critical, some large.
fn extensions(choices: &mut Choices<'_>) -> Vec<u8> {
    const KINDS: [&[u8]; 4] = [&[0x55, 0x1d, 0x11], &[0x55, 0x1d, 0x13], &[0x55, 0x1d, 0x0f], &[0x2a, 3, 4]];
    let mut all = Vec::new();
    for _ in 0..choices.below(5) {
        let kind = object(0x06, choices.one_of(&KINDS));
        let critical = if choices.below(2) == 0 { vec![0x01, 0x01, 0xff] } else { Vec::new() };
        let value = choices.bytes(40).repeat(1 + choices.below(8) * 20);
        all.extend(object(SEQUENCE, &[kind, critical, object(OCTETS, &value)].concat()));
    }
    object(EXTENSIONS, &object(SEQUENCE, &all))
}

/// Creates a certificate for the key of this `SubjectPublicKeyInfo`.
pub fn create(choices: &mut Choices<'_>, public_key: &[u8]) -> Vec<u8> {
    let signature = object(SEQUENCE, choices.one_of(&SIGNATURES));
    let version = choices.below(5);
    let mut content = Vec::new();
    // Version 1 is the default and is omitted.
    if version > 0 {
        content.extend(object(VERSION, &object(INTEGER, &[version as u8])));
    }
    let serial = match choices.below(4) {
        0 => vec![0],
        1 => vec![0xff, 0x7f],
        2 => vec![0x7f; 200],
        _ => [vec![1], choices.bytes(30)].concat(),
    };
    content.extend(object(INTEGER, &serial));
    content.extend_from_slice(&signature);
    content.extend(name(choices));
    content.extend(validity(choices));
    content.extend(name(choices));
    content.extend_from_slice(public_key);
    if choices.below(3) > 0 {
        content.extend(extensions(choices));
    }
    let bits = [vec![0], choices.bytes(80)].concat();
    object(SEQUENCE, &[object(SEQUENCE, &content), signature, object(BITS, &bits)].concat())
}
