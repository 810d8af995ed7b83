//! The Compare Assertion: all results that it checks within an iteration must be equal.

use busyhour_program::ElementError;
use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_sample::AssertionResult;

use crate::java;
use crate::oro::{Groups, Pattern, PatternText};
use crate::refusal::Refusal;

/// Settings of a compare assertion. The properties have no prefix.
#[derive(Clone, Debug, Default)]
pub struct CompareAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// `compareContent`: compare the bodies.
    pub content: bool,
    /// `compareTime`: the greatest difference of elapsed times in milliseconds; if negative, times are not compared.
    pub time_ms_max: Template,
    /// `stringsToSkip`: patterns and their replacements.
    pub substitutions: Vec<(Template, Template)>,
}

/// The compare assertion.
#[derive(Debug)]
pub struct CompareAssertion {
    settings: CompareAssertionSettings,
    patterns: Vec<(PatternText, Template)>,
    state: StateId,
}

/// The results that were checked in an iteration.
#[derive(Debug, Default)]
struct IterationResults {
    iteration: u32,
    contents: Vec<String>,
    times_ms: Vec<i64>,
}

impl CompareAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// A regular expression may match differently than in JMeter.
    pub fn new(settings: CompareAssertionSettings, symbols: &mut Symbols) -> Result<Self, Refusal> {
        let patterns = settings
            .substitutions
            .iter()
            .map(|(pattern, replacement)| Ok((PatternText::new(pattern.clone(), true)?, replacement.clone())))
            .collect::<Result<_, Refusal>>()?;
        Ok(Self { settings, patterns, state: symbols.state() })
    }

    fn filter_content(&self, user: &mut UserState, result: &SampleResult) -> Result<String, ElementError> {
        let mut text = result.body_text().into_owned();
        for (pattern, replacement) in &self.patterns {
            let replacement = replacement.text(user).into_owned();
            let resolved = pattern.get(user);
            let pattern = resolved.pattern().map_err(ToString::to_string)?;
            text = substitute(pattern, &text, &replacement)?;
        }
        Ok(text)
    }
}

/// Replaces each match in a text.
fn substitute(pattern: &Pattern, text: &str, replacement: &str) -> Result<String, ElementError> {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    pattern
        .each_match(text, |groups: &Groups<'_, '_>| {
            let found = groups.whole();
            out.push_str(&text[from..found.start]);
            out.push_str(replacement);
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
            match self.filter_content(user, result) {
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
        let results = user.state(self.state, IterationResults::default);
        if results.iteration != iteration {
            *results = IterationResults { iteration, ..IterationResults::default() };
        }
        results.contents.extend(content);
        if time_ms_max >= 0 {
            results.times_ms.push(i64::try_from(result.elapsed_ms()).unwrap_or(i64::MAX));
        }
        let content_differs = results.contents.windows(2).any(|pair| pair[0] != pair[1]);
        let times_differ = results.times_ms.windows(2).any(|pair| (pair[0] - pair[1]).abs() > time_ms_max);
        // As in JMeter, the message about times replaces the one about content.
        let message = if times_differ {
            format!("Responses differ in response time by more than{time_ms_max} ms")
        } else {
            "Responses differ in content".to_owned()
        };
        if content_differs || times_differ {
            AssertionResult { failure: true, message, ..AssertionResult::default() }
        } else {
            AssertionResult::default()
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: self.settings.content, ..Retention::default() }
    }
}
