//! The JSON Extractor.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::rc::Rc;

use busyhour_program::ElementError;
use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::jsonpath::{self, JsonPath, PathError, Value};
use crate::match_number;
use crate::matches::MatchBudget;
use crate::refusal::Refusal;
use crate::scope::SampleScope;

/// Settings of a JSON extractor. Names, paths, match numbers and defaults are lists separated by `;`.
#[derive(Clone, Debug, Default)]
pub struct JsonExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `JSONPostProcessor.referenceNames`: the variables, or the prefixes of the variables, to set.
    pub names: Template,
    /// `JSONPostProcessor.jsonPathExprs`: the JSON paths.
    pub paths: Template,
    /// `JSONPostProcessor.match_numbers`: for each path 0 for a random match, −1 for all, otherwise the number of the match.
    pub match_numbers: Template,
    /// `JSONPostProcessor.defaultValues`: the values if nothing is found.
    pub defaults: Template,
    /// `JSONPostProcessor.compute_concat`: also store all matches, joined by commas, in `_ALL`.
    pub concatenate: bool,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// The JSON extractor.
#[derive(Debug)]
pub struct JsonExtractor {
    settings: JsonExtractorSettings,
    /// The compiled paths if they are constant.
    paths: Option<Vec<ConstantPath>>,
}

/// Number of paths with variables that each thread caches.
const CACHED_MAX: usize = 1000;

/// JMeter's message for lists of different lengths.
const MISMATCH: &str = "Mismatch between number of variables, json expressions and default values";

/// A cached path, or its error.
pub(crate) type CachedPath = Rc<Result<JsonPath, PathError>>;

thread_local! {
    static CACHE: RefCell<HashMap<String, CachedPath>> = RefCell::default();
}

