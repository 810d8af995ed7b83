//! Draws the terminal view.

use busyhour_launch::{LoadState, RunPhase};
use busyhour_live::{LiveRun, Slice, caveats, changes, completed, offered, started, threshold_lines};
use busyhour_report::numbers::{clock, ms, percent, rate, thousands};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Clear, Paragraph, Row, Sparkline, Table, Wrap};

/// The data that the terminal view shows.
pub(crate) struct Shown<'s> {
    pub(crate) title: &'s str,
    pub(crate) run: &'s LiveRun,
    pub(crate) state: &'s LoadState,
    /// Whether the rate can be changed.
    pub(crate) has_rate: bool,
    /// The latest message.
    pub(crate) message: &'s str,
    /// Whether the help is shown.
    pub(crate) help: bool,
    /// Number of outputs that could not be written.
    pub(crate) unwritten: u64,
    /// Address of the live page; `None` if it is not served.
    pub(crate) page: Option<&'s str>,
    /// Whether colours are used.
    pub(crate) colour: bool,
}

/// Placeholder for unknown values.
const UNKNOWN: &str = "–";

/// Width of the column for the whole run.
const SO_FAR: u16 = 18;

/// Width of the column for the last second.
const NOW: u16 = 8;

/// Number of rows of the tables of figures, with the heading.
const FIGURES_ROWS: u16 = 8;

/// Number of rows of the heat map.
const HEAT_ROWS: u16 = 8;

/// Shades of the heat map, from few to many requests.
const SHADES: [&str; 4] = ["░", "▒", "▓", "█"];

impl Shown<'_> {
    fn style(&self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    fn soft(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn head<'l>(&self, text: impl Into<String>) -> Line<'l> {
        Line::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
    }
}

/// Widths of the columns of the two tables of figures: first the table of load.
const LOAD_WIDTHS: [u16; 3] = [13, NOW, SO_FAR];
const RESPONSE_WIDTHS: [u16; 3] = [10, NOW, 8];
const LOAD_COLUMNS: u16 = LOAD_WIDTHS[0] + LOAD_WIDTHS[1] + LOAD_WIDTHS[2] + 2;
const RESPONSE_COLUMNS: u16 = RESPONSE_WIDTHS[0] + RESPONSE_WIDTHS[1] + RESPONSE_WIDTHS[2] + 2;
const FIGURES_COLUMNS: u16 = LOAD_COLUMNS + 2 + RESPONSE_COLUMNS;

/// Minimum width of the thresholds, caveats and changes to the right of the figures.
const NOTICES_COLUMNS: u16 = 20;

/// The heights of the optional parts; 0 for parts that do not fit.
struct Rows {
    /// Height of the thresholds, caveats and changes below the figures, if they do not fit to the right of the figures.
    notices: u16,
    spark: u16,
    heat: u16,
}

impl Rows {
    fn of(area: Rect) -> Rows {
        // The title, the figures, three rows of labels and the keys are always shown.
        let mut free = area.height.saturating_sub(2 + FIGURES_ROWS + 3 + 1);
        let mut take = |rows: u16| {
            let taken = if free >= rows { rows } else { 0 };
            free -= taken;
            taken
        };
        let fits_to_the_right = area.width >= FIGURES_COLUMNS + 2 + NOTICES_COLUMNS;
        let notices = if fits_to_the_right { 0 } else { take(4) };
        let spark = take(4);
        Rows { notices, spark, heat: take(HEAT_ROWS + 2) }
    }
}

/// Draws the view.
pub(crate) fn draw(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let area = frame.area();
    if area.width < FIGURES_COLUMNS || area.height < 2 + FIGURES_ROWS + 1 {
        return too_small(frame, shown);
    }
    let Rows { notices, spark: rates, heat } = Rows::of(area);
    let rows = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(FIGURES_ROWS),
        Constraint::Length(notices),
        Constraint::Length(rates),
        Constraint::Length(heat),
        Constraint::Min(0),
        Constraint::Length(1),
    ]);
    let [top, figures, notices, rates, heat, below, bottom] = rows.areas(area);
    title(frame, top, shown);
    let [load, response, right] = Layout::horizontal([
        Constraint::Length(LOAD_COLUMNS),
        Constraint::Length(RESPONSE_COLUMNS),
        Constraint::Min(0),
    ])
    .spacing(2)
    .areas(figures);
    figures_table(frame, load, "Load", LOAD_WIDTHS, &load_rows(shown));
    figures_table(frame, response, "Resp. ms", RESPONSE_WIDTHS, &response_rows(shown));
    draw_notices(frame, if notices.height > 0 { notices } else { right }, shown);
    spark(frame, rates, shown);
    heat_map(frame, heat, shown);
    labels(frame, below, shown);
    let line = if shown.message.is_empty() { keys_line(shown) } else { shown.message.to_owned() };
    let style = if shown.message.is_empty() { shown.soft() } else { shown.style(Color::Yellow) };
    frame.render_widget(Paragraph::new(Line::styled(line, style)), bottom);
    if shown.help {
        help(frame, shown);
    }
}

