//! Colours and dashes of lines; `ui/src/plots/panel.ts` contains the same.

/// Colours in the order of lines; further lines begin again with dashes.
const COLOURS: [&str; 5] = ["blue", "orange", "green", "purple", "red"];

/// The classes of a line.
pub(super) fn line_class(at: usize, is_limit: bool) -> String {
    if is_limit {
        return "soft dash2".to_owned();
    }
    let colour = COLOURS[at % COLOURS.len()];
    if at < COLOURS.len() { colour.to_owned() } else { format!("{colour} dash6") }
}
