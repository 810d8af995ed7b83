//! Live control of a run: commands from the live page and the terminal, and the server of the page.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use busyhour_analysis::thresholds::Criterion;
use busyhour_compile::Started;
use busyhour_live::{
    Follower, LoadState, Order, OrderRefused, PageServer, PageSettings, RunPhase, Steering, follow,
};
use busyhour_program::run::{RunShared, Stop};
use busyhour_record::{ChangedFrom, ControlEvent, LoadChange, Manifest, RunDir, SnapshotSender};
use clap::{Args, ValueEnum};

use crate::command_error::CommandError;
use crate::exit::say;
use crate::io_hints::chain;
use crate::stop_signals::StopRequests;

/// Default address of the live page.
const PAGE_ADDRESS: &str = "127.0.0.1:0";

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Live view and control")]
pub(crate) struct LiveArgs {
    /// Serve a page that shows the run and can pause it, stop it and change its rate; prints the address. Port 0 selects a
    /// free port.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = PAGE_ADDRESS)]
    pub(crate) live: Option<String>,
    /// Allow --live to listen on an address that other machines can reach. Anyone who has the page's address can control the
    /// run.
    #[arg(long, requires = "live")]
    pub(crate) live_remote: bool,
    /// Progress in the terminal (default: a screen if the terminal has at least 100 columns and 28 rows).
    #[arg(long, value_name = "VIEW", default_value = "auto", hide_default_value = true)]
    pub(crate) view: View,
}

/// Progress in the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// A screen if the terminal is large enough, else a line.
    #[default]
    Auto,
    /// A progress line.
    Lines,
    /// A full screen with plots.
    Screen,
}

/// Executes commands from the page and the terminal, and records them in the manifest.
pub(crate) struct Steered {
    shared: Arc<RunShared>,
    stops: StopRequests,
    length: Option<Duration>,
    fixed_rate: Option<String>,
    dir: RunDir,
    /// The manifest from the start of the run, plus the changes since.
    manifest: Mutex<Manifest>,
    ended: AtomicBool,
    /// Messages for the terminal that were not printed yet.
    messages: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Steered {
    pub(crate) fn new(
        started: &Started,
        stops: &StopRequests,
        length: Option<Duration>,
        dir: &RunDir,
        manifest: &Manifest,
    ) -> Steered {
        Steered {
            shared: Arc::clone(&started.shared),
            stops: stops.clone(),
            length,
            fixed_rate: fixed_rate(started),
            dir: dir.clone(),
            manifest: Mutex::new(manifest.clone()),
            ended: AtomicBool::new(false),
            messages: Mutex::default(),
        }
    }

    /// Why the rate cannot be changed; `None` if it can.
    pub(crate) fn fixed_rate(&self) -> Option<&str> {
        self.fixed_rate.as_deref()
    }

    /// The changes so far.
    pub(crate) fn events(&self) -> Vec<ControlEvent> {
        lock(&self.manifest).events.clone()
    }

    /// Takes the messages that were not printed yet.
    pub(crate) fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.messages))
    }

    /// Marks the run as ended.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Records a change in the manifest. Changes must be recorded in their order.
    fn note(&self, manifest: &mut Manifest, event: ControlEvent) {
        let line = match event.change {
            LoadChange::Stop => format!(
                "stopping (from the {}): users finish their current sample; Ctrl-C stops at once",
                event.from.name()
            ),
            _ => format!("from the {}: {}", event.from.name(), event.description()),
        };
        lock(&self.messages).push(line);
        manifest.events.push(event);
        // Written at once, so that the changes are known even if the process is killed.
        if let Err(error) = self.dir.write_manifest(manifest) {
            lock(&self.messages).push(format!("warning: {}", chain(&error)));
        }
    }

    fn phase(&self) -> RunPhase {
        if self.ended.load(Ordering::Relaxed) {
            RunPhase::Ended
        } else if self.shared.stop() != Stop::No {
            RunPhase::Stopping
        } else if self.shared.control.is_paused() {
            RunPhase::Paused
        } else {
            RunPhase::Running
        }
    }
}

impl Steering for Steered {
    fn order(&self, order: Order, from: ChangedFrom) -> Result<(), OrderRefused> {
        // The lock executes commands one at a time.
        let mut manifest = lock(&self.manifest);
        if matches!(self.phase(), RunPhase::Stopping | RunPhase::Ended) {
            return Err("the run is ending and can no longer be changed".into());
        }
        let (control, now) = (&self.shared.control, self.shared.clock.now());
        let posted = match order {
            Order::Pause => control.pause(now),
            Order::Resume => control.resume(now),
            Order::Rate { factor } => {
                if let Some(why) = &self.fixed_rate {
                    return Err(why.clone().into());
                }
                control.set_rate_factor(now, factor).map(Some)
            }
            Order::Stop => {
                self.stops.request();
                self.note(&mut manifest, ControlEvent { at_ns: now, change: LoadChange::Stop, from });
                return Ok(());
            }
        };
        if let Some(posted) = posted.map_err(|error| error.to_string())? {
            self.note(&mut manifest, ControlEvent { at_ns: posted.at, change: posted.change, from });
        }
        Ok(())
    }

