//! A flame graph of the stacks of slow windows, coloured by the difference from the others. It needs no script.

use busyhour_stacks::{FlameNode, FlameTree};
use maud::{Markup, html};

use crate::numbers::counted;
use crate::terminal_text::printable;

/// The size of the graph in its own units.
const WIDTH: f64 = 960.0;
const ROW: f64 = 17.0;

/// Narrower frames are omitted.
const WIDTH_MIN: f64 = 1.0;

/// The mean width of a character, and the space next to a text.
const CHARACTER: f64 = 6.2;
const PADDING: f64 = 3.0;

/// The number of rows that are shown; the page remains readable with deeper stacks.
const ROWS_MAX: usize = 200;

/// The colours of frames without a difference, with more threads in slow windows, and with fewer.
const NEUTRAL: [u8; 3] = [0xec, 0xe8, 0xdd];
const MORE: [u8; 3] = [0xe4, 0x5f, 0x43];
const FEWER: [u8; 3] = [0x5a, 0x9f, 0xdc];

/// A frame with its place.
struct PlacedFrame<'t> {
    node: &'t FlameNode,
    x: f64,
    width: f64,
    row: usize,
}

/// The frames that are shown, and the numbers of those that are not.
#[derive(Default)]
struct Layout<'t> {
    frames: Vec<PlacedFrame<'t>>,
    narrow: u64,
    only_fast: u64,
    rows: usize,
}

impl<'t> Layout<'t> {
    fn of(tree: &'t FlameTree) -> Layout<'t> {
        let mut layout = Layout::default();
        let Some(root) = tree.root().filter(|root| root.slow > 0) else { return layout };
        let unit = WIDTH / root.slow as f64;
        let mut open = vec![(0u32, 0.0, 0usize)];
        while let Some((at, x, row)) = open.pop() {
            let node = &tree.nodes[at as usize];
            layout.frames.push(PlacedFrame { node, x, width: node.slow as f64 * unit, row });
            layout.rows = layout.rows.max(row + 1);
            let mut left = x;
            for child in &node.children {
                let width = tree.nodes[*child as usize].slow as f64 * unit;
                if width <= 0.0 {
                    layout.only_fast += 1;
                } else if width < WIDTH_MIN || row + 1 >= ROWS_MAX {
                    layout.narrow += 1;
                } else {
                    open.push((*child, left, row + 1));
                }
                left += width;
            }
        }
        layout
    }
}

/// The graph with its caption; nothing if there are no stacks in slow windows.
pub(super) fn flame_graph(tree: &FlameTree) -> Markup {
    let layout = Layout::of(tree);
    if layout.frames.is_empty() {
        return html! {};
    }
    let height = layout.rows as f64 * ROW;
    let difference = |node: &FlameNode| {
        let (slow, fast) = tree.shares(node);
        slow - fast
    };
    let largest = layout.frames.iter().map(|frame| difference(frame.node).abs()).fold(0.0, f64::max);
    html! {
        figure.flame {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) width="100%" role="img"
                aria-label="Flame graph of the stacks in slow windows"
            {
                @for frame in &layout.frames {
                    (placed(frame, tree, colour(difference(frame.node), largest), height))
                }
            }
            figcaption { (caption(&layout)) }
        }
    }
}

/// A frame as a box with its name and a tooltip.
fn placed(frame: &PlacedFrame<'_>, tree: &FlameTree, colour: String, height: f64) -> Markup {
    let y = height - (frame.row + 1) as f64 * ROW;
    let name = if frame.row == 0 { "all threads" } else { frame.node.frame.as_str() };
    let name = printable(name);
    let (slow, fast) = tree.shares(frame.node);
    let title = format!(
        "{name}: {:.1} % of the threads in slow windows, {:.1} % in the others ({:+.1} points)",
        slow * 100.0,
        fast * 100.0,
        (slow - fast) * 100.0
    );
    let label = fitting(&name, frame.width);
    html! {
        g {
            title { (title) }
            rect x=(format!("{:.1}", frame.x)) y=(format!("{y:.0}")) width=(format!("{:.1}", (frame.width - 0.5).max(0.5)))
                height=(ROW - 1.0) fill=(colour) {}
            @if let Some(label) = label {
                text x=(format!("{:.1}", frame.x + PADDING)) y=(format!("{:.0}", y + ROW - 5.0)) font-size="11"
                    font-family="monospace" fill="#1d1c1a" pointer-events="none" { (label) }
            }
        }
    }
}

