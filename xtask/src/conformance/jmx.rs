//! Writes JMX plans from a tree of elements, in the form in which JMeter 5.6.3 saves them.

use std::fmt::Write as _;

/// The value of a property.
#[derive(Debug, Clone)]
pub enum Value {
    /// `stringProp`.
    Text(String),
    /// `boolProp`.
    Bool(bool),
    /// `intProp`.
    Int(i32),
    /// `longProp`.
    Long(i64),
    /// `collectionProp`, of unnamed or named values.
    List(Vec<(String, Value)>),
    /// `elementProp`: the element type and its properties.
    Element(&'static str, Vec<(String, Value)>),
    /// `FloatProperty`, by its digits.
    Float(String),
    /// `objProp` with the save configuration of a listener: names of its flags and whether they are on.
    SaveConfig(Vec<(&'static str, bool)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Long(value)
    }
}

/// One element of a plan with what hangs under it.
#[derive(Debug, Clone)]
pub struct Node {
    tag: &'static str,
    gui: &'static str,
    name: String,
    enabled: bool,
    properties: Vec<(String, Value)>,
    children: Vec<Node>,
}

impl Node {
    /// An element of that class, shown by that GUI class.
    pub fn new(tag: &'static str, gui: &'static str, name: &str) -> Self {
        Self { tag, gui, name: name.to_owned(), enabled: true, properties: Vec::new(), children: Vec::new() }
    }

    /// Sets a property, in place of an earlier value.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        match self.properties.iter_mut().find(|(key, _)| key == name) {
            Some(slot) => slot.1 = value,
            None => self.properties.push((name.to_owned(), value)),
        }
        self
    }

    /// Adds to the list under `list` inside the element property `element` (an `Arguments`, say).
    pub fn push(mut self, element: &str, list: &str, item: (String, Value)) -> Self {
        let found = self.properties.iter_mut().find(|(key, _)| key == element);
        if let Some((_, Value::Element(_, properties))) = found
            && let Some((_, Value::List(items))) = properties.iter_mut().find(|(key, _)| key == list)
        {
            items.push(item);
        }
        self
    }

    /// Disables the element.
    pub fn off(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// Hangs elements under this one.
    pub fn with<const N: usize>(mut self, children: [Node; N]) -> Self {
        self.children.extend(children);
        self
    }

    fn write(&self, out: &mut String, depth: usize) {
        let pad = "  ".repeat(depth);
        write!(out, "{pad}<{} guiclass=\"{}\" testclass=\"{}\"", self.tag, self.gui, self.tag)
            .expect("a string");
        write!(out, " testname=\"{}\" enabled=\"{}\"", attribute(&self.name), self.enabled)
            .expect("a string");
        if self.properties.is_empty() {
            out.push_str("/>\n");
        } else {
            out.push_str(">\n");
            write_properties(out, &self.properties, depth + 1);
            writeln!(out, "{pad}</{}>", self.tag).expect("a string");
        }
        if self.children.is_empty() {
            writeln!(out, "{pad}<hashTree/>").expect("a string");
        } else {
            writeln!(out, "{pad}<hashTree>").expect("a string");
            self.children.iter().for_each(|child| child.write(out, depth + 1));
            writeln!(out, "{pad}</hashTree>").expect("a string");
        }
    }

    /// The document with this element, a test plan, at its root.
    pub fn document(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out.push_str("<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  <hashTree>\n");
        self.write(&mut out, 2);
        out.push_str("  </hashTree>\n</jmeterTestPlan>\n");
        out
    }
}

fn write_properties(out: &mut String, properties: &[(String, Value)], depth: usize) {
    let pad = "  ".repeat(depth);
    for (name, value) in properties {
        let name = attribute(name);
        let mut leaf = |tag: &str, text: &str| {
            writeln!(out, "{pad}<{tag} name=\"{name}\">{text}</{tag}>").expect("a string takes any text");
        };
        match value {
            Value::Text(text) => leaf("stringProp", &escape(text)),
            Value::Bool(value) => leaf("boolProp", &value.to_string()),
            Value::Int(value) => leaf("intProp", &value.to_string()),
            Value::Long(value) => leaf("longProp", &value.to_string()),
            Value::List(items) => {
                writeln!(out, "{pad}<collectionProp name=\"{name}\">").expect("a string");
                write_properties(out, items, depth + 1);
                writeln!(out, "{pad}</collectionProp>").expect("a string");
            }
            Value::Element(kind, properties) => {
                // The name of an element inside an element is an attribute, as that of an element of the tree.
                let (named, properties): (Vec<_>, Vec<_>) =
                    properties.iter().cloned().partition(|(key, _)| key == "TestElement.name");
                write!(out, "{pad}<elementProp name=\"{name}\" elementType=\"{kind}\"").expect("a string");
                if let Some((_, Value::Text(text))) = named.first() {
                    write!(out, " testname=\"{}\"", attribute(text)).expect("a string");
                }
                out.push_str(">\n");
                write_properties(out, &properties, depth + 1);
                writeln!(out, "{pad}</elementProp>").expect("a string");
            }
            Value::Float(text) => {
                writeln!(out, "{pad}<FloatProperty>\n{pad}  <name>{name}</name>").expect("a string");
                writeln!(out, "{pad}  <value>{text}</value>\n{pad}  <savedValue>0.0</savedValue>")
                    .expect("a string");
                writeln!(out, "{pad}</FloatProperty>").expect("a string");
            }
            Value::SaveConfig(flags) => {
                writeln!(out, "{pad}<objProp>\n{pad}  <name>{name}</name>").expect("a string");
                writeln!(out, "{pad}  <value class=\"SampleSaveConfiguration\">").expect("a string");
                for (flag, on) in flags {
                    writeln!(out, "{pad}    <{flag}>{on}</{flag}>").expect("a string");
                }
                writeln!(out, "{pad}    <assertionsResultsToSave>0</assertionsResultsToSave>")
                    .expect("a string");
                writeln!(out, "{pad}  </value>\n{pad}</objProp>").expect("a string");
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#xd;")
}

fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;").replace('\n', "&#xa;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_alternate_with_their_trees() {
        let plan = Node::new("TestPlan", "TestPlanGui", "a \"b\"")
            .set("x", "1 < 2")
            .with([Node::new("T", "G", "t").off()]);
        let text = plan.document();
        assert!(text.contains("testname=\"a &quot;b&quot;\" enabled=\"true\">\n"), "{text}");
        assert!(text.contains("<stringProp name=\"x\">1 &lt; 2</stringProp>"), "{text}");
        assert!(
            text.contains(
                "<T guiclass=\"G\" testclass=\"T\" testname=\"t\" enabled=\"false\"/>\n      <hashTree/>"
            ),
            "{text}"
        );
    }
}
