//! Closed product-form networks and their mean values.

/// A class of a closed network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Population {
    /// Customers N.
    pub users: u64,
    /// Mean think time Z in seconds.
    pub think_s: f64,
}

/// A place of service in a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// Service demand of each class in seconds: visits × service time.
    pub demands_s: Vec<f64>,
    /// Speed with 1, 2, 3 … customers, in servers; the last value applies to more customers. `[1.0]` is one server,
    /// `[1.0, 2.0]` two. `None`: a delay without waiting.
    pub speeds: Option<Vec<f64>>,
}

impl Centre {
    /// A queue with that many servers.
    #[must_use]
    pub fn queue(servers: u32, demands_s: Vec<f64>) -> Self {
        Self { demands_s, speeds: Some((1..=servers.max(1)).map(f64::from).collect()) }
    }

    /// A delay.
    #[must_use]
    pub fn delay(demands_s: Vec<f64>) -> Self {
        Self { demands_s, speeds: None }
    }

    /// Whether it serves one customer at a time at speed 1, or everybody at once.
    pub(super) fn is_plain(&self) -> bool {
        self.speeds.as_ref().is_none_or(|speeds| speeds.iter().all(|speed| *speed == 1.0))
    }
}

/// A closed network.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ClosedNetwork {
    /// Its centres.
    pub centres: Vec<Centre>,
    /// Its classes.
    pub classes: Vec<Population>,
}

/// The mean values of a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedMeans {
    /// Throughput X of each class in passes per second; 0 for a class without customers.
    pub rates_per_s: Vec<f64>,
    /// Customers of each class at each centre: `queues[centre][class]`.
    pub queues: Vec<Vec<f64>>,
}

impl ClosedMeans {
    /// Customers at a centre.
    #[must_use]
    pub fn at(&self, centre: usize) -> f64 {
        self.queues[centre].iter().sum()
    }

    /// Customers of a class at all centres.
    #[must_use]
    pub fn of(&self, class: usize) -> f64 {
        self.queues.iter().map(|queue| queue[class]).sum()
    }
}

impl ClosedNetwork {
    /// Populations ∏(N+1) that an exact solution goes through.
    #[must_use]
    pub fn lattice_size(&self) -> f64 {
        self.classes.iter().map(|class| class.users as f64 + 1.0).product()
    }

    /// About how many elementary steps [`exact()`] takes.
    #[must_use]
    pub fn exact_cost(&self) -> f64 {
        let classes = self.classes.len().max(1) as f64;
        let plain = self.centres.iter().filter(|centre| centre.is_plain()).count() as f64;
        let speeds: f64 = self.load_dependent().map(|(_, speeds)| speeds as f64).sum();
        let dependent = self.load_dependent().count() as f64;
        // Each load-dependent centre is taken into the products of all others, halves at a time.
        self.lattice_size() * classes * (plain + speeds * (2.0 + dependent.max(1.0).log2()))
    }

    /// About how much memory [`exact()`] takes at once, in bytes.
    #[must_use]
    pub fn exact_memory_bytes(&self) -> f64 {
        let dependent = self.load_dependent().count() as f64;
        if dependent > 0.0 {
            // Series of 16 bytes: the products of the halves, one more on each level, and those of a derivative.
            return self.lattice_size() * 16.0 * (5.0 + dependent.log2());
        }
        match self.classes.len() {
            0 | 1 => self.centres.len() as f64 * 16.0,
            _ => self.lattice_size() * 8.0 * self.centres.len() as f64,
        }
    }

    /// Centres whose speed depends on their customers, and how many speeds they have.
    fn load_dependent(&self) -> impl Iterator<Item = (usize, usize)> {
        self.centres
            .iter()
            .enumerate()
            .filter(|(_, centre)| !centre.is_plain())
            .map(|(at, centre)| (at, centre.speeds.as_ref().map_or(0, Vec::len)))
    }
}
