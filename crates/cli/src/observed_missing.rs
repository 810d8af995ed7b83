//! Replaces the use of observed series in a program that was built without observation.

use busyhour_launch::Prepared;
use busyhour_live::LiveView;

use crate::observing::ObservedSeries;

/// Does nothing: there are no observed series.
pub(crate) fn pass_on(_observed: &ObservedSeries, _prepared: &mut Prepared, _view: Option<&LiveView>) {}
