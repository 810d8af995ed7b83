//! `busyhour run` and JMeter's command line: runs a plan and shows its progress and its result.

use std::path::Path;

use busyhour_diagnostic::io_hints::{self, chain};
use busyhour_launch::{
    ExistingResults, FinishedRun, GRACE, Launch, LaunchError, LaunchErrorKind, Prepared, RunControl,
};
use busyhour_record::RunDir;
use busyhour_report::{RunShow, Written, end_of_run, prepare_dashboard, write_dashboard};
use busyhour_sample::RunEnd;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::console;
use busyhour_terminal::exit::{self, Exit, complain, print, say};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind};

use crate::events::ShownEvents;
use crate::export::export_run;
use crate::live::{Live, View};
use crate::observed;
use crate::perfmon;
use crate::progress::Display;
use crate::report::summary_text;
use crate::report_links::{open_page, report_command};
use crate::run_command::RunCommand;
use crate::stop_port;
use crate::stop_signals::listen;
use crate::terminal_view;
use crate::watching::Watched;

/// The exit code and message of a run that does not start.
struct Refusal(Exit, String);

impl Refusal {
    /// A failure of the program or the system.
    fn internal(cause: impl std::fmt::Display) -> Self {
        Self(Exit::Internal, cause.to_string())
    }

    /// An error in the command line.
    fn usage(cause: impl std::fmt::Display) -> Self {
        Self(Exit::Usage, cause.to_string())
    }
}

impl From<LaunchError> for Refusal {
    fn from(error: LaunchError) -> Self {
        let exit = match error.kind() {
            LaunchErrorKind::Request => Exit::Usage,
            LaunchErrorKind::Plan => Exit::Refused,
            LaunchErrorKind::Stopped => Exit::Stopped,
            LaunchErrorKind::System => Exit::Internal,
        };
        Self(exit, chain(&error))
    }
}

/// Runs the plan and shows the result. Returns the exit code.
pub(crate) fn main(command: &RunCommand) -> Exit {
    if let Err(error) = console::start() {
        return complain(Exit::Internal, &format!("cannot start a thread: {error}"));
    }
    let control = RunControl::new(command.grace.unwrap_or(GRACE));
    let exit = match run(command, &control) {
        Ok(exit) => exit,
        Err(Refusal(exit, message)) => complain(exit, &message),
    };
    console::drain(|| control.is_requested());
    exit
}

fn run(command: &RunCommand, control: &RunControl) -> Result<Exit, Refusal> {
    if let Some(dashboard) = &command.dashboard {
        if command.force {
            remove_dashboard(dashboard)?;
        }
        prepare_dashboard(dashboard).map_err(|error| Refusal::usage(chain(&error)))?;
    }
    let mut request = command.run.clone();
    request.existing_results = existing_results(command);
    if request.command_line.is_empty() {
        request.command_line =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    }
    let events = ShownEvents::new(control.grace());
    let mut launch = Launch::with_control(request, control.clone());
    if let Some(clock) = command.agents.as_ref().and_then(|agents| agents.clock()) {
        launch.use_clock(clock.clone());
    }
    launch.observe("the display", Box::new(events.clone()))?;
    // Signals are handled before the run directory exists, so that a signal cannot leave the directory without an outcome.
    let progress_requests = listen(control).map_err(Refusal::internal)?;
    let mut prepared = launch.prepare()?;
    let with_screen = shows_screen(command)?;
    let live = match with_screen || command.live.live.is_some() {
        true => Some(Live::start(&command.live, &prepared).map_err(Refusal::usage)?),
        false => None,
    };
    let observed =
        command.observation.attach(&prepared, &events, command.as_jmeter).map_err(Refusal::internal)?;
    if let Some(observed) = &observed {
        observed::pass_on(observed, &mut prepared, live.as_ref().map(|live| &live.view));
    }
    perfmon::attach(&prepared, &events, observed).map_err(Refusal::internal)?;
    let mut display = display(command, &prepared);
    let stop_ports = command.as_jmeter.then(|| stop_port::ports(|name| prepared.property(name))).flatten();
    if command.as_jmeter {
        print_jmeter_start(command);
    }
    if !with_screen {
        prepared.print_to(Box::new(print_of_script));
    }
    let title = prepared.info().title.clone();
    let handle = match &command.agents {
        Some(agents) => agents.start(prepared, &events).map_err(|(exit, message)| Refusal(exit, message))?,
        None => prepared.start()?,
    };
    if with_screen {
        display.take_screen(&title);
    }
    let watched = Watched { run: &handle, live: live.as_ref(), stop_ports, events: &events };
    watched.until_it_ends(&mut display, progress_requests).map_err(Refusal::internal)?;
    let run = handle.wait();
    display.end(&run);
    let exit = finish(command, &run);
    if let Some(live) = live {
        live.finish();
    }
    Ok(exit)
}

/// The action if the results file is not empty. If a report is requested, such a file is rejected, because the report would
/// mix old and new samples.
fn existing_results(command: &RunCommand) -> ExistingResults {
    match (command.force, &command.dashboard) {
        (true, _) => ExistingResults::Overwrite,
        (false, Some(_)) => ExistingResults::Refuse,
        (false, None) => ExistingResults::Append,
    }
}

/// Removes the directory of an old report, as JMeter's `-f` does. Other directories are not removed.
fn remove_dashboard(dir: &Path) -> Result<(), Refusal> {
    if !dir.join("statistics.json").is_file() {
        return Ok(());
    }
    std::fs::remove_dir_all(dir).map_err(|error| {
        Refusal::internal(format!(
            "cannot remove the old report {}: {}",
            dir.display(),
            io_hints::with_hint(&error)
        ))
    })
}