/// Compiles a path that was built during the run, or returns it from the cache.
pub(crate) fn cached_path(text: &str) -> CachedPath {
    CACHE.with_borrow_mut(|cache| {
        if let Some(path) = cache.get(text) {
            return Rc::clone(path);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let path = Rc::new(JsonPath::compile(text));
        cache.insert(text.to_owned(), Rc::clone(&path));
        path
    })
}

/// A constant path of the plan, or its error, which JMeter reports at each sample.
pub(crate) type ConstantPath = Result<JsonPath, PathError>;

/// Compiles a constant path. Refuses paths that Jayway may accept but that are not supported here.
pub(crate) fn compile_constant_path(text: &str) -> Result<ConstantPath, Refusal> {
    match JsonPath::compile(text) {
        Err(PathError::Unsupported(construct)) => {
            Err(Refusal::unsupported(format!("has the JSON path `{text}` with {construct}")))
        }
        path => Ok(path),
    }
}

impl JsonExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// A path is not supported, or the lists have different lengths, for which JMeter fails at each sample.
    pub fn new(settings: JsonExtractorSettings) -> Result<Self, Refusal> {
        let paths = match settings.paths.as_literal() {
            Some(text) => Some(
                busyhour_java::split(text, ';')
                    .into_iter()
                    .map(|path| compile_constant_path(busyhour_java::trim(path)))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            None => None,
        };
        let count =
            |template: &Template| template.as_literal().map(|text| busyhour_java::split(text, ';').len());
        let lengths = [count(&settings.names), paths.as_ref().map(Vec::len), count(&settings.defaults)];
        let mut known = lengths.iter().flatten();
        if let Some(first) = known.next()
            && known.any(|length| length != first)
        {
            return Err(Refusal::invalid(format!("has lists of different lengths: {MISMATCH}")));
        }
        Ok(Self { settings, paths })
    }

    /// The error in a constant path, which JMeter reports at each sample.
    pub fn path_error(&self) -> Option<String> {
        self.paths.iter().flatten().find_map(|path| path.as_ref().err().map(ToString::to_string))
    }

    /// The error in constant match numbers, for which JMeter discards each sample.
    pub fn match_numbers_error(&self) -> Option<String> {
        let text = self.settings.match_numbers.as_literal()?;
        let expected = busyhour_java::split(self.settings.defaults.as_literal()?, ';').len();
        parse_match_numbers(text, expected).err().map(String::from)
    }

    /// The documents to search; an error for a text that is not JSON.
    fn documents(&self, user: &UserState, variable: Option<&str>) -> Vec<Result<Value, ElementError>> {
        let read = |text: &str| {
            if text.is_empty() {
                return Err("json string can not be null or empty".into());
            }
            jsonpath::read(text).map_err(|error| error.to_string().into())
        };
        if let Some(variable) = variable {
            return vec![read(user.variables.get(variable).unwrap_or_default())];
        }
        let mut documents = Vec::new();
        if user.has_result {
            self.settings.scope.visit(&user.result, |result| {
                let text = result.body_text();
                if !busyhour_java::is_blank(&text) {
                    documents.push(read(&text));
                }
                ControlFlow::Continue(())
            });
        }
        documents
    }
}

/// Parses one number for each path. The list is empty if the text is blank, which means 0 for all paths.
fn parse_match_numbers(text: &str, expected: usize) -> Result<Vec<i32>, ElementError> {
    if busyhour_java::is_blank(text) {
        return Ok(Vec::new());
    }
    let parts = busyhour_java::split(text, ';');
    if parts.len() > expected {
        return Err(format!("Index {expected} out of bounds for length {expected}").into());
    }
    parts
        .into_iter()
        .map(|part| {
            let part = busyhour_java::trim(part);
            part.parse().map_err(|_| format!("For input string: \"{part}\"").into())
        })
        .collect()
}

/// The values of a path in all documents, as text; `None` for null.
fn extract(
    documents: &[Result<Value, ElementError>],
    path: &ConstantPath,
) -> Result<Vec<Option<String>>, ElementError> {
    let path = path.as_ref().map_err(ToString::to_string)?;
    let mut found = Vec::new();
    let mut budget = MatchBudget::default();
    for document in documents {
        let document = document.as_ref().map_err(Clone::clone)?;
        let values = path.find_all(document).map_err(|error| error.to_string())?;
        for value in &values {
            let text = value.extracted();
            budget.spend(text.as_ref().map_or(0, String::len)).map_err(|error| error.to_string())?;
            found.push(text);
        }
    }
    Ok(found)
}

impl JsonExtractor {
    fn store_matches(
        &self,
        user: &mut UserState,
        name: &str,
        default: &str,
        wanted: i32,
        found: &[Option<String>],
    ) {
        let mut key = user.take_buffer();
        let text = |index: usize| found[index].as_deref().unwrap_or(default);
        let mut set = |user: &mut UserState, suffix: std::fmt::Arguments<'_>, value: &str| {
            key.clear();
            key.push_str(name);
            let _ = key.write_fmt(suffix);
            user.variables.set(&key, value);
        };
        let all = wanted < 0;
        if found.is_empty() {
            set(user, format_args!(""), default);
            set(user, format_args!("_matchNr"), "0");
            if all && self.settings.concatenate {
                set(user, format_args!("_ALL"), "");
            }
        } else if all {
            let mut joined = String::new();
            for index in 0..found.len() {
                set(user, format_args!("_{}", index + 1), text(index));
                if self.settings.concatenate {
                    if index > 0 {
                        joined.push(',');
                    }
                    joined.push_str(text(index));
                }
            }
            if self.settings.concatenate {
                set(user, format_args!("_ALL"), &joined);
            }
        } else {
            let number = usize::try_from(wanted).unwrap_or(0);
            let selected = match_number::select_or_single(user, number, found.len());
            set(user, format_args!(""), selected.map_or(default, text));
        }
        if wanted != 0 && !found.is_empty() {
            set(user, format_args!("_matchNr"), &found.len().to_string());
        }
        user.give_back(key);
    }
}

/// Removes the variables `_matchNr`, `_1`, `_2`, … of an earlier search.
pub(crate) fn remove_old_matches(user: &mut UserState, name: &str) {
    let mut key = user.take_buffer();
    let _ = write!(key, "{name}_matchNr");
    user.variables.remove(&key);
    for number in 1.. {
        key.clear();
        let _ = write!(key, "{name}_{number}");
        if !user.variables.remove(&key) {
            break;
        }
    }
    user.give_back(key);
}

