//! The block cipher AES (FIPS 197), for scripts that encrypt parts of their requests. Its running time depends on the key,
//! so it must not be used for secrets of this program.

use std::sync::OnceLock;

/// The round keys of a key.
#[derive(Debug, Clone)]
pub struct Key(Vec<[u8; 16]>);

/// Multiplication by 2 in the field of AES.
fn doubled(byte: u8) -> u8 {
    (byte << 1) ^ if byte & 0x80 == 0 { 0 } else { 0x1b }
}

fn product(a: u8, b: u8) -> u8 {
    let (mut a, mut b, mut sum) = (a, b, 0);
    while b != 0 {
        if b & 1 != 0 {
            sum ^= a;
        }
        a = doubled(a);
        b >>= 1;
    }
    sum
}

/// The S-box of AES and its inverse.
fn boxes() -> &'static ([u8; 256], [u8; 256]) {
    static BOXES: OnceLock<([u8; 256], [u8; 256])> = OnceLock::new();
    BOXES.get_or_init(|| {
        let (mut forward, mut back) = ([0; 256], [0; 256]);
        for value in 0..=255_u8 {
            let inverse = (0..=255).find(|other| product(value, *other) == 1).unwrap_or(0);
            let made = (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn));
            forward[usize::from(value)] = made;
            back[usize::from(made)] = value;
        }
        (forward, back)
    })
}

impl Key {
    /// A key of 16, 24 or 32 bytes.
    pub fn new(bytes: &[u8]) -> Option<Key> {
        if !matches!(bytes.len(), 16 | 24 | 32) {
            return None;
        }
        let words = bytes.len() / 4;
        let rounds = words + 6;
        let forward = &boxes().0;
        let mut schedule: Vec<[u8; 4]> =
            bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect();
        let mut constant = 1_u8;
        for at in words..4 * (rounds + 1) {
            let mut word = schedule[at - 1];
            if at % words == 0 {
                word.rotate_left(1);
                word = word.map(|byte| forward[usize::from(byte)]);
                word[0] ^= constant;
                constant = doubled(constant);
            } else if words > 6 && at % words == 4 {
                word = word.map(|byte| forward[usize::from(byte)]);
            }
            let before = schedule[at - words];
            schedule.push([0, 1, 2, 3].map(|byte| word[byte] ^ before[byte]));
        }
        let round = |words: &[[u8; 4]]| {
            let mut key = [0; 16];
            key.iter_mut().zip(words.iter().flatten()).for_each(|(byte, source)| *byte = *source);
            key
        };
        Some(Key(schedule.chunks_exact(4).map(round).collect()))
    }

    fn add(&self, block: &mut [u8], round: usize) {
        block.iter_mut().zip(self.0[round]).for_each(|(byte, with)| *byte ^= with);
    }

    /// Encrypts a block of 16 bytes.
    pub fn encrypt(&self, block: &mut [u8]) {
        let last = self.0.len() - 1;
        self.add(block, 0);
        for round in 1..=last {
            let old: [u8; 16] = (&*block).try_into().unwrap_or([0; 16]);
            for (at, byte) in block.iter_mut().enumerate() {
                *byte = boxes().0[usize::from(old[(at + 4 * (at % 4)) % 16])];
            }
            if round != last {
                mix(block, [2, 3, 1, 1]);
            }
            self.add(block, round);
        }
    }

    /// Decrypts a block of 16 bytes.
    pub fn decrypt(&self, block: &mut [u8]) {
        let last = self.0.len() - 1;
        for round in (1..=last).rev() {
            self.add(block, round);
            if round != last {
                mix(block, [14, 11, 13, 9]);
            }
            let old: [u8; 16] = (&*block).try_into().unwrap_or([0; 16]);
            for (at, byte) in old.iter().enumerate() {
                block[(at + 4 * (at % 4)) % 16] = boxes().1[usize::from(*byte)];
            }
        }
        self.add(block, 0);
    }
}

/// Multiplies each column by a matrix whose first row is `factors`; each further row is rotated by one more place.
fn mix(block: &mut [u8], factors: [u8; 4]) {
    for column in block.chunks_exact_mut(4) {
        let old = [column[0], column[1], column[2], column[3]];
        for (row, byte) in column.iter_mut().enumerate() {
            *byte = (0..4).fold(0, |sum, at| sum ^ product(old[at], factors[(at + 4 - row) % 4]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_match_the_examples_of_the_standard() {
        // FIPS 197, appendix C.
        let plain: Vec<u8> = (0..16).map(|at| at * 0x11).collect();
        for (len, expected) in [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ] {
            let key = Key::new(&(0..len).collect::<Vec<u8>>()).expect("a key");
            let mut block = plain.clone();
            key.encrypt(&mut block);
            assert_eq!(super::super::encode::encode_hex(&block), expected);
            key.decrypt(&mut block);
            assert_eq!(block, plain);
        }
        assert!(Key::new(b"short").is_none());
    }
}
