//! Lines drawn with characters, for terminals. A braille character has two columns and four rows of dots.

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotLine {
    /// Its name in the key.
    pub name: String,
    /// Its points; a point that is not finite leaves a gap.
    pub points: Vec<(f64, f64)>,
    /// Whether only its points are drawn, without lines between them. If the plot has several lines, each point has the mark of
    /// its line.
    pub is_dotted: bool,
}

/// A plot of lines over a common x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct TerminalPlot {
    /// The title above the plot.
    pub title: String,
    /// The name of the horizontal axis.
    pub x_name: String,
    /// The lines.
    pub lines: Vec<PlotLine>,
}

/// The dots of a braille character by row and column, with their bits in Unicode.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// The letters that mark the lines if there are several.
const MARKS: &str = "abcdefghijklmnopqrstuvwxyz";

/// Width of an axis label in characters.
const LABEL_WIDTH: usize = 9;

impl TerminalPlot {
    /// Draws the plot in `columns` × `rows` characters, with the title above, the axes and the key. The y axis begins at 0.
    /// Returns an empty text if there is nothing to draw.
    #[must_use]
    pub fn render(&self, columns: usize, rows: usize) -> String {
        let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let all: Vec<(f64, f64)> =
            self.lines.iter().flat_map(|line| line.points.iter().filter(finite)).copied().collect();
        let fold = |start: f64, pick: fn(f64, f64) -> f64, of: fn(&(f64, f64)) -> f64| {
            all.iter().map(of).fold(start, pick)
        };
        let (x_from, x_to) =
            (fold(f64::INFINITY, f64::min, |p| p.0), fold(f64::NEG_INFINITY, f64::max, |p| p.0));
        let y_to = fold(0.0, f64::max, |p| p.1);
        if all.is_empty() || y_to <= 0.0 || columns < 2 || rows < 2 {
            return String::new();
        }
        let (width, height) = (columns * 2, rows * 4);
        let x_span = if x_to > x_from { x_to - x_from } else { 1.0 };
        let place = |(x, y): (f64, f64)| {
            let right = ((x - x_from) / x_span * (width - 1) as f64).round();
            let up = (y.max(0.0) / y_to * (height - 1) as f64).round();
            (right as i64, (height - 1) as i64 - up as i64)
        };
        let mut cells = vec![vec![0_u8; columns]; rows];
        let mut marks: Vec<Vec<Option<char>>> = vec![vec![None; columns]; rows];
        let mut dot = |(right, down): (i64, i64)| {
            let (right, down) =
                (right.clamp(0, width as i64 - 1) as usize, down.clamp(0, height as i64 - 1) as usize);
            cells[down / 4][right / 2] |= DOTS[down % 4][right % 2];
        };
        for (line, mark) in self.lines.iter().zip(MARKS.chars()) {
            for pair in line.points.windows(2).filter(|_| !line.is_dotted) {
                if pair.iter().all(|point| finite(&point)) {
                    stroke(place(pair[0]), place(pair[1]), &mut dot);
                }
            }
            for point in line.points.iter().filter(finite) {
                dot(place(*point));
            }
            if self.lines.len() > 1 {
                let of_line = line.points.iter().rev().filter(finite);
                for point in of_line.take(if line.is_dotted { usize::MAX } else { 1 }) {
                    let (right, down) = place(*point);
                    marks[down as usize / 4][right as usize / 2] = Some(mark);
                }
            }
        }
        let mut out = format!("{}\n", self.title);
        for (row, (cells, marks)) in cells.iter().zip(&marks).enumerate() {
            let label = match row {
                0 => number(y_to),
                row if row + 1 == rows => "0".into(),
                _ => String::new(),
            };
            let drawn: String = cells
                .iter()
                .zip(marks)
                .map(|(dots, mark)| match (mark, dots) {
                    (Some(mark), _) => *mark,
                    (None, 0) => ' ',
                    (None, dots) => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
                })
                .collect();
            out += format!("{label:>LABEL_WIDTH$} │{drawn}").trim_end();
            out.push('\n');
        }
        out += &format!("{:>LABEL_WIDTH$} └{}\n", "", "─".repeat(columns));
        let (from, to) = (number(x_from), number(x_to));
        let middle = columns.saturating_sub(from.chars().count() + to.chars().count());
        out += &format!("{:>LABEL_WIDTH$}  {from}{:^middle$}{to}\n", "", self.x_name);
        if self.lines.len() > 1 {
            let key: Vec<String> = self
                .lines
                .iter()
                .zip(MARKS.chars())
                .map(|(line, mark)| format!("{mark} {}", line.name))
                .collect();
            out += &format!("{:>LABEL_WIDTH$}  {}\n", "", key.join("   "));
        }
        out
    }
}

/// Sets the dots on the line between two dots (Bresenham's algorithm).
fn stroke(from: (i64, i64), to: (i64, i64), dot: &mut impl FnMut((i64, i64))) {
    let (dx, dy) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
    let (step_x, step_y) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let (mut x, mut y) = from;
    let mut error = dx + dy;
    loop {
        dot((x, y));
        if (x, y) == to {
            return;
        }
        let twice = 2 * error;
        if twice >= dy {
            error += dy;
            x += step_x;
        }
        if twice <= dx {
            error += dx;
            y += step_y;
        }
    }
}

/// Formats a number at an axis with up to four digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..8).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let decimals = usize::try_from(3 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturating_curve_and_its_bound() {
        let line = |name: &str, y: fn(f64) -> f64| PlotLine {
            name: name.into(),
            points: (0..=40).map(|i| f64::from(i) * 5.0).map(|x| (x, y(x))).collect(),
            is_dotted: false,
        };
        let plot = TerminalPlot {
            title: "X per s".into(),
            x_name: "users".into(),
            lines: vec![line("X", |n| 150.0 * n / (n + 40.0)), line("bound", |n| (n * 3.0).min(150.0))],
        };
        insta::assert_snapshot!(plot.render(60, 12));
    }

    #[test]
    fn a_plot_without_points_is_empty() {
        let plot = |points| TerminalPlot {
            title: String::new(),
            x_name: String::new(),
            lines: vec![PlotLine { name: String::new(), points, is_dotted: false }],
        };
        assert_eq!(plot(vec![]).render(10, 5), "");
        assert_eq!(plot(vec![(1.0, f64::NAN)]).render(10, 5), "");
        assert!(!plot(vec![(1.0, 1.0)]).render(10, 5).is_empty());
    }
}
