//! Output of Intel's `pqos` in CSV (`pqos -u csv -m …`).
//!
//! Columns are found by their names, because versions differ in them: `LLC Misses` or `Misses`, with or without `MBT`, energy
//! in newer ones. The line of names may lack commas between events. The first rows of a run contain zeros.

use std::collections::HashMap;

/// The largest number of columns of a row.
const COLUMNS_MAX: usize = 64;

/// A row: the figures of a set of cores, or of a process, in an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PqosRow {
    /// Time of the row as `pqos` writes it: `2026-01-31 12:00:00`, local time.
    pub time: String,
    /// The cores: `0-3`.
    pub cores: Option<String>,
    /// The processes.
    pub pids: Option<String>,
    /// Instructions per cycle.
    pub instructions_per_cycle: Option<f64>,
    /// Misses of the last-level cache in the interval.
    pub misses: Option<f64>,
    /// Occupancy of the last-level cache in bytes.
    pub occupancy_bytes: Option<f64>,
    /// Traffic with the memory of the same socket in bytes/s.
    pub local_bytes_per_second: Option<f64>,
    /// Traffic with the memory of other sockets in bytes/s.
    pub remote_bytes_per_second: Option<f64>,
    /// All traffic with memory in bytes/s.
    pub total_bytes_per_second: Option<f64>,
    /// Other columns with their names.
    pub others: Vec<(String, f64)>,
}

impl PqosRow {
    /// Cycles per instruction.
    #[must_use]
    pub fn cycles_per_instruction(&self) -> Option<f64> {
        self.instructions_per_cycle.filter(|ipc| *ipc > 0.0).map(|ipc| 1.0 / ipc)
    }
}

/// Why a row cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PqosError {
    /// There was no line of names before.
    #[error("row without a line of column names before it")]
    NoHeader,
    /// The row has another number of columns than the line of names.
    #[error("row with {found} columns, but {expected} names")]
    Columns {
        /// Columns of the row.
        found: usize,
        /// Names.
        expected: usize,
    },
}

/// Reads the output line by line, even while `pqos` runs.
#[derive(Clone, Debug, Default)]
pub struct PqosReader {
    names: Vec<String>,
}

impl PqosReader {
    /// Reads a line. `Ok(None)` for lines other than rows: names, notes, empty lines.
    ///
    /// # Errors
    /// A row does not fit the line of names.
    pub fn read(&mut self, line: &str) -> Result<Option<PqosRow>, PqosError> {
        let line = line.trim();
        if line.starts_with("Time,") {
            self.names = names(line);
            return Ok(None);
        }
        // Rows begin with a date, notes with words.
        if !line.starts_with(|c: char| c.is_ascii_digit()) || !line.contains(',') {
            return Ok(None);
        }
        if self.names.is_empty() {
            return Err(PqosError::NoHeader);
        }
        let cells = cells(line);
        if cells.len() != self.names.len() {
            return Err(PqosError::Columns { found: cells.len(), expected: self.names.len() });
        }
        let mut row = PqosRow::default();
        for (name, cell) in self.names.iter().zip(&cells) {
            set(&mut row, name, cell);
        }
        Ok(Some(row))
    }
}

/// The names of columns. Some versions separate the names of events only by blanks: `LLC[KB]   MBL[MB/s]`.
fn names(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in line.split(',').map(str::trim) {
        let mut words = part.split("  ").map(str::trim).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            names.push(String::new());
        }
        for word in words {
            // A name with a unit ends at its bracket: `LLC[KB] MBL[MB/s]`.
            let ends = word.match_indices("] ").map(|(at, _)| at + 1);
            let mut from = 0;
            for end in ends {
                names.push(word[from..end].trim().to_owned());
                from = end;
            }
            names.push(word[from..].trim().to_owned());
        }
        if names.len() > COLUMNS_MAX {
            names.truncate(COLUMNS_MAX);
            break;
        }
    }
    names
}

/// The cells of a row; commas within quotes do not separate.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut in_quotes = false;
    for character in line.chars() {
        match character {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => cells.push(String::new()),
            other => cells.last_mut().unwrap_or(&mut String::new()).push(other),
        }
    }
    cells
}

