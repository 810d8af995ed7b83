//! The queue of future events.

/// An event, which fits in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A customer's service ends.
    ServiceEnd(u32),
    /// A customer of an open class arrives from outside.
    Arrival(u32),
    /// The think time of a customer of a closed class ends.
    ThinkEnd(u32),
    /// A service may end at a station with processor sharing or load-dependent speed.
    StationDue(u32),
}

const KIND_SHIFT: u32 = 30;
/// Largest id of customers, classes and stations.
pub(crate) const ID_MAX: u32 = (1 << KIND_SHIFT) - 1;

impl Event {
    #[inline]
    fn pack(self) -> u32 {
        match self {
            Event::ServiceEnd(id) => id,
            Event::Arrival(id) => 1 << KIND_SHIFT | id,
            Event::ThinkEnd(id) => 2 << KIND_SHIFT | id,
            Event::StationDue(id) => 3 << KIND_SHIFT | id,
        }
    }

    #[inline]
    fn unpack(packed: u32) -> Self {
        let id = packed & ID_MAX;
        match packed >> KIND_SHIFT {
            0 => Event::ServiceEnd(id),
            1 => Event::Arrival(id),
            2 => Event::ThinkEnd(id),
            _ => Event::StationDue(id),
        }
    }
}

/// An event that was removed from the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Due {
    pub(crate) at_s: f64,
    /// Sequence number of the event.
    pub(crate) sequence: u32,
    pub(crate) event: Event,
}

/// A binary heap of 16-byte keys. Each key consists of the time, the sequence number and the event. The bits of a non-negative
/// time have the same order as the time, so one integer comparison determines the order.
///
/// When an event is removed, the root of the heap remains empty until the next event is scheduled. Most events schedule exactly
/// one event, which then moves down from the root in one pass instead of two.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
    sequence: u32,
    hole: bool,
}

impl EventQueue {
    /// Schedules an event and returns its sequence number, which is never 0. Sequence numbers wrap around after 2³² events.
    /// Pending events still have different numbers then, but simultaneous events could be processed in the wrong order.
    #[inline]
    pub(crate) fn schedule(&mut self, at_s: f64, event: Event) -> u32 {
        debug_assert!(at_s >= 0.0 && at_s.is_finite(), "{at_s}");
        self.sequence = if self.sequence == u32::MAX { 1 } else { self.sequence + 1 };
        let key =
            u128::from(at_s.to_bits()) << 64 | u128::from(self.sequence) << 32 | u128::from(event.pack());
        if std::mem::take(&mut self.hole) {
            self.sink(key);
        } else {
            self.heap.push(key);
            self.rise();
        }
        self.sequence
    }

    /// Removes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Due> {
        if self.hole {
            self.hole = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sink(last);
            }
        }
        let key = *self.heap.first()?;
        self.hole = true;
        Some(Due {
            at_s: f64::from_bits((key >> 64) as u64),
            sequence: (key >> 32) as u32,
            event: Event::unpack(key as u32),
        })
    }

    /// Places `key` at the root and moves it down to its position.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= heap.len() {
                break;
            }
            if child + 1 < heap.len() && heap[child + 1] < heap[child] {
                child += 1;
            }
            if key <= heap[child] {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = key;
    }

    /// Moves the last key up to its position.
    #[inline]
    fn rise(&mut self) {
        let heap = self.heap.as_mut_slice();
        let mut at = heap.len() - 1;
        let key = heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if heap[parent] <= key {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};

    #[test]
    fn events_are_ordered_by_time_and_sequence() {
        let mut random = crate::random::Stream::seed_from_u64(3);
        let mut queue = EventQueue::default();
        // A sorted list is the reference for the heap.
        let mut list: Vec<(f64, u32, u32)> = Vec::new();
        let mut now = 0.0;
        for id in 0..5_000_u32 {
            if random.random_bool(0.6) || list.is_empty() {
                // Times are whole numbers, so that many events are simultaneous.
                let at_s = now + f64::from(random.random_range(0..8_u32));
                let sequence = queue.schedule(at_s, Event::ServiceEnd(id));
                list.push((at_s, sequence, id));
            } else {
                list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let (at_s, sequence, id) = list.remove(0);
                now = at_s;
                assert_eq!(queue.pop(), Some(Due { at_s, sequence, event: Event::ServiceEnd(id) }));
            }
        }
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (at_s, sequence, id) in list {
            assert_eq!(queue.pop(), Some(Due { at_s, sequence, event: Event::ServiceEnd(id) }));
        }
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn events_round_trip_through_packing() {
        for event in [
            Event::ServiceEnd(0),
            Event::ServiceEnd(ID_MAX),
            Event::Arrival(7),
            Event::ThinkEnd(ID_MAX),
            Event::StationDue(3),
        ] {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }

    #[test]
    fn an_emptied_queue_can_be_reused() {
        let mut queue = EventQueue::default();
        assert_eq!(queue.pop(), None);
        queue.schedule(1.0, Event::Arrival(0));
        assert!(queue.pop().is_some());
        assert_eq!(queue.pop(), None);
        queue.schedule(2.0, Event::Arrival(1));
        assert_eq!(queue.pop().unwrap().event, Event::Arrival(1));
    }
}
