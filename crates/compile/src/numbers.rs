//! Checks settings that should be numbers. JMeter reads invalid numbers as 0, or ignores them, without a message.

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property, TestPlan};

use crate::elements;

/// Reports invalid numbers of a plan's enabled elements. Texts with variables or functions are skipped, as their values
/// are not known yet.
pub(crate) fn check(plan: &TestPlan) -> Vec<Diagnostic> {
    plan.elements().filter(|element| element.is_active()).flat_map(check_element).collect()
}

const USERS: &str = "ThreadGroup.num_threads";

fn check_element(element: Element<'_>) -> Vec<Diagnostic> {
    let numbers = elements::descriptor(element).map_or(&[][..], |descriptor| descriptor.numbers);
    // The number of users is checked with its group.
    let own = numbers.iter().filter(|name| **name != USERS).filter_map(|name| element.property(name));
    // The loop count of a thread group belongs to an element inside the group.
    let main = element.element("ThreadGroup.main_controller");
    let loops = main.and_then(|main| main.property("LoopController.loops"));
    own.chain(loops).filter_map(check_property).collect()
}

fn check_property(property: Property<'_>) -> Option<Diagnostic> {
    let text = property.text()?.trim();
    if text.is_empty() || text.contains("${") || text.parse::<f64>().is_ok_and(f64::is_finite) {
        return None;
    }
    let shown: String = text.chars().take(40).collect();
    let finding =
        Diagnostic::warning("bad-number", format!("{} is {shown:?}, which is not a number", property.name()))
            .with_hint(
                "JMeter reads such a text as 0 or ignores it, and so does this program: write a number",
            );
    Some(property.locate(finding))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(properties: &str) -> Vec<String> {
        let plan = format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><ThreadGroup testclass=\"ThreadGroup\" testname=\"G\">{properties}\
             </ThreadGroup><hashTree/></hashTree></jmeterTestPlan>"
        );
        let (plan, _) = busyhour_plan::parse(plan.as_bytes(), "plan.jmx");
        check(&plan).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn only_texts_that_cannot_become_numbers_are_reported() {
        let seconds =
            |text: &str| messages(&format!("<stringProp name=\"ThreadGroup.ramp_time\">{text}</stringProp>"));
        for good in ["5", " 5 ", "-1", "", "1.5", "${users}", "${__P(users,x)}"] {
            assert!(seconds(good).is_empty(), "{good:?}");
        }
        for bad in ["ten", "5 seconds", "1,000", "NaN", "$users"] {
            assert_eq!(seconds(bad), [format!("ThreadGroup.ramp_time is {bad:?}, which is not a number")]);
        }
        let loops = "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
             <stringProp name=\"LoopController.loops\">often</stringProp></elementProp>";
        assert_eq!(messages(loops), ["LoopController.loops is \"often\", which is not a number"]);
    }
}
