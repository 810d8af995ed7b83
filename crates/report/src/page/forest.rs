//! Intervals as bars on one scale, as in a forest plot.

use maud::{Markup, html};

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 18.0;
const MIDDLE: f64 = HEIGHT / 2.0;

/// Width reserved at both ends for the arrows of intervals that extend beyond the scale.
const EDGE: f64 = 6.0;

/// Maximum logarithm on the scale: changes beyond a factor of e² would make the scale useless for all others.
const LOGARITHM_MOST: f64 = 2.0;

/// An estimate with its interval.
pub(super) struct Mark {
    /// The estimate: a ratio or a difference.
    pub(super) value: f64,
    /// The ends of the interval; `None` if it is unbounded on that side.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// CSS class that determines its colour.
    pub(super) class: &'static str,
}

/// A scale with zero in its middle, wide enough for the marks of a table.
pub(super) struct Forest {
    by_ratio: bool,
    /// The value at both ends of the scale; a logarithm for ratios.
    most: f64,
    margin: f64,
}

impl Forest {
    /// A scale for `marks`; changes within `margin` count as no change. Ratios are placed by their logarithms, so that half and
    /// twice have the same distance from one.
    pub(super) fn new(marks: impl Iterator<Item = Mark>, margin: f64, by_ratio: bool) -> Forest {
        let place = |value: f64| if by_ratio { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let margin = if by_ratio { margin.ln_1p() } else { margin };
        let ends = marks.flat_map(|mark| [Some(mark.value), mark.low, mark.high]).flatten();
        let most =
            ends.map(|end| place(end).abs()).filter(|end| end.is_finite()).fold(margin * 3.0, f64::max);
        let most = if by_ratio { most.min(LOGARITHM_MOST) } else { most };
        Forest { by_ratio, most: most.max(f64::MIN_POSITIVE), margin }
    }

    /// The position of a value on the scale from −1 to 1; values beyond the scale are outside of this range.
    fn share(&self, value: f64) -> f64 {
        let place = if self.by_ratio { value.max(f64::MIN_POSITIVE).ln() } else { value };
        // Rounding must not place the value that determines the scale outside of it.
        let share = place / self.most;
        if share.abs() < 1.0 + 1e-9 { share.clamp(-1.0, 1.0) } else { share }
    }

    /// The x coordinate of a value; values beyond the scale are placed at its ends.
    fn x(&self, value: f64) -> f64 {
        WIDTH / 2.0 + self.share(value).clamp(-1.0, 1.0) * (WIDTH / 2.0 - EDGE)
    }

    /// Whether a mark extends beyond the scale to the left, and to the right.
    fn beyond(&self, mark: &Mark) -> [bool; 2] {
        let low = mark.low.is_none_or(|low| self.share(low) < -1.0);
        let high = mark.high.is_none_or(|high| self.share(high) > 1.0);
        [low || self.share(mark.value) < -1.0, high || self.share(mark.value) > 1.0]
    }

    /// Draws the bar. It is hidden from screen readers, because its numbers are in the next cell.
    pub(super) fn svg(&self, mark: &Mark) -> Markup {
        let margin = self.margin / self.most * (WIDTH / 2.0 - EDGE);
        let low = mark.low.map_or(0.0, |low| self.x(low));
        let high = mark.high.map_or(WIDTH, |high| self.x(high));
        let at = |value: f64| format!("{value:.1}");
        let beyond = self.beyond(mark);
        html! {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
                rect class="margin" x=(at(WIDTH / 2.0 - margin)) y="0" width=(at(2.0 * margin)) height=(HEIGHT) {}
                line class="none" x1=(at(WIDTH / 2.0)) x2=(at(WIDTH / 2.0)) y1="0" y2=(HEIGHT) {}
                line class={ "bar " (mark.class) } x1=(at(low)) x2=(at(high)) y1=(MIDDLE) y2=(MIDDLE) {}
                @if self.share(mark.value).abs() <= 1.0 {
                    circle class={ "dot " (mark.class) } cx=(at(self.x(mark.value))) cy=(MIDDLE) r="3.5" {}
                }
                @if beyond[0] { path class={ "dot " (mark.class) } d={ "M0 " (MIDDLE) "l7 -5v10z" } {} }
                @if beyond[1] { path class={ "dot " (mark.class) } d={ "M" (WIDTH) " " (MIDDLE) "l-7 -5v10z" } {} }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(value: f64, low: Option<f64>, high: Option<f64>) -> Mark {
        Mark { value, low, high, class: "open" }
    }

    #[test]
    fn half_and_double_are_equally_far_from_no_change() {
        let forest = Forest::new([mark(0.5, Some(0.4), Some(2.5))].into_iter(), 0.05, true);
        let (half, none, twice) = (forest.x(0.5), forest.x(1.0), forest.x(2.0));
        assert!((none - WIDTH / 2.0).abs() < 1e-9 && (none - half - (twice - none)).abs() < 1e-9);
        assert!((forest.x(2.5) - (WIDTH - EDGE)).abs() < 1e-9, "the widest interval fills the scale");
    }

    #[test]
    fn marks_beyond_the_scale_have_an_arrow() {
        // +4632 % (+3448 % to +6212 %), together with a change of a tenth.
        let far = || mark(47.32, Some(35.48), Some(63.12));
        let forest = Forest::new([far(), mark(1.1, Some(1.05), Some(1.2))].into_iter(), 0.05, true);
        let svg = forest.svg(&far()).into_string();
        assert!(
            svg.contains("M220 9l-7 -5v10z") && !svg.contains("M0 9") && !svg.contains("<circle"),
            "{svg}"
        );
        let near = forest.svg(&mark(1.1, Some(1.05), Some(1.2))).into_string();
        assert!(near.contains("<circle") && !near.contains("v10z"), "{near}");
        let low = forest.svg(&mark(0.2, Some(0.01), Some(1.0))).into_string();
        assert!(low.contains("<circle") && low.contains("M0 9l7 -5v10z"), "{low}");
    }

    #[test]
    fn unbounded_intervals_extend_to_the_edge() {
        let forest = Forest::new([mark(0.0, None, None)].into_iter(), 0.001, false);
        let svg = forest.svg(&mark(0.0, None, None)).into_string();
        assert!(svg.contains("x1=\"0.0\" x2=\"220.0\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
