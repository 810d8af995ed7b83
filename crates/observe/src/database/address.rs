//! Addresses of databases.

use postgres::Config;
use postgres::config::{Host, SslMode};

/// The address of a PostgreSQL database, with the credentials.
#[derive(Clone)]
pub struct DatabaseAddress {
    pub(super) config: Config,
    /// PEM text of certificate authorities that are trusted instead of the usual ones.
    pub(super) authorities: Option<Vec<u8>>,
    shown: String,
}

/// The text is not an address.
#[derive(Debug, thiserror::Error)]
#[error("this is not an address like postgres://user:password@host:5432/database")]
pub struct DatabaseAddressError(#[source] postgres::Error);

impl std::fmt::Debug for DatabaseAddress {
    /// Without credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DatabaseAddress").field(&self.shown).finish()
    }
}

impl DatabaseAddress {
    /// Parses an address `postgres://user:password@host:port/database`, or the form `host=… user=…` of libpq.
    ///
    /// With `sslmode=require`, the connection is encrypted and the server's certificate is checked against `authorities`, a PEM
    /// text, or the usual authorities. Otherwise the connection is not encrypted.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str, authorities: Option<Vec<u8>>) -> Result<Self, DatabaseAddressError> {
        let mut config: Config = text.parse().map_err(DatabaseAddressError)?;
        if config.get_ssl_mode() != SslMode::Require {
            config.ssl_mode(SslMode::Disable);
        }
        let shown = shown(&config);
        Ok(Self { config, authorities, shown })
    }

    /// The address for messages and names: without user and password.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

fn shown(config: &Config) -> String {
    let port = config.get_ports().first().map_or_else(String::new, |port| format!(":{port}"));
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => format!("{host}{port}"),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => format!("localhost{port}"),
    };
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{host}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown) in [
            ("postgres://me:secret@db.example:5433/shop", "postgres://db.example:5433/shop"),
            ("postgresql://me:secret@%2Frun%2Fpg/shop?sslmode=prefer", "postgres:///run/pg/shop"),
            ("host=db user=me password=secret", "postgres://db/me"),
        ] {
            let address = DatabaseAddress::parse(text, None).unwrap();
            assert_eq!(address.shown(), shown);
            assert!(!format!("{address:?}").contains("secret"));
            assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
        }
        let secure = DatabaseAddress::parse("postgres://h/d?sslmode=require", None).unwrap();
        assert_eq!(secure.config.get_ssl_mode(), SslMode::Require);
        let error = DatabaseAddress::parse("postgres://me:secret@h:port/d", None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}
