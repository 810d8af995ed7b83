//! Compiles samplers with the elements in their scope.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_http::HttpSampler;
use busyhour_http::access::ScriptAccess;
use busyhour_plan::Element;
use busyhour_processors::DebugSampler;
use busyhour_program::element::Processor;
use busyhour_program::ids::ControllerId;
use busyhour_program::result::Retention;
use busyhour_program::sampler::{
    FailureAction, FlowAction, Parallel, SampleListeners, SamplerKind, SamplerPackage,
};
use busyhour_program::user::LogicalAction;
use busyhour_samplers::{AnySampler, OtherSampler};

use crate::arguments::assignments;
use crate::context::Context;
use crate::elements::controllers::ControllerClass;
use crate::elements::processors::PostProcessorClass;
use crate::elements::samplers::SamplerClass;
use crate::elements::{Role, role};
use crate::processor_settings::debug_settings;
use crate::scope::Stack;
use crate::{http, other_samplers, scripts, surroundings, tcp, websocket};

/// Compiles the sampler at the end of `stack` with everything in its scope.
pub(crate) fn package<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    class: SamplerClass,
    ancestors: &[ControllerId],
) -> Option<SamplerPackage<AnySampler>> {
    let element = *stack.path.last()?;
    let mut kind = kind(context, stack, element, class)?;
    let timers = surroundings::timers(context, &stack.nearest_first());
    let outermost = stack.outermost_first();
    let mut before = surroundings::pre_processors(context, &outermost);
    let after = surroundings::post_processors(context, &outermost);
    let assertions = surroundings::assertions(context, &outermost);
    let listening = sample_receivers(context, stack);
    let mut keep = listening.keep;
    if let SamplerKind::Protocol(AnySampler::Http(http)) = &kind {
        keep = keep.union(http.retention());
    }
    let processors = before.iter().chain(&after).chain(&listening.sample_listeners.all);
    for processor in processors.clone() {
        keep = keep.union(processor.retention());
    }
    for assertion in &assertions {
        keep = keep.union(assertion.retention());
    }
    if let SamplerKind::Protocol(AnySampler::Http(http)) = &mut kind
        && processors.into_iter().any(|processor| processor.accesses_request())
    {
        before = open_request(context, element, http, &before);
    }
    let label = context.name(element);
    let label_id = label.as_literal().map(|label| context.labels.intern(label));
    Some(SamplerPackage {
        label,
        label_id,
        kind,
        before,
        timers,
        after,
        assertions,
        keep,
        listeners: context.outputs.set(listening.files),
        listeners_in_transaction: listening.files_in_transaction,
        on_failure: listening.on_failure,
        timeouts_ms: Arc::clone(&context.group.sample_timeouts),
        sample_listeners: listening.sample_listeners,
        ancestors: ancestors.into(),
    })
}

/// Compiles the kind of a sampler.
fn kind<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    element: Element<'p>,
    class: SamplerClass,
) -> Option<SamplerKind<AnySampler>> {
    let http = |http| SamplerKind::Protocol(AnySampler::Http(http));
    Some(match class {
        SamplerClass::Http => http(http::sampler(context, stack)?),
        SamplerClass::Http2 => http(http::http2_sampler(context, stack)?),
        SamplerClass::Java => other(other_samplers::java(context, stack, element)?),
        SamplerClass::Dummy => other(other_samplers::dummy(context, element)),
        SamplerClass::Udp => other(other_samplers::udp(context, element)?),
        SamplerClass::RawHttp => other(other_samplers::raw_http(context, element)),
        SamplerClass::System => other(other_samplers::system(context, element)),
        SamplerClass::Tcp => other(tcp::sampler(context, stack, element)?),
        SamplerClass::WebSocket(class) => other(websocket::sampler(context, stack, class)?),
        SamplerClass::Debug => {
            SamplerKind::Immediate(Arc::new(DebugSampler::new(debug_settings(context, element))))
        }
        SamplerClass::Script(source) => match scripts::sampler(context, element, source) {
            Ok(sampler) => SamplerKind::Immediate(Arc::new(sampler)),
            Err(refusal) => {
                context.findings.refuse(element, &refusal);
                return None;
            }
        },
        SamplerClass::FlowControl => SamplerKind::Flow(flow(context, element)),
        SamplerClass::SetVariables => {
            SamplerKind::Flow(FlowAction::Set(assignments(context, element, "SetVariablesAction")))
        }
        SamplerClass::Parallel => SamplerKind::Parallel(Box::new(Parallel {
            branches: Box::default(),
            parent: context.flag(element, "PARENT_SAMPLE", false),
            at_once: context
                .flag(element, "LIMIT_MAX_THREAD_NUMBER", false)
                .then(|| context.text_or(element, "MAX_THREAD_NUMBER", "6")),
        })),
    })
}

