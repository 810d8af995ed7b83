//! A Kubernetes object and its YAML.

use serde_json::Value;

use crate::values::NUMBER;

/// A Kubernetes object.
#[derive(Clone, Debug, PartialEq)]
pub struct KubeObject {
    /// Its kind, such as `Job`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The object.
    pub body: Value,
}

impl KubeObject {
    pub(crate) fn new(kind: &str, name: &str, body: Value) -> KubeObject {
        KubeObject { kind: kind.to_owned(), name: name.to_owned(), body }
    }

    /// The object as YAML.
    #[must_use]
    pub fn yaml(&self) -> String {
        yaml(&self.body)
    }

    /// Name of a file with the object.
    pub(crate) fn file_name(&self) -> String {
        format!("{}-{}.yaml", self.name, self.kind.to_ascii_lowercase())
    }
}

/// A value as block YAML. Long texts stay on one line.
pub(crate) fn yaml(value: &Value) -> String {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    // Values of JSON can always be written as YAML.
    let mut text = serde_saphyr::to_string_with_options(value, options).unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A template of a Helm chart: expressions for numbers are not quoted.
pub(crate) fn template(value: &Value) -> String {
    let unquoted = |line: &str| -> String {
        let Some(at) = line.find(NUMBER).filter(|at| *at > 0) else { return line.to_owned() };
        let (before, expression) = line.split_at(at);
        let quote = |c: char| c == '\'' || c == '"';
        format!("{}{}", before.strip_suffix(quote).unwrap_or(before), expression.trim_end_matches(quote))
    };
    yaml(value).lines().map(|line| unquoted(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_quoted_where_yaml_would_interpret_them_differently() {
        let long = "word ".repeat(40);
        let text = yaml(&json!({
            "number": "2", "word": "no", "empty": "", "long": long.trim(), "lines": "a\n  b\n", "list": [{ "a": 1 }, []],
        }));
        for part in ["number: \"2\"", "word: \"no\"", "empty: \"\"", &format!("long: {}\n", long.trim())] {
            assert!(text.replace('\'', "\"").contains(part), "{part}\n{text}");
        }
        assert!(text.contains("lines: |\n  a\n    b\n"), "{text}");
    }

    #[test]
    fn expressions_for_numbers_are_not_quoted() {
        let text = template(&json!({ "count": "{{ int .Values.agents }}", "image": "{{ .Values.image }}" }));
        assert!(text.contains("count: {{ int .Values.agents }}\n"), "{text}");
        assert!(text.replace('\'', "\"").contains("image: \"{{ .Values.image }}\"\n"), "{text}");
    }
}
