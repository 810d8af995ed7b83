//! `busyhour lab neighbour`: load on one resource of chosen cores.

use std::sync::Arc;

use busyhour_diagnostic::io_hints;
use busyhour_neighbour::{
    CacheOptions, CachePattern, CoreList, DiskOptions, EndReason, Intensity, MemoryOptions, Neighbour,
    NeighbourError, NeighbourKind, NetworkOptions, NetworkProtocol, Parent, StopFlag, StreamOptions,
    StreamResult, Validation, WorkDetail,
};
use busyhour_terminal::exit::{Exit, complain, hinted, note, print, say};
use busyhour_terminal::signals::Signals;

use super::neighbour_args::{CacheOrder, FloodProtocol, NeighbourArgs, NeighbourVerb, SharedArgs};
use super::neighbour_text::{Situation, json_text, start_line, summary_text};

/// Runs a neighbour.
pub(crate) fn main(args: &NeighbourArgs) -> Exit {
    let (kind, shared) = read(&args.verb);
    let cores = match cores(shared) {
        Ok(cores) => cores,
        Err(error) => return explain(&error),
    };
    let Some(intensity) = Intensity::from_percent(shared.intensity) else {
        return complain(Exit::Usage, "--intensity must be from 0 to 100");
    };
    // The thread that handles signals inherits the cores.
    if let Err(error) = cores.pin_this_thread() {
        return explain(&error.into());
    }
    let stop = Arc::new(StopFlag::new());
    let parent = match follow_parent_and_signals(shared.parent, &stop) {
        Ok(parent) => parent,
        Err(exit) => return exit,
    };
    let neighbour = Neighbour { kind, cores, intensity, limit: shared.length };
    let situation = Situation { neighbour: &neighbour, parent };
    let result = neighbour.run(&stop, &mut |detail| note(&start_line(&situation, detail)));
    let summary = match result {
        Ok(summary) => summary,
        Err(error) => return explain(&error),
    };
    let text = if shared.json { json_text(&situation, &summary) } else { summary_text(&situation, &summary) };
    print(&text);
    if let WorkDetail::Stream(StreamResult { validation: Validation::Failed { .. }, .. }) = summary.detail {
        return complain(
            Exit::Internal,
            "STREAM computed wrong values: the memory or the processor is faulty",
        );
    }
    if let WorkDetail::Stream(result) = &summary.detail
        && result.has_no_rates()
    {
        let message = "no rate was measured: the time was over before the second execution of a kernel";
        say(&format!(
            "warning: {}",
            hinted(message.to_owned(), "give a longer --for, or fewer cores, which need smaller arrays")
        ));
    }
    match summary.ended_by {
        EndReason::TimeLimit => Exit::Completed,
        EndReason::Signal | EndReason::ParentEnded | EndReason::Failed => Exit::Stopped,
    }
}

/// The kind of neighbour and the options that all of them have.
fn read(verb: &NeighbourVerb) -> (NeighbourKind, &SharedArgs) {
    match verb {
        NeighbourVerb::Stream(args) => {
            let options = StreamOptions { array_bytes: args.size, repetitions: args.repetitions };
            (NeighbourKind::Stream(options), &args.shared)
        }
        NeighbourVerb::Cpu(args) => (NeighbourKind::Cpu, &args.shared),
        NeighbourVerb::Cache(args) => {
            let pattern = match args.pattern {
                CacheOrder::Write => CachePattern::Write,
                CacheOrder::Chase => CachePattern::Chase,
            };
            (NeighbourKind::Cache(CacheOptions { buffer_bytes: args.size, pattern }), &args.shared)
        }
        NeighbourVerb::Memory(args) => {
            (NeighbourKind::Memory(MemoryOptions { bytes: args.size }), &args.shared)
        }
        NeighbourVerb::Disk(args) => {
            let options = DiskOptions { dir: args.dir.clone(), bytes: args.size, block_bytes: args.block };
            (NeighbourKind::Disk(options), &args.shared)
        }
        NeighbourVerb::Network(args) => {
            let protocol = match args.protocol {
                FloodProtocol::Tcp => NetworkProtocol::Tcp,
                FloodProtocol::Udp => NetworkProtocol::Udp,
            };
            (NeighbourKind::Network(NetworkOptions { protocol }), &args.shared)
        }
    }
}

/// The cores to run on.
fn cores(shared: &SharedArgs) -> Result<CoreList, NeighbourError> {
    let allowed = CoreList::allowed()?;
    let Some(text) = &shared.cores else { return Ok(allowed.highest()) };
    let cores: CoreList = text.parse()?;
    cores.check_within(&allowed)?;
    Ok(cores)
}

/// Makes signals and the end of the parent stop the neighbour, from now on.
fn follow_parent_and_signals(expected: Option<u32>, stop: &Arc<StopFlag>) -> Result<Parent, Exit> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed =
        |error: std::io::Error| complain(Exit::Internal, &format!("cannot listen for signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    // Signals are registered before the kernel is asked for one, which would end the process otherwise.
    let (mut signals, mut parent_signals) = runtime
        .block_on(async { Ok((Signals::new()?, signal(SignalKind::from_raw(Parent::SIGNAL))?)) })
        .map_err(failed)?;
    let parent = Parent::follow(expected).map_err(|error| explain(&error))?;
    let stop = Arc::clone(stop);
    let listen = async move {
        loop {
            tokio::select! {
                () = signals.next_stop() => stop.request(EndReason::Signal),
                _ = parent_signals.recv() => if !parent.is_alive() {
                    stop.request(EndReason::ParentEnded);
                },
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || runtime.block_on(listen))
        .map_err(failed)?;
    Ok(parent)
}

/// Prints an error and returns the exit code.
fn explain(error: &NeighbourError) -> Exit {
    let message = io_hints::chain(error);
    match error {
        NeighbourError::Cores(_) => complain(Exit::Usage, &format!("--cores: {message}")),
        NeighbourError::ArraysTooSmall { .. } | NeighbourError::TooSmall { .. } => {
            complain(Exit::Usage, &format!("--size: {message}"))
        }
        NeighbourError::NotADirectory { .. } => complain(Exit::Usage, &format!("--dir: {message}")),
        NeighbourError::CacheUnknown(_) => complain(Exit::Usage, &hinted(message, "give a size with --size")),
        NeighbourError::NotEnoughMemory { .. } => {
            let hint = "use a smaller --size; stream and cache need less memory on fewer cores";
            complain(Exit::Refused, &hinted(message, hint))
        }
        NeighbourError::NotEnoughSpace { .. } => {
            complain(Exit::Refused, &hinted(message, "use a smaller --size, or another --dir"))
        }
        NeighbourError::ParentEnded => complain(Exit::Refused, &message),
        NeighbourError::MemoryUnknown { .. }
        | NeighbourError::Allocation { .. }
        | NeighbourError::File { .. }
        | NeighbourError::Socket { .. }
        | NeighbourError::Thread { .. }
        | NeighbourError::ParentSignal { .. } => complain(Exit::Internal, &message),
    }
}
