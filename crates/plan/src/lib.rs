//! The JMX test plan as written: a lossless tree with spans.