/// Draws the figures as plain lines if the terminal is too small for the tables.
fn too_small(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let mut lines = vec![Line::from(format!("{} {}", shown.title, shown.state.phase.name()))];
    let figures = load_rows(shown).into_iter().chain(response_rows(shown));
    lines.extend(figures.map(|[name, now, all]| Line::from(format!("{name}: {now} now, {all} so far"))));
    lines.push(Line::from("q stop"));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), frame.area());
}

fn keys_line(shown: &Shown<'_>) -> String {
    let rate = if shown.has_rate { "+ − rate   0 reset   " } else { "" };
    let pause = if shown.state.phase == RunPhase::Paused { "resume" } else { "pause" };
    format!("p {pause}   {rate}q stop   ? help")
}

fn title(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let state = shown.state;
    let mut when = clock(state.elapsed.as_secs());
    if let Some(length) = state.length {
        when += &format!(" of {}", clock(length.as_secs()));
    }
    let colour = match state.phase {
        RunPhase::Preparing | RunPhase::Running => Color::Green,
        RunPhase::Paused | RunPhase::Stopping => Color::Yellow,
        RunPhase::Ended => Color::Reset,
    };
    let mut line = vec![
        Span::styled(shown.title.to_owned(), Style::new().add_modifier(Modifier::BOLD)),
        Span::raw("   "),
        Span::styled(state.phase.name(), shown.style(colour).add_modifier(Modifier::BOLD)),
        Span::raw(format!("   {when}")),
    ];
    if shown.has_rate && state.factor != 1.0 {
        line.push(Span::styled(
            format!("   {} times the requested rate", state.factor),
            shown.style(Color::Yellow),
        ));
    }
    let mut lines = vec![Line::from(line)];
    if let Some(page) = shown.page {
        lines.push(Line::styled(format!("live page: {page}"), shown.soft()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

fn load_rows(shown: &Shown<'_>) -> Vec<[String; 3]> {
    let run = shown.run;
    let (now, all) = (run.last(), run.total());
    // Each amount has its own unit, because a session may consist of many requests.
    let amounts = [("offered", offered(run)), ("started", started(run))];
    let mut rows: Vec<_> = amounts
        .into_iter()
        .filter_map(|(name, amount)| amount.map(|[now, all]| [name.to_owned(), now, all]))
        .collect();
    let [now_completed, all_completed] =
        completed(run).unwrap_or_else(|| [UNKNOWN, UNKNOWN].map(str::to_owned));
    rows.push(["completed".into(), now_completed, all_completed]);
    let failed = |figures: &busyhour_live::Figures| {
        known(figures.failed_percent(), |part| match figures.failed {
            0 => "none".to_owned(),
            count => format!("{} ({} %)", thousands(count), percent(part)),
        })
    };
    rows.push(["failed".into(), failed(now), failed(all)]);
    rows.push([
        "active users".into(),
        thousands(shown.state.active),
        known(all.users, |users| format!("{} at most", thousands(users.into()))),
    ]);
    let cov = known(run.regularity(), |live| format!("{:.2}", live.cov));
    rows.push(["arrivals' CoV".into(), cov, "last 10 s".into()]);
    for [_, now, all] in &mut rows {
        for (cell, width) in [(now, NOW), (all, SO_FAR)] {
            // If the unit or the percentage does not fit, only the number is shown.
            if cell.chars().count() > width.into()
                && let Some((number, _)) = cell.split_once(' ')
            {
                *cell = number.to_owned();
            }
        }
    }
    rows
}

fn response_rows(shown: &Shown<'_>) -> Vec<[String; 3]> {
    let (now, all) = (&shown.run.last().response, &shown.run.total().response);
    let row = |name: &str, of: &dyn Fn(&busyhour_sample::TimeCounts) -> Option<f64>| {
        [name.to_owned(), known(of(now), ms), known(of(all), ms)]
    };
    vec![
        row("mean", &|times| times.mean_ms()),
        row("p50", &|times| times.quantile_ms(0.5)),
        row("p90", &|times| times.quantile_ms(0.9)),
        row("p95", &|times| times.quantile_ms(0.95)),
        row("p99", &|times| times.quantile_ms(0.99)),
        row("longest", &|times| times.max_ms()),
    ]
}

fn figures_table(frame: &mut Frame<'_>, area: Rect, title: &str, widths: [u16; 3], rows: &[[String; 3]]) {
    let right = |text: &str| Cell::new(Line::from(text.to_owned()).right_aligned());
    let head = [Cell::new(title.to_owned()), right("now"), right("so far")];
    let body =
        rows.iter().map(|[name, now, all]| Row::new([Cell::new(name.clone()), right(now), right(all)]));
    let widths = widths.map(Constraint::Length);
    let table =
        Table::new(body, widths).header(Row::new(head).style(Style::new().add_modifier(Modifier::BOLD)));
    frame.render_widget(table, area);
}

/// Draws caveats, thresholds and changes.
fn draw_notices(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let mut lines = vec![shown.head("Thresholds and caveats")];
    for caveat in caveats(shown.run, shown.unwritten) {
        lines.push(Line::styled(format!("! {caveat}"), shown.style(Color::Yellow)));
    }
    for [mark, what, seen] in threshold_lines(shown.run) {
        let style = if mark == "✗" { shown.style(Color::Red) } else { Style::new() };
        lines.push(Line::from(vec![
            Span::styled(format!("{mark} {what}"), style),
            Span::styled(format!("  {seen}"), shown.soft()),
        ]));
    }
    lines.extend(changes(shown.state).into_iter().map(Line::from));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), area);
}

/// The last slices that fit into this number of columns.
fn last_slices<'c>(shown: &Shown<'c>, columns: u16) -> &'c [Slice] {
    let all = shown.run.slices().all();
    &all[all.len().saturating_sub(columns.into())..]
}

