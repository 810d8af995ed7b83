//! The Random CSV Data Set of the BlazeMeter plugins: rows of a file in order, or in random order without repetition.

use std::sync::{Arc, Mutex, PoisonError};

use busyhour_program::ElementError;
use busyhour_program::element::{IterationStep, StopUser};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use rand::Rng as _;

use super::text::{Charset, Row, TextReader};
use super::{CsvFiles, header_names};
use crate::refusal::Refusal;

/// Settings of a Random CSV Data Set.
#[derive(Clone, Debug, Default)]
pub struct RandomCsvSettings {
    /// `filename`: relative to the working directory, or to the plan's folder if the file is not there.
    pub filename: Template,
    /// `fileEncoding`: the encoding of the file.
    pub encoding: Template,
    /// `delimiter`: the first character is used; `\t` is a tab, and the default is a comma.
    pub delimiter: Template,
    /// `variableNames`, separated by commas; if empty, the first line of the file has the names.
    pub variable_names: Template,
    /// `randomOrder`: use the rows in random order.
    pub random_order: bool,
    /// `ignoreFirstLine`: skip the first line of the file.
    pub ignore_first_line: bool,
    /// `rewindOnTheEndOfList`: start again after the last row; otherwise users stop.
    pub rewind: bool,
}

/// The Random CSV Data Set. All users share its rows, even if the plan selects independent lists.
#[derive(Debug)]
pub struct RandomCsvStep {
    settings: RandomCsvSettings,
    files: Arc<CsvFiles>,
    rows: Mutex<Option<Result<Rows, ElementError>>>,
}

/// The rows of a file, and the order in which they are used.
#[derive(Debug)]
struct Rows {
    names: Vec<String>,
    /// Fields of all rows, concatenated.
    text: String,
    /// End of each field in `text`.
    ends: Vec<usize>,
    /// First field and number of fields of each row.
    rows: Vec<(usize, usize)>,
    /// Row numbers. The first `used` rows have been used in this round.
    order: Vec<u32>,
    used: usize,
}

impl RandomCsvStep {
    /// Creates the data set from its settings. `files` are the files of the run.
    ///
    /// # Errors
    /// There is no file name, or the encoding is unknown.
    pub fn new(
        settings: RandomCsvSettings,
        files: Arc<CsvFiles>,
        symbols: &mut Symbols,
    ) -> Result<Self, Refusal> {
        if settings.filename.as_literal().is_some_and(|name| name.trim().is_empty()) {
            return Err(Refusal::invalid("has no file name"));
        }
        if let Some(encoding) = settings.encoding.as_literal()
            && Charset::from_java_name(encoding).is_none()
        {
            return Err(Refusal::unsupported(format!("has the file encoding `{encoding}`")));
        }
        if let Some(names) = settings.variable_names.as_literal() {
            for name in split_names(names) {
                symbols.slot(&name);
            }
        }
        Ok(Self { settings, files, rows: Mutex::default() })
    }

    fn load(&self, user: &mut UserState) -> Result<Rows, ElementError> {
        let settings = &self.settings;
        let path = self.files.resolve(&settings.filename.text(user));
        let encoding = settings.encoding.text(user);
        let charset =
            Charset::from_java_name(&encoding).ok_or_else(|| format!("Unknown file encoding {encoding}"))?;
        let delimiter = match settings.delimiter.text(user).as_ref() {
            "\\t" => '\t',
            text => text.chars().next().unwrap_or(','),
        };
        let names = settings.variable_names.text(user).into_owned();
        let unreadable = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
        let mut reader = TextReader::open(&path, charset).map_err(unreadable)?;
        let mut all = Rows {
            names: split_names(&names),
            text: String::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            order: Vec::new(),
            used: 0,
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

/// Splits a list of names at commas without trimming them. Consecutive commas count as one.
fn split_names(text: &str) -> Vec<String> {
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
            // An empty line is a row with one empty field.
            self.ends.push(self.text.len());
        }
        self.rows.push((first, self.ends.len() - first));
    }

    /// The number of the next row; `None` if all rows have been used.
    fn next(&mut self, settings: &RandomCsvSettings, user: &mut UserState) -> Option<usize> {
        if self.used >= self.order.len() && settings.rewind {
            self.used = 0;
        }
        let unused = self.order.len() - self.used;
        if unused == 0 {
            return None;
        }
        if settings.random_order {
            let drawn = self.used + user.random.random_range(0..unused);
            self.order.swap(self.used, drawn);
        }
        let row = if settings.random_order { self.order[self.used] as usize } else { self.used };
        self.used += 1;
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

impl super::ReadsFile for RandomCsvStep {
    fn file_name(&self) -> &Template {
        &self.settings.filename
    }

    fn missing_file_named(&self, name: &str) -> Option<std::path::PathBuf> {
        let path = self.files.resolve(name);
        super::cannot_be_read(&path).then_some(path)
    }
}

impl IterationStep for RandomCsvStep {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        let lock = || self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().is_none() {
            // Load without holding the lock, because the file name may contain a script. If several users load the rows at
            // the same time, the result of one of them is used.
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

    fn run_steps(step: &RandomCsvStep, symbols: &Symbols, times: usize) -> Vec<String> {
        let mut user = user(symbols);
        (0..times)
            .map(|_| match step.step(&mut user) {
                Ok(()) => all_variables(&user),
                Err(StopUser(why)) => why,
            })
            .collect()
    }

    #[test]
    fn rows_are_used_in_order_until_the_end() {
        let (rows, symbols, _folder) = step("1,2\n3,\"4,5\"\n\n6\n", |_| {});
        assert_eq!(
            run_steps(&rows, &symbols, 5),
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
    fn the_first_line_is_a_header_or_ignored() {
        let (rows, symbols, _folder) = step("x,y\n1,2", |settings| {
            settings.variable_names = Template::literal("");
            settings.rewind = true;
        });
        assert_eq!(run_steps(&rows, &symbols, 2), ["x=1 y=2", "x=1 y=2"]);
        let (rows, symbols, _folder) = step("x;y\n1;2", |settings| {
            settings.ignore_first_line = true;
            settings.delimiter = Template::literal(";");
        });
        assert_eq!(run_steps(&rows, &symbols, 1), ["a=1 b=2"]);
    }

    #[test]
    fn in_random_order_each_row_is_used_once_per_round() {
        let text: String = (0..50).map(|n| format!("{n},x\n")).collect();
        let (rows, symbols, _folder) = step(&text, |settings| {
            (settings.random_order, settings.rewind) = (true, true);
        });
        let all = run_steps(&rows, &symbols, 100);
        let distinct = |part: &[String]| {
            let mut part = part.to_vec();
            part.sort();
            part.dedup();
            part.len()
        };
        assert_eq!((distinct(&all[..50]), distinct(&all[50..])), (50, 50));
        assert_ne!(all[..50], all[50..]);
    }

    #[test]
    fn a_file_without_rows_stops_users() {
        let (rows, symbols, _folder) = step("", |settings| settings.rewind = true);
        assert_eq!(run_steps(&rows, &symbols, 1), ["All records in the CSV file have been passed."]);
    }
}
