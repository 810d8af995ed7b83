//! What a run writes down: samples, labels, JTL, histograms and the run directory.
