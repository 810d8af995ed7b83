//! The function `__CSVRead`, which returns columns of a file whose rows all users share.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_limits::files::{TEXT_FILE_BYTES, read_in_run};
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, log_failure};

/// Property with the delimiters; the default is a comma.
const DELIMITER_PROPERTY: &str = "csvread.delimiter";

/// A user, identified by its group and its number within the group.
type UserKey = (u32, u32);

/// The files of all `__CSVRead` calls of a run.
#[derive(Debug, Default)]
struct SharedFiles(Mutex<OpenFiles>);

#[derive(Debug, Default)]
struct OpenFiles {
    /// Rows by file name or alias.
    files: HashMap<String, Arc<Mutex<Rows>>>,
    /// The file that was opened first. An empty name refers to it while it is the only file.
    default: String,
    /// Current row of each user in each file, by the name or alias in the call. `None` if the next call takes a new row.
    current_rows: HashMap<(UserKey, String), Option<usize>>,
}

#[derive(Debug)]
struct Rows {
    rows: Vec<Vec<String>>,
    next: usize,
}

impl Rows {
    fn next_row(&mut self) -> usize {
        let row = self.next;
        self.next += 1;
        if self.next >= self.rows.len() {
            self.next = 0;
        }
        row
    }
}

#[derive(Debug)]
struct CsvRead {
    file: Template,
    column: Template,
}

/// Builds `${__CSVRead(file or *alias, column | next | *alias)}`.
pub(crate) fn csv_read(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(CsvRead { file: arguments.take(0), column: arguments.take(1) }))
}

impl Function for CsvRead {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let file = self.file.text(user).into_owned();
        let column = self.column.text(user).into_owned();
        let shared = user.run.shared::<SharedFiles>();
        let mut files = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if column.starts_with('*') {
            files.open(user, &file, &column);
        } else if column == "next()" || column == "next" {
            files.end_row(user, &file);
        } else {
            match column.parse::<i32>() {
                Ok(index) => files.append_column(user, &file, index, out),
                Err(_) => {
                    let message = format!("can't parse column number: {column}");
                    user.log(LogLevel::Warn, &message);
                }
            }
        }
    }
}

impl OpenFiles {
    /// The file name, or the default file if the name is empty.
    fn resolve_name(&self, user: &UserState, file: &str) -> String {
        if !file.is_empty() {
            return file.to_owned();
        }
        if self.files.len() == 1 && !self.default.is_empty() {
            user.log(LogLevel::Warn, &format!("Using default: {}", self.default));
            return self.default.clone();
        }
        user.log(LogLevel::Error, "Cannot determine default file name");
        String::new()
    }

    /// Opens a file under an alias. Returns whether the user can use the alias now.
    fn open(&mut self, user: &UserState, file: &str, alias: &str) -> bool {
        let file = self.resolve_name(user, file);
        let key = ((user.group, user.number), alias.to_owned());
        if self.current_rows.contains_key(&key) {
            return true;
        }
        if alias.is_empty() {
            user.log(LogLevel::Error, "Alias cannot be empty");
            return false;
        }
        if !self.files.contains_key(alias) {
            let delimiters = user.run.properties.get(DELIMITER_PROPERTY).unwrap_or_else(|| ",".to_owned());
            let text = match read_in_run(Path::new(&file), TEXT_FILE_BYTES) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => {
                    user.log(LogLevel::Warn, &format!("{file}: {error}"));
                    return false;
                }
            };
            let lines = text.lines().take_while(|line| !line.is_empty());
            let rows = lines.map(|line| split_columns(line, &delimiters)).collect();
            self.files.insert(alias.to_owned(), Arc::new(Mutex::new(Rows { rows, next: 0 })));
            if self.default.is_empty() {
                self.default = file;
            }
        }
        self.current_rows.insert(key, None);
        true
    }

    fn end_row(&mut self, user: &UserState, file: &str) {
        let file = self.resolve_name(user, file);
        match self.current_rows.get_mut(&((user.group, user.number), file.clone())) {
            None => user.log(LogLevel::Warn, &format!("endRow(): no entry for {file}")),
            Some(current) => {
                if current.is_none() {
                    user.log(LogLevel::Warn, "endRow() called twice in succession");
                }
                *current = None;
            }
        }
    }

    /// Appends a column of the user's current row; takes the next row if the user has none.
    fn append_column(&mut self, user: &UserState, file: &str, index: i32, out: &mut String) {
        let mut file = file.to_owned();
        let reader = (user.group, user.number);
        if !self.current_rows.contains_key(&(reader, file.clone())) {
            if file.starts_with('*') {
                user.log(LogLevel::Warn, &format!("Cannot perform initial open using alias {file}"));
                return;
            }
            file = self.resolve_name(user, &file);
            if !self.open(user, &file, &file) {
                return;
            }
        }
        let Some(rows) = self.files.get(&file).map(Arc::clone) else { return };
        let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(current) = self.current_rows.get_mut(&(reader, file)) else { return };
        let row = *current.get_or_insert_with(|| rows.next_row());
        let found =
            usize::try_from(index).ok().and_then(|index| rows.rows.get(row).and_then(|row| row.get(index)));
        match found {
            Some(text) => out.push_str(text),
            None => log_failure(user, "__CSVRead", &format!("invalid column number: {index} at row {row}")),
        }
    }
}

/// Splits a line into columns. Each character of `delimiters` is a delimiter.
fn split_columns(line: &str, delimiters: &str) -> Vec<String> {
    line.split(|c| delimiters.contains(c)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_split() {
        assert_eq!(split_columns("a,b,,c,", ","), ["a", "b", "", "c", ""]);
        assert_eq!(split_columns("a", ","), ["a"]);
        assert_eq!(split_columns("a\tb", ",\t"), ["a", "b"]);
    }

    #[test]
    fn the_first_row_follows_the_last() {
        let mut rows = Rows { rows: vec![vec!["a".into()], vec!["b".into()]], next: 0 };
        assert_eq!([rows.next_row(), rows.next_row(), rows.next_row()], [0, 1, 0]);
    }
}
