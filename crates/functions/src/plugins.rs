//! Functions of jmeter-plugins on texts and values: `__caseFormat`, `__chooseRandom`, `__doubleSum`, `__if`,
//! `__isDefined`, `__strReplace`, `__substring`.

use std::sync::Arc;

use busyhour_java::{parse_double, trim};
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use busyhour_script::Value;
use rand::Rng as _;

use crate::arguments::{Arguments, Made, Target, fail, with_text};
use busyhour_program::ElementError;

/// A function of several texts.
struct Texts {
    name: &'static str,
    texts: Vec<Template>,
    of: fn(&[String]) -> Result<String, ElementError>,
    target: Target,
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.name).field("texts", &self.texts).finish_non_exhaustive()
    }
}

impl Texts {
    fn made(
        arguments: &mut Arguments<'_, '_>,
        count: usize,
        target: Target,
        of: fn(&[String]) -> Result<String, ElementError>,
    ) -> Made {
        let count = count.min(arguments.count);
        let texts = (0..count).map(|index| arguments.take(index)).collect();
        Ok(Arc::new(Self { name: arguments.name, texts, of, target }))
    }
}

impl Function for Texts {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let texts: Vec<String> = self.texts.iter().map(|text| text.text(user).into_owned()).collect();
        match (self.of)(&texts) {
            Ok(text) => {
                out.push_str(&text);
                self.target.store(user, &text);
            }
            Err(why) => fail(user, self.name, &why),
        }
    }
}

/// `${__strReplace(text, search, replacement, variable)}`
pub(crate) fn str_replace(arguments: &mut Arguments<'_, '_>) -> Made {
    let target = arguments.target_untrimmed(3);
    Texts::made(arguments, 3, target, |texts| Ok(texts[0].replace(&texts[1], &texts[2])))
}

/// `${__substring(text, begin, end, variable)}`: in units of UTF-16.
pub(crate) fn substring(arguments: &mut Arguments<'_, '_>) -> Made {
    let target = arguments.target_untrimmed(3);
    Texts::made(arguments, 3, target, |texts| {
        let number = |text: &String| {
            let text = trim(text);
            text.parse::<i32>().map_err(|_| format!("For input string: \"{text}\""))
        };
        let (begin, end) = (number(&texts[1])?, number(&texts[2])?);
        let units: Vec<u16> = texts[0].encode_utf16().collect();
        let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        let part = range
            .and_then(|(begin, end)| units.get(begin..end))
            .ok_or_else(|| format!("begin {begin}, end {end}, length {}", units.len()))?;
        Ok(String::from_utf16_lossy(part))
    })
}

/// `${__caseFormat(text, mode, variable)}`
pub(crate) fn case_format(arguments: &mut Arguments<'_, '_>) -> Made {
    let target = arguments.target(2);
    Texts::made(arguments, 2, target, |texts| {
        let mode = texts.get(1).filter(|mode| !mode.is_empty()).map_or("LOWER_CAMEL_CASE", String::as_str);
        Ok(in_case(&texts[0], &mode.to_uppercase()))
    })
}

/// A text in a mode of the plugin; unchanged if the mode is unknown.
fn in_case(text: &str, mode: &str) -> String {
    let words = words(text);
    match mode {
        "LOWER_CAMEL_CASE" => camel(&words, false),
        "UPPER_CAMEL_CASE" => camel(&words, true),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => words.join("_").to_lowercase(),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => words.join("-").to_lowercase(),
        "TRAIN_CASE" => words.join("-").to_uppercase(),
        "UPPER_UNDERSCORE" => words.join("_").to_uppercase(),
        _ => text.to_owned(),
    }
}

/// `Pattern.split` at white space, hyphens and underscores: an empty first word stays, empty last ones do not.
fn words(text: &str) -> Vec<&str> {
    let separates = |c: char| matches!(c, ' ' | '\t'..='\r' | '-' | '_');
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(separates) {
        words.push(&rest[..at]);
        rest = rest[at..].trim_start_matches(separates);
    }
    words.push(rest);
    if words.len() > 1 {
        while words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
    }
    words
}

fn camel(words: &[&str], first_too: bool) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        let lower = word.to_lowercase();
        let mut chars = lower.chars();
        match chars.next() {
            Some(first) if index > 0 || first_too => {
                out.extend(first.to_uppercase());
                out.push_str(chars.as_str());
            }
            _ => out.push_str(&lower),
        }
    }
    out
}

