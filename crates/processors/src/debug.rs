//! The Debug Sampler: a sample whose body lists variables and properties.

use std::cmp::Ordering;

use busyhour_program::sampler::ImmediateSampler;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::{DataType, Nanos};

/// Settings of a debug sampler. In a plan, the names of these properties have no prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DebugSamplerSettings {
    /// `displayJMeterVariables`: list the user's variables.
    pub variables: bool,
    /// `displayJMeterProperties`: list JMeter's properties.
    pub properties: bool,
    /// `displaySystemProperties`. The list is empty because there is no JVM.
    pub system_properties: bool,
}

/// The debug sampler.
#[derive(Clone, Copy, Debug)]
pub struct DebugSampler {
    settings: DebugSamplerSettings,
}

impl DebugSampler {
    /// Creates the debug sampler from its settings.
    pub fn new(settings: DebugSamplerSettings) -> Self {
        Self { settings }
    }
}

impl ImmediateSampler for DebugSampler {
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos) {
        user.begin_result(label, intended);
        let text = debug_sampler_text(user, self.settings);
        let request = self.settings.request();
        let end = user.now();
        let result = &mut user.result;
        result.sizes.body_bytes = text.len() as u64;
        result.body.extend_from_slice(text.as_bytes());
        result.request_data.push_str(&request);
        result.content.data_type = DataType::Text;
        result.outcome.code.push_str("200");
        result.outcome.message.push_str("OK");
        result.times.end = end;
    }
}

impl DebugSamplerSettings {
    /// The request text in JMeter: the titles of the selected sections.
    pub(crate) fn request(self) -> String {
        let titles = sections(self).into_iter().filter(|(is_selected, _)| *is_selected);
        titles.flat_map(|(_, title)| [title, "\n"]).collect()
    }
}

fn sections(settings: DebugSamplerSettings) -> [(bool, &'static str); 3] {
    [
        (settings.variables, "JMeterVariables"),
        (settings.properties, "JMeterProperties"),
        (settings.system_properties, "SystemProperties"),
    ]
}

/// The body of a debug sample in JMeter's format.
pub fn debug_sampler_text(user: &UserState, settings: DebugSamplerSettings) -> String {
    let mut out = String::with_capacity(100);
    let [variables, properties, system] = sections(settings);
    let mut section = |(is_selected, title): (bool, &str),
                       entries: &mut dyn FnMut() -> Vec<(String, String)>| {
        if !is_selected {
            return;
        }
        out.push_str(title);
        out.push_str(":\n");
        let mut entries = entries();
        entries.sort_by(|left, right| compare_alphanumeric(&left.0, &right.0));
        for (name, value) in entries {
            out.extend([name.as_str(), "=", &value, "\n"]);
        }
        out.push('\n');
    };
    section(variables, &mut || {
        let text = |value: Option<&str>| value.unwrap_or("null").to_owned();
        let mut entries: Vec<_> =
            user.variables.iter().map(|(name, value)| (name.to_owned(), text(value))).collect();
        entries.extend(internal_variables(user));
        entries
    });
    section(properties, &mut || user.run.properties.all());
    section(system, &mut Vec::new);
    out
}

/// JMeter's internal variables, which its debug sampler also lists. The object address in `JMeterThread.pack` is arbitrary.
fn internal_variables(user: &UserState) -> Vec<(String, String)> {
    let address = (u64::from(user.group) << 16 | u64::from(user.number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let package = format!("org.apache.jmeter.threads.SamplePackage@{:08x}", address >> 34 | 0x1000_0000);
    let same_user = user.run.groups.get(user.group as usize).is_none_or(|group| group.same_user);
    let mut entries = vec![("JMeterThread.pack", package), ("__jmv_SAME_USER", same_user.to_string())];
    if let Some(variable) = user.token_variable {
        let mut name = String::new();
        user.thread_name(&mut name);
        entries.push((variable, name));
    }
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// JMeter's order of names. Names are split into alternating parts of text and digits; the digits are compared as numbers.
fn compare_alphanumeric(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        match (left.is_empty(), right.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        let (left_text, left_number) = take_part(&mut left);
        let (right_text, right_number) = take_part(&mut right);
        let texts = left_text.encode_utf16().cmp(right_text.encode_utf16());
        if texts.is_ne() {
            return texts;
        }
        if left_number.is_empty() || right_number.is_empty() {
            return left_number.len().min(1).cmp(&right_number.len().min(1));
        }
        let (left_number, right_number) =
            (left_number.trim_start_matches('0'), right_number.trim_start_matches('0'));
        let numbers = left_number.len().cmp(&right_number.len()).then_with(|| left_number.cmp(right_number));
        if numbers.is_ne() {
            return numbers;
        }
    }
}

/// Removes the leading text without digits and the digits after it from `rest`, and returns both.
fn take_part<'t>(rest: &mut &'t str) -> (&'t str, &'t str) {
    let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
    let (text, after) = rest.split_at(digits);
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let (number, after) = after.split_at(end);
    *rest = after;
    (text, number)
}

#[cfg(test)]
mod tests {
    use busyhour_program::symbols::Symbols;

    use super::*;
    use crate::testing::user;

    #[test]
    fn the_text_matches_jmeter() {
        let mut user = user(&Symbols::default());
        for (name, value) in [("x_10", "c"), ("x_9", "b"), ("B", "2"), ("a", "1"), ("x_009a", ""), ("x", "y")]
        {
            user.variables.set(name, value);
        }
        user.run.properties.set("p", "q");
        user.token_variable = Some("__jmeter.U_T__");
        let settings = DebugSamplerSettings { variables: true, properties: true, system_properties: true };
        DebugSampler::new(settings).sample(&mut user, &Template::literal("Debug"), Nanos(0));
        let text = user.result.body_text().into_owned();
        let (before, package) = text.split_once("SamplePackage@").unwrap();
        let without_address = format!("{before}SamplePackage@{}", &package[8..]);
        insta::assert_snapshot!(without_address, @r"
        JMeterVariables:
        B=2
        JMeterThread.pack=org.apache.jmeter.threads.SamplePackage@
        __jmeter.U_T__=Thread Group 1-1
        __jmv_SAME_USER=true
        a=1
        x=y
        x_9=b
        x_009a=
        x_10=c

        JMeterProperties:
        p=q

        SystemProperties:

        ");
        assert_eq!(user.result.request_data, "JMeterVariables\nJMeterProperties\nSystemProperties\n");
        assert!(user.result.outcome.success && user.result.outcome.code == "200");
    }

    #[test]
    fn the_order_matches_jmeter() {
        // Recorded from JMeter 5.6.3.
        let sorted = "9 10 B START.MS __jm__TG__idx a a1 a01 x x_9 x_009a x_9b x_10 x_g x_g0 x_g1 é";
        let mut names =
            ["x_10", "x_9", "B", "a", "x_009a", "x", "x_9b", "9", "10", "a1", "a01", "__jm__TG__idx"]
                .to_vec();
        names.extend(["START.MS", "x_g", "x_g0", "x_g1", "é"]);
        names.sort_by(|left, right| compare_alphanumeric(left, right));
        assert_eq!(names.join(" "), sorted);
    }

    proptest::proptest! {
        #[test]
        fn the_order_is_antisymmetric(a in "[a-b0-2]{0,5}", b in "[a-b0-2]{0,5}") {
            proptest::prop_assert_eq!(compare_alphanumeric(&a, &b), compare_alphanumeric(&b, &a).reverse());
        }
    }
}
