//! Tables of requests and response times for a terminal: by label, and by thread group.

use busyhour_analysis::{GroupRows, Row, Summary, Times};
use busyhour_sample::SampleKind;

use crate::numbers::{counted, duration};
use crate::row_columns::{COUNTS, RESPONSE, RowColumn, SERVICE, screen_columns};
use crate::terminal_text::{LABEL_MIN, Look, cut, shown_label};

/// Labels are first cut to this number of characters; only then are columns omitted.
const LABEL_COMFORTABLE: usize = 20;

const RESPONSE_TITLE: &str = "response time in ms";
/// The title of the response times if the output contains both clocks. JMeter's `Avg` is the mean of the service time.
const RESPONSE_OF_TWO_TITLE: &str = "response time in ms (from the intended start)";
const SERVICE_TITLE: &str = "service time in ms (from the actual start, as in JMeter)";

/// The rows of one table; the total is last.
struct Rows<'s> {
    /// Heading of the first column.
    head: &'static str,
    rows: Vec<(String, &'s Row)>,
    /// Whether the last row is the total.
    has_total: bool,
}

impl<'s> Rows<'s> {
    fn new(head: &'static str, rows: impl Iterator<Item = (String, &'s Row)>, total: &'s Row) -> Rows<'s> {
        Rows { head, rows: rows.chain([(total.label.clone(), total)]).collect(), has_total: true }
    }

    fn of_labels(labels: &'s [Row], total: &'s Row) -> Rows<'s> {
        Rows::new("label", labels.iter().map(|row| (label(row), row)), total)
    }

    /// Number of characters of the longest label.
    fn longest(&self) -> usize {
        self.rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0).max(LABEL_MIN)
    }

    /// The number of characters that each column needs.
    fn widths(&self, columns: &[RowColumn]) -> Vec<usize> {
        let widest = |column: &RowColumn| {
            let cells = self.rows.iter().map(|(_, row)| (column.cell)(row).chars().count());
            cells.chain([column.terminal.unwrap_or_default().len()]).max().unwrap_or(0)
        };
        columns.iter().map(widest).collect()
    }

    /// The total number of characters of the columns.
    fn numbers(&self, columns: &[RowColumn]) -> usize {
        self.widths(columns).iter().map(|width| width + 2).sum()
    }

    /// The columns that fit into `width` with labels of a reasonable length, and the columns that are omitted.
    fn fitting(&self, columns: &[RowColumn], width: Option<usize>) -> (Vec<RowColumn>, Vec<&'static str>) {
        let (mut kept, mut left_out) = (columns.to_vec(), Vec::new());
        let Some(width) = width else { return (kept, left_out) };
        let label = self.longest().min(LABEL_COMFORTABLE);
        while label + self.numbers(&kept) > width {
            let next = kept.iter().enumerate().max_by_key(|(_, column)| column.leaves);
            let Some((at, RowColumn { leaves: 1.., .. })) = next else { break };
            left_out.extend(kept.remove(at).terminal);
        }
        left_out.reverse();
        (kept, left_out)
    }

    /// A table with a title above its last `titled` columns.
    fn table(&self, title: &str, columns: &[RowColumn], titled: usize, look: Look) -> String {
        let widths = self.widths(columns);
        let numbers: usize = widths.iter().map(|width| width + 2).sum();
        let longest = self.longest();
        let room =
            look.width.map_or(longest, |width| width.saturating_sub(numbers).clamp(LABEL_MIN, longest));
        let titled: usize = widths.iter().rev().take(titled).map(|width| width + 2).sum();
        // A title that is wider than its columns begins to the left of them.
        let title_width = title.chars().count() + 2;
        let before = (room + numbers - titled).min((room + numbers).saturating_sub(title_width));
        let mut out = String::new();
        if !title.is_empty() {
            out += &(look.dim(format!("{:before$}  {title}", "").trim_end()) + "\n");
        }
        let mut head = format!("{:room$}", self.head);
        for (column, width) in columns.iter().zip(&widths) {
            head += &format!("  {:>width$}", column.terminal.unwrap_or_default());
        }
        out += &(look.dim(&head) + "\n");
        for (at, (label, row)) in self.rows.iter().enumerate() {
            let mut line = format!("{:room$}", cut(label, room));
            for (column, width) in columns.iter().zip(&widths) {
                let text = format!("  {:>width$}", (column.cell)(row));
                line += &if column.is_of_failures && row.errors > 0 { look.bad(&text) } else { text };
            }
            out += &if self.has_total && at + 1 == self.rows.len() { look.bold(&line) } else { line };
            out.push('\n');
        }
        out
    }

    /// Counts and response times in one table if it fits, otherwise in two tables; and service times if they differ.
    fn tables(&self, look: Look) -> String {
        let counts: Vec<RowColumn> =
            COUNTS.iter().filter(|column| column.terminal.is_some()).copied().collect();
        let all: Vec<RowColumn> = counts.iter().chain(RESPONSE).copied().collect();
        let total = self.rows.last().map(|(_, total)| *total);
        let has_two_clocks = total.is_some_and(|total| clocks_differ(&total.response, &total.service));
        let title = if has_two_clocks { RESPONSE_OF_TWO_TITLE } else { RESPONSE_TITLE };
        let (fitting, without) = self.fitting(&all, look.width);
        let width = self.longest().min(LABEL_COMFORTABLE) + self.numbers(&fitting);
        let (mut out, left_out) = if look.width.is_some_and(|room| room < width) {
            // Two tables with complete labels are better than one with cut labels.
            let (times, without) = self.fitting(RESPONSE, look.width);
            let counts = self.table("requests", &counts, counts.len(), look);
            (counts + "\n" + &self.table(title, &times, times.len(), look), without)
        } else {
            let is_time = |column: &&RowColumn| RESPONSE.iter().any(|time| time.terminal == column.terminal);
            (self.table(title, &fitting, fitting.iter().filter(is_time).count(), look), without)
        };
        if has_two_clocks {
            let (times, _) = self.fitting(SERVICE, look.width);
            out.push('\n');
            out += &self.table(SERVICE_TITLE, &times, times.len(), look);
        }
        if !left_out.is_empty() {
            let line = format!("({} omitted: the terminal is too narrow)", left_out.join(", "));
            out += &(look.dim(&line) + "\n");
        }
        out
    }
}