fn set(row: &mut PqosRow, name: &str, cell: &str) {
    let cell = cell.trim();
    let text = (!cell.is_empty()).then(|| cell.to_owned());
    match name {
        "Time" => return cell.clone_into(&mut row.time),
        "Core" | "Cores" => return row.cores = text,
        "PID" => return row.pids = text,
        _ => {}
    }
    // `12k` are 12,000 misses in versions that round them.
    let (digits, scale) = cell.strip_suffix('k').map_or((cell, 1.0), |digits| (digits, 1e3));
    // The value is not available for this process or version: an empty cell, `N/A`, `err`.
    let Some(value) = digits.trim().parse::<f64>().ok().filter(|value| value.is_finite()) else { return };
    let value = value * scale;
    const MB: f64 = 1_048_576.0;
    match name {
        "IPC" => row.instructions_per_cycle = Some(value),
        "LLC Misses" | "Misses" | "MISSES" => row.misses = Some(value),
        "LLC[KB]" => row.occupancy_bytes = Some(value * 1024.0),
        "MBL[MB/s]" => row.local_bytes_per_second = Some(value * MB),
        "MBR[MB/s]" => row.remote_bytes_per_second = Some(value * MB),
        "MBT[MB/s]" => row.total_bytes_per_second = Some(value * MB),
        other => row.others.push((other.to_owned(), value)),
    }
}

/// The latest row of each set of cores or processes, from lines of one or more intervals.
#[must_use]
pub fn latest_rows(text: &str) -> Vec<PqosRow> {
    let mut reader = PqosReader::default();
    let mut rows: Vec<PqosRow> = Vec::new();
    let mut positions = HashMap::new();
    for row in text.lines().filter_map(|line| reader.read(line).ok().flatten()) {
        let at = *positions.entry((row.cores.clone(), row.pids.clone())).or_insert(rows.len());
        if at == rows.len() {
            rows.push(row);
        } else {
            rows[at] = row;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_versions() {
        let text = "NOTE:  Mixed use of MSR and kernel interfaces to manage\nCMT/MBM reset successful\n\
            Time,Core,IPC,LLC Misses,LLC[KB],MBL[MB/s],MBR[MB/s],MBT[MB/s]\n\
            2020-05-01 10:00:00,\"0-3,8\",0.00,0,0.0,0.0,0.0,0.0\n\
            2020-05-01 10:00:01,\"0-3,8\",0.50,12000,2816.0,47.5,2.5,50.0\n";
        let rows = latest_rows(text);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.time.as_str(), row.cores.as_deref()), ("2020-05-01 10:00:01", Some("0-3,8")));
        assert_eq!((row.cycles_per_instruction(), row.misses), (Some(2.0), Some(12_000.0)));
        assert_eq!(row.occupancy_bytes, Some(2_883_584.0));
        assert_eq!(row.total_bytes_per_second, Some(52_428_800.0));

        let text = "Time,Core,IPC,Misses,LLC[KB]   MBL[MB/s] MBR[MB/s],Energy[J]\n\
            2026-05-01 10:00:00,\"0\",1.25,3k,64.0,1.0,0.0,0.5\n";
        let rows = latest_rows(text);
        assert_eq!((rows[0].misses, rows[0].local_bytes_per_second), (Some(3000.0), Some(1_048_576.0)));
        assert_eq!(rows[0].others, [("Energy[J]".to_owned(), 0.5)]);

        let rows = latest_rows("Time,PID,Core,IPC,LLC Misses\n2026-05-01 10:00:00,\"77\",N/A,err,\n");
        assert_eq!(rows[0].pids.as_deref(), Some("77"));
        assert_eq!((rows[0].cycles_per_instruction(), rows[0].misses), (None, None));
    }

    #[test]
    fn damaged_rows_are_errors() {
        let mut reader = PqosReader::default();
        assert_eq!(reader.read("2026-05-01 10:00:00,0,1"), Err(PqosError::NoHeader));
        assert_eq!(reader.read("Time,Core,IPC"), Ok(None));
        let error = reader.read("2026-05-01 10:00:00,0").unwrap_err();
        assert_eq!(error, PqosError::Columns { found: 2, expected: 3 });
        assert_eq!(reader.read("Terminating..."), Ok(None));
        let wide = format!("Time{}", ",x".repeat(1_000_000));
        assert_eq!(reader.read(&wide), Ok(None));
        assert!(reader.names.len() <= COLUMNS_MAX);
    }
}
