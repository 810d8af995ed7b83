//! Whether a response is text or binary.

/// JMeter's data type of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DataType {
    /// The type is unknown; the column is empty.
    #[default]
    Unknown,
    /// Text; `text` in the column.
    Text,
    /// Binary data; `bin` in the column.
    Binary,
}

impl DataType {
    /// The text in the `dataType` column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DataType::Unknown => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        }
    }

    pub(crate) const fn from_bits(bits: u8) -> DataType {
        match bits {
            1 => DataType::Text,
            2 => DataType::Binary,
            _ => DataType::Unknown,
        }
    }

    pub(crate) const fn bits(self) -> u8 {
        match self {
            DataType::Unknown => 0,
            DataType::Text => 1,
            DataType::Binary => 2,
        }
    }
}
