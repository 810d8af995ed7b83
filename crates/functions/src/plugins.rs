//! Functions of jmeter-plugins that process texts and values: `__caseFormat`, `__chooseRandom`, `__doubleSum`, `__if`,
//! `__isDefined`, `__strReplace` and `__substring`.

use std::sync::Arc;

use busyhour_java::{parse_double, trim};
use busyhour_program::ElementError;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use busyhour_script::Value;
use rand::Rng as _;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};

/// A function of several texts.
struct TextsFunction {
    name: &'static str,
    texts: Vec<Template>,
    compute: fn(&[String]) -> Result<String, ElementError>,
    target: Target,
}

impl std::fmt::Debug for TextsFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.name).field("texts", &self.texts).finish_non_exhaustive()
    }
}

impl TextsFunction {
    /// Builds a function of the first `count` arguments.
    fn build(
        arguments: &mut Arguments<'_, '_>,
        count: usize,
        target: Target,
        compute: fn(&[String]) -> Result<String, ElementError>,
    ) -> BuildResult {
        let count = count.min(arguments.count);
        let texts = (0..count).map(|index| arguments.take(index)).collect();
        Ok(Arc::new(Self { name: arguments.name, texts, compute, target }))
    }
}

impl Function for TextsFunction {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let texts: Vec<String> = self.texts.iter().map(|text| text.text(user).into_owned()).collect();
        match (self.compute)(&texts) {
            Ok(text) => {
                out.push_str(&text);
                self.target.store(user, &text);
            }
            Err(why) => log_failure(user, self.name, why.message()),
        }
    }
}

/// Builds `${__strReplace(text, search, replacement, variable)}`.
pub(crate) fn str_replace(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target_untrimmed(3);
    TextsFunction::build(arguments, 3, target, |texts| Ok(texts[0].replace(&texts[1], &texts[2])))
}

/// Builds `${__substring(text, begin, end, variable)}`: positions count UTF-16 code units.
pub(crate) fn substring(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target_untrimmed(3);
    TextsFunction::build(arguments, 3, target, |texts| {
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

/// Builds `${__caseFormat(text, mode, variable)}`.
pub(crate) fn case_format(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target(2);
    TextsFunction::build(arguments, 2, target, |texts| {
        let mode = texts.get(1).filter(|mode| !mode.is_empty()).map_or("LOWER_CAMEL_CASE", String::as_str);
        Ok(convert_case(&texts[0], &mode.to_uppercase()))
    })
}

/// Converts a text to the letter case `mode` of the plugin. An unknown mode leaves the text unchanged.
fn convert_case(text: &str, mode: &str) -> String {
    let words = split_words(text);
    match mode {
        "LOWER_CAMEL_CASE" => camel_case(&words, false),
        "UPPER_CAMEL_CASE" => camel_case(&words, true),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => words.join("_").to_lowercase(),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => words.join("-").to_lowercase(),
        "TRAIN_CASE" => words.join("-").to_uppercase(),
        "UPPER_UNDERSCORE" => words.join("_").to_uppercase(),
        _ => text.to_owned(),
    }
}

/// Implements Java's `Pattern.split` at white space, hyphens and underscores: the result includes an empty first word, but not
/// empty words at the end.
fn split_words(text: &str) -> Vec<&str> {
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

fn camel_case(words: &[&str], capitalize_first: bool) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        let lower = word.to_lowercase();
        let mut chars = lower.chars();
        match chars.next() {
            Some(first) if index > 0 || capitalize_first => {
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

/// Builds `${__if(actual, expected, then, otherwise, variable)}`, which compares the first two texts and returns `then` or
/// `otherwise`.
pub(crate) fn if_equal(arguments: &mut Arguments<'_, '_>) -> BuildResult {
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

/// Builds `${__isDefined(variable)}`, which returns `1` or `0`.
pub(crate) fn is_defined(arguments: &mut Arguments<'_, '_>) -> BuildResult {
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

/// Builds `${__chooseRandom(value, value…, variable)}`.
pub(crate) fn choose_random(arguments: &mut Arguments<'_, '_>) -> BuildResult {
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

/// Builds `${__doubleSum(number, number…, variable)}`. The last argument is a summand if it is a number, otherwise the name of
/// a variable.
pub(crate) fn double_sum(arguments: &mut Arguments<'_, '_>) -> BuildResult {
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
                    log_failure(user, "__doubleSum", &format!("For input string: \"{text}\""));
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
    fn letter_cases_match_the_plugin() {
        let text = "some-target text_to Format";
        assert_eq!(convert_case(text, "LOWER_CAMEL_CASE"), "someTargetTextToFormat");
        assert_eq!(convert_case(text, "UPPER_CAMEL_CASE"), "SomeTargetTextToFormat");
        assert_eq!(convert_case(text, "SNAKE_CASE"), "some_target_text_to_format");
        assert_eq!(convert_case(text, "LISP_CASE"), "some-target-text-to-format");
        assert_eq!(convert_case(text, "TRAIN_CASE"), "SOME-TARGET-TEXT-TO-FORMAT");
        assert_eq!(convert_case(text, "UPPER_UNDERSCORE"), "SOME_TARGET_TEXT_TO_FORMAT");
        assert_eq!(convert_case("as it is", "WHATEVER"), "as it is");
        assert_eq!(split_words("-a--b_"), ["", "a", "b"]);
        assert_eq!(split_words(""), [""]);
    }
}