impl Processor for JsonExtractor {
    fn process(&self, user: &mut UserState) {
        let settings = &self.settings;
        let names = settings.names.text(user);
        let defaults = settings.defaults.text(user);
        let numbers = settings.match_numbers.text(user);
        let path_texts: Cow<'_, str> =
            if self.paths.is_some() { Cow::Borrowed("") } else { settings.paths.text(user) };
        let variable = match &settings.scope {
            SampleScope::Variable(name) => Some(name.text(user)),
            _ => None,
        };
        let names = busyhour_java::split(&names, ';');
        let defaults = busyhour_java::split(&defaults, ';');
        let path_texts = busyhour_java::split(&path_texts, ';');
        let paths = self.paths.as_ref().map_or(path_texts.len(), Vec::len);
        let log_error = |user: &UserState, why: &str| {
            user.log(
                LogLevel::Error,
                &format!("Error processing JSON content in {}, message: {why}", settings.name),
            );
        };
        let numbers = match parse_match_numbers(&numbers, defaults.len()) {
            Ok(numbers) => numbers,
            Err(why) => return user.abandon_sample(why.message()),
        };
        if names.len() != paths || names.len() != defaults.len() {
            return user.abandon_sample(MISMATCH);
        }
        let documents = self.documents(user, variable.as_deref());
        for (index, (name, default)) in names.iter().zip(&defaults).enumerate() {
            let name = busyhour_java::trim(name);
            remove_old_matches(user, name);
            if documents.is_empty() {
                user.variables.set(name, default);
                continue;
            }
            let found = match &self.paths {
                Some(paths) => extract(&documents, &paths[index]),
                None => extract(&documents, cached_path(busyhour_java::trim(path_texts[index])).as_ref()),
            };
            match found {
                Ok(found) => {
                    let number = numbers.get(index).copied().unwrap_or(0);
                    self.store_matches(user, name, default, number, &found);
                }
                Err(why) => {
                    log_error(user, why.message());
                    user.variables.set(name, default);
                }
            }
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: !self.settings.scope.is_variable(), ..Retention::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn extractor(names: &str, paths: &str, numbers: &str, defaults: &str) -> Result<JsonExtractor, Refusal> {
        let literal = Template::literal;
        JsonExtractor::new(JsonExtractorSettings {
            names: literal(names),
            paths: literal(paths),
            match_numbers: literal(numbers),
            defaults: literal(defaults),
            concatenate: true,
            ..JsonExtractorSettings::default()
        })
    }

    fn after(body: &str, names: &str, paths: &str, numbers: &str, defaults: &str) -> String {
        let mut user = user_with_body(body);
        extractor(names, paths, numbers, defaults).expect("supported").process(&mut user);
        all_variables(&user)
    }

    #[test]
    fn several_paths_are_extracted() {
        let body = r#"{"a":[1,2,null],"b":{"c":"x"},"d":null}"#;
        insta::assert_snapshot!(after(body, "p;q;r", "$.a[*]; $.b.c ;$.b", "-1;1;5", "N;M;O"),
            @r#"p_1=1 p_2=2 p_3=N p_ALL=1,2,N p_matchNr=3 q=x q_matchNr=1 r={"c":"x"} r_matchNr=1"#);
        insta::assert_snapshot!(after(body, "p", "$.a[*]", "2", "N"), @"p=2 p_matchNr=3");
        insta::assert_snapshot!(after(body, "p", "$.a[*]", "4", "N"), @"p=N p_matchNr=3");
        insta::assert_snapshot!(after(body, "p", "$.x", "", "N"), @"p=N p_matchNr=0");
        insta::assert_snapshot!(after(body, "p", "$.x", "-1", "N"), @"p=N p_ALL= p_matchNr=0");
        insta::assert_snapshot!(after(body, "p", "$.d", "", "N"), @"p=N");
        insta::assert_snapshot!(after(body, "p", "$.b.c", "-1", "N"), @"p_1=x p_ALL=x p_matchNr=1");
    }

    #[test]
    fn invalid_documents_and_paths_give_the_default() {
        insta::assert_snapshot!(after("", "p", "$.x", "-1", "N"), @"p=N");
        insta::assert_snapshot!(after("{\"x\":", "p", "$.x", "-1", "N"), @"p=N");
        insta::assert_snapshot!(after("{}", "p", "$x", "1", "N"), @"p=N");
        insta::assert_snapshot!(after("<html></html>", "p", "$.x", "1", "N"), @"p=N p_matchNr=0");
    }

    #[test]
    fn invalid_match_numbers_are_detected_at_compile_time() {
        let error =
            |numbers| extractor("a", "$.a", numbers, "x").expect("runs in JMeter").match_numbers_error();
        assert_eq!(error("-1"), None);
        assert_eq!(error("m2").as_deref(), Some("For input string: \"m2\""));
        assert_eq!(error("1;2").as_deref(), Some("Index 1 out of bounds for length 1"));
    }

    #[test]
    fn lists_of_different_lengths_are_refused() {
        assert!(extractor("a;b", "$.a", "", "x;y").is_err());
        assert!(extractor("a;b", "$.a;$.b", "1", "x").is_err());
        assert!(extractor("a", "$..*.b", "1", "x").is_err());
        assert!(extractor("a", "$.a.length()", "1", "x").is_ok());
    }
}
