//! Conditions of If Controllers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use busyhour_diagnostic::Diagnostic;
use busyhour_limits::{Limit, exceeded};
use busyhour_plan::Element;
use busyhour_program::controller::Condition;
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_script::{ScriptError, javascript};

use crate::context::Context;

/// The text, with its variables and functions, reads `true`.
#[derive(Debug)]
struct Expression(Template);

impl Condition for Expression {
    fn holds(&self, user: &mut UserState) -> bool {
        self.0.text(user).trim().eq_ignore_ascii_case("true")
    }
}

/// The text is JavaScript.
#[derive(Debug)]
struct Script(Template);

/// Scripts a thread keeps parsed; their texts vary with the variables in them.
const KEPT_MAX: usize = 512;

thread_local! {
    static KEPT: RefCell<HashMap<String, Rc<Result<javascript::Script, ScriptError>>>> = RefCell::default();
}

impl Condition for Script {
    fn holds(&self, user: &mut UserState) -> bool {
        let text = self.0.text(user);
        // What most conditions read once their variables are in.
        match &*text {
            "true" => return true,
            "false" => return false,
            _ => {}
        }
        let script = KEPT.with_borrow_mut(|kept| {
            if let Some(script) = kept.get(&*text) {
                return Rc::clone(script);
            }
            if kept.len() >= KEPT_MAX {
                kept.clear();
            }
            let script = Rc::new(javascript::compile(&text));
            kept.insert(text.clone().into_owned(), Rc::clone(&script));
            script
        });
        let held = match &*script {
            Ok(script) => script.evaluate_condition(),
            Err(error) => Err(error.clone()),
        };
        match held {
            Ok(holds) => holds,
            Err(error) => {
                if matches!(error, ScriptError::LimitReached { .. }) {
                    exceeded(Limit::Script);
                }
                let line = format!("{}: error while processing [{text}]: {error}", user.sampler_name);
                user.log(Level::Error, &line);
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
