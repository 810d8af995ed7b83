//! Indices of the controllers and samplers of a group.

/// Index of a sampler in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerId(pub u32);

/// Index of a controller in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerId(pub u32);

/// A child of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Another controller.
    Controller(ControllerId),
    /// A sampler.
    Sampler(SamplerId),
}
