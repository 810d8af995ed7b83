//! Names, labels and quantities that Kubernetes accepts.

use crate::error::ManifestError;

/// Maximum number of characters of a DNS label.
pub(crate) const LABEL_MAX: usize = 63;

/// Maximum number of characters of the name of a run: names of pods append a role, an index and a random part.
pub(crate) const RUN_NAME_MAX: usize = 40;

/// Checks a name (a DNS label as in RFC 1123).
pub(crate) fn check_name(what: &'static str, name: &str, max: usize) -> Result<(), ManifestError> {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_valid = name.len() <= max
        && is_end(name.chars().next())
        && is_end(name.chars().next_back())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if is_valid { Ok(()) } else { Err(ManifestError::Name { what, name: name.to_owned(), max }) }
}

/// A valid name of a run, made from the name of a file.
#[must_use]
pub fn name_from(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() => name.push(c),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
        if name.len() == RUN_NAME_MAX {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "busyhour".to_owned() } else { name.to_owned() }
}

/// Checks a label. Its name may have a prefix, as in `example.com/team`.
pub(crate) fn check_label(name: &str, value: &str) -> Result<(), ManifestError> {
    let is_part = |text: &str| {
        let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        text.len() <= LABEL_MAX
            && is_end(text.chars().next())
            && is_end(text.chars().next_back())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let is_prefix =
        |text: &str| text.len() <= 253 && text.split('.').all(|part| check_name("", part, LABEL_MAX).is_ok());
    let is_name = match name.split_once('/') {
        Some((prefix, name)) => is_prefix(prefix) && is_part(name),
        None => is_part(name),
    };
    if is_name && (value.is_empty() || is_part(value)) {
        Ok(())
    } else {
        Err(ManifestError::Label(format!("{name}={value}")))
    }
}

/// Checks an amount of memory or disk space such as `512Mi`.
pub(crate) fn check_quantity(
    what: &'static str,
    text: &str,
    example: &'static str,
) -> Result<(), ManifestError> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let is_valid = digits.parse::<u64>().is_ok_and(|number| number > 0)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && ["", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"].contains(&unit);
    if is_valid { Ok(()) } else { Err(ManifestError::Quantity { what, text: text.to_owned(), example }) }
}

/// Checks a block of addresses such as `10.0.0.0/8`.
pub(crate) fn check_cidr(text: &str) -> Result<(), ManifestError> {
    let is_valid = text.split_once('/').is_some_and(|(address, length)| {
        let max = match address.parse() {
            Ok(std::net::IpAddr::V4(_)) => 32,
            Ok(std::net::IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        length.bytes().all(|byte| byte.is_ascii_digit())
            && length.parse().is_ok_and(|length: u8| length <= max)
    });
    if is_valid { Ok(()) } else { Err(ManifestError::Cidr(text.to_owned())) }
}

/// The key of a file in a Secret. Keys cannot contain slashes or spaces.
pub(crate) fn secret_key(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dns_labels() {
        for name in ["a", "shop", "shop-2", "0a"] {
            check_name("the name", name, 63).unwrap();
        }
        for name in ["", "Shop", "a_b", "-a", "a-", "a.b", "ä", &"a".repeat(64)] {
            assert!(check_name("the name", name, 63).is_err(), "{name}");
        }
        let error = check_name("the namespace", "My_Team", 63).unwrap_err().to_string();
        assert!(
            error.starts_with("the namespace \"My_Team\" is not valid in Kubernetes: at most 63"),
            "{error}"
        );
    }

    #[test]
    fn names_of_files_become_names_of_runs() {
        assert_eq!(name_from("Ticket Shop_v2"), "ticket-shop-v2");
        assert_eq!(name_from("--(x)--"), "x");
        assert_eq!(name_from("ü"), "busyhour");
        let long = name_from(&"ab-".repeat(30));
        check_name("the name", &long, RUN_NAME_MAX).unwrap();
    }

    #[test]
    fn labels_quantities_and_blocks_are_checked() {
        check_label("team", "web_1").unwrap();
        check_label("example.com/team", "").unwrap();
        for (name, value) in
            [("", "a"), ("a b", "c"), ("a", "b c"), ("A.com/", "x"), ("x/y/z", "a"), ("-a", "b")]
        {
            assert!(check_label(name, value).is_err(), "{name}={value}");
        }
        for text in ["1Gi", "512Mi", "1000000", "2G"] {
            check_quantity("the memory", text, "1Gi").unwrap();
        }
        for text in ["", "Gi", "0Gi", "1.5 GB", "1gb", "-1Gi", "+1Gi"] {
            assert!(check_quantity("the memory", text, "1Gi").is_err(), "{text}");
        }
        for text in ["10.0.0.0/8", "fd00::/8", "0.0.0.0/0"] {
            check_cidr(text).unwrap();
        }
        for text in ["10.0.0.0", "10.0.0.0/33", "shop/8", "10.0.0.0/", "10.0.0.0/+8"] {
            assert!(check_cidr(text).is_err(), "{text}");
        }
        assert_eq!(secret_key("data/my users.csv"), "data_my_users.csv");
    }
}
