//! Aligned tables in Markdown format: the first column is left-aligned, the others right-aligned.

use std::fmt;

/// A table.
#[derive(Debug)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these columns.
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|&text| text.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        for (number, row) in all().enumerate() {
            for (column, &width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                if column == 0 {
                    write!(f, "| {cell:<width$} ")?;
                } else {
                    write!(f, "| {cell:>width$} ")?;
                }
            }
            writeln!(f, "|")?;
            if number == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let (dashes, end) = if column == 0 { (width + 2, "") } else { (width + 1, ":") };
                    write!(f, "|{}{end}", "-".repeat(dashes))?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// The median: the middle number, or the mean of the two middle numbers; NaN if there are none.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => numbers[count / 2],
        count => f64::midpoint(numbers[count / 2 - 1], numbers[count / 2]),
    }
}

/// Formats a number with about three significant digits; `–` if it is not finite.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "–".to_owned(),
        size if size >= 100.0 => group_thousands(value),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn group_thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let first = digits.len() % 3;
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["generator", "requests/s"]);
        table.row(["wrk".to_owned(), "182,533".to_owned()]);
        table.row(["Busyhour".to_owned(), "9".to_owned()]);
        assert_eq!(
            table.to_string(),
            "| generator | requests/s |\n|-----------|-----------:|\n\
             | wrk       |    182,533 |\n| Busyhour  |          9 |\n"
        );
    }

    #[test]
    fn the_median_is_the_middle_number() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn numbers_have_about_three_significant_digits() {
        let texts = [0.553, 7.0, 43.21, 182_533.4, 999.6, 100_000.0, f64::NAN].map(number);
        assert_eq!(texts, ["0.55", "7.00", "43.2", "182,533", "1,000", "100,000", "–"]);
    }
}