fn describe_span(shown: &Shown<'_>, columns: u16) -> String {
    let step_s = shown.run.slices().step_s();
    let shown_s = last_slices(shown, columns).len() as u64 * step_s;
    format!("the last {}", clock(shown_s))
}

fn spark(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let [head, plot] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let plot = Rect { x: plot.x + LABEL_WIDTH, width: plot.width.saturating_sub(LABEL_WIDTH), ..plot };
    let slices = last_slices(shown, plot.width);
    let ended: Vec<u64> = slices.iter().map(|slice| slice.per_s(slice.ended).round() as u64).collect();
    let most = ended.iter().copied().max().unwrap_or(0);
    let words = format!(
        "Requests completed per second, {}, up to {}",
        describe_span(shown, plot.width),
        rate(most as f64)
    );
    frame.render_widget(Paragraph::new(shown.head(words)), head);
    frame.render_widget(Sparkline::default().data(ended).style(shown.style(Color::Cyan)), plot);
}

/// Width of the labels to the left of the plots.
const LABEL_WIDTH: u16 = 9;

fn heat_map(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let width = area.width.saturating_sub(LABEL_WIDTH);
    let mut lines =
        vec![shown.head(format!("Response time, {}: number of requests", describe_span(shown, width)))];
    let Some((least, most)) = shown.run.slices().bands() else {
        lines.push(Line::styled("waiting for the first responses", shown.soft()));
        frame.render_widget(Paragraph::new(lines), area);
        return;
    };
    let bands_per_row = (most - least + 1).div_ceil(HEAT_ROWS);
    let slices = last_slices(shown, width);
    let row_of = |band: u16| (band - least) / bands_per_row;
    let mut cells = vec![vec![0_u64; slices.len()]; HEAT_ROWS.into()];
    for (column, slice) in slices.iter().enumerate() {
        for (band, count) in &slice.heat {
            cells[usize::from(row_of(*band))][column] += count;
        }
    }
    let largest = cells.iter().flatten().copied().max().unwrap_or(0);
    let edge_ms = |row: u16| {
        let band = least + row * bands_per_row;
        10f64.powf(f64::from(band) / busyhour_sample::HEAT_BANDS_PER_DECADE as f64 - 3.0)
    };
    for row in (0..HEAT_ROWS).rev() {
        let label = format!("{:>1$} ", format!("{} ms", ms(edge_ms(row))), usize::from(LABEL_WIDTH) - 1);
        let mut line = vec![Span::styled(label, shown.soft())];
        line.extend(cells[usize::from(row)].iter().map(|count| shade(*count, largest, shown)));
        lines.push(Line::from(line));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The shade for a count. The scale is logarithmic, so that single slow requests are visible.
fn shade<'l>(count: u64, largest: u64, shown: &Shown<'_>) -> Span<'l> {
    if count == 0 {
        return Span::raw(" ");
    }
    let part = if largest > 1 { (count as f64).ln() / (largest as f64).ln() } else { 1.0 };
    let step = ((part * SHADES.len() as f64) as usize).min(SHADES.len() - 1);
    Span::styled(SHADES[step], shown.style(Color::Yellow))
}

