//! Errors of the settings of a run.

/// Why the objects of a run cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// A name is not a DNS label.
    #[error(
        "{what} {name:?} is not valid in Kubernetes: at most {max} lower-case letters, digits and hyphens, beginning and \
         ending with a letter or digit"
    )]
    Name {
        /// The kind of object that has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// Maximum number of characters.
        max: usize,
    },
    /// A label is not valid.
    #[error(
        "the label {0:?} is not valid in Kubernetes: letters, digits, '-', '_' and '.', at most 63 characters"
    )]
    Label(String),
    /// A quantity is not valid.
    #[error("{what} {text:?} is not a quantity; write for example {example}")]
    Quantity {
        /// The option or setting with the quantity.
        what: &'static str,
        /// The text.
        text: String,
        /// A valid text.
        example: &'static str,
    },
    /// A number must be positive.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// An address block is not valid.
    #[error("{0:?} is not a block of addresses; write for example 10.0.0.0/8")]
    Cidr(String),
    /// A toleration is not valid.
    #[error(
        "{0:?} is not a taint; write KEY, KEY=VALUE or KEY=VALUE:EFFECT with the effect NoSchedule, PreferNoSchedule or NoExecute"
    )]
    Toleration(String),
    /// The address of the hub is not that of a Service.
    #[error(
        "the invitations of the hub contain the address {url:?}, which is not that of a Service{reason}; create the files of the \
         hub with: busyhour cluster init --dir DIR --host NAME-hub"
    )]
    HubAddress {
        /// The address.
        url: String,
        /// More on the reason, with a leading separator.
        reason: String,
    },
    /// The files of the plan do not fit into a Secret.
    #[error(
        "the plan and its files have {total} bytes, but a Secret holds at most {max}; the largest file is {file} with {bytes} bytes"
    )]
    TooLarge {
        /// Size of all files.
        total: usize,
        /// Maximum size.
        max: usize,
        /// The largest file.
        file: String,
        /// Its size.
        bytes: usize,
    },
    /// Two files have the same key in the Secret.
    #[error("the files {first:?} and {second:?} have the same key in the Secret; rename one of them")]
    SameKey {
        /// A path.
        first: String,
        /// Another path.
        second: String,
    },
    /// Helm would evaluate the name of a file.
    #[error("Helm would evaluate the name of the file {0:?}; rename it")]
    Template(String),
    /// A file is outside of the directory of the plan.
    #[error("the file {0:?} is not below the directory of the plan")]
    Outside(String),
}
