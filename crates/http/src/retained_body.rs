//! The part of a body that is retained in memory.

use std::cell::Cell;
use std::rc::Rc;

use md5::{Digest as _, Md5};

use busyhour_limits::Limit;
use busyhour_program::body_memory::BodyMemory;

use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::response::grouped;

/// The number of bytes at the start of a page that may specify its encoding.
pub(crate) const PAGE_START_BYTES: usize = 2000;

/// The number of bytes that the bodies of one sample may still take. The sample's redirects and embedded resources share it.
#[derive(Clone, Debug)]
pub(crate) struct BodyBudget(Rc<BudgetState>);

#[derive(Debug)]
struct BudgetState {
    most: usize,
    left: Cell<usize>,
}

impl BodyBudget {
    /// Creates a budget of `most` bytes; `used` bytes are already used.
    pub(crate) fn new(most: usize, used: usize) -> Self {
        Self(Rc::new(BudgetState { most, left: Cell::new(most.saturating_sub(used)) }))
    }

    /// Reserves bytes.
    ///
    /// # Errors
    /// If the budget is exceeded.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<(), Failure> {
        let left = self.0.left.get().checked_sub(bytes).ok_or_else(|| {
            let message = format!(
                "The response bodies of a sample, its redirects and embedded resources exceed the {} bytes \
                 that are retained; set httpsampler.max_bytes_to_store_per_request=0 to retain all",
                grouped(self.0.most as u64)
            );
            Failure::limited(Limit::SampleBodyBytes, "org.apache.http.ContentTooLongException", message)
        })?;
        self.0.left.set(left);
        Ok(())
    }

    /// Releases the bytes of a body that is no longer retained.
    pub(crate) fn release(&self, bytes: usize) {
        self.0.left.set(self.0.left.get().saturating_add(bytes).min(self.0.most));
    }
}

/// The buffer for a body that is needed.
pub(crate) struct RetainedBody<'a> {
    pub(crate) body: &'a mut Vec<u8>,
    /// Its part of the memory for all bodies.
    pub(crate) memory: &'a mut BodyMemory,
    pub(crate) limit: BodyLimit,
    /// The remaining budget of the sample, if it has several responses.
    pub(crate) budget: Option<&'a BodyBudget>,
    /// The MD5 sum, if only the sum and the start of the page are needed.
    pub(crate) md5: Option<&'a mut Md5>,
}

impl RetainedBody<'_> {
    /// Appends a piece of text.
    ///
    /// # Errors
    /// If the body exceeds a limit.
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<(), Failure> {
        let most = match (&mut self.md5, self.limit) {
            (Some(md5), _) => {
                md5.update(text);
                PAGE_START_BYTES
            }
            (None, BodyLimit::Refuse(most)) if text.len() > most.saturating_sub(self.body.len()) => {
                return Err(too_long(most));
            }
            (None, BodyLimit::Truncate(most)) => most,
            (None, BodyLimit::Refuse(_) | BodyLimit::Unlimited) => usize::MAX,
        };
        let space = most.saturating_sub(self.body.len());
        let stored = text.len().min(space);
        if let Some(budget) = self.budget {
            budget.reserve(stored)?;
        }
        self.memory.append(self.body, &text[..stored]).map_err(Failure::no_memory)
    }
}

fn too_long(most: usize) -> Failure {
    let message = format!(
        "Response body exceeds the {} bytes that are retained; \
         set httpsampler.max_bytes_to_store_per_request to retain fewer, or to 0 to retain all",
        grouped(most as u64)
    );
    Failure::limited(Limit::BodyBytes, "org.apache.http.ContentTooLongException", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(limit: BodyLimit, pieces: &[&[u8]]) -> (Vec<u8>, Result<(), Option<Limit>>) {
        let mut body = Vec::new();
        let mut retained = RetainedBody {
            body: &mut body,
            memory: &mut BodyMemory::default(),
            limit,
            budget: None,
            md5: None,
        };
        let all = pieces.iter().try_for_each(|piece| retained.push(piece));
        (body, all.map_err(|failure| failure.limit))
    }

    #[test]
    fn a_body_is_rejected_truncated_or_retained() {
        let pieces: [&[u8]; 3] = [b"1234", b"56", b"78"];
        assert_eq!(keep(BodyLimit::Unlimited, &pieces), (b"12345678".to_vec(), Ok(())));
        assert_eq!(keep(BodyLimit::Truncate(5), &pieces), (b"12345".to_vec(), Ok(())));
        assert_eq!(keep(BodyLimit::Refuse(8), &pieces), (b"12345678".to_vec(), Ok(())));
        let refused = Err(Some(Limit::BodyBytes));
        assert_eq!(keep(BodyLimit::Refuse(7), &pieces), (b"123456".to_vec(), refused));
    }

    #[test]
    fn only_the_start_of_a_body_with_md5_is_retained() {
        let (mut body, mut memory, mut md5) = (Vec::new(), BodyMemory::default(), Md5::new());
        let mut retained = RetainedBody {
            body: &mut body,
            memory: &mut memory,
            limit: BodyLimit::Refuse(10),
            budget: None,
            md5: Some(&mut md5),
        };
        for _ in 0..30 {
            retained.push(&[b'x'; 100]).unwrap();
        }
        assert_eq!(body.len(), PAGE_START_BYTES);
        assert_eq!(md5.finalize(), Md5::digest([b'x'; 3000]));
    }
}