/// Whether the two clocks differ enough to show both.
fn clocks_differ(response: &Times, service: &Times) -> bool {
    let differ = |a: f64, b: f64| (a - b).abs() > 0.5 && (a - b).abs() > 0.02 * b;
    differ(response.mean, service.mean) || differ(response.p99, service.p99)
}

fn label(row: &Row) -> String {
    let text = shown_label(&row.label);
    if row.kind == SampleKind::Transaction { format!("{text} (transaction)") } else { text }
}

/// The name of a thread group, with its number if another group has the same name.
pub(crate) fn group_name(group: &GroupRows, all: &[GroupRows]) -> String {
    let name = shown_label(&group.name);
    let is_unique = all.iter().filter(|other| other.name == group.name).count() == 1;
    if is_unique { name } else { format!("{name} {}", group.number) }
}

/// The active time and kind of a thread group: `0.0 s to 12.3 s, setUp or tearDown`.
pub(crate) fn group_about(group: &GroupRows) -> String {
    let apart = if group.set_up_or_tear_down { ", setUp or tearDown" } else { "" };
    format!("{} to {}{apart}", duration(group.from_s), duration(group.to_s))
}

/// The tables by label.
pub(crate) fn times_tables(summary: &Summary, look: Look) -> String {
    Rows::of_labels(&summary.labels, &summary.total).tables(look)
}

/// The labels with the longest times, in at most `lines` lines below a heading.
pub(crate) fn worst_labels(summary: &Summary, lines: usize, look: Look) -> Vec<String> {
    let mut rows: Vec<&Row> = summary.labels.iter().filter(|row| row.samples > 0).collect();
    if rows.is_empty() || lines < 2 {
        return Vec::new();
    }
    rows.sort_by(|a, b| b.response.p95.total_cmp(&a.response.p95));
    let shown = if rows.len() > lines { lines - 1 } else { rows.len() };
    let more = rows.len() - shown;
    rows.truncate(shown);
    let rows = rows.into_iter().map(|row| (label(row), row)).collect();
    let rows = Rows { head: "slowest by p95, ms", rows, has_total: false };
    let (columns, _) = rows.fitting(&screen_columns(), look.width);
    let mut out: Vec<String> = rows.table("", &columns, 0, look).lines().map(str::to_owned).collect();
    if more > 0 {
        out.push(look.dim(&format!("… {}", counted(more as u64, "more label"))));
    }
    out
}

/// The tables of each thread group and of all groups together.
pub(crate) fn group_tables(summary: &Summary, look: Look) -> String {
    if summary.groups.is_empty() {
        let note = "Thread groups: not separated. All requests belong to one group, or the results do not contain \
                    thread names.\n\n";
        return note.to_owned() + &times_tables(summary, look);
    }
    let mut out = String::new();
    for group in &summary.groups {
        let title = format!("Thread group {}", group_name(group, &summary.groups));
        out += &format!("{}: {}\n", look.bold(&title), group_about(group));
        out += &Rows::of_labels(&group.labels, &group.total).tables(look);
        out.push('\n');
    }
    let names = summary.groups.iter().map(|group| (group_name(group, &summary.groups), &group.total));
    out += &format!("{}: rates of a group are over the time of the group\n", look.bold("All thread groups"));
    out + &Rows::new("thread group", names, &summary.total).tables(look)
}
