//! Addresses of MySQL and MariaDB servers.

use std::collections::HashMap;
use std::time::Duration;

use mysql::{Opts, OptsBuilder};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the response to a query may take. The server's own limit is shorter.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest packet that is accepted from the server.
const PACKET_MAX: usize = 1 << 20;

/// The address of a MySQL or MariaDB server, with the credentials.
#[derive(Clone)]
pub struct MySqlAddress {
    pub(super) options: Opts,
    pub(super) is_encrypted: bool,
    /// PEM text of certificate authorities that are trusted in addition to the usual ones.
    pub(super) authorities: Option<Vec<u8>>,
    shown: String,
}

/// The text is not an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MySqlAddressError {
    /// The text has another form.
    #[error("this is not an address like mysql://user:password@host:3306/database")]
    Form,
    /// A parameter after `?` is unknown.
    #[error("the address has an unknown parameter; parameters: ssl-mode, socket")]
    UnknownParameter,
    /// The value of `ssl-mode` is unknown.
    #[error("ssl-mode is DISABLED, REQUIRED or VERIFY_IDENTITY")]
    SslMode,
}

impl std::fmt::Debug for MySqlAddress {
    /// Without credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MySqlAddress").field(&self.shown).finish()
    }
}

impl MySqlAddress {
    /// Parses an address `mysql://user:password@host:port/database`, also with the scheme `mariadb`.
    ///
    /// With `?ssl-mode=REQUIRED` or `VERIFY_IDENTITY`, the connection is encrypted and the server's certificate is checked against
    /// the usual authorities and `authorities`, a PEM text. Otherwise the connection is not encrypted. `?socket=PATH` selects a Unix
    /// socket on this machine.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str, authorities: Option<Vec<u8>>) -> Result<Self, MySqlAddressError> {
        let rest = text.strip_prefix("mysql://").or_else(|| text.strip_prefix("mariadb://"));
        let (server, query) = match rest.ok_or(MySqlAddressError::Form)?.split_once('?') {
            Some((server, query)) => (server, query),
            None => (rest.unwrap_or_default(), ""),
        };
        let (mut is_encrypted, mut socket) = (false, "");
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("ssl-mode", mode) => is_encrypted = is_encrypting(mode)?,
                ("socket", _) => socket = pair,
                _ => return Err(MySqlAddressError::UnknownParameter),
            }
        }
        let url = format!("mysql://{server}?{socket}");
        // The error is not kept: it may contain parts of the address.
        let parsed = Opts::from_url(&url).map_err(|_| MySqlAddressError::Form)?;
        let shown = shown(&parsed);
        let options = OptsBuilder::from_opts(parsed)
            .prefer_socket(false)
            .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
            .read_timeout(Some(RESPONSE_TIMEOUT))
            .write_timeout(Some(RESPONSE_TIMEOUT))
            .max_allowed_packet(Some(PACKET_MAX))
            .connect_attrs(Some(HashMap::from([("program_name", "busyhour")])));
        Ok(Self { options: options.into(), is_encrypted, authorities, shown })
    }

    /// The address for messages and names: without user and password.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Whether a connection in this mode is encrypted.
fn is_encrypting(mode: &str) -> Result<bool, MySqlAddressError> {
    match mode.to_ascii_uppercase().as_str() {
        "DISABLED" => Ok(false),
        "REQUIRED" | "VERIFY_IDENTITY" => Ok(true),
        _ => Err(MySqlAddressError::SslMode),
    }
}

fn shown(options: &Opts) -> String {
    let database = options.get_db_name().unwrap_or_default();
    let server = match options.get_socket() {
        Some(path) => path.to_owned(),
        None if options.get_tcp_port() == 3306 => options.get_ip_or_hostname().into_owned(),
        None => format!("{}:{}", options.get_ip_or_hostname(), options.get_tcp_port()),
    };
    format!("mysql://{server}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown, is_encrypted) in [
            ("mysql://me:secret@db.example:3307/shop", "mysql://db.example:3307/shop", false),
            ("mariadb://me:secret@[::1]/shop?ssl-mode=required", "mysql://[::1]/shop", true),
            ("mysql://me:s%3Fecret@db?ssl-mode=DISABLED", "mysql://db/", false),
            (
                "mysql://me:secret@localhost/shop?socket=%2Frun%2Fmysqld%2Fs&ssl-mode=VERIFY_IDENTITY",
                "mysql:///run/mysqld/s/shop",
                true,
            ),
        ] {
            let address = MySqlAddress::parse(text, None).unwrap();
            assert_eq!((address.shown(), address.is_encrypted), (shown, is_encrypted));
            assert!(!format!("{address:?}").contains("secret"));
        }
        let address = MySqlAddress::parse("mysql://me:s%3Fecret@db", None).unwrap();
        assert_eq!(address.options.get_pass(), Some("s?ecret"));
    }

    #[test]
    fn mistakes_are_named_without_the_password() {
        for (text, expected) in [
            ("mysql://me:secret@h:port/d", MySqlAddressError::Form),
            ("http://me:secret@h/d", MySqlAddressError::Form),
            ("mysql://me:secret@h/d?sslmode=require", MySqlAddressError::UnknownParameter),
            ("mysql://me:secret@h/d?danger_accept_invalid_certs=true", MySqlAddressError::UnknownParameter),
            ("mysql://me:secret@h/d?ssl-mode=PREFERRED", MySqlAddressError::SslMode),
        ] {
            let error = MySqlAddress::parse(text, None).unwrap_err();
            assert_eq!(error, expected);
            assert!(!format!("{error} {error:?}").contains("secret"));
        }
    }
}
