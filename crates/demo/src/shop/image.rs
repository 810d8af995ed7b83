//! The image that half of all requests download.

use bytes::Bytes;

/// The size of TicketMonster's image, in bytes.
pub(super) const IMAGE_BYTES: usize = 192_829;
/// The size of the image that TicketMonster returns for media items that do not exist, in bytes.
const PLACEHOLDER_BYTES: usize = 180_634;

const WIDTH: usize = 320;
const HEIGHT: usize = 200;
const PLACEHOLDER_HEIGHT: usize = 180;
/// The maximum size of a stored block of a deflate stream (RFC 1951, 3.2.4).
const STORED_BYTES_MAX: usize = 65_535;
/// The modulus of Adler-32 (RFC 1950, 8.2).
const ADLER_MODULUS: u32 = 65_521;

/// A PNG of exactly [`IMAGE_BYTES`] bytes, the same in every shop: an evening sky over a stage. It is stored
/// uncompressed and padded with a comment, so its size does not depend on a compression algorithm.
pub(super) fn splash() -> Bytes {
    picture(IMAGE_BYTES, HEIGHT)
}

/// The same image with fewer lines, [`PLACEHOLDER_BYTES`] bytes long.
pub(super) fn placeholder() -> Bytes {
    picture(PLACEHOLDER_BYTES, PLACEHOLDER_HEIGHT)
}

/// A PNG of `bytes` bytes and `height` lines.
fn picture(bytes: usize, height: usize) -> Bytes {
    let mut png = Vec::with_capacity(bytes);
    png.extend_from_slice(b"\x89PNG\r\n\x1a\n");
    let mut header = Vec::new();
    header.extend_from_slice(&(WIDTH as u32).to_be_bytes());
    header.extend_from_slice(&(height as u32).to_be_bytes());
    header.extend_from_slice(&[8, 2, 0, 0, 0]); // 8 bits per channel, RGB, no interlacing
    chunk(&mut png, b"IHDR", &header);
    chunk(&mut png, b"IDAT", &stored(&pixels(height)));
    let end_and_comment_bytes = 2 * 12;
    let mut comment = b"Comment\0".to_vec();
    comment.resize(bytes - png.len() - end_and_comment_bytes, b' ');
    chunk(&mut png, b"tEXt", &comment);
    chunk(&mut png, b"IEND", &[]);
    Bytes::from(png)
}

/// The scan lines, each preceded by its filter byte.
fn pixels(height: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(height * (1 + 3 * WIDTH));
    let mut noise: u32 = 0x7469_636b;
    for y in 0..height {
        out.push(0);
        for x in 0..WIDTH {
            // xorshift32 (Marsaglia 2003) adds a little noise, the same in every image.
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            let grain = (noise >> 29) as usize;
            let glow = 120_usize.saturating_sub(x.abs_diff(WIDTH / 2)) * y / height;
            let star = if noise.is_multiple_of(997) && y < height / 2 { 150 } else { 0 };
            let shade = |base: usize| u8::try_from(base + grain + star).unwrap_or(u8::MAX);
            out.extend_from_slice(&[
                shade(20 + y / 3 + glow),
                shade(12 + y / 8 + glow / 2),
                shade(60_usize.saturating_sub(y / 6) + 20),
            ]);
        }
    }
    out
}

/// A zlib stream of stored blocks.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = data.chunks(STORED_BYTES_MAX);
    let last = blocks.len() - 1;
    for (index, block) in blocks.enumerate() {
        let bytes = block.len() as u16;
        out.push(u8::from(index == last));
        out.extend_from_slice(&bytes.to_le_bytes());
        out.extend_from_slice(&(!bytes).to_le_bytes());
        out.extend_from_slice(block);
    }
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % ADLER_MODULUS;
        (low, (high + low) % ADLER_MODULUS)
    });
    out.extend_from_slice(&(high << 16 | low).to_be_bytes());
    out
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    png.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend_from_slice(kind);
    png.extend_from_slice(data);
    let checksum = crc32fast::hash(&png[start..]);
    png.extend_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_sizes_of_the_original_and_are_png() {
        check_png(&splash(), IMAGE_BYTES);
        check_png(&placeholder(), PLACEHOLDER_BYTES);
    }

    fn check_png(png: &[u8], bytes: usize) {
        assert_eq!(png.len(), bytes);
        let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("signature");
        let mut kinds = Vec::new();
        while !rest.is_empty() {
            let bytes = u32::from_be_bytes(rest[..4].try_into().expect("length")) as usize;
            let checksum = u32::from_be_bytes(rest[8 + bytes..12 + bytes].try_into().expect("checksum"));
            assert_eq!(crc32fast::hash(&rest[4..8 + bytes]), checksum);
            kinds.push(String::from_utf8_lossy(&rest[4..8]).into_owned());
            rest = &rest[12 + bytes..];
        }
        assert_eq!(kinds, ["IHDR", "IDAT", "tEXt", "IEND"]);
    }
}
