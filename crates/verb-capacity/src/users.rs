//! `busyhour capacity users`: the number of real web users that generate the same load as a measured one.

use std::path::PathBuf;

use busyhour_analysis::LogWindow;
use busyhour_capacity::{MeasuredWebLoad, PageMap, measure_pages};
use busyhour_queueing::web_users::WebLoad;
use busyhour_terminal::columns::Columns;
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use busyhour_terminal::quantities::{log_span, time_s, window};
use clap::Args;
use serde_json::{Value, json};

/// The pages of a log, for a number of real web users.
#[derive(Debug, Args)]
#[command(
    after_help = "The threads of a load test have short think times, so a few of them generate a high load. Real users think for \
    Z' between pages; N' = λ(R + Z') of them generate the same load, with λ in pages per second (equation 15 of Brady & \
    Gunther, arXiv 1607.05356). The mapping file defines the objects of each page:\n\n  \
    [[page]]\n  name = \"Home\"\n  objects = [\"010_Home\", \"012_Home_jpg\"]\n  visits = 4    # optional: visits per iteration of the script\n\n\
    Without visits, pages are counted in the log. List labels outside of pages as ignore = [\"Login\"].\n\n\
    Examples:\n  busyhour capacity users results.jtl --pages map.toml\n  \
    busyhour capacity users 1800.csv 1830.csv --pages map.toml --window 2min,22min"
)]
pub struct UsersArgs {
    /// JTL files or run directories.
    #[arg(value_name = "FILE|DIR", required_unless_present = "jtl")]
    logs: Vec<PathBuf>,
    #[arg(long, value_name = "FILE", num_args = 1.., hide = true)]
    jtl: Vec<PathBuf>,
    /// Think times Z' of real users.
    #[arg(long, value_name = "TIME,…", value_parser = time_s, value_delimiter = ',', default_value = "10s,20s,30s,40s,50s")]
    think: Vec<f64>,
    /// Mapping of objects to pages (TOML).
    #[arg(long, value_name = "FILE")]
    pages: PathBuf,
    /// Use only requests that start between FROM and TO, counted from the first start in the log, e.g. 2min,22min.
    #[arg(long, value_name = "FROM,TO", value_parser = log_span, conflicts_with = "window_for")]
    window: Option<LogWindow>,
    #[arg(long, value_name = "BEFORE,DURATION", value_parser = window, hide = true)]
    window_for: Option<LogWindow>,
    /// Round λ and R to two digits first, as the published tables do.
    #[arg(long)]
    compat_rounding: bool,
    /// Write the result as JSON to FILE.json.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl UsersArgs {
    /// The selected window of each log; `None` for the whole log.
    fn part(&self) -> Option<LogWindow> {
        self.window.or(self.window_for)
    }
}

pub(crate) fn main(args: &UsersArgs) -> Exit {
    let (files, json_to_stdout) = match requested(&args.output, args.json, None, &[OutputKind::Json]) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let map = match PageMap::read(&args.pages) {
        Ok(map) => map,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let mut all = Vec::new();
    for path in args.logs.iter().chain(&args.jtl) {
        match measure_pages(path, &map, args.part()) {
            Ok(mut measured) => {
                for warning in &measured.warnings {
                    say(&format!("warning: {}: {warning}", path.display()));
                }
                if args.compat_rounding {
                    measured.load = measured.load.rounded_as_published();
                }
                all.push(measured);
            }
            Err(message) => return complain(Exit::Internal, &format!("{}: {message}", path.display())),
        }
    }
    print(&if json_to_stdout { as_json(&all, args) } else { as_text(&all, &map, args) });
    if let Err(exit) = write_files(&files, &mut |_| Ok(as_json(&all, args))) {
        return exit;
    }
    note_written(&files);
    Exit::Completed
}

fn as_text(all: &[MeasuredWebLoad], map: &PageMap, args: &UsersArgs) -> String {
    let mut out = format!(
        "Real users N' = λ(R + Z') that generate the measured load, λ in pages/s{}\n",
        if args.compat_rounding { "; λ and R rounded to two digits" } else { "" }
    );
    out += if map.pages.iter().all(|page| page.visits.is_some()) {
        "Pages per object: from the visits of the script\n"
    } else {
        "Pages per object: counted in the log; each object of a page with n objects counts as 1/n page\n"
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
    all: &[MeasuredWebLoad],
    args: &UsersArgs,
    response: &str,
    response_s: impl Fn(&WebLoad) -> Option<f64>,
    users: impl Fn(&WebLoad, f64) -> Option<f64>,
) -> String {
    let mut heading: Vec<String> = ["log", "λ obj/s", "pages/s", response].map(str::to_owned).to_vec();
    heading.extend(args.think.iter().map(|think_s| format!("Z'={think_s} s")));
    let mut table = Columns::new(1, &heading.iter().map(String::as_str).collect::<Vec<_>>());
    let unavailable = || "unknown".to_owned();
    for MeasuredWebLoad { path, load, .. } in all {
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

fn as_json(all: &[MeasuredWebLoad], args: &UsersArgs) -> String {
    let log = |measured: &MeasuredWebLoad| {
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
