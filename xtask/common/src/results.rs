//! Reads rows of JTL files in JMeter's CSV format, with the columns that the bench needs.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The sampler's name.
    pub label: String,
    /// Whether the sample was successful.
    pub success: bool,
    /// The end time in milliseconds since 1970.
    pub end_ms: u64,
    /// The elapsed time as defined by JMeter, in milliseconds.
    pub elapsed_ms: u64,
    /// The number of received bytes, including the head.
    pub received: usize,
    /// The number of sent bytes, including the head.
    pub sent: usize,
}

/// Calls `take` with each row of a file, in order; returns the number of rows.
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

/// The number of rows in a file, and the number of failures among them.
pub fn count(path: &Path) -> Result<(u64, u64)> {
    let mut failures = 0;
    let rows = each_row(path, |row| failures += u64::from(!row.success))?;
    Ok((rows, failures))
}

/// The elapsed time of each row in milliseconds, in order.
pub fn elapsed_ms(path: &Path) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    each_row(path, |row| all.push(row.elapsed_ms))?;
    Ok(all)
}

/// Splits a line into fields; commas within quotes do not separate fields. Quotes are removed. Line breaks within
/// quotes are not supported, because the bench's plans do not write them.
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
    fn columns_are_found_by_name() {
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
    fn files_without_a_column_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jtl");
        std::fs::write(&path, "timeStamp,elapsed,label,success\n").unwrap();
        assert!(count(&path).unwrap_err().to_string().contains("bytes"));
    }
}
