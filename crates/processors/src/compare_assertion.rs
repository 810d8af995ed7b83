//! The compare assertion: all results it sees within an iteration must be alike.

use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_record::AssertionResult;

use crate::java;
use crate::oro::{Groups, Pattern, PatternText};
use crate::refusal::Refusal;
use busyhour_program::ElementError;

/// Settings of a compare assertion. Its properties are those of the bean, without a prefix.
#[derive(Clone, Debug, Default)]
pub struct CompareAssertionSettings {
    /// `TestElement.name`
    pub name: Template,
    /// `compareContent`
    pub content: bool,
    /// `compareTime`: how far apart the times may lie, in milliseconds; negative: not compared.
    pub time_ms_max: Template,
    /// `stringsToSkip`: patterns, and what is put in the place of each match.
    pub substitutions: Vec<(Template, Template)>,
}

/// The compare assertion.
#[derive(Debug)]
pub struct CompareAssertion {
    settings: CompareAssertionSettings,
    patterns: Vec<(PatternText, Template)>,
    state: StateId,
}

/// What was seen in an iteration.
#[derive(Debug, Default)]
struct Seen {
    iteration: u32,
    contents: Vec<String>,
    times_ms: Vec<i64>,
}

impl CompareAssertion {
    /// Takes an assertion out of the plan.
    ///
    /// # Errors
    /// For regular expressions whose matches are not promised.
    pub fn new(settings: CompareAssertionSettings, symbols: &mut Symbols) -> Result<Self, Refusal> {
        let patterns = settings
            .substitutions
            .iter()
            .map(|(pattern, by)| Ok((PatternText::new(pattern.clone(), true)?, by.clone())))
            .collect::<Result<_, Refusal>>()?;
        Ok(Self { settings, patterns, state: symbols.state() })
    }

    fn filtered(&self, user: &mut UserState, result: &SampleResult) -> Result<String, ElementError> {
        let mut text = result.body_text().into_owned();
        for (pattern, by) in &self.patterns {
            let by = by.text(user).into_owned();
            let ready = pattern.get(user);
            let pattern = ready.pattern().map_err(ToString::to_string)?;
            text = substitute(pattern, &text, &by)?;
        }
        Ok(text)
    }
}

/// The text with each match replaced.
fn substitute(pattern: &Pattern, text: &str, by: &str) -> Result<String, ElementError> {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    pattern
        .each_match(text, |groups: &Groups<'_, '_>| {
            let found = groups.whole();
            out.push_str(&text[from..found.start]);
            out.push_str(by);
            from = found.end;
            std::ops::ControlFlow::Continue(())
        })
        .map_err(|error| error.to_string())?;
    out.push_str(&text[from..]);
    Ok(out)
}

impl Assertion for CompareAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let time_ms_max = java::long(&self.settings.time_ms_max.text(user));
        let content = if self.settings.content {
            match self.filtered(user, result) {
                Ok(content) => Some(content),
                Err(message) => {
                    return AssertionResult {
                        error: true,
                        message: message.into(),
                        ..AssertionResult::default()
                    };
                }
            }
        } else {
            None
        };
        let iteration = user.iteration;
        let seen = user.state(self.state, Seen::default);
        if seen.iteration != iteration {
            *seen = Seen { iteration, ..Seen::default() };
        }
        seen.contents.extend(content);
        if time_ms_max >= 0 {
            seen.times_ms.push(i64::try_from(result.elapsed_ms()).unwrap_or(i64::MAX));
        }
        let differs = seen.contents.windows(2).any(|pair| pair[0] != pair[1]);
        let apart = seen.times_ms.windows(2).any(|pair| (pair[0] - pair[1]).abs() > time_ms_max);
        // The later of the two messages stays.
        let message = if apart {
            format!("Responses differ in response time by more than{time_ms_max} ms")
        } else {
            "Responses differ in content".to_owned()
        };
        if differs || apart {
            AssertionResult { failure: true, message, ..AssertionResult::default() }
        } else {
            AssertionResult::default()
        }
    }

    fn keep(&self) -> Retention {
        Retention { body: self.settings.content, ..Retention::default() }
    }
}