fn shows_screen(command: &RunCommand) -> Result<bool, Refusal> {
    match (command.live.view, terminal_view::reason_against()) {
        (View::Lines, _) => Ok(false),
        // In JMeter's form of the command line, JMeter's lines are printed.
        (View::Auto, why) => Ok(!exit::is_quiet() && why.is_none() && !command.as_jmeter),
        (View::Screen, None) => Ok(true),
        (View::Screen, Some(why)) => Err(Refusal::usage(format!("--view screen: {why}"))),
    }
}

fn print_jmeter_start(command: &RunCommand) {
    let wall = jiff::Zoned::now().strftime("%Y %b %d %H:%M:%S %Z").to_string();
    exit::print(&format!(
        "Created the tree successfully using {}\nStarting standalone test @ {wall}\n",
        command.run.plan.display()
    ));
}

fn display(command: &RunCommand, prepared: &Prepared) -> Display {
    // If the flag is given but the property has no value, the name is empty, which disables the summariser.
    let flag = command.run.properties.jmeter.iter().rfind(|(name, _)| name == "summariser.name");
    let default = if flag.is_some() { "" } else { "summary" };
    let name = prepared.property("summariser.name").unwrap_or(default).to_owned();
    let interval = prepared.property("summariser.interval").and_then(|text| text.parse().ok()).unwrap_or(30);
    Display::new(command.as_jmeter, name, interval, prepared.info().length)
}

/// Writes the files that the command line requests, and prints the result.
fn finish(command: &RunCommand, run: &FinishedRun) -> Exit {
    run.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    let mut files = run.files.clone();
    let mut is_incomplete = run.is_incomplete;
    let mut fail = |message: &str| {
        say(&format!("warning: {message}"));
        is_incomplete = true;
    };
    if let Some(dashboard) = &command.dashboard {
        match write_dashboard(dashboard, &run.summary, Some(&run.dir)) {
            Ok(paths) => files.extend(paths),
            Err(error) => fail(&chain(&error)),
        }
    }
    for file in &command.files {
        match write_file(run, file) {
            Ok(()) => files.push(file.path.clone()),
            Err(error) => fail(&error.to_string()),
        }
    }
    let source = run.dir.path().display().to_string();
    let (written, failures) = command.threshold_files.write(&source, &run.summary);
    files.extend(written);
    failures.iter().for_each(|failure| fail(failure));
    files.push(run.log.clone());
    let files = files.iter().map(|path| path.display().to_string()).collect();
    print_result(command, run, files);
    if let Some(failure) = &run.failure {
        say(&format!("error: {failure}"));
    }
    if let Some(lost) = &run.lost_load {
        say(&format!("error: a part of the load is missing: {lost}"));
    }
    report_errors(run);
    exit_code(run, is_incomplete)
}

fn write_file(run: &FinishedRun, file: &OutputFile) -> Result<(), CommandError> {
    match file.kind {
        OutputKind::Csv | OutputKind::Parquet => export_run(run.dir.path(), file),
        kind => {
            let text = summary_text(&run.summary, Some(&run.dir), kind)?;
            RunDir::write_whole(&file.path, text.as_bytes()).map_err(|error| chain(&error).into())
        }
    }
}

fn print_result(command: &RunCommand, run: &FinishedRun, files: Vec<String>) {
    if command.json {
        exit::print(&busyhour_report::summary_json(&run.summary));
        return;
    }
    let out = Output::of_stdout();
    let page = run.dir.report_path();
    let written = Written {
        files,
        page: Some(std::path::absolute(&page).unwrap_or(page)),
        has_links: out.has_links,
        details_command: Some(report_command(&[run.dir.path()])),
    };
    let show = RunShow { details: command.show.details || !out.is_terminal, ..command.show };
    exit::print(&end_of_run(&run.summary, show, &written, out.look));
    if command.open_report
        && let Some(page) = &written.page
    {
        open_page(page);
    }
    if command.as_jmeter {
        exit::print("... end of run\n");
    }
}

/// Prints the reason why the run was stopped or sent nothing.
fn report_errors(run: &FinishedRun) {
    if let Some(error) = &run.summary.run.error {
        say(&format!("error: the run was stopped by an error: {error}"));
    }
    if run.nothing_sent && matches!(run.end(), RunEnd::Completed | RunEnd::StoppedByPlan) {
        say(&format!(
            "error: no request was sent: every user ended before its first sampler\n  hint: see {} for the reason",
            run.log.display()
        ));
    }
}

/// The exit code of a run. A threshold with the action "stop as failed" may have stopped the run.
fn exit_code(run: &FinishedRun, is_incomplete: bool) -> Exit {
    let failed_by_stop = run.stopped_by.as_ref().is_some_and(|order| order.failed);
    match run.end() {
        RunEnd::Failed => Exit::Internal,
        RunEnd::Interrupted | RunEnd::Aborted | RunEnd::StoppedByError => Exit::Stopped,
        RunEnd::StoppedByThreshold if failed_by_stop => Exit::StoppedByThreshold,
        _ if run.lost_load.is_some() => Exit::LoadLost,
        _ if run.nothing_sent => Exit::NothingSent,
        _ if run.has_failed_thresholds() => Exit::ThresholdFailed,
        _ if is_incomplete => Exit::ResultsLost,
        RunEnd::Completed | RunEnd::StoppedByPlan | RunEnd::StoppedByThreshold => Exit::Completed,
    }
}

/// Prints the output of a script in the plan. A closed stream is not reported as an error.
fn print_of_script(stream: busyhour_program::run::Stream, text: &str) {
    use std::io::Write as _;
    match stream {
        busyhour_program::run::Stream::Output => {
            print(text);
        }
        busyhour_program::run::Stream::Error => {
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
}
