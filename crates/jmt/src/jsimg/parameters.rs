//! Parameters of sections: `<parameter>` and `<subParameter>`, which name a class of Java and hold a value, others, or
//! one for each class of customers, after its name.

use crate::element::Element;

impl Element {
    /// The last part of the class that a parameter is of.
    pub(super) fn java_class(&self) -> &str {
        let path = self.attribute("classPath").unwrap_or_default();
        path.rsplit('.').next().unwrap_or_default()
    }

    /// The value of a parameter.
    pub(super) fn value(&self) -> Option<&str> {
        self.child("value").map(Self::text)
    }

    /// The parameters in a parameter.
    pub(super) fn inner(&self) -> impl Iterator<Item = &Self> {
        self.children_named("subParameter")
    }

    /// The parameter of that name in a parameter.
    pub(super) fn inner_named(&self, name: &str) -> Option<&Self> {
        self.inner().find(|parameter| parameter.attribute("name") == Some(name))
    }

    /// The parameter of that name in a section.
    pub(super) fn parameter(&self, name: &str) -> Option<&Self> {
        self.children_named("parameter").find(|parameter| parameter.attribute("name") == Some(name))
    }

    /// Parameters by class: each follows the name of its class.
    pub(super) fn by_class(&self) -> impl Iterator<Item = (&str, &Self)> {
        let mut class = None;
        self.children.iter().filter_map(move |child| match child.name.as_str() {
            "refClass" => {
                class = Some(child.text());
                None
            }
            "subParameter" => class.take().map(|class| (class, child)),
            _ => None,
        })
    }

    /// The parameter of a class.
    pub(super) fn of_class(&self, name: &str) -> Option<&Self> {
        self.by_class().find(|(class, _)| *class == name).map(|(_, parameter)| parameter)
    }
}
