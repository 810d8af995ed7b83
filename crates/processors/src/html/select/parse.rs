//! Reading jsoup's selectors.

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

type Parsed<T> = Result<T, SelectorError>;

/// A text in lower case and trimmed.
fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}

fn pattern(text: &str) -> Parsed<Box<Finder>> {
    Finder::compile(text).map(Box::new).map_err(|error| SelectorError(error.to_string()))
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { whole: text, rest: text.trim(), depth: 0 }
    }

    fn wrong<T>(&self) -> Parsed<T> {
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

    fn space(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    pub(super) fn selector(mut self) -> Parsed<Selector> {
        if self.rest.is_empty() {
            return Err(SelectorError("String must not be empty".to_owned()));
        }
        let mut chains = vec![self.chain()?];
        while self.eat(",") {
            self.space();
            chains.push(self.chain()?);
        }
        if self.rest.is_empty() { Ok(Selector { chains }) } else { self.wrong() }
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let spaced = self.space();
        let found = if self.eat(">") {
            Combinator::Child
        } else if self.eat("+") {
            Combinator::Next
        } else if self.eat("~") {
            Combinator::Later
        } else if spaced && !self.rest.is_empty() && !self.rest.starts_with(',') {
            return Some(Combinator::Descendant);
        } else {
            return None;
        };
        self.space();
        Some(found)
    }

    fn chain(&mut self) -> Parsed<Chain> {
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

    fn compound(&mut self) -> Parsed<Vec<Test>> {
        let mut tests = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with([' ', '\t', '\n', '\r', '>', '+', '~', ',']) {
            tests.push(self.test()?);
        }
        if tests.is_empty() { self.wrong() } else { Ok(tests) }
    }

    fn test(&mut self) -> Parsed<Test> {
        if self.eat("#") {
            return Ok(Test::Id(self.identifier()?));
        }
        if self.eat(".") {
            return Ok(Test::Class(normal(&self.identifier()?)));
        }
        if self.rest.starts_with('[') {
            let inside = self.balanced('[', ']')?;
            return self.attribute(inside);
        }
        if self.eat("*|") {
            return Ok(Test::TagOfAnySpace(normal(&self.identifier()?)));
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
            return self.wrong();
        }
        let (tag, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Test::Tag(normal(tag).replace('|', ":")))
    }

    /// A CSS identifier, its escapes resolved.
    fn identifier(&mut self) -> Parsed<String> {
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
        if out.is_empty() { self.wrong() } else { Ok(out) }
    }

    /// The text between an opening bracket at the start and its closing one; quotes and escapes are respected.
    fn balanced(&mut self, open: char, close: char) -> Parsed<&'t str> {
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

    fn attribute(&self, inside: &str) -> Parsed<Test> {
        let at = inside.find(['=', '!', '^', '$', '*', '~']).filter(|at| *at > 0);
        let Some(at) = at else {
            let key = normal(inside);
            return match key.strip_prefix('^') {
                Some(prefix) => Ok(Test::AttributePrefix(prefix.to_owned())),
                None if key.is_empty() => self.wrong(),
                None => Ok(Test::Attribute(key)),
            };
        };
        let key = normal(&inside[..at]);
        let rest = &inside[at..];
        let operator =
            ["!=", "^=", "$=", "*=", "~=", "="].into_iter().find(|operator| rest.starts_with(operator));
        let Some(operator) = operator else { return self.wrong() };
        let written = &rest[operator.len()..];
        let trimmed = written.trim();
        let quoted =
            ['"', '\''].into_iter().find_map(|quote| trimmed.strip_prefix(quote)?.strip_suffix(quote));
        let (value, literal) = quoted.map_or((trimmed, false), |inside| (inside, true));
        let whole = if literal { value.to_lowercase() } else { normal(value) };
        Ok(match operator {
            "=" => Test::Equals(key, normal(value)),
            "!=" => Test::Differs(key, normal(value)),
            "^=" => Test::Begins(key, whole),
            "$=" => Test::Ends(key, whole),
            "*=" => Test::Contains(key, normal(value)),
            _ => Test::Matches(key, pattern(written)?),
        })
    }

    fn argument(&mut self) -> Parsed<&'t str> {
        if !self.rest.starts_with('(') {
            return self.wrong();
        }
        self.balanced('(', ')')
    }

    fn number(&mut self) -> Parsed<usize> {
        let text = self.argument()?.trim();
        text.parse().map_err(|_| SelectorError("Index must be numeric".to_owned()))
    }

    fn inner(&mut self) -> Parsed<Selector> {
        if self.depth >= DEPTH_MAX {
            return Err(SelectorError(format!("Selectors may be nested up to {DEPTH_MAX} deep")));
        }
        let inside = self.argument()?;
        Parser { depth: self.depth + 1, ..Parser::new(inside) }.selector()
    }

    fn pseudo(&mut self) -> Parsed<Test> {
        let from_end = true;
        let of_type = true;
        let nth = |step, offset, from_end, of_type| Test::Nth(Nth { step, offset, from_end, of_type });
        let length = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '-')).unwrap_or(self.rest.len());
        let name = self.rest[..length].to_ascii_lowercase();
        if !self.eat_ignoring_case(&name) {
            return self.wrong();
        }
        Ok(match name.as_str() {
            "lt" => Test::Place(0..self.number()?),
            "gt" => Test::Place(self.number()? + 1..usize::MAX),
            "eq" => {
                let number = self.number()?;
                Test::Place(number..number + 1)
            }
            "has" => Test::Has(self.inner()?),
            "not" => Test::Not(self.inner()?),
            "is" => Test::Is(self.inner()?),
            "contains" | "containsown" => {
                let words: Vec<&str> = self.argument()?.split_whitespace().collect();
                Test::Text { text: unescape(&words.join(" ").to_lowercase()), own: name == "containsown" }
            }
            "containswholetext" => Test::WholeText(unescape(self.argument()?)),
            "matches" | "matchesown" | "matcheswholetext" => Test::Pattern {
                pattern: pattern(self.argument()?)?,
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
            _ => return self.wrong(),
        })
    }

    fn nth(&mut self, from_end: bool, of_type: bool) -> Parsed<Test> {
        let text = normal(self.argument()?).replace(' ', "");
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
