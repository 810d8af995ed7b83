//! Texts that are known before the run although they are not literal: they depend only on properties and user-defined
//! variables.

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::Element;
use busyhour_program::template::{Segment, Template};
use busyhour_program::variables::Slot;

use crate::context::Context;
use crate::elements::groups::GroupClass;
use crate::elements::{Role, role};

impl Context<'_> {
    /// The value of a text at the start of the run; `None` if it is not known yet, or if evaluating the text could have side
    /// effects. A variable that nothing defines is left unchanged.
    pub(crate) fn known_text(&self, template: &Template) -> Option<String> {
        let mut user = self.user_at_start();
        let mut unknown = Vec::new();
        for set in &self.plan_variables {
            let mut values = Vec::new();
            for (slot, value) in set.templates() {
                match is_known(value, &unknown) {
                    true => {
                        unknown.retain(|other| other != slot);
                        values.push((*slot, value.text(&mut user).into_owned()));
                    }
                    false => unknown.push(*slot),
                }
            }
            values.iter().for_each(|(slot, value)| user.variables.set_slot(*slot, value));
        }
        is_known(template, &unknown).then(|| template.text(&mut user).into_owned())
    }

    /// Whether a group that runs before the others may set properties or create files.
    pub(crate) fn has_set_up_group(&self) -> bool {
        self.plan
            .elements()
            .any(|element| role(element) == Role::Group(GroupClass::SetUp) && element.is_active())
    }
}

fn is_known(template: &Template, unknown: &[Slot]) -> bool {
    template.segments().iter().all(|segment| match segment {
        Segment::Text(_) => true,
        Segment::Variable(slot) => !unknown.contains(slot),
        Segment::Function(function) => function.depends_on_properties_only(),
    })
}

/// Rejects a thread group without a main controller: JMeter ends the test when it starts such a group. Warns about a number of
/// users that is known to be invalid: JMeter then starts no user.
pub(crate) fn check_group<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    users: &Template,
) {
    if !class.has_own_users() {
        return;
    }
    if element.element("ThreadGroup.main_controller").is_none() {
        let finding =
            Diagnostic::error("no-main-controller", "the thread group has no ThreadGroup.main_controller")
                .with_cause("JMeter ends the test with an error when it starts such a group")
                .with_hint("save the plan with JMeter, or add the elementProp of a LoopController");
        context.findings.add(element.locate(finding));
    }
    let Some(property) = element.property("ThreadGroup.num_threads") else { return };
    let Some(value) = context.known_text(users) else { return };
    if value.trim().is_empty() || value.trim().parse::<f64>().is_ok_and(f64::is_finite) {
        return;
    }
    let shown: String = value.chars().take(40).collect();
    let message = match users.as_literal() {
        Some(_) => format!("the number of users is {shown:?}, which is not a number"),
        None => format!(
            "the number of users {} is {shown:?} at the start of the run, which is not a number",
            users.source()
        ),
    };
    let hint = if shown.contains("${") {
        "define the variable, or set a property: ${__P(users,10)} with -J users=10"
    } else if context.has_set_up_group() && users.as_literal().is_none() {
        "a setUp group may set it before this group starts; otherwise set the variable or property to a number"
    } else {
        "the word looks like a placeholder that a script replaces before the run: write a number, or a property: \
         ${__P(users,10)} with -J users=10"
    };
    let finding = Diagnostic::warning("bad-number", message)
        .with_cause("JMeter then starts no user of this group, and neither does this program")
        .with_hint(hint);
    context.findings.add(property.locate(finding));
}
