//! The name of the file of stacks, and its limits.

/// The name of the file in the run directory.
pub const STACKS_FILE_NAME: &str = "stacks.bhk";

/// The kind of the part in the manifest.
pub const STACKS_PART_KIND: &str = "stacks";

/// Version of the format.
pub const STACKS_FILE_VERSION: u32 = 1;

/// Dumps beyond this size of the file are counted, but not stored.
pub const STACKS_FILE_BYTES_MAX: u64 = 64 << 20;

/// The first field of the file.
pub(crate) const HEADER: &str = "busyhour-stacks";

/// Longer frames and names are shortened, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 400;

/// Frames of a stack; further ones at the root are left out.
pub(crate) const DEPTH_MAX: usize = 512;

/// Groups of threads of a dump.
pub(crate) const GROUPS_MAX: usize = 100_000;
