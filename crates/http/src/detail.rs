//! The fields that only HTTP samplers have, stored in the result of the program.

use std::any::Any;

use busyhour_program::result::{ProtocolDetail, SampleResult};
use busyhour_sample::{Detail, HttpDetail};

/// The fields, as the program stores them.
#[derive(Clone, Debug)]
struct Stored(HttpDetail);

impl ProtocolDetail for Stored {
    fn copy(&self) -> Box<dyn ProtocolDetail> {
        Box::new(self.clone())
    }

    fn write_to(&self, detail: &mut Detail) {
        detail.http = Some(Box::new(self.0.clone()));
    }
}

/// Sets the fields.
pub(crate) fn set(result: &mut SampleResult, detail: HttpDetail) {
    result.protocol_detail = Some(Box::new(Stored(detail)));
}

/// The fields, if they are retained.
pub(crate) fn of(result: &mut SampleResult) -> Option<&mut HttpDetail> {
    let stored: &mut dyn Any = &mut **result.protocol_detail.as_mut()?;
    stored.downcast_mut::<Stored>().map(|stored| &mut stored.0)
}

/// Takes the fields out of the result.
pub(crate) fn take(result: &mut SampleResult) -> Option<HttpDetail> {
    let stored: Box<dyn Any> = result.protocol_detail.take()?;
    stored.downcast::<Stored>().ok().map(|stored| stored.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_reach_the_recorded_sample_and_copies() {
        let mut result = SampleResult::default();
        assert!(of(&mut result).is_none() && take(&mut result).is_none());
        let method = Some("GET".to_owned());
        set(&mut result, HttpDetail { method, ..HttpDetail::default() });
        of(&mut result).unwrap().cookies.push_str("a=b");
        let copy = result.clone();
        let fields = take(&mut result).unwrap();
        assert_eq!((fields.method.as_deref(), fields.cookies.as_str()), (Some("GET"), "a=b"));
        let mut detail = Detail::default();
        copy.protocol_detail.unwrap().write_to(&mut detail);
        assert_eq!(detail.http.as_deref(), Some(&fields));
    }
}
