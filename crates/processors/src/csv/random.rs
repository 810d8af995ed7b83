//! The Random CSV Data Set of the BlazeMeter plugins: rows of a file, in the file's order or each once at random.

use std::sync::{Arc, Mutex, PoisonError};

use busyhour_program::element::{IterationStep, StopUser};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use rand::Rng as _;

use super::text::{Charset, Row, TextReader};
use super::{CsvFiles, header_names};
use crate::refusal::Refusal;
use busyhour_program::ElementError;

/// Settings of a Random CSV Data Set.
#[derive(Clone, Debug, Default)]
pub struct RandomCsvSettings {
    /// `filename`; relative to the working directory or else to the plan's.
    pub filename: Template,
    /// `fileEncoding`
    pub encoding: Template,
    /// `delimiter`; `\t` is a tab, empty a comma; of a longer one the first character.
    pub delimiter: Template,
    /// `variableNames`, separated by commas; empty: the file's first line has them.
    pub variable_names: Template,
    /// `randomOrder`
    pub random_order: bool,
    /// `ignoreFirstLine`
    pub ignore_first_line: bool,
    /// `rewindOnTheEndOfList`: begin again when all rows have been given; otherwise users stop.
    pub rewind: bool,
}

/// The Random CSV Data Set. All users share its rows, even if the plan sets independent lists.
#[derive(Debug)]
pub struct RandomCsvStep {
    settings: RandomCsvSettings,
    files: Arc<CsvFiles>,
    rows: Mutex<Option<Result<Rows, ElementError>>>,
}

/// The rows of a file, and which have been given.
#[derive(Debug)]
struct Rows {
    names: Vec<String>,
    /// Fields of all rows one after another, and where each field ends.
    text: String,
    ends: Vec<usize>,
    /// By row: its first field, and how many.
    rows: Vec<(usize, usize)>,
    /// Numbers of the rows: those before `given` have been given.
    order: Vec<u32>,
    given: usize,
}

impl RandomCsvStep {
    /// Takes a data set out of the plan. `files`: those of the run.
    ///
    /// # Errors
    /// Without a file name, and for encodings that are not known.
    pub fn new(
        settings: RandomCsvSettings,
        files: Arc<CsvFiles>,
        symbols: &mut Symbols,
    ) -> Result<Self, Refusal> {
        if settings.filename.as_literal().is_some_and(|name| name.trim().is_empty()) {
            return Err(Refusal::invalid("has no file name"));
        }
        if let Some(encoding) = settings.encoding.as_literal()
            && Charset::named(encoding).is_none()
        {
            return Err(Refusal::unsupported(format!("has the file encoding `{encoding}`")));
        }
        if let Some(names) = settings.variable_names.as_literal() {
            for name in names_of(names) {
                symbols.slot(&name);
            }
        }
        Ok(Self { settings, files, rows: Mutex::default() })
    }

    /// The file, when its name does not vary and it is not there to be read: the plan can be refused at once.
    pub fn missing_file(&self) -> Option<std::path::PathBuf> {
        let path = self.files.resolve(self.settings.filename.as_literal()?);
        super::cannot_be_read(&path).then_some(path)
    }

    /// As [`Self::missing_file`] for a file whose name is known to be `name` at the start of the run.
    pub fn missing_file_named(&self, name: &str) -> Option<std::path::PathBuf> {
        let path = self.files.resolve(name);
        super::cannot_be_read(&path).then_some(path)
    }

    /// The file's name in the plan.
    pub fn file_name(&self) -> &Template {
        &self.settings.filename
    }

    fn load(&self, user: &mut UserState) -> Result<Rows, ElementError> {
        let settings = &self.settings;
        let path = self.files.resolve(&settings.filename.text(user));
        let encoding = settings.encoding.text(user);
        let charset = Charset::named(&encoding).ok_or_else(|| format!("Unknown file encoding {encoding}"))?;
        let delimiter = match settings.delimiter.text(user).as_ref() {
            "\\t" => '\t',
            text => text.chars().next().unwrap_or(','),
        };
        let names = settings.variable_names.text(user).into_owned();
        let unreadable = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
        let mut reader = TextReader::open(&path, charset).map_err(unreadable)?;
        let mut all = Rows {
            names: names_of(&names),
            text: String::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            order: Vec::new(),
            given: 0,
        };
        if names.is_empty() {
            let mut line = String::new();
            let mut head = TextReader::open(&path, charset).map_err(unreadable)?;
            head.read_line(&mut line).map_err(unreadable)?;
            all.names = header_names(&line, &delimiter.to_string()).map_err(unreadable)?;
        }
        let mut row = Row::default();
        let mut skip = settings.ignore_first_line || names.is_empty();
        while reader.peek().map_err(unreadable)?.is_some() {
            row.clear();
            reader.read_row(delimiter, &mut row).map_err(unreadable)?;
            if !std::mem::take(&mut skip) {
                all.push(&row);
            }
        }
        all.order = (0..u32::try_from(all.rows.len()).unwrap_or(u32::MAX)).collect();
        Ok(all)
    }
}

