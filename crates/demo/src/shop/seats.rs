//! Occupied seats of a section, and the search for a free block.
//!
//! The tickets in the database are authoritative; a [`SeatMap`] caches them as bits, which makes the search for a block
//! fast. A unique index over the seats of the tickets would prevent a second sale even if a map were wrong.

use std::collections::HashMap;

use rusqlite::{Connection, params};

/// Maximum number of cached maps. If it is exceeded, all maps are dropped and read again when needed.
const MAPS_MAX: usize = 50_000;

const WORD_BITS: u32 = u64::BITS;

/// A block of adjacent seats in one row. Rows and seats are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The row.
    pub(super) row: u32,
    /// The first seat.
    pub(super) first: u32,
    /// The number of seats.
    pub(super) seats: u32,
}

/// The occupied seats of one section at one performance.
#[derive(Debug, Clone)]
pub(super) struct SeatMap {
    rows: u32,
    row_capacity: u32,
    /// The rows, starting with the first one; rows beyond the end are free.
    taken: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    /// One bit per seat, set if occupied; words beyond the end are free.
    words: Vec<u64>,
    /// The length of the longest run of free seats, so that rows that cannot hold a block are skipped.
    gap_max: u32,
}

impl Row {
    fn is_taken(&self, seat: u32) -> bool {
        let word = self.words.get((seat / WORD_BITS) as usize).copied().unwrap_or(0);
        word >> (seat % WORD_BITS) & 1 == 1
    }

    /// The first seat from `from` on that is occupied (if `taken`) or free (otherwise); `capacity` if there is none.
    fn next(&self, from: u32, taken: bool, capacity: u32) -> u32 {
        let mut seat = from;
        while seat < capacity {
            let word = self.words.get((seat / WORD_BITS) as usize).copied().unwrap_or(0);
            let wanted = if taken { word } else { !word } >> (seat % WORD_BITS);
            if wanted != 0 {
                return (seat + wanted.trailing_zeros()).min(capacity);
            }
            seat = (seat / WORD_BITS + 1) * WORD_BITS;
        }
        capacity
    }

    /// The start of the first run of at least `seats` free seats, counted from 0.
    fn find_gap(&self, seats: u32, capacity: u32) -> Option<u32> {
        let mut start = self.next(0, false, capacity);
        while capacity - start >= seats {
            let end = self.next(start, true, capacity);
            if end - start >= seats {
                return Some(start);
            }
            start = self.next(end, false, capacity);
        }
        None
    }

    fn update_gap_max(&mut self, capacity: u32) {
        let mut longest = 0;
        let mut start = self.next(0, false, capacity);
        while start < capacity {
            let end = self.next(start, true, capacity);
            longest = longest.max(end - start);
            start = self.next(end, false, capacity);
        }
        self.gap_max = longest;
    }
}

impl SeatMap {
    /// A section with only free seats.
    pub(super) fn new(rows: u32, row_capacity: u32) -> Self {
        Self { rows, row_capacity, taken: Vec::new() }
    }

    /// The first block of `seats` adjacent free seats, with the rows in ascending order; `None` if no row contains one.
    pub(super) fn find(&self, seats: u32) -> Option<Block> {
        if seats == 0 || seats > self.row_capacity {
            return None;
        }
        for (row, state) in (1..).zip(&self.taken) {
            if state.gap_max >= seats
                && let Some(start) = state.find_gap(seats, self.row_capacity)
            {
                return Some(Block { row, first: start + 1, seats });
            }
        }
        let untouched = u32::try_from(self.taken.len()).ok().filter(|touched| *touched < self.rows)?;
        Some(Block { row: untouched + 1, first: 1, seats })
    }

    /// Marks a block as occupied. Returns false, and changes nothing, if one of its seats does not exist or is
    /// occupied.
    pub(super) fn occupy(&mut self, block: Block) -> bool {
        let Some(last) = block.first.checked_add(block.seats).map(|end| end - 1) else { return false };
        if block.row == 0 || block.first == 0 || block.row > self.rows || last > self.row_capacity {
            return false;
        }
        let capacity = self.row_capacity;
        let row = self.row(block.row);
        if (block.first - 1..last).any(|seat| row.is_taken(seat)) {
            return false;
        }
        let words = (last / WORD_BITS + 1) as usize;
        if row.words.len() < words {
            row.words.resize(words, 0);
        }
        for seat in block.first - 1..last {
            row.words[(seat / WORD_BITS) as usize] |= 1 << (seat % WORD_BITS);
        }
        row.update_gap_max(capacity);
        true
    }

    /// Frees the seats, given as (row, seat). Seats that are already free stay free.
    pub(super) fn free(&mut self, seats: impl IntoIterator<Item = (u32, u32)>) {
        let capacity = self.row_capacity;
        let mut changed_row = None;
        for (row, seat) in seats {
            if row == 0 || seat == 0 || row as usize > self.taken.len() || seat > capacity {
                continue;
            }
            if let Some(other) = changed_row.replace(row).filter(|other| *other != row) {
                self.row(other).update_gap_max(capacity);
            }
            if let Some(word) = self.row(row).words.get_mut(((seat - 1) / WORD_BITS) as usize) {
                *word &= !(1 << ((seat - 1) % WORD_BITS));
            }
        }
        if let Some(row) = changed_row {
            self.row(row).update_gap_max(capacity);
        }
    }

    fn row(&mut self, row: u32) -> &mut Row {
        let index = row as usize - 1;
        if self.taken.len() <= index {
            let gap_max = self.row_capacity;
            self.taken.resize_with(index + 1, || Row { words: Vec::new(), gap_max });
        }
        &mut self.taken[index]
    }
}

