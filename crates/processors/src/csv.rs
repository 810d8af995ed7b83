//! The CSV Data Set: stores a row of a file in variables at each iteration.

mod random;
mod text;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use busyhour_program::ElementError;
use busyhour_program::element::{IterationStep, StopUser};
use busyhour_program::run::LogLevel;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
pub use random::{RandomCsvSettings, RandomCsvStep};
use text::{Charset, Row, TextReader};

use crate::refusal::Refusal;

/// Settings of a CSV data set. The properties have no prefix.
#[derive(Clone, Debug, Default)]
pub struct CsvDataSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `filename`: relative to the working directory, or to the plan's folder if the file is not there.
    pub filename: Template,
    /// `fileEncoding`; UTF-8 if empty.
    pub encoding: Template,
    /// `variableNames`, separated by commas; if empty, the first line of the file has the names.
    pub variable_names: Template,
    /// `ignoreFirstLine`: skip the first line of the file.
    pub ignore_first_line: bool,
    /// `delimiter`; `\t` is a tab, and the default is a comma.
    pub delimiter: Template,
    /// `quotedData`: fields may be quoted.
    pub quoted: bool,
    /// `recycle`: start again at the end of the file; true if absent.
    pub recycle: bool,
    /// `stopThread`: stop the user at the end of the file.
    pub stop_thread: bool,
    /// `shareMode`: `shareMode.all` (or empty), `shareMode.group`, `shareMode.thread`, or another name.
    pub share_mode: Template,
}

/// The CSV data set.
#[derive(Debug)]
pub struct CsvDataStep {
    settings: CsvDataSettings,
    files: Arc<CsvFiles>,
    state: StateId,
}

/// The files of the data sets of a run. Data sets that share a file use one open file.
#[derive(Debug)]
pub struct CsvFiles {
    plan_directory: PathBuf,
    open: Mutex<HashMap<String, OpenFile>>,
}

/// An open file. The file of a single user is closed when the user ends; other files remain open until the run ends.
#[derive(Debug)]
enum OpenFile {
    Shared(Arc<CsvFile>),
    OfUser(Weak<CsvFile>),
}

#[derive(Debug)]
struct CsvFile {
    path: PathBuf,
    charset: Charset,
    /// The first line, if it is a header.
    header: Option<String>,
    reader: Mutex<Option<TextReader>>,
}

/// The state of a user for a data set, created at its first iteration.
#[derive(Debug)]
struct OpenDataSet {
    file: Arc<CsvFile>,
    variables: Vec<String>,
    skips_first_line: bool,
}

thread_local! {
    static ROW: RefCell<(Row, String)> = RefCell::default();
}

impl CsvFiles {
    /// Creates the list without open files. Relative names are resolved in the working directory, then in `plan_directory`.
    pub fn new(plan_directory: impl Into<PathBuf>) -> Self {
        Self { plan_directory: plan_directory.into(), open: Mutex::default() }
    }

    /// The path of the file with this name.
    pub fn resolve(&self, name: &str) -> PathBuf {
        let path = Path::new(name);
        if path.is_absolute() || path.exists() { path.to_owned() } else { self.plan_directory.join(path) }
    }

    fn reserve(
        &self,
        key: String,
        name: &str,
        charset: Charset,
        of_user: bool,
        has_header: bool,
    ) -> Result<Arc<CsvFile>, ElementError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let existing = match open.get(&key) {
            Some(OpenFile::Shared(file)) => Some(Arc::clone(file)),
            Some(OpenFile::OfUser(file)) => file.upgrade(),
            None => None,
        };
        let header_missing = || format!("Could not read file header line for file {name}");
        if let Some(file) = existing {
            return if has_header && file.header.is_none() { Err(header_missing().into()) } else { Ok(file) };
        }
        let mut file = CsvFile { path: self.resolve(name), charset, header: None, reader: Mutex::new(None) };
        if has_header {
            let mut reader = file.open().map_err(|error| format!("{}: {error}", header_missing()))?;
            let mut header = String::new();
            match reader.read_line(&mut header) {
                Ok(true) => file.header = Some(header),
                Ok(false) => {
                    return Err(
                        format!("{}: File is empty: {}", header_missing(), file.path.display()).into()
                    );
                }
                Err(error) => return Err(format!("{}: {error}", header_missing()).into()),
            }
            file.reader = Mutex::new(Some(reader));
        }
        let file = Arc::new(file);
        let open_file = if of_user {
            OpenFile::OfUser(Arc::downgrade(&file))
        } else {
            OpenFile::Shared(Arc::clone(&file))
        };
        open.insert(key, open_file);
        Ok(file)
    }
}

