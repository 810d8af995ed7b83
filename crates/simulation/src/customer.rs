//! Storage of customers in slots that are reused.
//!
//! A *pass* is the way of a customer through the network, from outside to outside. It consists of *visits* to stations.

/// The id that represents no customer.
pub(crate) const NO_CUSTOMER: u32 = u32::MAX;

/// A service time that has not been drawn yet.
pub(crate) const NOT_DRAWN: f64 = -1.0;

/// A customer, or a sibling task of a forked customer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Customer {
    /// Start time of the current visit.
    pub(crate) arrived_s: f64,
    /// Start time of the current pass.
    pub(crate) entered_s: f64,
    /// The time at which service started or resumed.
    pub(crate) served_from_s: f64,
    /// Remaining service time; [`NOT_DRAWN`] before it is known.
    pub(crate) remaining_s: f64,
    /// Sequence number of the event that ends the service. Other events for the end of this customer's service are obsolete.
    pub(crate) due: u32,
    pub(crate) class: u16,
    /// The customer's class at the start of the pass.
    pub(crate) initial_class: u16,
    pub(crate) station: u16,
    /// Remaining visits to this station in this pass.
    pub(crate) further_visits: u32,
    /// For a sibling: the customer that was forked; otherwise [`NO_CUSTOMER`].
    pub(crate) parent: u32,
    /// Number of siblings that have not arrived at the join.
    pub(crate) siblings: u32,
    /// Linked list of the siblings that arrived at the join. For a forked customer: the last one; for a sibling: the previous
    /// one.
    pub(crate) joined: u32,
    /// Sequence number of the current visit, counted over all customers. Preemptive disciplines compare it.
    pub(crate) order: u64,
}

/// All customers. The slots of customers that left are reused.
#[derive(Debug, Default)]
pub(crate) struct Customers {
    slots: Vec<Customer>,
    free: Vec<u32>,
}

impl Customers {
    /// Creates a customer and returns its id.
    #[inline]
    pub(crate) fn create(&mut self, class: u16, parent: u32) -> u32 {
        let customer = Customer {
            arrived_s: 0.0,
            entered_s: 0.0,
            served_from_s: 0.0,
            remaining_s: NOT_DRAWN,
            due: 0,
            class,
            initial_class: class,
            station: 0,
            further_visits: 0,
            parent,
            siblings: 0,
            joined: NO_CUSTOMER,
            order: 0,
        };
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = customer;
            return slot;
        }
        self.slots.push(customer);
        (self.slots.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn free(&mut self, customer: u32) {
        self.slots[customer as usize].due = 0;
        self.free.push(customer);
    }

    /// Number of customers.
    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl std::ops::Index<u32> for Customers {
    type Output = Customer;

    #[inline]
    fn index(&self, customer: u32) -> &Customer {
        &self.slots[customer as usize]
    }
}

impl std::ops::IndexMut<u32> for Customers {
    #[inline]
    fn index_mut(&mut self, customer: u32) -> &mut Customer {
        &mut self.slots[customer as usize]
    }
}
