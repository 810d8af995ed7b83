//! Systems under test to try things on: the ticket shop.
