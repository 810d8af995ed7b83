//! Counters, random variables, CSV rows and user parameters, which advance with each pass of a controller.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property};
use busyhour_processors::{
    CounterSettings, CounterStep, CsvDataSettings, CsvDataStep, RandomCsvSettings, RandomCsvStep,
    RandomVariableSettings, RandomVariableStep, ReadsFile, Refusal, UserParameters, UserParametersSettings,
};
use busyhour_program::element::{IterationStep, Processor};
use busyhour_program::template::Template;

use crate::context::Context;
use crate::elements::Role;
use crate::elements::config::StepClass;
use crate::elements::processors::PreProcessorClass;

/// Compiles the step for an element with this role; `None` if it is rejected or not a step.
pub(crate) fn compile_step<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    role: Role,
) -> Option<Arc<dyn IterationStep>> {
    match role {
        Role::Step(class) => step(context, element, class),
        Role::PreProcessor(PreProcessorClass::UserParameters) => {
            user_parameters(context, element);
            context.parts.steps.get(&element.id()).cloned().flatten()
        }
        _ => None,
    }
}

fn step<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: StepClass,
) -> Option<Arc<dyn IterationStep>> {
    if let Some(known) = context.parts.steps.get(&element.id()) {
        return known.clone();
    }
    let compiled: Option<Arc<dyn IterationStep>> = match class {
        StepClass::Counter => Some(Arc::new(counter(context, element))),
        StepClass::RandomVariable => Some(Arc::new(random_variable(context, element))),
        StepClass::CsvDataSet => csv(context, element),
        StepClass::RandomCsvDataSet => random_csv(context, element),
    };
    context.parts.steps.insert(element.id(), compiled.clone());
    compiled
}

fn counter<'p>(context: &mut Context<'p>, element: Element<'p>) -> CounterStep {
    let settings = CounterSettings {
        start: context.text(element, "CounterConfig.start"),
        end: context.text(element, "CounterConfig.end"),
        increment: context.text(element, "CounterConfig.incr"),
        variable: context.text(element, "CounterConfig.name"),
        format: context.text(element, "CounterConfig.format"),
        per_user: context.flag(element, "CounterConfig.per_user", false),
        reset_on_iteration: context.flag(element, "CounterConfig.reset_on_tg_iteration", false),
    };
    CounterStep::new(settings, &mut context.symbols)
}

fn random_variable<'p>(context: &mut Context<'p>, element: Element<'p>) -> RandomVariableStep {
    let settings = RandomVariableSettings {
        name: element.name().to_owned(),
        minimum: context.text(element, "minimumValue"),
        maximum: context.text(element, "maximumValue"),
        format: context.text(element, "outputFormat"),
        seed: context.text(element, "randomSeed"),
        per_user: context.flag(element, "perThread", false),
        variable: context.text(element, "variableName"),
    };
    RandomVariableStep::new(settings, &mut context.symbols)
}

fn csv<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn IterationStep>> {
    let settings = CsvDataSettings {
        name: element.name().to_owned(),
        filename: context.text(element, "filename"),
        encoding: context.text(element, "fileEncoding"),
        variable_names: context.text(element, "variableNames"),
        ignore_first_line: context.flag(element, "ignoreFirstLine", false),
        delimiter: context.text(element, "delimiter"),
        quoted: context.flag(element, "quotedData", false),
        recycle: context.flag(element, "recycle", true),
        stop_thread: context.flag(element, "stopThread", false),
        share_mode: context.text(element, "shareMode"),
    };
    let files = Arc::clone(&context.parts.csv_files);
    let step = CsvDataStep::new(settings, files, &mut context.symbols);
    file_step(context, element, step)
}

/// Checks the file that a step reads.
fn file_step<'p, S: IterationStep + ReadsFile + 'static>(
    context: &mut Context<'p>,
    element: Element<'p>,
    step: Result<S, Refusal>,
) -> Option<Arc<dyn IterationStep>> {
    match step {
        Ok(step) => {
            if let Some(path) = step.missing_file() {
                report_missing(context, element, &path.display().to_string());
            } else {
                check_known_file(context, element, step.file_name(), |name| step.missing_file_named(name));
            }
            Some(Arc::new(step))
        }
        Err(refusal) => {
            context.findings.refuse(element, &refusal);
            None
        }
    }
}

/// Checks the file if its name consists of properties and user-defined variables. If the file is missing, only a warning is
/// reported: virtual users may have changed such a variable by the time the file is opened.
fn check_known_file<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    name: &Template,
    missing: impl Fn(&str) -> Option<std::path::PathBuf>,
) {
    if name.as_literal().is_some() {
        return;
    }
    let Some(known) = context.known_text(name).filter(|known| !known.contains("${")) else { return };
    let Some(path) = missing(&known) else { return };
    let message = format!(
        "the file {} cannot be read; the plan specifies its name as {}",
        path.display(),
        name.source()
    );
    let finding = Diagnostic::warning("missing-file", message).with_hint(
        "virtual users stop at their first row unless the file exists by then; set the variable or property",
    );
    context.findings.add_at(element, "filename", finding);
}

fn random_csv<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn IterationStep>> {
    let settings = RandomCsvSettings {
        filename: context.text(element, "filename"),
        encoding: context.text_or(element, "fileEncoding", "UTF-8"),
        delimiter: context.text(element, "delimiter"),
        variable_names: context.text(element, "variableNames"),
        random_order: context.flag(element, "randomOrder", false),
        ignore_first_line: context.flag(element, "ignoreFirstLine", false),
        rewind: context.flag(element, "rewindOnTheEndOfList", false),
    };
    let files = Arc::clone(&context.parts.csv_files);
    let step = RandomCsvStep::new(settings, files, &mut context.symbols);
    file_step(context, element, step)
}

/// Reports a missing file before the run, as an error unless a setUp group may create it.
fn report_missing(context: &mut Context<'_>, element: Element<'_>, path: &str) {
    let message = format!("the file {path} cannot be read");
    let finding = if context.has_set_up_group() {
        Diagnostic::warning("missing-file", message)
            .with_hint("virtual users stop at their first row unless a setUp group creates the file")
    } else {
        Diagnostic::error("missing-file", message)
            .with_hint("relative names are looked up in the working directory and in the plan's directory")
    };
    context.findings.add_at(element, "filename", finding);
}

/// Compiles User Parameters, which are both a step and a pre-processor.
pub(crate) fn user_parameters<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Option<Arc<dyn Processor>> {
    if context.parts.steps.contains_key(&element.id()) {
        return context.parts.processors.get(&element.id()).cloned().flatten();
    }
    let list = |context: &mut Context<'p>, property: Property<'p>| {
        let items: Vec<_> = property.items().collect();
        items.into_iter().map(|item| context.parse(item.text().unwrap_or(""), item)).collect::<Vec<_>>()
    };
    let names =
        element.collection("UserParameters.names").map(|names| list(context, names)).unwrap_or_default();
    let mut values = Vec::new();
    for user in element.collection("UserParameters.thread_values").into_iter().flat_map(Property::items) {
        values.push(list(context, user));
    }
    for name in &names {
        if let Some(name) = name.as_literal() {
            context.symbols.slot(name);
        }
    }
    let per_iteration = context.flag(element, "UserParameters.per_iteration", false);
    let settings = UserParametersSettings { names, values, per_iteration };
    let compiled = Arc::new(UserParameters::new(settings, &mut context.symbols));
    context.parts.steps.insert(element.id(), Some(Arc::clone(&compiled) as _));
    context.parts.processors.insert(element.id(), Some(Arc::clone(&compiled) as _));
    Some(compiled)
}
