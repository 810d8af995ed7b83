//! The error of this crate.

busyhour_diagnostic::message_error! {
    /// Why a document, expression or schema was refused, or an evaluation ended: the message of the Java library where
    /// that is known.
    pub struct XmlError;
}
