//! Signed orders. An agent that knows the keys of its controllers accepts orders only from them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nkeys::KeyPair;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::wire::{WireError, decode, encode};

/// A signed message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sealed {
    /// The message for one agent and one run, as bytes in Base64.
    body: String,
    /// The public key of the signer.
    key: String,
    /// The signature of the recipient, a zero byte and the bytes of the message.
    signature: String,
}

/// The reason why a signed message is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The signature does not match the message.
    #[error("the order has no valid signature")]
    Signature,
    /// The signer is unknown.
    #[error("the order was signed with the key {0}, which is not the key of a known controller")]
    Signer(String),
    /// The message cannot be read.
    #[error("the order cannot be read")]
    Body(#[from] WireError),
}

/// The bytes that are signed. They name the recipient (run and agent), so that an order cannot be repeated elsewhere.
fn signed_bytes(recipient: &str, body: &[u8]) -> Vec<u8> {
    [recipient.as_bytes(), &[0], body].concat()
}

/// Signs a message for a recipient.
///
/// # Errors
/// The message cannot be encoded or the key cannot sign.
pub(crate) fn seal<T: Serialize>(key: &KeyPair, recipient: &str, message: &T) -> Result<Vec<u8>, SealError> {
    let body = encode(message)?;
    let signature = key.sign(&signed_bytes(recipient, &body)).map_err(|_| SealError::Signature)?;
    let sealed =
        Sealed { body: STANDARD.encode(&body), key: key.public_key(), signature: STANDARD.encode(signature) };
    Ok(encode(&sealed)?)
}

/// Checks the signature and returns the message. With an empty list of trusted keys, every key is accepted.
///
/// # Errors
/// The signature is wrong, the signer is not trusted, or the message cannot be read.
pub(crate) fn open<T: DeserializeOwned>(
    trusted: &[String],
    recipient: &str,
    bytes: &[u8],
) -> Result<T, SealError> {
    let sealed: Sealed = decode(bytes)?;
    if !trusted.is_empty() && !trusted.contains(&sealed.key) {
        return Err(SealError::Signer(sealed.key));
    }
    let body = STANDARD.decode(&sealed.body).map_err(|_| SealError::Signature)?;
    let signature = STANDARD.decode(&sealed.signature).map_err(|_| SealError::Signature)?;
    let key = KeyPair::from_public_key(&sealed.key).map_err(|_| SealError::Signature)?;
    key.verify(&signed_bytes(recipient, &body), &signature).map_err(|_| SealError::Signature)?;
    Ok(decode(&body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_orders_of_known_controllers_for_this_recipient_are_accepted() {
        let (own, other) = (KeyPair::new_user(), KeyPair::new_user());
        let trusted = [own.public_key()];
        let sealed = seal(&own, "run/agent", &"stop").unwrap();
        assert_eq!(open::<String>(&trusted, "run/agent", &sealed).unwrap(), "stop");
        assert_eq!(open::<String>(&[], "run/agent", &sealed).unwrap(), "stop");
        assert!(matches!(open::<String>(&trusted, "run/other", &sealed), Err(SealError::Signature)));
        let foreign = seal(&other, "run/agent", &"stop").unwrap();
        assert!(matches!(open::<String>(&trusted, "run/agent", &foreign), Err(SealError::Signer(_))));
        let mut changed: Sealed = decode(&sealed).unwrap();
        changed.body = STANDARD.encode(encode(&"go").unwrap());
        let changed = encode(&changed).unwrap();
        assert!(matches!(open::<String>(&trusted, "run/agent", &changed), Err(SealError::Signature)));
        // The key of another controller in a message that this one signed.
        let mut disguised: Sealed = decode(&foreign).unwrap();
        disguised.key = own.public_key();
        let disguised = encode(&disguised).unwrap();
        assert!(matches!(open::<String>(&trusted, "run/agent", &disguised), Err(SealError::Signature)));
    }
}
