//! Samplers with everything that stands around them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_engine::element::{Assertion, Processor};
use busyhour_engine::program::{
    ControllerId, FailureAction, FlowAction, Hearers, Parallel, SamplerKind, SamplerPackage,
};
use busyhour_engine::result::Keep;
use busyhour_engine::user::LogicalAction;
use busyhour_http::HttpSampler;
use busyhour_http::access::OpenRequest;
use busyhour_plan::Element;
use busyhour_processors::{DebugSampler, DebugSamplerSettings};
use busyhour_samplers::AnySampler;

use crate::context::Context;
use crate::scope::Stack;
use crate::support::{Role, role};
use crate::{controllers, http, listeners, other_samplers, processors, timers};

/// The package of the sampler at the end of `stack`.
pub(crate) fn package<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    ancestors: &[ControllerId],
) -> Option<SamplerPackage<AnySampler>> {
    let element = *stack.path.last()?;
    let mut kind = match element.kind() {
        "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" | http::HTTP2 => {
            SamplerKind::Protocol(AnySampler::Http(http::sampler(context, stack)?))
        }
        "DebugSampler" => SamplerKind::Immediate(Arc::new(DebugSampler::new(DebugSamplerSettings {
            variables: context.flag(element, "displayJMeterVariables", false),
            properties: context.flag(element, "displayJMeterProperties", false),
            system_properties: context.flag(element, "displaySystemProperties", false),
        }))),
        "JSR223Sampler" | "BSFSampler" | "BeanShellSampler" => {
            SamplerKind::Immediate(Arc::new(processors::script_sampler(context, element)?))
        }
        "TestAction" => SamplerKind::Flow(flow(context, element)),
        PARALLEL => SamplerKind::Parallel(Box::new(Parallel {
            branches: Box::default(),
            parent: context.flag(element, "PARENT_SAMPLE", false),
            at_once: context
                .flag(element, "LIMIT_MAX_THREAD_NUMBER", false)
                .then(|| context.text_or(element, "MAX_THREAD_NUMBER", "6")),
        })),
        SET_VARIABLES => {
            let assignments = controllers::assignments(context, element, "SetVariablesAction");
            SamplerKind::Flow(FlowAction::Set(assignments))
        }
        _ => SamplerKind::Protocol(AnySampler::Other(other_samplers::sampler(context, stack)?)),
    };
    let nearest = stack.nearest_first();
    let outermost = stack.outermost_first();
    let timers = nearest
        .iter()
        .filter(|element| role(**element) == Role::Timer)
        .filter_map(|element| timers::timer(context, *element))
        .collect();
    let mut keep = context.keep;
    if let SamplerKind::Protocol(AnySampler::Http(http)) = &kind {
        keep = keep.union(http.keep());
    }
    let mut before = processors(context, &outermost, Role::PreProcessor, &mut keep);
    let after = processors(context, &outermost, Role::PostProcessor, &mut keep);
    let assertions = assertions(context, &outermost);
    for assertion in &assertions {
        keep = keep.union(assertion.keep());
    }
    let own = listener_files(context, stack);
    keep = keep.union(context.kept_for_files(&own));
    let mut hearers = Hearers { all: self::hearers(context, stack), in_transaction: Box::default() };
    for hearer in &hearers.all {
        keep = keep.union(hearer.keep());
    }
    let mut listeners_in_transaction = None;
    let mut handlers: Vec<_> =
        nearest.iter().copied().filter(|element| element.kind() == RESULT_ACTION).collect();
    if let Some(transaction) = enclosing_transaction(context, stack) {
        let of_transaction = listener_files(context, &transaction);
        keep = keep.union(context.kept_for_files(&of_transaction));
        // JMeter counts the handlers among the listeners: those of the transaction see its sample, and cannot act on it.
        let of_transaction_too = transaction.nearest_first();
        handlers.retain(|handler| !of_transaction_too.contains(handler));
        let hearers_too = self::hearers(context, &transaction);
        let only_own =
            |hearer: &&Arc<dyn Processor>| !hearers_too.iter().any(|other| Arc::ptr_eq(other, hearer));
        hearers.in_transaction = hearers.all.iter().filter(only_own).cloned().collect();
        let rest: Vec<_> = own.iter().copied().filter(|file| !of_transaction.contains(file)).collect();
        listeners_in_transaction = (!rest.is_empty()).then(|| context.listener_set(rest));
        for assertion in assertions_of(context, &transaction) {
            keep = keep.union(assertion.keep());
        }
    }
    let around = before.iter().chain(&after).chain(&hearers.all);
    if let SamplerKind::Protocol(AnySampler::Http(http)) = &mut kind
        && around.into_iter().any(|processor| processor.opens_request())
    {
        before = opened(context, element, http, &before);
    }
    let on_failure = handlers.into_iter().filter_map(|handler| failure_action(context, handler)).collect();
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
        listeners: context.listener_set(own),
        listeners_in_transaction,
        on_failure,
        timeouts_ms: Arc::clone(&context.sample_timeouts),
        hearers,
        ancestors: ancestors.into(),
    })
}

