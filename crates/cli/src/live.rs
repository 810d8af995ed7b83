//! The live view of a run: the terminal's screen and the live page.

use std::sync::Arc;

use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{CommandHandler, Prepared, RunControl};
use busyhour_live::{LiveView, PageServer, PageSettings, ServeError};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::say;
use clap::{Args, ValueEnum};

use crate::headings::OBSERVATION;

/// Default address of the live page.
const PAGE_ADDRESS: &str = "127.0.0.1:0";

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = OBSERVATION)]
pub(crate) struct LiveArgs {
    /// Serve a live page that also controls the run.
    ///
    /// It shows the run and can pause it, stop it and change its rate; prints the address. Port 0 selects a free port.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = PAGE_ADDRESS)]
    pub(crate) live: Option<String>,
    /// Allow --live to listen on an address that other machines can reach. Anyone who has the page's address can control the
    /// run.
    #[arg(long, requires = "live", hide_short_help = true)]
    pub(crate) live_remote: bool,
    /// Progress in the terminal (default: a screen if the terminal has at least 100 columns and 28 rows).
    #[arg(
        long,
        value_name = "VIEW",
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
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

/// The live view of a run, and its page if it is served.
pub(crate) struct Live {
    pub(crate) view: LiveView,
    pub(crate) control: RunControl,
    page: Option<PageServer>,
    /// The address of the live page.
    page_url: Option<String>,
}

impl Live {
    /// Adds the view to the observers of a run, and serves its page if that is requested.
    pub(crate) fn start(args: &LiveArgs, prepared: &Prepared) -> Result<Live, CommandError> {
        let (view, control) = (LiveView::default(), prepared.control().clone());
        prepared.observe("the live view", Box::new(view.observer())).map_err(|error| chain(&error))?;
        let page = match &args.live {
            Some(address) => Some(page(args, address, prepared, &view)?),
            None => None,
        };
        let page_url = page.as_ref().map(PageServer::url);
        Ok(Live { view, control, page, page_url })
    }

    /// The address of the live page, if it is served.
    pub(crate) fn page_url(&self) -> Option<&str> {
        self.page_url.as_deref()
    }

    /// Ends the page after the reports have been written.
    pub(crate) fn finish(self) {
        if let Some(page) = self.page {
            page.finish();
        }
    }
}

fn page(
    args: &LiveArgs,
    address: &str,
    prepared: &Prepared,
    view: &LiveView,
) -> Result<PageServer, CommandError> {
    let settings = PageSettings::of_run(prepared.info(), args.live_remote);
    let control: Arc<dyn CommandHandler> = Arc::new(prepared.control().clone());
    let server = PageServer::start(address, &settings, view, control).map_err(|error| {
        let hint = match error {
            ServeError::Remote(_) => "; --live-remote allows it",
            _ => "",
        };
        format!("--live: {}{hint}", chain(&error))
    })?;
    say(&format!("live page: {}", server.url()));
    Ok(server)
}