/// The seat maps that were loaded, by performance and section.
#[derive(Debug, Default)]
pub(super) struct SeatMaps {
    maps: HashMap<(i64, i64), SeatMap>,
}

impl SeatMaps {
    /// The map of a section at a performance. If it is not loaded, it is read from the tickets.
    pub(super) fn get(
        &mut self,
        connection: &Connection,
        performance: i64,
        section: i64,
    ) -> rusqlite::Result<&mut SeatMap> {
        let key = (performance, section);
        if !self.maps.contains_key(&key) {
            if self.maps.len() >= MAPS_MAX {
                self.maps.clear();
            }
            let map = read(connection, performance, section)?;
            self.maps.insert(key, map);
        }
        Ok(self.maps.entry(key).or_insert_with(|| SeatMap::new(0, 0)))
    }

    /// The map of a section at a performance, if it is loaded.
    pub(super) fn loaded(&mut self, performance: i64, section: i64) -> Option<&mut SeatMap> {
        self.maps.get_mut(&(performance, section))
    }

    /// Drops all loaded maps, after tickets were changed without updating the maps.
    pub(super) fn clear(&mut self) {
        self.maps.clear();
    }
}

fn read(connection: &Connection, performance: i64, section: i64) -> rusqlite::Result<SeatMap> {
    let (rows, row_capacity) = connection
        .prepare_cached("SELECT number_of_rows, row_capacity FROM sections WHERE id = ?1")?
        .query_row([section], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut map = SeatMap::new(rows, row_capacity);
    let mut taken = connection.prepare_cached(
        "SELECT row_number, seat_number FROM tickets WHERE performance_id = ?1 AND section_id = ?2
         ORDER BY row_number, seat_number",
    )?;
    let mut tickets = taken.query(params![performance, section])?;
    while let Some(ticket) = tickets.next()? {
        // Seats are occupied one by one; scanning each row once would be faster, but this happens only once per map.
        map.occupy(Block { row: ticket.get(0)?, first: ticket.get(1)?, seats: 1 });
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn book(map: &mut SeatMap, seats: u32) -> Option<(u32, u32)> {
        let block = map.find(seats)?;
        assert!(map.occupy(block), "{block:?} was reported free");
        Some((block.row, block.first))
    }

    #[test]
    fn two_rows_of_five_are_filled_as_in_the_original() {
        let mut map = SeatMap::new(2, 5);
        assert_eq!(book(&mut map, 3), Some((1, 1)));
        assert_eq!(book(&mut map, 3), Some((2, 1)));
        assert_eq!(book(&mut map, 3), None);
        assert_eq!(book(&mut map, 2), Some((1, 4)));
        assert_eq!(book(&mut map, 2), Some((2, 4)));
        assert_eq!(book(&mut map, 1), None);
        map.free([(2, 2)]);
        assert_eq!(book(&mut map, 2), None);
        assert_eq!(book(&mut map, 1), Some((2, 2)));
    }

    #[test]
    fn a_block_wider_than_a_row_never_fits() {
        let map = SeatMap::new(10, 5);
        assert_eq!(map.find(6), None);
        assert_eq!(map.find(0), None);
        assert_eq!(map.find(5), Some(Block { row: 1, first: 1, seats: 5 }));
    }

    #[test]
    fn taken_and_absent_seats_are_refused() {
        let mut map = SeatMap::new(1, 70);
        assert!(map.occupy(Block { row: 1, first: 60, seats: 11 }));
        assert!(!map.occupy(Block { row: 1, first: 70, seats: 1 }));
        assert!(!map.occupy(Block { row: 1, first: 70, seats: 2 }));
        assert!(!map.occupy(Block { row: 2, first: 1, seats: 1 }));
        assert_eq!(map.find(59), Some(Block { row: 1, first: 1, seats: 59 }));
        assert_eq!(map.find(60), None);
    }

    /// A simple reference implementation of the first-fit search.
    fn first_fit(taken: &[Vec<bool>], seats: usize) -> Option<(u32, u32)> {
        for (row, state) in (1..).zip(taken) {
            for (first, run) in (1..).zip(state.windows(seats)) {
                if run.iter().all(|taken| !taken) {
                    return Some((row, first));
                }
            }
        }
        None
    }

    proptest! {
        #[test]
        fn the_map_implements_first_fit(
            rows in 1u32..5,
            capacity in 1u32..150,
            steps in prop::collection::vec((any::<bool>(), 1u32..40, any::<prop::sample::Index>()), 1..80),
        ) {
            let mut map = SeatMap::new(rows, capacity);
            let mut model = vec![vec![false; capacity as usize]; rows as usize];
            let mut sold: Vec<Block> = Vec::new();
            for (books, seats, which) in steps {
                if books || sold.is_empty() {
                    let expected = first_fit(&model, seats as usize);
                    let found = map.find(seats);
                    prop_assert_eq!(found.map(|block| (block.row, block.first)), expected);
                    if let Some(block) = found {
                        prop_assert!(map.occupy(block));
                        for seat in block.first - 1..block.first - 1 + seats {
                            model[block.row as usize - 1][seat as usize] = true;
                        }
                        sold.push(block);
                    }
                } else {
                    let block = sold.swap_remove(which.index(sold.len()));
                    map.free((block.first..block.first + block.seats).map(|seat| (block.row, seat)));
                    for seat in block.first - 1..block.first - 1 + block.seats {
                        model[block.row as usize - 1][seat as usize] = false;
                    }
                }
            }
        }
    }
}
