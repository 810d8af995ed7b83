//! The part of a body that is kept in memory.

use std::cell::Cell;
use std::rc::Rc;

use md5::{Digest as _, Md5};

use busyhour_limits::Limit;
use busyhour_program::body_memory::BodyMemory;

use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::response::grouped;

/// Bytes of a page in which it may name its encoding.
pub(crate) const PAGE_START_BYTES: usize = 2000;

/// How much the bodies of one sample may still take, shared by its redirects and embedded resources.
#[derive(Clone, Debug)]
pub(crate) struct Room(Rc<Space>);

#[derive(Debug)]
struct Space {
    most: usize,
    left: Cell<usize>,
}

impl Room {
    /// Room for `most` bytes, `used` of which are occupied.
    pub(crate) fn new(most: usize, used: usize) -> Self {
        Self(Rc::new(Space { most, left: Cell::new(most.saturating_sub(used)) }))
    }

    /// Reserves room.
    ///
    /// # Errors
    /// There is not enough room.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Failure> {
        let left = self.0.left.get().checked_sub(bytes).ok_or_else(|| {
            let message = format!(
                "The response bodies of a sample, its redirects and embedded resources are longer than the {} bytes \
                 that are kept of them; httpsampler.max_bytes_to_store_per_request=0 keeps all",
                grouped(self.0.most as u64)
            );
            Failure::limited(Limit::SampleBodyBytes, "org.apache.http.ContentTooLongException", message)
        })?;
        self.0.left.set(left);
        Ok(())
    }

    /// A body of so many bytes is not kept any longer.
    pub(crate) fn release(&self, bytes: usize) {
        self.0.left.set(self.0.left.get().saturating_add(bytes).min(self.0.most));
    }
}

/// The destination of a body that is needed.
pub(crate) struct Kept<'a> {
    pub(crate) body: &'a mut Vec<u8>,
    /// Its share in the memory for all bodies.
    pub(crate) memory: &'a mut BodyMemory,
    pub(crate) limit: BodyLimit,
    /// What the sample has left, where it has several responses.
    pub(crate) room: Option<&'a Room>,
    /// Only the MD5 sum of the body is wanted, and the start of the page.
    pub(crate) md5: Option<&'a mut Md5>,
}

impl Kept<'_> {
    /// Takes a piece of text.
    ///
    /// # Errors
    /// The body is longer than what may be kept.
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
        let room = most.saturating_sub(self.body.len());
        let stored = text.len().min(room);
        if let Some(room) = self.room {
            room.take(stored)?;
        }
        self.memory.append(self.body, &text[..stored]).map_err(Failure::no_memory)
    }
}

fn too_long(most: usize) -> Failure {
    let message = format!(
        "Response body is longer than the {} bytes that are kept of it; \
         httpsampler.max_bytes_to_store_per_request keeps fewer or (0) all",
        grouped(most as u64)
    );
    Failure::limited(Limit::BodyBytes, "org.apache.http.ContentTooLongException", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(limit: BodyLimit, pieces: &[&[u8]]) -> (Vec<u8>, Result<(), Option<Limit>>) {
        let mut body = Vec::new();
        let mut kept =
            Kept { body: &mut body, memory: &mut BodyMemory::default(), limit, room: None, md5: None };
        let all = pieces.iter().try_for_each(|piece| kept.push(piece));
        (body, all.map_err(|failure| failure.limit))
    }

    #[test]
    fn a_body_is_refused_cut_or_kept_whole() {
        let pieces: [&[u8]; 3] = [b"1234", b"56", b"78"];
        assert_eq!(keep(BodyLimit::Unlimited, &pieces), (b"12345678".to_vec(), Ok(())));
        assert_eq!(keep(BodyLimit::Truncate(5), &pieces), (b"12345".to_vec(), Ok(())));
        assert_eq!(keep(BodyLimit::Refuse(8), &pieces), (b"12345678".to_vec(), Ok(())));
        let refused = Err(Some(Limit::BodyBytes));
        assert_eq!(keep(BodyLimit::Refuse(7), &pieces), (b"123456".to_vec(), refused));
    }

    #[test]
    fn of_a_summed_body_only_the_start_is_kept() {
        let (mut body, mut memory, mut md5) = (Vec::new(), BodyMemory::default(), Md5::new());
        let mut kept = Kept {
            body: &mut body,
            memory: &mut memory,
            limit: BodyLimit::Refuse(10),
            room: None,
            md5: Some(&mut md5),
        };
        for _ in 0..30 {
            kept.push(&[b'x'; 100]).unwrap();
        }
        assert_eq!(body.len(), PAGE_START_BYTES);
        assert_eq!(md5.finalize(), Md5::digest([b'x'; 3000]));
    }
}
