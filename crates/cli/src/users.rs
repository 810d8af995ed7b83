//! `busyhour users`: how many real users of a web site a measured load stands for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use busyhour_analysis::{LogTableRow, LogWindow, TOTAL, WebLog, WebLogOptions};
use busyhour_queueing::web_users::{ObjectLoad, PageLoad, WebLoad};
use busyhour_record::{Log, LogFacts};
use clap::Args;
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::exit::{Exit, complain, print, say};
use crate::page_map::PageMap;
use crate::quantities::{log_span, seconds, window};

#[derive(Debug, Args)]
#[command(
    after_help = "The threads of a load test think little, so that few of them make much load. Real users think for Z' between \
    pages; N' = λ(R + Z') of them make the same load, λ in pages per second (equation 15 of Brady & Gunther, arXiv \
    1607.05356). The mapping says which objects make up a page:\n\n  \
    [[page]]\n  name = \"Home\"\n  objects = [\"010_Home\", \"012_Home_jpg\"]\n  visits = 4    # optional: how often one pass of the script visits it\n\n\
    Without visits pages are counted in the log. Labels that belong to no page: ignore = [\"Login\"].\n\n\
    Examples:\n  busyhour users --jtl results.jtl --pages map.toml\n  \
    busyhour users --jtl 1800.csv 1830.csv --pages map.toml --window 120,1320"
)]
pub(crate) struct UsersArgs {
    /// Result files (JTL in CSV or XML) or run directories.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    jtl: Vec<PathBuf>,
    /// Think times Z' of real users, in seconds or with a unit.
    #[arg(long, value_name = "TIME,…", value_parser = seconds, value_delimiter = ',', default_value = "10,20,30,40,50")]
    think: Vec<f64>,
    /// Which objects make up which page (TOML).
    #[arg(long, value_name = "FILE")]
    pages: PathBuf,
    /// Count what starts from FROM until TO, in seconds from the first start of the log.
    #[arg(long, value_name = "FROM,TO", value_parser = log_span, conflicts_with = "window_for")]
    window: Option<LogWindow>,
    /// The same with the length of the part: from BEFORE seconds after the first start, for DURATION seconds.
    #[arg(long, value_name = "BEFORE,DURATION", value_parser = window)]
    window_for: Option<LogWindow>,
    /// Round λ and R to two digits before calculating, as the published tables do.
    #[arg(long)]
    compat_rounding: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl UsersArgs {
    /// The part of each log that counts; `None` for all.
    fn part(&self) -> Option<LogWindow> {
        self.window.or(self.window_for)
    }
}

/// What one log says.
struct Measured {
    path: PathBuf,
    requests: u64,
    load: WebLoad,
}

pub(crate) fn main(args: &UsersArgs) -> Exit {
    let map = match PageMap::read(&args.pages) {
        Ok(map) => map,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let mut all = Vec::new();
    for path in &args.jtl {
        match measure(path, &map, args) {
            Ok(measured) => all.push(measured),
            Err(message) => return complain(Exit::Internal, &format!("{}: {message}", path.display())),
        }
    }
    let text = if args.json { as_json(&all, args) } else { as_text(&all, &map, args) };
    print(&text);
    Exit::Completed
}

fn measure(path: &Path, map: &PageMap, args: &UsersArgs) -> Result<Measured, String> {
    let log = Log::open(path).map_err(|error| crate::run::chain(&error))?;
    let options = WebLogOptions { window: args.part(), ..WebLogOptions::default() };
    // Labels have numbers; whether they count is found once for each.
    let mut wanted: Vec<Option<bool>> = Vec::new();
    let (found, facts) = log
        .scan_in_order(
            || WebLog::new(options.clone(), log.form().tick_ns()),
            |into, row, labels| {
                let at = row.label as usize;
                if wanted.len() <= at {
                    wanted.resize(at + 1, None);
                }
                let counts = *wanted[at].get_or_insert_with(|| map.has(labels.name(row.label)));
                into.add(row, counts);
            },
            &mut |_| {},
        )
        .map_err(|error| crate::run::chain(&error))?;
    complete(&facts, map, path)?;
    let tables = found.finish(&facts.labels);
    let total = tables.response_time.last().filter(|row| row.label == TOTAL && row.n > 0);
    let total = total.ok_or("no request of any page starts in the window")?;
    let rate_per_s = total.per_s.ok_or("its requests take no time, so they have no rate")?;
    let rows: HashMap<&str, &LogTableRow> = tables
        .response_time
        .iter()
        .take(tables.response_time.len() - 1)
        .map(|row| (row.label.as_str(), row))
        .collect();
    let object = |name: &String| {
        let Some(row) = rows.get(name.as_str()) else { return ObjectLoad::default() };
        ObjectLoad { requests: row.n, responses_s: row.mean.unwrap_or(0.0) * row.n as f64 / 1_000.0 }
    };
    let pages: Vec<PageLoad> = map
        .pages
        .iter()
        .map(|page| PageLoad { objects: page.objects.iter().map(object).collect(), visits: page.visits })
        .collect();
    let load = WebLoad::of(&pages, rate_per_s).ok_or("no request of any page starts in the window")?;
    if load.page_response_s.is_none() {
        let never: Vec<&str> = map
            .pages
            .iter()
            .flat_map(|page| &page.objects)
            .map(String::as_str)
            .filter(|name| !rows.contains_key(name))
            .collect();
        say(&format!(
            "warning: {}: never requested: {}; the response time of a page is unknown",
            path.display(),
            never.join(", ")
        ));
    }
    let load = if args.compat_rounding { load.rounded_as_published() } else { load };
    Ok(Measured { path: path.to_owned(), requests: total.n, load })
}

/// Nothing of a log is left out in silence.
fn complete(facts: &LogFacts, map: &PageMap, path: &Path) -> Result<(), String> {
    let unknown = map.unknown(&facts.labels);
    if !unknown.is_empty() {
        let some: Vec<String> = unknown.iter().take(8).map(|label| format!("{label:?}")).collect();
        let more = if unknown.len() > 8 { format!(" and {} more", unknown.len() - 8) } else { String::new() };
        return Err(format!(
            "the mapping does not say to which page these objects belong: {}{more}; name them in a page, or in ignore = […]",
            some.join(", ")
        ));
    }
    if facts.bad_rows > 0 {
        say(&format!("warning: {}: {} rows cannot be read and are left out", path.display(), facts.bad_rows));
    }
    if facts.cut_off {
        say(&format!("warning: {}: the last row is cut off and left out", path.display()));
    }
    Ok(())
}

fn as_text(all: &[Measured], map: &PageMap, args: &UsersArgs) -> String {
    let mut out = format!(
        "Real users N' = λ(R + Z') that make the measured load, λ in pages/s{}\n",
        if args.compat_rounding { "; λ and R rounded to two digits" } else { "" }
    );
    out += if map.pages.iter().all(|page| page.visits.is_some()) {
        "Pages for each object: by the visits of the script\n"
    } else {
        "Pages for each object: counted in the log, an object of a page with n objects as 1/n of it\n"
    };
    out += "\nR of an object, as equation (15) was published:\n\n";
    out += &table(
        all,
        args,
        "R obj ms",
        |load| Some(load.object_response_s),
        |load, z| Some(load.users_as_published(z)),
    );
    out += "\nR of a page, the sum over its objects:\n\n";
    out += &table(all, args, "R page ms", |load| load.page_response_s, WebLoad::users);
    out
}

fn table(
    all: &[Measured],
    args: &UsersArgs,
    response: &str,
    response_s: impl Fn(&WebLoad) -> Option<f64>,
    users: impl Fn(&WebLoad, f64) -> Option<f64>,
) -> String {
    let mut heading: Vec<String> = ["log", "λ obj/s", "pages/s", response].map(str::to_owned).to_vec();
    heading.extend(args.think.iter().map(|think_s| format!("Z'={think_s} s")));
    let mut table = Columns::new(1, &heading.iter().map(String::as_str).collect::<Vec<_>>());
    let unavailable = || "unknown".to_owned();
    for Measured { path, load, .. } in all {
        let mut row = vec![
            path.display().to_string(),
            format!("{:.2}", load.objects_per_s),
            format!("{:.3}", load.pages_per_s()),
            response_s(load).map_or_else(unavailable, |seconds| format!("{:.2}", seconds * 1_000.0)),
        ];
        row.extend(
            args.think
                .iter()
                .map(|&z| users(load, z).map_or_else(unavailable, |users| format!("{users:.2}"))),
        );
        table.row(row);
    }
    table.render()
}

fn as_json(all: &[Measured], args: &UsersArgs) -> String {
    let log = |measured: &Measured| {
        let load = &measured.load;
        let users: Vec<Value> = args
            .think
            .iter()
            .map(|&think_s| {
                json!({
                    "think_s": think_s,
                    "users_as_published": load.users_as_published(think_s),
                    "users": load.users(think_s),
                })
            })
            .collect();
        json!({
            "log": measured.path.display().to_string(),
            "requests": measured.requests,
            "objects_per_s": load.objects_per_s,
            "object_response_s": load.object_response_s,
            "pages_per_object": load.pages_per_object,
            "pages_per_s": load.pages_per_s(),
            "page_response_s": load.page_response_s,
            "real_users": users,
        })
    };
    let value = json!({
        "version": 1,
        "rounded_as_published": args.compat_rounding,
        "window_s": args.part().map(|window| [window.before_s, window.duration_s]),
        "logs": all.iter().map(log).collect::<Vec<Value>>(),
    });
    format!("{value:#}\n")
}