/// Names between commas, blanks and all; several commas count as one.
fn names_of(text: &str) -> Vec<String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Rows {
    fn push(&mut self, row: &Row) {
        let first = self.ends.len();
        for field in row.fields() {
            self.text.push_str(field);
            self.ends.push(self.text.len());
        }
        if self.ends.len() == first {
            // A blank line has one field, which is empty.
            self.ends.push(self.text.len());
        }
        self.rows.push((first, self.ends.len() - first));
    }

    /// The number of the next row; `None` when all have been given.
    fn next(&mut self, settings: &RandomCsvSettings, user: &mut UserState) -> Option<usize> {
        if self.given >= self.order.len() && settings.rewind {
            self.given = 0;
        }
        let left = self.order.len() - self.given;
        if left == 0 {
            return None;
        }
        if settings.random_order {
            let drawn = self.given + user.random.random_range(0..left);
            self.order.swap(self.given, drawn);
        }
        let row = if settings.random_order { self.order[self.given] as usize } else { self.given };
        self.given += 1;
        Some(row)
    }

    fn fields(&self, row: usize) -> impl Iterator<Item = &str> {
        let (first, count) = self.rows[row];
        (first..first + count).map(|at| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            &self.text[start..self.ends[at]]
        })
    }
}

impl IterationStep for RandomCsvStep {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        let lock = || self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().is_none() {
            // Not under the lock: a text may hold a script. Of several first users one is taken.
            let loaded = self.load(user);
            lock().get_or_insert(loaded);
        }
        let mut guard = lock();
        let rows = match guard.as_mut() {
            Some(Ok(rows)) => rows,
            Some(Err(why)) => {
                user.run.note_error(why.clone());
                return Err(StopUser(why.to_string()));
            }
            None => return Ok(()),
        };
        let Some(row) = rows.next(&self.settings, user) else {
            return Err(StopUser("All records in the CSV file have been passed.".into()));
        };
        for (name, value) in rows.names.iter().zip(rows.fields(row)) {
            user.variables.set(name, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user};

    fn step(
        text: &str,
        change: impl FnOnce(&mut RandomCsvSettings),
    ) -> (RandomCsvStep, Symbols, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rows.csv"), text).unwrap();
        let mut settings = RandomCsvSettings {
            filename: Template::literal("rows.csv"),
            encoding: Template::literal("UTF-8"),
            delimiter: Template::literal(","),
            variable_names: Template::literal("a,b"),
            ..RandomCsvSettings::default()
        };
        change(&mut settings);
        let mut symbols = Symbols::default();
        let files = Arc::new(CsvFiles::new(folder.path()));
        let step = RandomCsvStep::new(settings, files, &mut symbols).unwrap();
        (step, symbols, folder)
    }

    fn taken(step: &RandomCsvStep, symbols: &Symbols, times: usize) -> Vec<String> {
        let mut user = user(symbols);
        (0..times)
            .map(|_| match step.step(&mut user) {
                Ok(()) => all_variables(&user),
                Err(StopUser(why)) => why,
            })
            .collect()
    }

    #[test]
    fn rows_come_in_order_and_end() {
        let (rows, symbols, _folder) = step("1,2\n3,\"4,5\"\n\n6\n", |_| {});
        assert_eq!(
            taken(&rows, &symbols, 5),
            [
                "a=1 b=2",
                "a=3 b=4,5",
                "a= b=4,5",
                "a=6 b=4,5",
                "All records in the CSV file have been passed."
            ]
        );
    }

    #[test]
    fn the_first_line_is_a_header_or_left_out() {
        let (rows, symbols, _folder) = step("x,y\n1,2", |settings| {
            settings.variable_names = Template::literal("");
            settings.rewind = true;
        });
        assert_eq!(taken(&rows, &symbols, 2), ["x=1 y=2", "x=1 y=2"]);
        let (rows, symbols, _folder) = step("x;y\n1;2", |settings| {
            settings.ignore_first_line = true;
            settings.delimiter = Template::literal(";");
        });
        assert_eq!(taken(&rows, &symbols, 1), ["a=1 b=2"]);
    }

    #[test]
    fn at_random_each_row_comes_once_a_round() {
        let text: String = (0..50).map(|n| format!("{n},x\n")).collect();
        let (rows, symbols, _folder) = step(&text, |settings| {
            (settings.random_order, settings.rewind) = (true, true);
        });
        let all = taken(&rows, &symbols, 100);
        let round = |part: &[String]| {
            let mut part = part.to_vec();
            part.sort();
            part.dedup();
            part.len()
        };
        assert_eq!((round(&all[..50]), round(&all[50..])), (50, 50));
        assert_ne!(all[..50], all[50..]);
    }

    #[test]
    fn a_file_without_rows_stops_users() {
        let (rows, symbols, _folder) = step("", |settings| settings.rewind = true);
        assert_eq!(taken(&rows, &symbols, 1), ["All records in the CSV file have been passed."]);
    }
}