#[derive(Debug)]
struct If {
    actual: Template,
    expected: Template,
    then: Template,
    otherwise: Template,
    target: Target,
}

/// `${__if(actual, expected, then, otherwise, variable)}`
pub(crate) fn if_equal(arguments: &mut Arguments<'_, '_>) -> Made {
    let target = arguments.target(4);
    let (actual, expected) = (arguments.take(0), arguments.take(1));
    let (then, otherwise) = (arguments.take(2), arguments.take(3));
    Ok(Arc::new(If { actual, expected, then, otherwise, target }))
}

impl Function for If {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let actual = self.actual.text(user).into_owned();
        let equal = with_text(&self.expected, user, |_, expected| actual == expected);
        // Only the selected text is evaluated.
        (if equal { &self.then } else { &self.otherwise }).render(user, out);
        self.target.store(user, &out[start..]);
    }
}

#[derive(Debug)]
struct IsDefined {
    name: Template,
}

/// `${__isDefined(variable)}`: `1` or `0`.
pub(crate) fn is_defined(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(IsDefined { name: arguments.take(0) }))
}

impl Function for IsDefined {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let found = with_text(&self.name, user, |user, name| user.variables.get(trim(name)).is_some());
        out.push(if found { '1' } else { '0' });
    }
}

#[derive(Debug)]
struct ChooseRandom {
    values: Vec<Template>,
    target: Target,
}

/// `${__chooseRandom(value, value…, variable)}`
pub(crate) fn choose_random(arguments: &mut Arguments<'_, '_>) -> Made {
    let last = arguments.count - 1;
    let target = arguments.target(last);
    let values = (0..last).map(|index| arguments.take(index)).collect();
    Ok(Arc::new(ChooseRandom { values, target }))
}

impl Function for ChooseRandom {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let index = user.random.random_range(0..self.values.len());
        self.values[index].render(user, out);
        self.target.store(user, &out[start..]);
    }
}

#[derive(Debug)]
struct DoubleSum {
    summands: Vec<Template>,
    last: Template,
}

/// `${__doubleSum(number, number…, variable)}`: the last argument is a summand if it reads as a number.
pub(crate) fn double_sum(arguments: &mut Arguments<'_, '_>) -> Made {
    let last = arguments.count - 1;
    if let Some(name) = arguments.literal(last).map(trim).filter(|text| parse_double(text).is_none()) {
        let name = name.to_owned();
        arguments.slot(&name);
    }
    let summands = (0..last).map(|index| arguments.take(index)).collect();
    Ok(Arc::new(DoubleSum { summands, last: arguments.take(last) }))
}

impl Function for DoubleSum {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let mut sum = 0.0;
        for summand in &self.summands {
            let text = summand.text(user).into_owned();
            match parse_double(&text) {
                Some(value) => sum += value,
                None => {
                    fail(user, "__doubleSum", &format!("For input string: \"{text}\""));
                    return;
                }
            }
        }
        let last = self.last.text(user).into_owned();
        let last = trim(&last);
        if let Some(value) = parse_double(last) {
            out.push_str(&Value::Double(sum + value).to_java_string());
            return;
        }
        let text = Value::Double(sum).to_java_string();
        out.push_str(&text);
        if !last.is_empty() {
            user.variables.set(last, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_the_plugins() {
        let text = "some-target text_to Format";
        assert_eq!(in_case(text, "LOWER_CAMEL_CASE"), "someTargetTextToFormat");
        assert_eq!(in_case(text, "UPPER_CAMEL_CASE"), "SomeTargetTextToFormat");
        assert_eq!(in_case(text, "SNAKE_CASE"), "some_target_text_to_format");
        assert_eq!(in_case(text, "LISP_CASE"), "some-target-text-to-format");
        assert_eq!(in_case(text, "TRAIN_CASE"), "SOME-TARGET-TEXT-TO-FORMAT");
        assert_eq!(in_case(text, "UPPER_UNDERSCORE"), "SOME_TARGET_TEXT_TO_FORMAT");
        assert_eq!(in_case("as it is", "WHATEVER"), "as it is");
        assert_eq!(words("-a--b_"), ["", "a", "b"]);
        assert_eq!(words(""), [""]);
    }
}
