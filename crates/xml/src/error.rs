//! The error of this crate.

busyhour_diagnostic::message_error! {
    /// Why a document, expression or schema was rejected, or an evaluation was stopped. The message is that of the Java
    /// library where it is known.
    pub struct XmlError;
}
