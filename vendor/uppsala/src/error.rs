//! Error types for the Uppsala XML library.

use std::fmt;

/// The result type used throughout the library.
pub type XmlResult<T> = Result<T, XmlError>;

/// Represents all possible errors that can occur during XML processing.
#[derive(Debug, Clone, PartialEq)]
pub enum XmlError {
    /// The document is not well-formed XML.
    WellFormedness(WellFormednessError),
    /// A namespace-related error.
    Namespace(NamespaceError),
    /// An XPath evaluation error.
    XPath(XPathError),
    /// An XSD validation error.
    Validation(ValidationError),
    /// An unexpected end of input.
    UnexpectedEof,
    /// A generic parse error with a message.
    Parse(ParseError),
    /// KINDS: The document exceeds a limit of the parser.
    Limit(LimitError),
}

/// A parse error with location information.
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    /// Human-readable description of the error.
    pub message: String,
    /// Line number where the error was detected (1-based).
    pub line: usize,
    /// Column number where the error was detected (1-based).
    pub column: usize,
}

/// A well-formedness constraint violation.
#[derive(Debug, Clone, PartialEq)]
pub struct WellFormednessError {
    /// Human-readable description of the violation.
    pub message: String,
    /// Line number where the violation was detected (1-based).
    pub line: usize,
    /// Column number where the violation was detected (1-based).
    pub column: usize,
}

/// A namespace constraint violation.
#[derive(Debug, Clone, PartialEq)]
pub struct NamespaceError {
    /// Human-readable description of the namespace error.
    pub message: String,
    /// Line number where the error was detected (1-based).
    pub line: usize,
    /// Column number where the error was detected (1-based).
    pub column: usize,
}

/// An XPath evaluation error.
#[derive(Debug, Clone, PartialEq)]
pub struct XPathError {
    /// Human-readable description of the XPath error.
    pub message: String,
}

/// KINDS: What a validation error is about, as far as callers tell errors apart.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorKind {
    /// The root element has no declaration.
    UndeclaredElement,
    /// A required attribute is missing.
    MissingAttribute {
        /// The attribute, with its namespace in braces if it has one.
        attribute: String,
    },
    /// An attribute is not declared, and no wildcard permits it.
    UnexpectedAttribute {
        /// Local name of the attribute.
        attribute: String,
    },
    /// An element is not expected where it is.
    UnexpectedElement,
    /// A text is not in the lexical space of its built-in type.
    InvalidValue {
        /// The text.
        value: String,
        /// Name of the type.
        datatype: &'static str,
    },
    /// An element of a simple type has child elements.
    ChildrenInSimpleType,
    /// An element whose content is element-only contains text.
    TextInElementOnly,
    /// An element whose content is empty has content.
    ContentInEmpty,
    /// Any other error; only the message describes it.
    Other,
}

/// KINDS: A limit of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParserLimit {
    /// Depth of nested elements.
    Depth,
    /// Attributes of an element.
    Attributes,
    /// Bytes of namespace names that have to be copied.
    NamespaceBytes,
}

/// KINDS: A document exceeds a limit of the parser.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitError {
    /// The limit.
    pub limit: ParserLimit,
    /// Human-readable description of the error.
    pub message: String,
    /// Line number where the error was detected (1-based).
    pub line: usize,
    /// Column number where the error was detected (1-based).
    pub column: usize,
}

/// An XSD validation error.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationError {
    /// KINDS: What the error is about.
    pub kind: ErrorKind,
    /// KINDS: The error is in the value of an attribute.
    pub is_in_attribute: bool,
    /// Human-readable description of the validation failure.
    pub message: String,
    /// Line number in the instance document, if available.
    pub line: Option<usize>,
    /// Column number in the instance document, if available.
    pub column: Option<usize>,
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            XmlError::WellFormedness(e) => {
                write!(
                    f,
                    "Well-formedness error at {}:{}: {}",
                    e.line, e.column, e.message
                )
            }
            XmlError::Namespace(e) => {
                write!(
                    f,
                    "Namespace error at {}:{}: {}",
                    e.line, e.column, e.message
                )
            }
            XmlError::XPath(e) => write!(f, "XPath error: {}", e.message),
            XmlError::Validation(e) => match (e.line, e.column) {
                (Some(l), Some(c)) => {
                    write!(f, "Validation error at {}:{}: {}", l, c, e.message)
                }
                _ => write!(f, "Validation error: {}", e.message),
            },
            XmlError::UnexpectedEof => write!(f, "Unexpected end of input"),
            XmlError::Limit(e) => {
                write!(f, "Parse error at {}:{}: {}", e.line, e.column, e.message)
            }
            XmlError::Parse(e) => {
                write!(f, "Parse error at {}:{}: {}", e.line, e.column, e.message)
            }
        }
    }
}

impl std::error::Error for XmlError {}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(l), Some(c)) => write!(f, "{}:{}: {}", l, c, self.message),
            _ => write!(f, "{}", self.message),
        }
    }
}

impl XmlError {
    /// Create a [`ParseError`] with the given message and source location.
    pub(crate) fn parse(message: impl Into<String>, line: usize, column: usize) -> Self {
        XmlError::Parse(ParseError {
            message: message.into(),
            line,
            column,
        })
    }

    /// KINDS: Create a [`LimitError`] with the given message and source location.
    pub(crate) fn limit(
        limit: ParserLimit,
        message: impl Into<String>,
        line: usize,
        column: usize,
    ) -> Self {
        XmlError::Limit(LimitError { limit, message: message.into(), line, column })
    }

    /// Create a [`WellFormednessError`] with the given message and source location.
    pub(crate) fn well_formedness(message: impl Into<String>, line: usize, column: usize) -> Self {
        XmlError::WellFormedness(WellFormednessError {
            message: message.into(),
            line,
            column,
        })
    }

    /// Create a [`NamespaceError`] with the given message and source location.
    pub(crate) fn namespace(message: impl Into<String>, line: usize, column: usize) -> Self {
        XmlError::Namespace(NamespaceError {
            message: message.into(),
            line,
            column,
        })
    }

    /// Create an [`XPathError`] with the given message.
    pub(crate) fn xpath(message: impl Into<String>) -> Self {
        XmlError::XPath(XPathError {
            message: message.into(),
        })
    }

    /// Create a [`ValidationError`] with the given message (no source location).
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        XmlError::Validation(ValidationError {
            kind: ErrorKind::Other,
            is_in_attribute: false,
            message: message.into(),
            line: None,
            column: None,
        })
    }
}
