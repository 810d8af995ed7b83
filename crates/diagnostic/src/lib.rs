//! Source spans, severities, messages with causes and hints, and how they are rendered.
