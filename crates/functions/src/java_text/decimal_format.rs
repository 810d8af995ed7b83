//! Patterns of `java.text.DecimalFormat`, as in `000`, `#,##0.00` and `file0.txt`, with English symbols.

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    positive: (String, String),
    negative: (String, String),
    integer_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    /// Digits between separators; none: no separators.
    group: Option<usize>,
    /// 1, 100 for per cent, 1000 for per mille.
    factor: i64,
}

/// Digits before the decimal point, after it, and where the point and the last separator are.
#[derive(Default)]
struct Number {
    integer_min: usize,
    fraction_min: usize,
    fraction_max: usize,
    group: Option<usize>,
}

impl DecimalFormat {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// For a pattern that Java refuses, and for scientific notation and currencies.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let mut factor = 1;
        let (positive, number, rest) = sub_pattern(pattern, &mut factor)?;
        let negative = match rest {
            None => (format!("-{}", positive.0), positive.1.clone()),
            // Of the pattern for negative numbers only what stands around the digits counts.
            Some(rest) => {
                let (around, _, more) = sub_pattern(rest, &mut factor)?;
                if more.is_some() {
                    return Err(format!("Unquoted special character ';' in pattern \"{pattern}\""));
                }
                if around == positive { (format!("-{}", positive.0), positive.1.clone()) } else { around }
            }
        };
        let Number { integer_min, fraction_min, fraction_max, group } = number;
        Ok(Self { positive, negative, integer_min, fraction_min, fraction_max, group, factor })
    }

    /// Appends a whole number.
    pub fn format_integer(&self, value: i64, out: &mut String) {
        let scaled = i128::from(value) * i128::from(self.factor);
        self.lay_out(scaled < 0, &scaled.unsigned_abs().to_string(), "", out);
    }

    /// Appends a number, rounded half to even like Java does.
    pub fn format_float(&self, value: f64, out: &mut String) {
        if value.is_nan() {
            out.push_str("NaN");
            return;
        }
        let scaled = value * self.factor as f64;
        let digits = format!("{:.*}", self.fraction_max, scaled.abs());
        let (integer, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        if scaled.is_infinite() {
            let around = if scaled < 0.0 { &self.negative } else { &self.positive };
            out.extend([around.0.as_str(), "∞", around.1.as_str()]);
            return;
        }
        let keep = fraction.trim_end_matches('0').len().max(self.fraction_min);
        self.lay_out(scaled.is_sign_negative(), integer, &fraction[..keep], out);
    }

    fn lay_out(&self, negative: bool, integer: &str, fraction: &str, out: &mut String) {
        let (prefix, suffix) = if negative { &self.negative } else { &self.positive };
        out.push_str(prefix);
        let integer = integer.trim_start_matches('0');
        let width = integer.len().max(self.integer_min);
        for position in (0..width).rev() {
            let digit = integer
                .len()
                .checked_sub(position + 1)
                .map_or('0', |index| char::from(integer.as_bytes()[index]));
            out.push(digit);
            if self.group.is_some_and(|group| position > 0 && position % group == 0) {
                out.push(',');
            }
        }
        let fraction_width = fraction.len().max(self.fraction_min);
        if fraction_width > 0 {
            out.push('.');
            out.push_str(fraction);
            out.extend(std::iter::repeat_n('0', fraction_width - fraction.len()));
        } else if width == 0 {
            // Java prints at least one digit.
            out.push('0');
        }
        out.push_str(suffix);
    }
}

/// Reads up to `;`: what stands around the digits, the digits, and the rest.
fn sub_pattern<'p>(
    pattern: &'p str,
    factor: &mut i64,
) -> Result<((String, String), Number, Option<&'p str>), String> {
    let malformed = || format!("Malformed pattern \"{pattern}\"");
    let (mut prefix, mut suffix, mut digits) = (String::new(), String::new(), String::new());
    let mut characters = pattern.char_indices().peekable();
    let mut quoted = false;
    while let Some((at, c)) = characters.next() {
        let in_digits = suffix.is_empty();
        let around = if digits.is_empty() { &mut prefix } else { &mut suffix };
        match c {
            '\'' => {
                if characters.next_if(|next| next.1 == '\'').is_some() {
                    around.push('\'');
                } else {
                    quoted = !quoted;
                }
            }
            _ if quoted => around.push(c),
            '0' | '#' | ',' | '.' if in_digits => digits.push(c),
            '1'..='9' if in_digits && !digits.is_empty() => return Err(malformed()),
            '0' | '#' | ',' | '.' => {
                return Err(format!("Unquoted special character '{c}' in pattern \"{pattern}\""));
            }
            '%' => {
                *factor = 100;
                around.push('%');
            }
            '\u{2030}' => {
                *factor = 1000;
                around.push(c);
            }
            ';' => {
                return Ok((
                    (prefix, suffix),
                    number(&digits).ok_or_else(malformed)?,
                    Some(&pattern[at + 1..]),
                ));
            }
            'E' if !digits.is_empty() => {
                return Err(format!("scientific notation is not supported: \"{pattern}\""));
            }
            '\u{a4}' => return Err(format!("currencies are not supported: \"{pattern}\"")),
            _ => around.push(c),
        }
    }
    if quoted && digits.is_empty() && prefix.is_empty() {
        return Err(malformed());
    }
    Ok(((prefix, suffix), number(&digits).ok_or_else(malformed)?, None))
}

/// Reads `#,##0.0#`.
fn number(digits: &str) -> Option<Number> {
    let (integer, fraction) = match digits.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (digits, None),
    };
    let group = integer.rfind(',').map(|at| integer.len() - at - 1);
    if group == Some(0) {
        return None;
    }
    let plain: String = integer.chars().filter(|&c| c != ',').collect();
    let optional = plain.find('0').unwrap_or(plain.len());
    if plain[optional..].contains('#') {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let required = fraction.find('#').unwrap_or(fraction.len());
    if fraction.contains([',', '.']) || fraction[required..].contains('0') {
        return None;
    }
    // Java takes "#." and "#" to print at least one digit unless a fraction is there: "#.##" prints .5.
    let integer_min = plain.len() - optional;
    Some(Number { integer_min, fraction_min: required, fraction_max: fraction.len(), group })
}
