//! What will happen, soonest first.

/// The kind of an event and whom it concerns, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A customer's service ends.
    ServiceEnd(u32),
    /// A customer of an open class arrives from outside.
    Arrival(u32),
    /// A customer of a closed class has thought.
    ThinkEnd(u32),
    /// A customer at a station with shared service may be finished.
    StationDue(u32),
}

const KIND_SHIFT: u32 = 30;
/// Numbers of customers, classes and stations lie below.
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

/// An event taken out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Due {
    pub(crate) at_s: f64,
    /// The number under which it was planned.
    pub(crate) sequence: u32,
    pub(crate) event: Event,
}

/// A binary heap of 16-byte keys: time (whose bits as an integer have the order of the time, as it is never negative),
/// then the order in which events were planned, then what happens. One comparison of integers decides.
///
/// An event that has been taken leaves a hole at the root until the next is planned: most events plan exactly one,
/// which then sinks from the root, in one pass instead of two.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
    sequence: u32,
    hole: bool,
}

impl EventQueue {
    /// Plans an event; gives its number, which is never 0. Numbers begin again after 2³²: none of the pending ones
    /// are then confused, and only the order of two events at the very same moment could be.
    #[inline]
    pub(crate) fn plan(&mut self, at_s: f64, event: Event) -> u32 {
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

    /// Takes the soonest event.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Due> {
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

    /// Puts `key` at the root's place and lets it sink.
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

    /// Lets the last one rise.
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
    fn events_come_in_the_order_of_time_then_of_planning() {
        let mut random = crate::random::Stream::seed_from_u64(3);
        let mut queue = EventQueue::default();
        // A sorted list as the reference.
        let mut list: Vec<(f64, u32, u32)> = Vec::new();
        let mut now = 0.0;
        for id in 0..5_000_u32 {
            if random.random_bool(0.6) || list.is_empty() {
                // Whole numbers: many at the same moment.
                let at_s = now + f64::from(random.random_range(0..8_u32));
                let sequence = queue.plan(at_s, Event::ServiceEnd(id));
                list.push((at_s, sequence, id));
            } else {
                list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let (at_s, sequence, id) = list.remove(0);
                now = at_s;
                assert_eq!(queue.take(), Some(Due { at_s, sequence, event: Event::ServiceEnd(id) }));
            }
        }
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (at_s, sequence, id) in list {
            assert_eq!(queue.take(), Some(Due { at_s, sequence, event: Event::ServiceEnd(id) }));
        }
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn all_kinds_survive_packing() {
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
    fn an_emptied_queue_is_empty_and_usable() {
        let mut queue = EventQueue::default();
        assert_eq!(queue.take(), None);
        queue.plan(1.0, Event::Arrival(0));
        assert!(queue.take().is_some());
        assert_eq!(queue.take(), None);
        queue.plan(2.0, Event::Arrival(1));
        assert_eq!(queue.take().unwrap().event, Event::Arrival(1));
    }
}
