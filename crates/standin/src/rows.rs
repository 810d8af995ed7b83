//! Splits result files into rows and masks them. Fields are left unchanged, including their quotes.

use crate::mask::Masks;

/// Splits delimited text into rows of raw fields. Quotes are retained, because the quoting of fields is part of the
/// format.
pub(crate) fn split(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                field.push(c);
            }
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field).trim_end_matches('\r').to_owned());
                rows.push(std::mem::take(&mut row));
            }
            c if c == delimiter && !quoted => row.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

/// Masks the rows of a result file. The first row is the header line, if the file has one.
///
/// `columns` contains the names of the columns of a file without a header line. Each row is returned with its `threadName`.
pub(crate) fn masked(text: &str, delimiter: char, columns: &[String], masks: &Masks) -> Vec<Row> {
    if text.starts_with("<?xml") {
        return text.lines().map(|line| Row { thread: String::new(), text: masks.xml(line) }).collect();
    }
    let mut rows = split(text, delimiter).into_iter();
    let mut out = Vec::new();
    let mut columns = columns.to_vec();
    if columns.is_empty() {
        let Some(header) = rows.next() else { return out };
        out.push(Row { thread: String::new(), text: masks.text(&header.join(&delimiter.to_string())) });
        columns = header;
    }
    for row in rows {
        let field = |name: &str| columns.iter().position(|column| column == name).and_then(|at| row.get(at));
        let thread = field("threadName").cloned().unwrap_or_default();
        // The body of a failed exchange is a Java stack trace, whose length is not compared.
        let has_stack_trace =
            field("responseCode").is_some_and(|code| code.starts_with("Non HTTP response code"));
        let fields = row.iter().enumerate().map(|(at, field)| match columns.get(at) {
            Some(column) if has_stack_trace && column == "bytes" => "{T}".to_owned(),
            Some(column) if masks.hides_column(column) => "{T}".to_owned(),
            _ => masks.text(field),
        });
        out.push(Row { thread, text: fields.collect::<Vec<_>>().join(&delimiter.to_string()) });
    }
    out
}

/// A row of a result file.
pub(crate) struct Row {
    /// The name of its thread; empty if unknown.
    pub(crate) thread: String,
    /// The masked line.
    pub(crate) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_may_contain_delimiters_and_line_ends() {
        let rows = split("a,\"b,\n\"\"c\",d\r\ne,,\n", ',');
        assert_eq!(rows, [vec!["a", "\"b,\n\"\"c\"", "d"], vec!["e", "", ""]]);
    }
}
