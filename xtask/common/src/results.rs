//! Reads the rows of a JTL file in JMeter's CSV form, as far as the bench needs them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The sampler's name.
    pub label: String,
    /// Whether JMeter would count it as good.
    pub success: bool,
    /// When it ended, milliseconds since 1970.
    pub end_ms: u64,
    /// How long it took by JMeter's clock, in milliseconds.
    pub elapsed_ms: u64,
    /// Bytes received, head included.
    pub received: usize,
    /// Bytes sent, head included.
    pub sent: usize,
}

/// Hands each row of a file on, in order; returns how many there were.
pub fn each_row(path: &Path, mut take: impl FnMut(Row)) -> Result<u64> {
    let file = File::open(path).with_context(|| format!("no result file {}", path.display()))?;
    let mut lines = BufReader::with_capacity(1 << 20, file).lines();
    let head = lines.next().context("an empty result file")??;
    let names = fields(&head);
    let column = |name: &str| {
        names.iter().position(|found| found == name).with_context(|| format!("no column {name}"))
    };
    let (label, success) = (column("label")?, column("success")?);
    let (start, elapsed) = (column("timeStamp")?, column("elapsed")?);
    let (received, sent) = (column("bytes")?, column("sentBytes")?);
    let mut count = 0;
    for line in lines {
        let fields = fields(&line?);
        let field = |at: usize| fields.get(at).map_or("", String::as_str);
        count += 1;
        let number = |at: usize| field(at).parse::<u64>().unwrap_or(0);
        take(Row {
            label: field(label).to_owned(),
            success: field(success) == "true",
            end_ms: number(start) + number(elapsed),
            elapsed_ms: number(elapsed),
            received: usize::try_from(number(received))?,
            sent: usize::try_from(number(sent))?,
        });
    }
    Ok(count)
}

/// How many rows a file has, and how many of them are failures.
pub fn count(path: &Path) -> Result<(u64, u64)> {
    let mut failures = 0;
    let rows = each_row(path, |row| failures += u64::from(!row.success))?;
    Ok((rows, failures))
}

/// How long each row's sample took, in milliseconds, in order.
pub fn elapsed_ms(path: &Path) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    each_row(path, |row| all.push(row.elapsed_ms))?;
    Ok(all)
}

/// The fields of a line; a quote opens a field in which commas mean nothing and two quotes are one. Line breaks
/// in quotes do not occur in what the bench's plans write.
pub fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        let last = fields.len() - 1;
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_the_names_of_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jtl");
        let text = "timeStamp,elapsed,label,success,bytes,sentBytes\n1000,5,\"a, b\",true,193000,120\n1001,6,c,false,5,6\n";
        std::fs::write(&path, text).unwrap();
        let mut rows = Vec::new();
        assert_eq!(each_row(&path, |row| rows.push(row)).unwrap(), 2);
        assert_eq!(
            rows[0],
            Row {
                label: "a, b".to_owned(),
                success: true,
                end_ms: 1_005,
                elapsed_ms: 5,
                received: 193_000,
                sent: 120
            }
        );
        assert_eq!(count(&path).unwrap(), (2, 1));
    }

    #[test]
    fn a_file_without_a_column_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jtl");
        std::fs::write(&path, "timeStamp,elapsed,label,success\n").unwrap();
        assert!(count(&path).unwrap_err().to_string().contains("bytes"));
    }
}
