//! Parses jsoup's selectors.

use busyhour_oro::Finder;

use super::syntax::{Chain, Combinator, Nth, Selector, SelectorError, Test};

/// Maximum nesting depth of selectors inside `:not(…)`, `:has(…)` and `:is(…)`.
const DEPTH_MAX: u32 = 50;
/// Maximum number of parts of a selector.
const PARTS_MAX: usize = 500;

pub(super) struct Parser<'t> {
    whole: &'t str,
    rest: &'t str,
    depth: u32,
}

type ParseResult<T> = Result<T, SelectorError>;

/// Trims a text and converts it to lower case.
fn normalize(text: &str) -> String {
    text.trim().to_lowercase()
}

fn compile_pattern(text: &str) -> ParseResult<Box<Finder>> {
    Finder::compile(text).map(Box::new).map_err(|error| SelectorError(error.to_string()))
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { whole: text, rest: text.trim(), depth: 0 }
    }

    fn unexpected_token<T>(&self) -> ParseResult<T> {
        Err(SelectorError(format!(
            "Could not parse query '{}': unexpected token at '{}'",
            self.whole, self.rest
        )))
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn eat_ignoring_case(&mut self, text: &str) -> bool {
        let fits = self.rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
        if fits {
            self.rest = &self.rest[text.len()..];
        }
        fits
    }

    /// Skips white space. Returns whether there was any.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let skipped_any = rest.len() < self.rest.len();
        self.rest = rest;
        skipped_any
    }

    pub(super) fn selector(mut self) -> ParseResult<Selector> {
        if self.rest.is_empty() {
            return Err(SelectorError("String must not be empty".to_owned()));
        }
        let mut chains = vec![self.chain()?];
        while self.eat(",") {
            self.skip_space();
            chains.push(self.chain()?);
        }
        if self.rest.is_empty() { Ok(Selector { chains }) } else { self.unexpected_token() }
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let has_space = self.skip_space();
        let found = if self.eat(">") {
            Combinator::Child
        } else if self.eat("+") {
            Combinator::Next
        } else if self.eat("~") {
            Combinator::Later
        } else if has_space && !self.rest.is_empty() && !self.rest.starts_with(',') {
            return Some(Combinator::Descendant);
        } else {
            return None;
        };
        self.skip_space();
        Some(found)
    }

    fn chain(&mut self) -> ParseResult<Chain> {
        let first = self.combinator().unwrap_or(Combinator::Start);
        let mut parts = vec![(first, self.compound()?)];
        while let Some(combinator) = self.combinator() {
            if parts.len() >= PARTS_MAX {
                return Err(SelectorError(format!("A selector may have up to {PARTS_MAX} parts")));
            }
            parts.push((combinator, self.compound()?));
        }
        Ok(Chain { parts })
    }

    fn compound(&mut self) -> ParseResult<Vec<Test>> {
        let mut tests = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with([' ', '\t', '\n', '\r', '>', '+', '~', ',']) {
            tests.push(self.test()?);
        }
        if tests.is_empty() { self.unexpected_token() } else { Ok(tests) }
    }

    fn test(&mut self) -> ParseResult<Test> {
        if self.eat("#") {
            return Ok(Test::Id(self.identifier()?));
        }
        if self.eat(".") {
            return Ok(Test::Class(normalize(&self.identifier()?)));
        }
        if self.rest.starts_with('[') {
            let inside = self.balanced('[', ']')?;
            return self.attribute(inside);
        }
        if self.eat("*|") {
            return Ok(Test::TagInAnyNamespace(normalize(&self.identifier()?)));
        }
        if self.eat("*") {
            return Ok(Test::All);
        }
        if self.eat(":") {
            return self.pseudo();
        }
        let length = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | '#')))
            .unwrap_or(self.rest.len());
        let length = self.rest[..length].find('#').unwrap_or(length);
        if length == 0 {
            return self.unexpected_token();
        }
        let (tag, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Test::Tag(normalize(tag).replace('|', ":")))
    }

    /// Parses a CSS identifier and resolves its escapes.
    fn identifier(&mut self) -> ParseResult<String> {
        let mut out = String::new();
        let mut characters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, character)) = characters.next() {
            if character == '\\' {
                out.extend(characters.next().map(|(_, escaped)| escaped));
            } else if character.is_alphanumeric() || matches!(character, '-' | '_') || !character.is_ascii() {
                out.push(character);
            } else {
                end = at;
                break;
            }
        }
        self.rest = &self.rest[end..];
        if out.is_empty() { self.unexpected_token() } else { Ok(out) }
    }

    /// Parses a bracket at the start up to the matching closing bracket, and returns the text between them. Brackets in quotes
    /// and escaped brackets do not count.
    fn balanced(&mut self, open: char, close: char) -> ParseResult<&'t str> {
        let mut depth = 0;
        let mut quote = None;
        let mut escaped = false;
        for (at, character) in self.rest.char_indices() {
            if escaped {
                escaped = false;
            } else if character == '\\' {
                escaped = true;
            } else if let Some(mark) = quote {
                if character == mark {
                    quote = None;
                }
            } else if matches!(character, '"' | '\'') && depth > 0 {
                quote = Some(character);
            } else if character == open {
                depth += 1;
            } else if character == close {
                depth -= 1;
                if depth == 0 {
                    let inside = &self.rest[open.len_utf8()..at];
                    self.rest = &self.rest[at + close.len_utf8()..];
                    return Ok(inside);
                }
            }
        }
        Err(SelectorError(format!("Did not find balanced marker at '{}'", self.rest)))
    }

    fn attribute(&self, inside: &str) -> ParseResult<Test> {
        let at = inside.find(['=', '!', '^', '$', '*', '~']).filter(|at| *at > 0);
        let Some(at) = at else {
            let key = normalize(inside);
            return match key.strip_prefix('^') {
                Some(prefix) => Ok(Test::AttributePrefix(prefix.to_owned())),
                None if key.is_empty() => self.unexpected_token(),
                None => Ok(Test::Attribute(key)),
            };
        };
        let key = normalize(&inside[..at]);
        let rest = &inside[at..];
        let operator =
            ["!=", "^=", "$=", "*=", "~=", "="].into_iter().find(|operator| rest.starts_with(operator));
        let Some(operator) = operator else { return self.unexpected_token() };
        let written = &rest[operator.len()..];
        let trimmed = written.trim();
        let quoted =
            ['"', '\''].into_iter().find_map(|quote| trimmed.strip_prefix(quote)?.strip_suffix(quote));
        let (value, is_quoted) = quoted.map_or((trimmed, false), |inside| (inside, true));
        let affix = if is_quoted { value.to_lowercase() } else { normalize(value) };
        Ok(match operator {
            "=" => Test::Equals(key, normalize(value)),
            "!=" => Test::NotEquals(key, normalize(value)),
            "^=" => Test::StartsWith(key, affix),
            "$=" => Test::EndsWith(key, affix),
            "*=" => Test::Contains(key, normalize(value)),
            _ => Test::Matches(key, compile_pattern(written)?),
        })
    }

    fn argument(&mut self) -> ParseResult<&'t str> {
        if !self.rest.starts_with('(') {
            return self.unexpected_token();
        }
        self.balanced('(', ')')
    }

    fn number(&mut self) -> ParseResult<usize> {
        let text = self.argument()?.trim();
        text.parse().map_err(|_| SelectorError("Index must be numeric".to_owned()))
    }

    fn nested_selector(&mut self) -> ParseResult<Selector> {
        if self.depth >= DEPTH_MAX {
            return Err(SelectorError(format!("Selectors may be nested up to {DEPTH_MAX} deep")));
        }
        let inside = self.argument()?;
        Parser { depth: self.depth + 1, ..Parser::new(inside) }.selector()
    }

    fn pseudo(&mut self) -> ParseResult<Test> {
        let from_end = true;
        let of_type = true;
        let nth = |step, offset, from_end, of_type| Test::Nth(Nth { step, offset, from_end, of_type });
        let length = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '-')).unwrap_or(self.rest.len());
        let name = self.rest[..length].to_ascii_lowercase();
        if !self.eat_ignoring_case(&name) {
            return self.unexpected_token();
        }
        Ok(match name.as_str() {
            "lt" => Test::Index(0..self.number()?),
            "gt" => Test::Index(self.number()? + 1..usize::MAX),
            "eq" => {
                let number = self.number()?;
                Test::Index(number..number + 1)
            }
            "has" => Test::Has(self.nested_selector()?),
            "not" => Test::Not(self.nested_selector()?),
            "is" => Test::Is(self.nested_selector()?),
            "contains" | "containsown" => {
                let words: Vec<&str> = self.argument()?.split_whitespace().collect();
                Test::Text { text: unescape(&words.join(" ").to_lowercase()), own: name == "containsown" }
            }
            "containswholetext" => Test::WholeText(unescape(self.argument()?)),
            "matches" | "matchesown" | "matcheswholetext" => Test::Pattern {
                pattern: compile_pattern(self.argument()?)?,
                own: name == "matchesown",
                whole: name == "matcheswholetext",
            },
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(from_end, false)?,
            "nth-of-type" => self.nth(false, of_type)?,
            "nth-last-of-type" => self.nth(from_end, of_type)?,
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, from_end, false),
            "first-of-type" => nth(0, 1, false, of_type),
            "last-of-type" => nth(0, 1, from_end, of_type),
            "only-child" => Test::Only { of_type: false },
            "only-of-type" => Test::Only { of_type },
            "empty" => Test::Empty,
            "root" => Test::Root,
            _ => return self.unexpected_token(),
        })
    }

    fn nth(&mut self, from_end: bool, of_type: bool) -> ParseResult<Test> {
        let text = normalize(self.argument()?).replace(' ', "");
        let number = |text: &str| text.strip_prefix('+').unwrap_or(text).parse::<i64>().ok();
        let parsed = match text.as_str() {
            "odd" => Some((2, 1)),
            "even" => Some((2, 0)),
            _ => match text.split_once('n') {
                None => number(&text).map(|offset| (0, offset)),
                Some((step, offset)) => {
                    let step = match step {
                        "" | "+" => Some(1),
                        "-" => Some(-1),
                        other => number(other),
                    };
                    let offset = if offset.is_empty() { Some(0) } else { number(offset) };
                    step.zip(offset)
                }
            },
        };
        match parsed {
            Some((step, offset)) => Ok(Test::Nth(Nth { step, offset, from_end, of_type })),
            None => Err(SelectorError(format!("Could not parse nth-index '{text}': unexpected format"))),
        }
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            other => out.push(other),
        }
    }
    out
}
