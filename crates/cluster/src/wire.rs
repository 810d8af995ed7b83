//! The form of messages: JSON, compressed with Zstandard if it is long.

use std::io::Read as _;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Messages that are longer are compressed.
const PLAIN_BYTES_MAX: usize = 2_048;

/// Maximum length of a message after decompression. A second with 10,000 labels has about 4 MB.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;

/// The first bytes of every Zstandard frame. JSON never starts with them.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A message that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The compressed form is damaged.
    #[error("a compressed message is damaged")]
    Compressed(#[source] std::io::Error),
    /// The message is longer than 64 MiB.
    #[error("a message is longer than 64 MiB")]
    Long,
    /// The message is not valid JSON of the expected form.
    #[error("a message has an unknown form")]
    Json(#[from] serde_json::Error),
}

/// The bytes of a message.
///
/// # Errors
/// The message cannot be written as JSON.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, WireError> {
    let json = serde_json::to_vec(message)?;
    if json.len() <= PLAIN_BYTES_MAX {
        return Ok(json);
    }
    zstd::bulk::compress(&json, 1).map_err(WireError::Compressed)
}

/// The message in `bytes`.
///
/// # Errors
/// The bytes are damaged, too long, or have another form.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    if !bytes.starts_with(&ZSTD_MAGIC) {
        return Ok(serde_json::from_slice(bytes)?);
    }
    let decoder = zstd::Decoder::new(bytes).map_err(WireError::Compressed)?;
    let mut json = Vec::new();
    decoder.take(MESSAGE_BYTES_MAX + 1).read_to_end(&mut json).map_err(WireError::Compressed)?;
    if json.len() as u64 > MESSAGE_BYTES_MAX {
        return Err(WireError::Long);
    }
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn encoding_and_decoding_gives_the_same(texts in prop::collection::vec(".{0,200}", 0..40)) {
            prop_assert_eq!(decode::<Vec<String>>(&encode(&texts).unwrap()).unwrap(), texts);
        }

        #[test]
        fn random_bytes_give_an_error_or_a_message(mut bytes in prop::collection::vec(any::<u8>(), 0..200), framed: bool) {
            if framed {
                bytes.splice(0..0, ZSTD_MAGIC);
            }
            let _ = decode::<Vec<String>>(&bytes);
        }
    }

    #[test]
    fn a_message_that_grows_beyond_the_limit_is_refused() {
        let zeros = vec![b' '; usize::try_from(MESSAGE_BYTES_MAX).unwrap() + 1];
        let bomb = zstd::bulk::compress(&zeros, 1).unwrap();
        assert!(bomb.len() < 100_000);
        assert!(matches!(decode::<Vec<String>>(&bomb), Err(WireError::Long)));
    }
}
