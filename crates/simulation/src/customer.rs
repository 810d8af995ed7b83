//! Customers, in places that are used again.

/// No customer.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A service time that has not been drawn yet.
pub(crate) const NOT_DRAWN: f64 = -1.0;

/// A customer, or a sibling that a fork made of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Customer {
    /// When the visit began.
    pub(crate) came_s: f64,
    /// When the pass began.
    pub(crate) entered_s: f64,
    /// When service began, or went on.
    pub(crate) served_from_s: f64,
    /// Service that is still due; [`NOT_DRAWN`] before it is known.
    pub(crate) left_s: f64,
    /// The number of the event that ends the service; any other such event is out of date.
    pub(crate) due: u32,
    pub(crate) class: u16,
    /// The class in which the pass began.
    pub(crate) home: u16,
    pub(crate) station: u16,
    /// Visits to this station that are still due in this pass.
    pub(crate) visits_due: u32,
    /// Whom the fork made this one of.
    pub(crate) parent: u32,
    /// Siblings that are still under way.
    pub(crate) siblings: u32,
    /// The last sibling that has come to the join; of a sibling: the one before.
    pub(crate) joined: u32,
    /// The order in which visits started, for preemptive scheduling.
    pub(crate) order: u64,
}

/// All customers; the slot of a customer that left is reused.
#[derive(Debug, Default)]
pub(crate) struct Customers {
    places: Vec<Customer>,
    free: Vec<u32>,
}

impl Customers {
    /// A new one of that class.
    #[inline]
    pub(crate) fn make(&mut self, class: u16, parent: u32) -> u32 {
        let customer = Customer {
            came_s: 0.0,
            entered_s: 0.0,
            served_from_s: 0.0,
            left_s: NOT_DRAWN,
            due: 0,
            class,
            home: class,
            station: 0,
            visits_due: 0,
            parent,
            siblings: 0,
            joined: NOBODY,
            order: 0,
        };
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = customer;
            return place;
        }
        self.places.push(customer);
        (self.places.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn free(&mut self, customer: u32) {
        self.places[customer as usize].due = 0;
        self.free.push(customer);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

impl std::ops::Index<u32> for Customers {
    type Output = Customer;

    #[inline]
    fn index(&self, customer: u32) -> &Customer {
        &self.places[customer as usize]
    }
}

impl std::ops::IndexMut<u32> for Customers {
    #[inline]
    fn index_mut(&mut self, customer: u32) -> &mut Customer {
        &mut self.places[customer as usize]
    }
}