/// Headings and widths of the columns of the table of labels.
const LABEL_COLUMNS: [(&str, u16); 7] = [
    ("completed", 12),
    ("now", 9),
    ("failed %", 9),
    ("mean ms", 9),
    ("p50 ms", 9),
    ("p95 ms", 9),
    ("p99 ms", 9),
];

/// Minimum width of the column with the label.
const LABEL_NAME_MIN: u16 = 24;

/// The indices of the columns that fit next to the label.
fn label_columns(width: u16) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..LABEL_COLUMNS.len()).collect();
    let needed =
        |kept: &[usize]| LABEL_NAME_MIN + kept.iter().map(|at| LABEL_COLUMNS[*at].1 + 1).sum::<u16>();
    // If the width is too small, columns are removed in this order: the median, the last second, the p99.
    for column in [4, 1, 6] {
        if needed(&kept) > width {
            kept.retain(|at| *at != column);
        }
    }
    kept
}

fn labels(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let right = |text: String| Cell::new(Line::from(text).right_aligned());
    let columns = label_columns(area.width);
    let names = columns.iter().map(|column| right(LABEL_COLUMNS[*column].0.to_owned()));
    let head = std::iter::once(Cell::new("Busiest labels")).chain(names);
    let rows = shown.run.busiest(area.height.saturating_sub(1).into());
    let body = rows.into_iter().map(|label| {
        let failed = (label.completed > 0).then(|| label.failed as f64 * 100.0 / label.completed as f64);
        let times = &label.response;
        let numbers = [
            thousands(label.completed),
            thousands(label.last),
            known(failed, percent),
            known(times.mean_ms(), ms),
            known(times.quantile_ms(0.5), ms),
            known(times.quantile_ms(0.95), ms),
            known(times.quantile_ms(0.99), ms),
        ];
        let style = if label.failed > 0 { shown.style(Color::Red) } else { Style::new() };
        let name = busyhour_report::label_shown(&label.label);
        let numbers = columns.iter().map(|column| right(numbers[*column].clone()));
        Row::new(std::iter::once(Cell::new(name).style(style)).chain(numbers))
    });
    let mut widths = vec![Constraint::Fill(1)];
    widths.extend(columns.iter().map(|column| Constraint::Length(LABEL_COLUMNS[*column].1)));
    let head = Row::new(head).style(Style::new().add_modifier(Modifier::BOLD));
    frame.render_widget(Table::new(body, widths).header(head), area);
}

fn help(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let rate = if shown.has_rate {
        ["+  −    increase the rate by 25 %, decrease it by 20 %", "0       reset to the requested rate"]
            .map(Line::from)
            .to_vec()
    } else {
        vec![Line::from("The users of the plan determine the rate.")]
    };
    let mut lines = vec![shown.head("Keys"), Line::from("p       pause or resume")];
    lines.extend(rate);
    lines.extend(
        [
            "q q     stop: users finish their current samples",
            "Ctrl-C  like q q; a second time: stop immediately",
            "?       show or hide this help",
            "",
            "Changes are recorded in the run directory.",
        ]
        .map(Line::from),
    );
    let area = frame.area();
    let (width, height) = (60.min(area.width), (lines.len() as u16 + 2).min(area.height));
    let place = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(ratatui::widgets::Block::bordered()), place);
}

#[cfg(test)]
mod tests;
