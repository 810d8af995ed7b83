//! The error of this crate. "The library" is uppsala, which parses and validates XML.

/// Why a document, expression or schema was rejected, or why an evaluation was stopped. If the message of the corresponding
/// Java library is known, it is used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum XmlError {
    /// A document is not well-formed.
    #[error("{message}")]
    NotWellFormed {
        /// The message of Java's parser, or of the library if Java's message is unknown.
        message: String,
        /// The error of the library, if there is one.
        #[source]
        source: Option<Box<uppsala::XmlError>>,
    },
    /// A document nests elements too deeply.
    #[error("the document nests elements deeper than {0}")]
    TooDeep(u32),
    /// A document has too many attributes.
    #[error("{0}")]
    TooManyAttributes(String),
    /// An expression is empty.
    #[error("the expression is empty")]
    EmptyExpression,
    /// An expression is not valid, or uses an unknown function or variable.
    #[error("{message}")]
    Expression {
        /// The message of the library, without the kind of error.
        message: String,
        /// The error of the library.
        #[source]
        source: Box<uppsala::XmlError>,
    },
    /// An expression uses a prefix without a namespace.
    #[error("Prefix must resolve to a namespace: {0}")]
    UnknownPrefix(String),
    /// An evaluation was stopped after this number of steps.
    #[error("the XPath expression needs more than {0} steps on this document")]
    XPathSteps(u64),
    /// A text is not a schema.
    #[error("its root element is not the <schema> of XML Schema")]
    NotASchema,
    /// A schema is not well-formed, or not valid.
    #[error("{0}")]
    Schema(#[source] Box<uppsala::XmlError>),
    /// The compilation or use of a schema was stopped after this number of steps.
    #[error("the XML Schema takes more than {0} steps or is nested too deeply")]
    SchemaSteps(u64),
    /// A document cannot be validated. The message is that of JMeter's XML Schema Assertion.
    #[error("fatal: {0}")]
    NotValidated(#[source] Box<XmlError>),
    /// A document violates its schema. The message is that of JMeter's XML Schema Assertion.
    #[error("error: line={line} col={column} {message}")]
    Invalid {
        /// The line where Xerces reports the first error.
        line: usize,
        /// The column of this error.
        column: usize,
        /// The message for this error.
        message: String,
    },
}

impl XmlError {
    /// The error of an expression: the library's message without the prefix that names the kind of error.
    pub(crate) fn of_expression(source: uppsala::XmlError) -> Self {
        let message = match &source {
            uppsala::XmlError::XPath(error) => error.message.clone(),
            error => error.to_string(),
        };
        Self::Expression { message, source: Box::new(source) }
    }
}
