//! The descriptor of an element of JMeter.

/// An element of JMeter: its names, and the properties that the compiler and the checks need. `C` is the class of the
/// element within its kind, or the role to which that class belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor<C> {
    /// The name of the class in plans: the short name of JMeter's own classes, the full name of plugins' classes.
    pub(crate) class: &'static str,
    /// The class of the element's editor, if elements with the same class differ in their editor; otherwise empty.
    pub(crate) gui: &'static str,
    /// Its name in JMeter's menus.
    pub(crate) name: &'static str,
    /// The class or role of the element.
    pub(crate) role: C,
    /// The parts that are not supported or differ from JMeter; may be empty.
    pub(crate) note: &'static str,
    /// The names of the properties that contain numbers.
    pub(crate) numbers: &'static [&'static str],
    /// The names of other properties that have the form `Family.name`, including those of inner elements.
    pub(crate) properties: &'static [&'static str],
    /// Whether the element has a row in the table of supported elements.
    pub(crate) listed: bool,
}

impl<C> Descriptor<C> {
    /// An element with a row in the table, without limits, numbers or properties.
    pub(crate) const fn new(class: &'static str, name: &'static str, role: C) -> Self {
        Self { class, gui: "", name, role, note: "", numbers: &[], properties: &[], listed: true }
    }

    /// Adds a note.
    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Adds the names of properties that contain numbers, integers or fractions.
    pub(crate) const fn numbers(mut self, numbers: &'static [&'static str]) -> Self {
        self.numbers = numbers;
        self
    }

    /// Adds the names of other properties.
    pub(crate) const fn properties(mut self, properties: &'static [&'static str]) -> Self {
        self.properties = properties;
        self
    }

    /// Restricts the descriptor to elements with this editor.
    pub(crate) const fn gui(mut self, gui: &'static str) -> Self {
        self.gui = gui;
        self
    }

    /// Removes the row from the table.
    pub(crate) const fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }
}

impl<C: Copy> Descriptor<C> {
    /// Converts the class to the role that it belongs to.
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
