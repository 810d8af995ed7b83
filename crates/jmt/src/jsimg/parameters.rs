//! Parameters of sections: `<parameter>` and `<subParameter>`. A parameter names a Java class and contains a value, other
//! parameters, or one parameter for each class of customers. In the last case, each parameter follows a `<refClass>` with the
//! name of the class of customers.

use crate::element::Element;

impl Element {
    /// The Java class of a parameter, without its package.
    pub(super) fn java_class(&self) -> &str {
        let path = self.attribute("classPath").unwrap_or_default();
        path.rsplit('.').next().unwrap_or_default()
    }

    /// The value of a parameter.
    pub(super) fn value(&self) -> Option<&str> {
        self.child("value").map(Self::text)
    }

    /// The parameters inside of this parameter.
    pub(super) fn inner(&self) -> impl Iterator<Item = &Self> {
        self.children_named("subParameter")
    }

    /// The parameter with this name inside of this parameter.
    pub(super) fn inner_named(&self, name: &str) -> Option<&Self> {
        self.inner().find(|parameter| parameter.attribute("name") == Some(name))
    }

    /// The parameter with this name in a section.
    pub(super) fn parameter(&self, name: &str) -> Option<&Self> {
        self.children_named("parameter").find(|parameter| parameter.attribute("name") == Some(name))
    }

    /// The parameters by class of customers. Each one follows a `<refClass>` with the name of its class.
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

    /// The parameter for this class of customers.
    pub(super) fn for_class(&self, name: &str) -> Option<&Self> {
        self.by_class().find(|(class, _)| *class == name).map(|(_, parameter)| parameter)
    }
}
