//! Pre-processors, post-processors and assertions over a sample's result.
