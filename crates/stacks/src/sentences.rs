//! The findings in sentences.

use crate::stack_finding::{FrameDifference, StackDifference, StackOutcome, StackWindowRule, WaitingNote};

/// A share in percent.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value.abs() >= 9.95 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// A share without its unit.
fn points(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() >= 9.95 { format!("{value:+.0}") } else { format!("{value:+.1}") }
}

/// The finding about a frame.
pub(crate) fn frame_sentence(frame: &FrameDifference, compared: u64) -> String {
    let mut text = format!(
        "{} is on the stacks of {} of the threads in slow windows and of {} in the others ({:.1} against {:.1} threads per dump; \
         difference {} points, 95 % interval {} to {}; p {} after correction for {compared} frames)",
        frame.frame,
        percent(frame.share_slow),
        percent(frame.share_fast),
        frame.threads_slow,
        frame.threads_fast,
        points(frame.share_slow - frame.share_fast),
        points(frame.difference_low),
        points(frame.difference_high),
        p_text(frame.p_adjusted),
    );
    if let Some(waiting) = &frame.waiting {
        text.push_str(&format!(". {}", waiting_sentence(waiting)));
    }
    if frame.held_up >= 0.1 {
        text.push_str(&format!(
            ". On average {:.1} threads in slow windows wait for a lock that a thread here holds",
            frame.held_up
        ));
    }
    text
}

fn waiting_sentence(waiting: &WaitingNote) -> String {
    let owner = match (&waiting.owner_thread, &waiting.owner_frame) {
        (Some(thread), Some(frame)) => format!(", held most often by the thread {thread} in {frame}"),
        _ => String::new(),
    };
    format!("{} of these threads are {}{owner}", percent(waiting.share), waiting.what)
}

fn p_text(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.001 => format!("= {p:.4}"),
        _ => format!("= {p:.3}"),
    }
}

/// The finding about all frames.
pub(crate) fn sentence(difference: &StackDifference) -> String {
    let windows = match &difference.windows {
        StackWindowRule::Cause { cause } => format!("the times of {cause}"),
        StackWindowRule::SlowSeconds => "the seconds with slow requests in flight".to_owned(),
    };
    let counts =
        format!("{} dumps in {windows}, {} in the rest", difference.dumps_slow, difference.dumps_fast);
    match &difference.outcome {
        StackOutcome::Differs => {
            let names: Vec<&str> = difference.frames.iter().map(|frame| frame.frame.as_str()).collect();
            let names = match &names[..] {
                [one] => (*one).to_owned(),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
                [] => String::new(),
            };
            let rises = difference.frames.first().is_some_and(|frame| frame.share_slow > frame.share_fast);
            let how = if rises { "more" } else { "fewer" };
            format!("The stacks of slow windows differ: {how} threads are at {names} ({counts})")
        }
        StackOutcome::NoDifference { smallest } => format!(
            "No difference between the stacks of slow windows and the others was found ({counts}; {} frames compared). A frame whose share \
             of the threads differs by {} points would be found in four of five runs",
            difference.compared,
            points(*smallest).trim_start_matches('+'),
        ),
        StackOutcome::TooFew { reason } => format!("The stacks cannot be compared: {reason}"),
    }
}

/// Why there are too few dumps, in slow windows and in the others; `needed` are the smallest numbers.
pub(crate) fn too_few_dumps((slow, fast): (u64, u64), needed: (u64, u64)) -> String {
    format!(
        "there are {slow} dumps in slow windows and {fast} in the others, and at least {} and {} are needed; run longer, or choose a \
         shorter --observe-interval",
        needed.0, needed.1
    )
}
