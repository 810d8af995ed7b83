//! The part of a body that is kept in memory.

use md5::{Digest as _, Md5};

use busyhour_limits::Limit;

use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::response::grouped;

/// Bytes of a page in which it may name its encoding.
pub(crate) const PAGE_START_BYTES: usize = 2000;

/// Where the text of a body goes when somebody needs it.
pub(crate) struct Kept<'a> {
    pub(crate) body: &'a mut Vec<u8>,
    pub(crate) limit: BodyLimit,
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
        self.body.extend_from_slice(&text[..text.len().min(room)]);
        Ok(())
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
        let mut kept = Kept { body: &mut body, limit, md5: None };
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
        let (mut body, mut md5) = (Vec::new(), Md5::new());
        let mut kept = Kept { body: &mut body, limit: BodyLimit::Refuse(10), md5: Some(&mut md5) };
        for _ in 0..30 {
            kept.push(&[b'x'; 100]).unwrap();
        }
        assert_eq!(body.len(), PAGE_START_BYTES);
        assert_eq!(md5.finalize(), Md5::digest([b'x'; 3000]));
    }
}
