//! A run that is watched and changed while it goes on: orders from the live page and the terminal, and the page itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use busyhour_analysis::thresholds::Criterion;
use busyhour_compile::Started;
use busyhour_engine::run::{RunShared, Stop};
use busyhour_live::{Follower, LoadState, Order, PageServer, PageSettings, RunPhase, Steering, follow};
use busyhour_record::{ChangedFrom, ControlEvent, LoadChange, Manifest, RunDir, SnapshotSender};
use clap::{Args, ValueEnum};

use crate::exit::say;
use crate::run::chain;
use crate::stop_signals::Asked;

/// Where the page is served when nothing else is said.
const PAGE_ADDRESS: &str = "127.0.0.1:0";

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Watching and changing the run while it goes on")]
pub(crate) struct LiveArgs {
    /// Serve a page that shows the run, pauses and stops it and changes its rate; its address is printed. Port 0 takes a free
    /// one.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = PAGE_ADDRESS)]
    pub(crate) live: Option<String>,
    /// Let --live listen where other machines can reach it: whoever learns the page's address can steer the run.
    #[arg(long, requires = "live")]
    pub(crate) live_remote: bool,
    /// What the terminal shows: a line or a screen (default: a screen where there is one of 100 by 28 characters).
    #[arg(long, value_name = "VIEW", default_value = "auto", hide_default_value = true)]
    pub(crate) view: View,
}

/// What the terminal shows while a run goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// A screen where it is large enough.
    #[default]
    Auto,
    /// A line that moves.
    Lines,
    /// A screen.
    Screen,
}

/// Carries out what the page and the terminal ask for, and writes it down.
pub(crate) struct Steered {
    shared: Arc<RunShared>,
    asked: Asked,
    length: Option<Duration>,
    fixed_rate: Option<String>,
    dir: RunDir,
    /// As it was when the run began; with what was changed since.
    manifest: Mutex<Manifest>,
    ended: AtomicBool,
    /// What is to be said to the person at the terminal.
    told: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Steered {
    pub(crate) fn new(
        started: &Started,
        asked: &Asked,
        length: Option<Duration>,
        dir: &RunDir,
        manifest: &Manifest,
    ) -> Steered {
        Steered {
            shared: Arc::clone(&started.shared),
            asked: asked.clone(),
            length,
            fixed_rate: fixed_rate(started),
            dir: dir.clone(),
            manifest: Mutex::new(manifest.clone()),
            ended: AtomicBool::new(false),
            told: Mutex::default(),
        }
    }

    /// Why the rate cannot be changed; `None` when it can.
    pub(crate) fn fixed_rate(&self) -> Option<&str> {
        self.fixed_rate.as_deref()
    }

    /// What was changed.
    pub(crate) fn events(&self) -> Vec<ControlEvent> {
        lock(&self.manifest).events.clone()
    }

    /// What was not said yet.
    pub(crate) fn take_told(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.told))
    }

    /// The run has ended.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Writes a change down, in the order in which changes were made.
    fn note(&self, manifest: &mut Manifest, event: ControlEvent) {
        let line = match event.change {
            LoadChange::Stop => format!(
                "stopping: the {} asked for it; users finish the sample they are in (Ctrl-C: stop now)",
                event.from.name()
            ),
            _ => format!("from the {}: {}", event.from.name(), event.words()),
        };
        lock(&self.told).push(line);
        manifest.events.push(event);
        // A run that is cut off is to be understood, too.
        if let Err(error) = self.dir.write_manifest(manifest) {
            lock(&self.told).push(format!("warning: {}", chain(&error)));
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
    fn order(&self, order: Order, from: ChangedFrom) -> Result<(), String> {
        // One order after the other, whoever gives them.
        let mut manifest = lock(&self.manifest);
        if matches!(self.phase(), RunPhase::Stopping | RunPhase::Ended) {
            return Err("the run is ending; nothing can be changed any more".into());
        }
        let (control, now) = (&self.shared.control, self.shared.clock.now());
        let posted = match order {
            Order::Pause => control.pause(now),
            Order::Resume => control.resume(now),
            Order::Rate { factor } => {
                if let Some(why) = &self.fixed_rate {
                    return Err(why.clone());
                }
                control.set_rate_factor(now, factor).map(Some)
            }
            Order::Stop => {
                self.asked.ask();
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
            "The rate is what the plan's users make of it: it can be paused and stopped. With --arrivals it can be changed, too."
                .into(),
        );
    }
    let is_file = open.iter().any(|workload| !workload.process.has_rate());
    is_file.then(|| "The arrivals are those of a file: they can be paused and stopped.".into())
}

/// What follows a run while it goes on.
pub(crate) struct Live {
    pub(crate) follower: Follower,
    pub(crate) steered: Arc<Steered>,
    page: Option<PageServer>,
    /// Its address.
    page_url: Option<String>,
}

impl Live {
    /// Begins to follow; the sender is for the recorder.
    pub(crate) fn start(
        args: &LiveArgs,
        criteria: &[Criterion],
        started: &Started,
        steered: Steered,
    ) -> Result<(Live, SnapshotSender), String> {
        let (follower, sender) =
            follow(criteria.to_vec()).map_err(|error| format!("the run cannot be followed: {error}"))?;
        let steered = Arc::new(steered);
        let page = match &args.live {
            Some(address) => Some(page(args, address, started, &steered, &follower)?),
            None => None,
        };
        let page_url = page.as_ref().map(|page| page.url().to_string());
        Ok((Live { follower, steered, page, page_url }, sender))
    }

    /// The address of the live page; `None` when none is served.
    pub(crate) fn page_url(&self) -> Option<&str> {
        self.page_url.as_deref()
    }

    /// The run has ended, and the recorder has told its last second; so many outputs could not be written.
    pub(crate) fn end(&mut self, unwritten: usize) {
        self.steered.end();
        self.follower.finish();
        self.note_unwritten(unwritten);
    }

    /// Results that could not be written so far, for the page.
    pub(crate) fn note_unwritten(&self, count: usize) {
        if let Some(page) = &self.page {
            page.note_unwritten(count as u64);
        }
    }

    /// An order from the terminal; what is wrong with it otherwise.
    pub(crate) fn order(&self, order: Order) -> Result<(), String> {
        self.steered.order(order, ChangedFrom::Terminal)?;
        self.tell_state();
        Ok(())
    }

    /// Has the page say how things stand.
    pub(crate) fn tell_state(&self) {
        if let Some(page) = &self.page {
            page.tell_state();
        }
    }

    /// The run has ended and its reports are written.
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
) -> Result<PageServer, String> {
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
        asked: if processes.is_empty() { "Users of the plan's own".into() } else { processes.join(" + ") },
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