/// The pre-processors of a sampler that scripts look at and change.
fn opened<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    http: &mut HttpSampler,
    before: &[Arc<dyn Processor>],
) -> Box<[Arc<dyn Processor>]> {
    http.is_open = true;
    if http.cookies.is_some() {
        http.shared.lends_cookies.store(true, Ordering::Relaxed);
    }
    let first: Arc<dyn Processor> =
        Arc::new(OpenRequest::new(http, context.name(element), context.symbols.state()));
    std::iter::once(first).chain(before.iter().cloned()).collect()
}

fn processors<'p>(
    context: &mut Context<'p>,
    elements: &[Element<'p>],
    wanted: Role,
    keep: &mut Keep,
) -> Box<[Arc<dyn busyhour_engine::element::Processor>]> {
    let mut all = Vec::new();
    for element in elements.iter().filter(|element| role(**element) == wanted) {
        if let Some(processor) = processors::processor(context, *element) {
            *keep = keep.union(processor.keep());
            all.push(processor);
        }
    }
    all.into()
}

/// Listeners in scope that do more than write rows.
pub(crate) fn hearers<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Box<[Arc<dyn Processor>]> {
    stack
        .nearest_first()
        .into_iter()
        .filter(|element| role(*element) == Role::Hearer)
        .filter_map(|element| listeners::hearer(context, element))
        .collect()
}

/// The assertions among these elements.
pub(crate) fn assertions<'p>(
    context: &mut Context<'p>,
    elements: &[Element<'p>],
) -> Box<[Arc<dyn Assertion>]> {
    elements
        .iter()
        .filter(|element| role(**element) == Role::Assertion)
        .filter_map(|element| processors::assertion(context, *element))
        .collect()
}

fn assertions_of<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Box<[Arc<dyn Assertion>]> {
    assertions(context, &stack.nearest_first())
}

/// The stack of the nearest transaction controller around a sampler that takes the place of its samples.
fn enclosing_transaction<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<Stack<'p>> {
    let at = stack.path.iter().rposition(|element| {
        element.kind() == "TransactionController"
            && context.flag(*element, "TransactionController.parent", false)
    })?;
    Some(stack.up_to(at))
}

/// Result files of the listeners in scope.
pub(crate) fn listener_files<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Vec<usize> {
    stack
        .nearest_first()
        .into_iter()
        .filter(|element| role(*element) == Role::Listener)
        .filter_map(|element| listeners::file(context, element))
        .collect()
}

/// BlazeMeter's Parallel Controller.
pub(crate) const PARALLEL: &str = "com.blazemeter.jmeter.controller.ParallelSampler";

/// jmeter-plugins' Set Variables Action.
pub(crate) const SET_VARIABLES: &str = "kg.apc.jmeter.control.sampler.SetVariablesAction";

/// The Result Status Action Handler.
const RESULT_ACTION: &str = "ResultAction";

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