/// Why no row was read.
enum RowError {
    /// The file cannot be opened; the user ends.
    Missing(String),
    /// Reading failed, which is handled like the end of the file.
    Failed(String),
}

impl CsvFile {
    fn open(&self) -> Result<TextReader, ElementError> {
        TextReader::open(&self.path, self.charset).map_err(|error| {
            let name = self.path.file_name().unwrap_or(self.path.as_os_str());
            format!("File {} must exist and be readable ({error})", name.display()).into()
        })
    }

    /// Reads the next row. The row is empty at the end of the file.
    fn read_row(
        &self,
        settings: &CsvDataSettings,
        delimiter: &str,
        skips_first_line: bool,
        row: &mut Row,
        line: &mut String,
    ) -> Result<(), RowError> {
        row.clear();
        let failed = |error: std::io::Error| RowError::Failed(error.to_string());
        let mut shared = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let was_open = shared.is_some();
        let reader = match &mut *shared {
            Some(reader) => reader,
            none => none.insert(self.open().map_err(|error| RowError::Missing(error.into()))?),
        };
        if was_open && settings.recycle && reader.peek().map_err(failed)?.is_none() {
            *reader = self.open().map_err(|error| RowError::Missing(error.into()))?;
            if skips_first_line {
                reader.read_line(line).map_err(failed)?;
            }
        }
        if settings.quoted {
            let delimiter = delimiter.chars().next().unwrap_or(',');
            return reader.read_row(delimiter, row).map_err(failed);
        }
        if reader.read_line(line).map_err(failed)? {
            row.split_line(line, delimiter);
        }
        Ok(())
    }
}

/// An element that reads a file whose name is in the plan.
pub trait ReadsFile {
    /// The file's name in the plan.
    fn file_name(&self) -> &Template;

    /// Like [`Self::missing_file`], for a file name that is evaluated at the start of the run.
    fn missing_file_named(&self, name: &str) -> Option<PathBuf>;

    /// The path of the file, if its name is constant and it cannot be opened. The plan is then refused before the run.
    fn missing_file(&self) -> Option<PathBuf> {
        self.missing_file_named(self.file_name().as_literal()?)
    }
}

impl CsvDataStep {
    /// Creates the data set from its settings. `files` are the files of the run.
    ///
    /// # Errors
    /// There is no file name, or the encoding is unknown.
    pub fn new(
        settings: CsvDataSettings,
        files: Arc<CsvFiles>,
        symbols: &mut Symbols,
    ) -> Result<Self, Refusal> {
        if settings.filename.as_literal().is_some_and(|name| busyhour_java::trim(name).is_empty()) {
            return Err(Refusal::invalid("has no file name"));
        }
        if let Some(encoding) = settings.encoding.as_literal()
            && Charset::from_java_name(encoding).is_none()
        {
            return Err(Refusal::unsupported(format!("has the file encoding `{encoding}`")));
        }
        if let Some(names) = settings.variable_names.as_literal() {
            for name in variable_names(names) {
                symbols.slot(&name);
            }
        }
        Ok(Self { settings, files, state: symbols.state() })
    }

