//! The conditions of If Controllers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use busyhour_diagnostic::Diagnostic;
use busyhour_limits::{Limit, count_exceeded};
use busyhour_plan::Element;
use busyhour_program::controller::Condition;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_script::{ScriptError, javascript};

use crate::context::Context;

/// A condition that is true if the text, after its variables and functions are replaced, is `true`.
#[derive(Debug)]
struct Expression(Template);

impl Condition for Expression {
    fn holds(&self, user: &mut UserState) -> bool {
        self.0.text(user).trim().eq_ignore_ascii_case("true")
    }
}

/// A condition in JavaScript.
#[derive(Debug)]
struct Script(Template);

/// The number of parsed scripts that each thread caches. The text of a script varies with the variables in it.
const CACHED_SCRIPTS_MAX: usize = 512;

thread_local! {
    static SCRIPT_CACHE: RefCell<HashMap<String, Rc<Result<javascript::Script, ScriptError>>>> = RefCell::default();
}

impl Condition for Script {
    fn holds(&self, user: &mut UserState) -> bool {
        let text = self.0.text(user);
        // Most conditions are one of these texts after variables are replaced.
        match &*text {
            "true" => return true,
            "false" => return false,
            _ => {}
        }
        let script = SCRIPT_CACHE.with_borrow_mut(|cache| {
            if let Some(script) = cache.get(&*text) {
                return Rc::clone(script);
            }
            if cache.len() >= CACHED_SCRIPTS_MAX {
                cache.clear();
            }
            let script = Rc::new(javascript::compile(&text));
            cache.insert(text.clone().into_owned(), Rc::clone(&script));
            script
        });
        let result = match &*script {
            Ok(script) => script.evaluate_condition(),
            Err(error) => Err(error.clone()),
        };
        match result {
            Ok(holds) => holds,
            Err(error) => {
                if matches!(error, ScriptError::LimitReached { .. }) {
                    count_exceeded(Limit::Script);
                }
                let line = format!("{}: error while processing [{text}]: {error}", user.sampler_name);
                user.log(LogLevel::Error, &line);
                false
            }
        }
    }
}

/// The condition of an If Controller.
pub(crate) fn if_condition<'p>(context: &mut Context<'p>, element: Element<'p>) -> Box<dyn Condition> {
    const PROPERTY: &str = "IfController.condition";
    let condition = context.text(element, PROPERTY);
    if context.flag(element, "IfController.useExpression", false) {
        return Box::new(Expression(condition));
    }
    if let Some(text) = condition.as_literal()
        && !text.trim().is_empty()
        && let Err(error) = javascript::compile(text)
        && let Some(property) = element.property(PROPERTY)
    {
        let finding = Diagnostic::error("invalid-condition", format!("the condition cannot be run: {error}"));
        context.findings.add(property.locate(finding));
    }
    Box::new(Script(condition))
}
