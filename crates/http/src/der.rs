//! The part of DER that keys need: a sequence of objects, each with a tag, a length and its content.

/// The tag of a sequence.
pub(crate) const SEQUENCE: u8 = 0x30;
/// The tag of an octet string.
pub(crate) const OCTETS: u8 = 0x04;
const INTEGER: u8 = 0x02;
const BITS: u8 = 0x03;
/// The tag of the version of a certificate, which is optional.
const VERSION: u8 = 0xa0;
/// The tag of the public key in a private key.
const PUBLIC_KEY: u8 = 0xa1;

/// The object identifier of elliptic curve keys, 1.2.840.10045.2.1, encoded as an object.
const ELLIPTIC: &[u8] = &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// The tag and content of the first object, and the rest.
pub(crate) fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
        if digits.len() > 4 {
            return None;
        }
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// The content of the first object, if it has this tag, and the rest.
fn tagged(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    first(bytes).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// Encodes an object.
fn object(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len().to_be_bytes();
    let digits = &length[content.len().leading_zeros() as usize / 8..];
    match content.len() {
        short @ 0..0x80 => bytes.push(short as u8),
        _ => {
            bytes.push(0x80 | digits.len() as u8);
            bytes.extend(digits);
        }
    }
    bytes.extend(content);
    bytes
}

/// Adds the public key of its certificate to a private elliptic curve key (PKCS#8), because Java omits it and the TLS library
/// does not accept a key without it. `None` if it is not such a key, or already has a public key.
pub(crate) fn with_public_key(key: &[u8], certificate: &[u8]) -> Option<Vec<u8>> {
    let (outer, _) = tagged(key, SEQUENCE)?;
    let (version, rest) = tagged(outer, INTEGER)?;
    let (algorithm, rest) = tagged(rest, SEQUENCE)?;
    let (private, _) = tagged(rest, OCTETS)?;
    let (private, _) = tagged(private, SEQUENCE)?;
    let (inner_version, rest) = tagged(private, INTEGER)?;
    let (secret, mut rest) = tagged(rest, OCTETS)?;
    while let Some((tag, _, next)) = first(rest) {
        if tag == PUBLIC_KEY {
            return None;
        }
        rest = next;
    }
    if !algorithm.starts_with(ELLIPTIC) {
        return None;
    }
    let public = object(PUBLIC_KEY, &object(BITS, public_key(certificate)?));
    let private = [object(INTEGER, inner_version), object(OCTETS, secret), public].concat();
    let private = object(OCTETS, &object(SEQUENCE, &private));
    let whole = [object(INTEGER, version), object(SEQUENCE, algorithm), private].concat();
    Some(object(SEQUENCE, &whole))
}

/// The bits of a certificate's public key, preceded by the number of unused bits.
fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    subject_key(certificate).map(|(_, bits)| bits)
}

/// The algorithm (the content of its `AlgorithmIdentifier`) and bytes of the public key of a certificate; other parts are
/// ignored.
pub(crate) fn public_key_info(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let (kind, bits) = subject_key(certificate)?;
    let (unused, key) = bits.split_first()?;
    (*unused == 0).then_some((kind, key))
}

/// The algorithm and bits of a certificate's public key.
fn subject_key(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let (certificate, _) = tagged(certificate, SEQUENCE)?;
    let (mut rest, _) = tagged(certificate, SEQUENCE)?;
    if let Some((_, after)) = tagged(rest, VERSION) {
        rest = after;
    }
    let (_serial_number, rest) = tagged(rest, INTEGER)?;
    let (_signature, rest) = tagged(rest, SEQUENCE)?;
    let (_issuer, rest) = tagged(rest, SEQUENCE)?;
    let (_validity, rest) = tagged(rest, SEQUENCE)?;
    let (_subject, rest) = tagged(rest, SEQUENCE)?;
    let (key, _) = tagged(rest, SEQUENCE)?;
    let (kind, rest) = tagged(key, SEQUENCE)?;
    tagged(rest, BITS).map(|(bits, _)| (kind, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_may_be_long() {
        assert_eq!(first(&[0x04, 0x01, 7, 8]), Some((4, &[7][..], &[8][..])));
        assert_eq!(first(&[0x04, 0x81, 0x02, 7, 8]), Some((4, &[7, 8][..], &[][..])));
        assert_eq!(first(&[0x04, 0x82, 0x00, 0x01, 7]), Some((4, &[7][..], &[][..])));
        for short in [&[][..], &[4], &[4, 2, 7], &[4, 0x82, 0], &[4, 0x85, 0, 0, 0, 0, 1, 7]] {
            assert_eq!(first(short), None, "{short:?}");
        }
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            assert_eq!(first(&object(OCTETS, &content)), Some((OCTETS, &content[..], &[][..])), "{length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_key_or_none(bytes in proptest::collection::vec(0_u8.., 0..60)) {
            let _ = public_key_info(&object(SEQUENCE, &bytes));
            let _ = with_public_key(&object(SEQUENCE, &bytes), &object(SEQUENCE, &bytes));
        }
    }
}
