//! The error of this crate.

/// Why a document, expression or schema was rejected, or an evaluation was stopped. The message is that of the Java library where
/// it is known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum XmlError {
    /// A document is not well-formed.
    #[error("{message}")]
    NotWellFormed {
        /// The message of Java's parser, or of the library where Java's is not known.
        message: String,
        /// The error of the library.
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
    /// A document cannot be validated; the message of JMeter's XML Schema Assertion.
    #[error("fatal: {0}")]
    NotValidated(#[source] Box<XmlError>),
    /// A document violates its schema; the message of JMeter's XML Schema Assertion.
    #[error("error: line={line} col={column} {message}")]
    Invalid {
        /// The line where Xerces reports the first error.
        line: usize,
        /// Its column.
        column: usize,
        /// Its message.
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