/// The part of a name that fits into a box: without the package if that is necessary; `None` if nothing useful fits.
fn fitting(name: &str, width: f64) -> Option<String> {
    const USEFUL: usize = 3;
    let fits = ((width - 2.0 * PADDING) / CHARACTER).max(0.0) as usize;
    if name.chars().count() <= fits {
        return Some(name.to_owned());
    }
    let short = name.rmatch_indices('.').nth(1).map_or(name, |(at, _)| &name[at + 1..]);
    if short.chars().count() <= fits {
        return Some(short.to_owned());
    }
    (fits >= USEFUL).then(|| short.chars().take(fits - 1).chain(['…']).collect())
}

/// The colour of a difference, relative to the largest one.
fn colour(difference: f64, largest: f64) -> String {
    // The square root makes small differences visible next to large ones.
    let strength = if largest > 0.0 { (difference.abs() / largest).min(1.0).sqrt() } else { 0.0 };
    let end = if difference > 0.0 { MORE } else { FEWER };
    let mixed = |at: usize| {
        (f64::from(NEUTRAL[at]) + (f64::from(end[at]) - f64::from(NEUTRAL[at])) * strength).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

fn caption(layout: &Layout<'_>) -> String {
    let mut text = "Flame graph of the slow windows: each box is a frame, above the frame that called it. Its width is the share of the \
                    threads that have it on their stack. Red frames have a larger share than in the other windows, blue ones a smaller one; \
                    the tooltip has both."
        .to_owned();
    if layout.narrow > 0 {
        text.push_str(&format!(
            " {} and everything above {} left out, because the share is below 0.1 %.",
            counted(layout.narrow, "frame"),
            if layout.narrow == 1 { "it is" } else { "them are" }
        ));
    }
    if layout.only_fast > 0 {
        text.push_str(&format!(
            " {} occur{} only in the other windows.",
            counted(layout.only_fast, "frame"),
            if layout.only_fast == 1 { "s" } else { "" }
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(frame: &str, slow: u64, fast: u64, children: &[u32]) -> FlameNode {
        FlameNode { frame: frame.to_owned(), slow, fast, children: children.to_vec() }
    }

    fn tree() -> FlameTree {
        FlameTree {
            nodes: vec![
                node("", 10_000, 10_000, &[1, 2]),
                node("com.shop.<Handler>.handle", 9_995, 9_000, &[3, 4]),
                node("com.shop.Rare.call", 5, 0, &[]),
                node("com.shop.Prices.price", 6_000, 500, &[]),
                node("com.shop.Idle.wait", 0, 7_000, &[]),
            ],
        }
    }

    #[test]
    fn frames_are_boxes_with_tooltips_and_without_scripts() {
        let html = flame_graph(&tree()).into_string();
        assert_eq!(html.matches("<rect").count(), 3, "{html}");
        assert!(html.contains("com.shop.&lt;Handler&gt;.handle"), "{html}");
        assert!(
            html.contains("60.0 % of the threads in slow windows, 5.0 % in the others (+55.0 points)"),
            "{html}"
        );
        assert!(html.contains("1 frame and everything above it is left out"), "{html}");
        assert!(html.contains("1 frame occurs only in the other windows"), "{html}");
        assert!(!html.contains("<script") && !html.contains("style="), "{html}");
        assert_eq!(flame_graph(&FlameTree::default()).into_string(), "");
    }

    #[test]
    fn colours_go_from_blue_to_red() {
        assert_eq!(
            [colour(1.0, 1.0), colour(0.0, 1.0), colour(-1.0, 1.0)],
            ["#e45f43", "#ece8dd", "#5a9fdc"]
        );
        assert_eq!(colour(0.0, 0.0), "#ece8dd");
    }

    #[test]
    fn names_are_shortened_to_the_box() {
        assert_eq!(fitting("com.shop.Cart.total", 200.0).as_deref(), Some("com.shop.Cart.total"));
        assert_eq!(fitting("com.shop.Cart.total", 80.0).as_deref(), Some("Cart.total"));
        assert_eq!(fitting("com.shop.Cart.total", 40.0).as_deref(), Some("Cart…"));
        assert_eq!(fitting("com.shop.Cart.total", 10.0), None);
    }
}
