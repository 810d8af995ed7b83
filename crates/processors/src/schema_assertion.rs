//! The XML Schema Assertion.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use busyhour_program::ElementError;
use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use busyhour_xml::Schema;

use crate::refusal::Refusal;

/// Maximum size of a schema file in bytes.
const SCHEMA_BYTES_MAX: u64 = 64 << 20;

/// Number of schemas that each thread caches.
const CACHED_MAX: usize = 100;

/// A cached schema, or its error.
type CachedSchema = Rc<Result<Schema, ElementError>>;

thread_local! {
    static CACHE: RefCell<HashMap<PathBuf, CachedSchema>> = RefCell::default();
}

/// Fails a response that violates an XML schema.
#[derive(Debug)]
pub struct XmlSchemaAssertion {
    name: Template,
    file: Template,
    base: PathBuf,
}

impl XmlSchemaAssertion {
    /// Creates the assertion. `name` is `TestElement.name`, `file` is `xmlschema_assertion_filename`, and `base` is the plan's
    /// folder.
    ///
    /// # Errors
    /// The file name is constant, and the file is not a valid schema.
    pub fn new(name: Template, file: Template, base: PathBuf) -> Result<Self, Refusal> {
        if let Some(file) = file.as_literal().filter(|file| !file.is_empty()) {
            read_schema(&resolve_path(&base, file))
                .map_err(|why| Refusal::invalid(format!("has the schema {file}: {why}")))?;
        }
        Ok(Self { name, file, base })
    }
}

/// Resolves a relative name in the working directory, then in the plan's folder.
fn resolve_path(base: &Path, file: &str) -> PathBuf {
    let path = Path::new(file.strip_prefix("file:").unwrap_or(file));
    if path.exists() { path.to_owned() } else { base.join(path) }
}

fn read_schema(path: &Path) -> Result<Schema, ElementError> {
    let bytes = busyhour_limits::files::read_regular(path, SCHEMA_BYTES_MAX)
        .map_err(|error| ElementError::with_cause(format!("it cannot be read: {error}"), error))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Schema::read(&busyhour_xml::decode(&bytes), folder).map_err(ElementError::caused_by)
}

/// The schema in a file, which each thread reads once.
fn cached_schema(path: PathBuf) -> CachedSchema {
    CACHE.with_borrow_mut(|cache| {
        if let Some(schema) = cache.get(&path) {
            return Rc::clone(schema);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let schema = Rc::new(read_schema(&path));
        cache.insert(path, Rc::clone(&schema));
        schema
    })
}

impl Assertion for XmlSchemaAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let failure =
            |message: String| AssertionResult { failure: true, message, ..AssertionResult::default() };
        let text = result.body_text();
        if text.is_empty() {
            return failure("Response was null".to_owned());
        }
        let file = self.file.text(user);
        if file.is_empty() {
            return failure("FileName is required".to_owned());
        }
        let error = |message: String| AssertionResult { error: true, message, ..AssertionResult::default() };
        match cached_schema(resolve_path(&self.base, &file)).as_ref() {
            Err(why) => {
                error(format!("error: schema_reference.4: Failed to read schema document '{file}': {why}"))
            }
            Ok(schema) => match schema.check(&text) {
                Ok(()) => AssertionResult::default(),
                Err(invalid) => error(invalid.to_string()),
            },
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}
