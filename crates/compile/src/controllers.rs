//! Compiles the behaviour of controllers.

use std::sync::Arc;

use busyhour_plan::Element;
use busyhour_program::controller::{
    ControllerKind, CriticalSection, Throughput, TransactionSettings, WeightedChoice,
};
use busyhour_program::template::Template;

use crate::arguments::assignments;
use crate::condition;
use crate::context::Context;
use crate::elements::controllers::ControllerClass;
use crate::scope::Stack;
use crate::surroundings;

/// Compiles the behaviour of the controller at the end of `stack`.
pub(crate) fn kind<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: ControllerClass,
    stack: &Stack<'p>,
) -> ControllerKind {
    match class {
        // The children of these elements have already been replaced by those of modules and included files.
        ControllerClass::Simple | ControllerClass::Module | ControllerClass::Include => {
            ControllerKind::Simple
        }
        ControllerClass::Loop => ControllerKind::Loop {
            count: context.text_or(element, "LoopController.loops", "1"),
            forever: context.flag(element, "LoopController.continue_forever", true),
        },
        ControllerClass::If => ControllerKind::If {
            condition: condition::if_condition(context, element),
            evaluate_all: context.flag(element, "IfController.evaluateAll", false),
        },
        ControllerClass::While => {
            ControllerKind::While { condition: context.text(element, "WhileController.condition") }
        }
        ControllerClass::ForEach => for_each(context, element),
        ControllerClass::OnceOnly => ControllerKind::OnceOnly,
        ControllerClass::Interleave => ControllerKind::Interleave {
            use_sub_controllers: uses_sub_controllers(context, element),
            across_users: context.flag(element, "InterleaveControl.accrossThreads", false),
        },
        ControllerClass::Random => {
            ControllerKind::Random { use_sub_controllers: uses_sub_controllers(context, element) }
        }
        ControllerClass::RandomOrder => ControllerKind::RandomOrder,
        ControllerClass::Switch => {
            ControllerKind::Switch { selection: context.text(element, "SwitchController.value") }
        }
        ControllerClass::Runtime => ControllerKind::Runtime {
            seconds: context.text(element, "RunTime.seconds"),
            begun: context.symbols.state(),
        },
        ControllerClass::CriticalSection => ControllerKind::Critical(CriticalSection {
            lock: context.text(element, "CriticalSectionController.lockName"),
            held: context.symbols.state(),
        }),
        ControllerClass::Parameterized => {
            ControllerKind::Parameterized(assignments(context, element, "ParameterizedController"))
        }
        ControllerClass::WeightedSwitch => ControllerKind::Weighted(WeightedChoice {
            weights: weights(context, element),
            random: context.flag(element, "IsRandomChoice", false),
            state: context.symbols.state(),
        }),
        ControllerClass::Throughput => throughput(context, element),
        ControllerClass::Transaction => transaction(context, element, stack),
    }
}

/// Whether an interleave or random controller runs only one sampler of a child controller in each pass.
fn uses_sub_controllers<'p>(context: &mut Context<'p>, element: Element<'p>) -> bool {
    context.number(element, "InterleaveControl.style", 0) == 1
}

fn for_each<'p>(context: &mut Context<'p>, element: Element<'p>) -> ControllerKind {
    ControllerKind::ForEach {
        input: context.text(element, "ForeachController.inputVal"),
        output: context.text(element, "ForeachController.returnVal"),
        start: context.text(element, "ForeachController.startIndex"),
        end: context.text(element, "ForeachController.endIndex"),
        separator: context.flag(element, "ForeachController.useSeparator", true),
    }
}

fn throughput<'p>(context: &mut Context<'p>, element: Element<'p>) -> ControllerKind {
    let percent = context.number(element, "ThroughputController.style", 0) == 1;
    let amount = if percent {
        Throughput::Percent(context.text_or(element, "ThroughputController.percentThroughput", "100"))
    } else {
        Throughput::Total(context.text_or(element, "ThroughputController.maxThroughput", "1"))
    };
    ControllerKind::Throughput { amount, per_user: counts_per_user(context, element), shared: Arc::default() }
}

fn transaction<'p>(context: &mut Context<'p>, element: Element<'p>, stack: &Stack<'p>) -> ControllerKind {
    let parent = context.flag(element, "TransactionController.parent", false);
    let files = surroundings::result_files(context, stack);
    ControllerKind::Transaction(Box::new(TransactionSettings {
        parent,
        include_timers: context.flag(element, "TransactionController.includeTimers", true),
        assertions: if parent {
            surroundings::assertions(context, &stack.nearest_first())
        } else {
            Box::default()
        },
        listeners: context.outputs.set(files),
        sample_listeners: if parent {
            surroundings::sample_listeners(context, stack)
        } else {
            Box::default()
        },
    }))
}

/// The weights of the enabled children: rows of name, weight and, in newer plans, whether the child is enabled.
fn weights<'p>(context: &mut Context<'p>, element: Element<'p>) -> Box<[Template]> {
    let mut all = Vec::new();
    for row in element.collection("Weights").into_iter().flat_map(|rows| rows.items()) {
        let cells: Vec<_> = row.items().collect();
        let enabled = cells.get(2).and_then(|cell| cell.text()).unwrap_or("true");
        if enabled == "true" && (2..=3).contains(&cells.len()) {
            all.push(context.parse(cells[1].text().unwrap_or(""), cells[1]));
        }
    }
    all.into()
}

/// Whether a throughput controller counts the passes of each user separately. In an open workload, each session is a single
/// pass by a new user. Counted per user, all sessions would make the same decision, so the passes of all sessions are counted
/// together.
fn counts_per_user<'p>(context: &mut Context<'p>, element: Element<'p>) -> bool {
    let per_user = context.flag(element, "ThroughputController.perThread", false);
    if per_user && context.group.is_open {
        context.findings.warn(
            element,
            "counts-over-sessions",
            "a session is a single pass, so passes cannot be counted per user: they are counted over all sessions",
        );
    }
    per_user && !context.group.is_open
}
