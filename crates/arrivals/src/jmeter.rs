//! The schedule text of Apache JMeter's Open Model Thread Group.