fn other(sampler: impl OtherSampler + 'static) -> SamplerKind<AnySampler> {
    SamplerKind::Protocol(AnySampler::Other(Box::new(sampler)))
}

/// The elements that receive the samples of a sampler: listeners, and actions after failures.
struct SampleReceivers {
    files: Vec<usize>,
    files_in_transaction: Option<u32>,
    sample_listeners: SampleListeners,
    on_failure: Box<[FailureAction]>,
    /// The parts of its results that files and an enclosing transaction need.
    keep: Retention,
}

fn sample_receivers<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> SampleReceivers {
    let files = surroundings::result_files(context, stack);
    let mut keep = context.outputs.retention_for(&files);
    let all = surroundings::sample_listeners(context, stack);
    let mut in_transaction: Box<[Arc<dyn Processor>]> = Box::default();
    let mut files_in_transaction = None;
    let is_handler =
        |element: &Element<'p>| role(*element) == Role::PostProcessor(PostProcessorClass::ResultAction);
    let mut handlers: Vec<_> = stack.nearest_first().into_iter().filter(is_handler).collect();
    if let Some(transaction) = enclosing_transaction(context, stack) {
        let of_transaction = surroundings::result_files(context, &transaction);
        keep = keep.union(context.outputs.retention_for(&of_transaction));
        // JMeter treats Result Status Action Handlers as listeners. A handler in the scope of the transaction receives the
        // transaction's sample, for which it has no effect, so it is removed here.
        let around_transaction = transaction.nearest_first();
        handlers.retain(|handler| !around_transaction.contains(handler));
        let of_both = surroundings::sample_listeners(context, &transaction);
        let only_own =
            |listener: &&Arc<dyn Processor>| !of_both.iter().any(|other| Arc::ptr_eq(other, listener));
        in_transaction = all.iter().filter(only_own).cloned().collect();
        let rest: Vec<_> = files.iter().copied().filter(|file| !of_transaction.contains(file)).collect();
        files_in_transaction = (!rest.is_empty()).then(|| context.outputs.set(rest));
        for assertion in surroundings::assertions(context, &around_transaction) {
            keep = keep.union(assertion.retention());
        }
    }
    let on_failure = handlers.into_iter().filter_map(|handler| failure_action(context, handler)).collect();
    SampleReceivers {
        files,
        files_in_transaction,
        sample_listeners: SampleListeners { all, in_transaction },
        on_failure,
        keep,
    }
}

/// Makes the request of a sampler accessible to scripts. Returns the pre-processors, preceded by one that provides this
/// access.
fn open_request<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    http: &mut HttpSampler,
    before: &[Arc<dyn Processor>],
) -> Box<[Arc<dyn Processor>]> {
    http.is_accessed_by_scripts = true;
    if http.cookies.is_some() {
        http.shared.shows_cookies_to_scripts.store(true, Ordering::Relaxed);
    }
    let first: Arc<dyn Processor> =
        Arc::new(ScriptAccess::new(http, context.name(element), context.symbols.state()));
    std::iter::once(first).chain(before.iter().cloned()).collect()
}

/// The stack of the innermost enclosing transaction controller in parent mode, which generates a parent sample.
fn enclosing_transaction<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<Stack<'p>> {
    let at = stack.path.iter().rposition(|element| {
        role(*element) == Role::Controller(ControllerClass::Transaction)
            && context.flag(*element, "TransactionController.parent", false)
    })?;
    Some(stack.up_to(at))
}

fn failure_action<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<FailureAction> {
    match context.number(element, "OnError.action", 0) {
        1 => Some(FailureAction::StopUser),
        2 => Some(FailureAction::StopTest),
        3 => Some(FailureAction::StopTestNow),
        4 => Some(FailureAction::Jump(LogicalAction::NextIterationOfThread)),
        5 => Some(FailureAction::Jump(LogicalAction::NextIterationOfLoop)),
        6 => Some(FailureAction::Jump(LogicalAction::BreakLoop)),
        _ => None,
    }
}

fn flow<'p>(context: &mut Context<'p>, element: Element<'p>) -> FlowAction {
    const TEST: i64 = 2;
    let whole_test = context.number(element, "ActionProcessor.target", 0) == TEST;
    match (context.number(element, "ActionProcessor.action", 0), whole_test) {
        (1, _) => FlowAction::Pause(context.text_or(element, "ActionProcessor.duration", "0")),
        (2, true) => FlowAction::StopTestNow,
        (_, true) => FlowAction::StopTest,
        (3, false) => FlowAction::NextIterationOfThread,
        (4, false) => FlowAction::NextIterationOfLoop,
        (5, false) => FlowAction::BreakLoop,
        (_, false) => FlowAction::StopUser,
    }
}
