//! JMeter's functions, one file each.
