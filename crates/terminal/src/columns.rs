//! Plain-text tables: numbers are right-aligned, and columns are two spaces apart.

/// A table with a heading. The first `left` columns contain text and are left-aligned.
pub struct Columns {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table that has only its heading.
    pub fn new(left: usize, heading: &[&str]) -> Self {
        Self { left, rows: vec![heading.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Renders the table without trailing spaces.
    pub fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                let gap = if column == 0 { "" } else { "  " };
                line += &if column < self.left {
                    format!("{gap}{cell:<width$}")
                } else {
                    format!("{gap}{cell:>width$}")
                };
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;

    #[test]
    fn text_is_left_aligned_and_numbers_are_right_aligned() {
        let mut columns = Columns::new(1, &["label", "n"]);
        columns.row(vec!["Home".into(), "1200".into()]);
        columns.row(vec!["A page".into(), "7".into(), String::new()]);
        assert_eq!(columns.render(), "label      n\nHome    1200\nA page     7\n");
    }
}