    fn state(&self) -> LoadState {
        LoadState {
            phase: self.phase(),
            factor: self.shared.control.rate_factor(),
            elapsed: self.shared.clock.now().as_duration(),
            length: self.length,
            active: u64::from(self.shared.active.load(Ordering::Relaxed)),
            changes: self.events(),
        }
    }
}

fn fixed_rate(started: &Started) -> Option<String> {
    let open = &started.program.open;
    if open.is_empty() {
        return Some(
            "The users of the plan determine the rate. The run can be paused and stopped; with --arrivals the rate can be changed too."
                .into(),
        );
    }
    let is_file = open.iter().any(|workload| !workload.process.has_rate());
    is_file.then(|| "The arrival times come from a file. The run can be paused and stopped.".into())
}

/// The subscriber of a running test and its live page.
pub(crate) struct Live {
    pub(crate) follower: Follower,
    pub(crate) steered: Arc<Steered>,
    page: Option<PageServer>,
    /// Its address.
    page_url: Option<String>,
}

impl Live {
    /// Subscribes to the run; the sender is for the recorder.
    pub(crate) fn start(
        args: &LiveArgs,
        criteria: &[Criterion],
        started: &Started,
        steered: Steered,
    ) -> Result<(Live, SnapshotSender), CommandError> {
        let (follower, sender) =
            follow(criteria.to_vec()).map_err(|error| format!("cannot subscribe to the run: {error}"))?;
        let steered = Arc::new(steered);
        let page = match &args.live {
            Some(address) => Some(page(args, address, started, &steered, &follower)?),
            None => None,
        };
        let page_url = page.as_ref().map(|page| page.url().to_string());
        Ok((Live { follower, steered, page, page_url }, sender))
    }

    /// The address of the live page, if it is served.
    pub(crate) fn page_url(&self) -> Option<&str> {
        self.page_url.as_deref()
    }

    /// Marks the run as ended after the recorder has sent its last second; `unwritten` outputs could not be written.
    pub(crate) fn end(&mut self, unwritten: usize) {
        self.steered.end();
        self.follower.finish();
        self.note_unwritten(unwritten);
    }

    /// Sends the number of outputs that could not be written so far to the page.
    pub(crate) fn note_unwritten(&self, count: usize) {
        if let Some(page) = &self.page {
            page.note_unwritten(count as u64);
        }
    }

    /// Executes a command from the terminal, or returns why it cannot be executed.
    pub(crate) fn order(&self, order: Order) -> Result<(), OrderRefused> {
        self.steered.order(order, ChangedFrom::Terminal)?;
        self.publish_state();
        Ok(())
    }

    /// Sends the current state of the run to the page.
    pub(crate) fn publish_state(&self) {
        if let Some(page) = &self.page {
            page.publish_state();
        }
    }

    /// Ends the page after the reports were written.
    pub(crate) fn finish(self) {
        if let Some(page) = self.page {
            page.finish();
        }
    }
}

fn page(
    args: &LiveArgs,
    address: &str,
    started: &Started,
    steered: &Arc<Steered>,
    follower: &Follower,
) -> Result<PageServer, CommandError> {
    let manifest = lock(&steered.manifest);
    let report = steered.dir.report_path();
    let processes: Vec<String> =
        started.program.open.iter().map(|workload| workload.process.to_string()).collect();
    let settings = PageSettings {
        title: [&manifest.plan.name, &manifest.plan.path]
            .into_iter()
            .find(|name| !name.is_empty())
            .cloned()
            .unwrap_or_else(|| "Test run".into()),
        requested: if processes.is_empty() { "Users of the plan".into() } else { processes.join(" + ") },
        fixed_rate: steered.fixed_rate().map(str::to_owned),
        report: std::path::absolute(&report).unwrap_or(report).display().to_string(),
        allow_remote: args.live_remote,
    };
    drop(manifest);
    let steering: Arc<dyn Steering> = Arc::<Steered>::clone(steered);
    let server = PageServer::start(address, &settings, follower, steering).map_err(|error| {
        let hint = match error {
            busyhour_live::ServeError::Remote(_) => "; --live-remote allows it",
            _ => "",
        };
        format!("--live: {}{hint}", chain(&error))
    })?;
    say(&format!("live page: {}", server.url()));
    Ok(server)
}
