//! The test plan.

use std::sync::Arc;

use crate::edits::Edits;
use crate::encoding::Original;
use crate::tree::{ElementData, ElementId, PropertyData, PropertyId};

/// A test plan as written, with the complete content of the file.
///
/// Created by [`parse`](crate::parse). Elements are numbered in document order, so the subtree of an
/// element is a contiguous range of numbers.
#[derive(Clone, Debug)]
pub struct TestPlan {
    pub(crate) file: Arc<str>,
    /// The decoded text; spans contain offsets into it.
    pub(crate) text: Arc<str>,
    /// The bytes as read; `None` if they are the bytes of `text`.
    pub(crate) original: Option<Original>,
    pub(crate) version: Option<Box<str>>,
    pub(crate) jmeter_version: Option<Box<str>>,
    pub(crate) elements: Vec<ElementData>,
    pub(crate) properties: Vec<PropertyData>,
    pub(crate) roots: Vec<ElementId>,
    /// Properties that the file writes as references, and the properties that they refer to, in ascending order.
    pub(crate) aliases: Vec<(PropertyId, PropertyId)>,
    pub(crate) edits: Edits,
    /// The offset at which the text of each absorbed file begins, and the name of the file.
    pub(crate) parts: Vec<(usize, Arc<str>)>,
}

impl TestPlan {
    /// The file name given to [`parse`](crate::parse).
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The file that contains this offset of the text, and the offset at which the text of that file begins.
    pub(crate) fn part_at(&self, offset: usize) -> (&Arc<str>, usize) {
        let part = self.parts.iter().rev().find(|(base, _)| *base <= offset);
        part.map_or((&self.file, 0), |(base, file)| (file, *base))
    }

    /// The decoded text of the file as it was read; spans refer to it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.text
    }

    /// The name of the character encoding with which the file was read, such as `UTF-8`.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        self.original.as_ref().map_or("UTF-8", |original| original.encoding.name())
    }

    /// The `version` attribute of the `jmeterTestPlan` element, such as `1.2`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The `jmeter` attribute of the `jmeterTestPlan` element: the version of JMeter that wrote the file.
    #[must_use]
    pub fn jmeter_version(&self) -> Option<&str> {
        self.jmeter_version.as_deref()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether the plan has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }
}
