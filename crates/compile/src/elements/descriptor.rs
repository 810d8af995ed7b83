//! What is written down about an element of JMeter.

/// An element of JMeter: its names, and what the compiler and the checks need of it. `C` is its class within
/// its kind, or the role that such a class belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor<C> {
    /// JMeter's name of the class: the short one of JMeter's own classes, the full one of plugins'.
    pub(crate) class: &'static str,
    /// Class of its editor, where elements of one class differ in it; else empty.
    pub(crate) gui: &'static str,
    /// Its name in JMeter's menus.
    pub(crate) name: &'static str,
    /// What it is.
    pub(crate) role: C,
    /// What is left out or differs from JMeter; may be empty.
    pub(crate) note: &'static str,
    /// Properties that hold numbers.
    pub(crate) numbers: &'static [&'static str],
    /// Other properties whose names have the form `Family.name`, those of inner elements included.
    pub(crate) properties: &'static [&'static str],
    /// It has a row in the table of supported elements.
    pub(crate) listed: bool,
}

impl<C> Descriptor<C> {
    /// An element with a row in the table, without limits, numbers or properties.
    pub(crate) const fn new(class: &'static str, name: &'static str, role: C) -> Self {
        Self { class, gui: "", name, role, note: "", numbers: &[], properties: &[], listed: true }
    }

    /// The same with a note.
    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// The same with properties that hold numbers: whole ones and fractions alike.
    pub(crate) const fn numbers(mut self, numbers: &'static [&'static str]) -> Self {
        self.numbers = numbers;
        self
    }

    /// The same with the names of other properties.
    pub(crate) const fn properties(mut self, properties: &'static [&'static str]) -> Self {
        self.properties = properties;
        self
    }

    /// The same for elements with this editor only.
    pub(crate) const fn gui(mut self, gui: &'static str) -> Self {
        self.gui = gui;
        self
    }

    /// The same without a row in the table.
    pub(crate) const fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }
}

impl<C: Copy> Descriptor<C> {
    /// The same with the role that its class belongs to.
    pub(crate) fn with_role<R: From<C>>(&self) -> Descriptor<R> {
        Descriptor {
            class: self.class,
            gui: self.gui,
            name: self.name,
            role: R::from(self.role),
            note: self.note,
            numbers: self.numbers,
            properties: self.properties,
            listed: self.listed,
        }
    }
}