    fn open_data_set(&self, user: &mut UserState, delimiter: &str) -> Result<Rc<OpenDataSet>, StopUser> {
        if let Some(Some(opened)) = user.existing_state::<Option<Rc<OpenDataSet>>>(self.state) {
            return Ok(Rc::clone(opened));
        }
        let settings = &self.settings;
        let filename = settings.filename.text(user);
        let name = busyhour_java::trim(&filename);
        let encoding = settings.encoding.text(user);
        let charset = Charset::from_java_name(&encoding)
            .ok_or_else(|| StopUser(format!("Unknown file encoding {encoding}")))?;
        let mode = settings.share_mode.text(user);
        let (key, of_user) = match mode.as_ref() {
            "" | "shareMode.all" => (name.to_owned(), false),
            "shareMode.group" => (format!("{name}@group {}", user.group), false),
            "shareMode.thread" => (format!("{name}@thread {} {}", user.group, user.number), true),
            custom => (format!("{name}@{custom}"), false),
        };
        let names = settings.variable_names.text(user);
        let names_in_file = names.is_empty();
        let skips_first_line = names_in_file || settings.ignore_first_line;
        let file = self
            .files
            .reserve(key, name, charset, of_user, skips_first_line)
            .map_err(|error| StopUser(error.into()))?;
        let variables = if names_in_file {
            header_names(file.header.as_deref().unwrap_or_default(), delimiter)
                .map_err(|why| StopUser(format!("Could not split CSV header line from file:{name}: {why}")))?
        } else {
            variable_names(&names)
        };
        let opened = Rc::new(OpenDataSet { file, variables, skips_first_line });
        *user.state(self.state, || None) = Some(Rc::clone(&opened));
        Ok(opened)
    }
}

/// Whether a file cannot be opened. A pipe is not opened, because that would block until it has a writer.
pub(crate) fn cannot_be_read(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return false;
        }
    }
    std::fs::File::open(path).is_err()
}

/// Splits a list of names at commas. Consecutive commas count as one.
fn variable_names(text: &str) -> Vec<String> {
    text.split(',').filter(|name| !name.is_empty()).map(|name| busyhour_java::trim(name).to_owned()).collect()
}

/// The names in a header line, which may be quoted.
fn header_names(line: &str, delimiter: &str) -> std::io::Result<Vec<String>> {
    let delimiter = delimiter.chars().next().unwrap_or(',');
    let mut row = Row::default();
    row.read_text(line, delimiter)?;
    Ok(row.fields().map(|name| busyhour_java::trim(name).to_owned()).collect())
}

impl ReadsFile for CsvDataStep {
    fn file_name(&self) -> &Template {
        &self.settings.filename
    }

    fn missing_file_named(&self, name: &str) -> Option<PathBuf> {
        let path = self.files.resolve(busyhour_java::trim(name));
        cannot_be_read(&path).then_some(path)
    }
}

impl IterationStep for CsvDataStep {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        let settings = &self.settings;
        let delimiter = settings.delimiter.text(user);
        let delimiter = match delimiter.as_ref() {
            "\\t" => "\t",
            "" => ",",
            other => other,
        };
        let opened =
            self.open_data_set(user, delimiter).inspect_err(|error| user.run.note_error(error.0.clone()))?;
        ROW.with_borrow_mut(|(row, line)| {
            match opened.file.read_row(settings, delimiter, opened.skips_first_line, row, line) {
                Ok(()) => {}
                Err(RowError::Missing(why)) => {
                    user.run.note_error(why.clone());
                    return Err(StopUser(why));
                }
                Err(RowError::Failed(why)) => {
                    row.clear();
                    user.log(LogLevel::Error, &format!("java.io.IOException: {why}"));
                }
            }
            for (name, value) in opened.variables.iter().zip(row.fields()) {
                user.variables.set(name, value);
            }
            if row.len() > 0 {
                return Ok(());
            }
            if settings.stop_thread {
                return Err(StopUser(format!(
                    "End of file:{} detected for CSV DataSet:{} configured with stopThread:true, recycle:{}",
                    settings.filename.text(user),
                    settings.name,
                    settings.recycle
                )));
            }
            let end = user.run.properties.get("csvdataset.eofstring").unwrap_or_else(|| "<EOF>".to_owned());
            for name in &opened.variables {
                user.variables.set(name, &end);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
