//! Closed product-form networks and their mean values.

/// A class of a closed network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedClass {
    /// Number of customers N.
    pub users: u64,
    /// Mean think time Z in seconds.
    pub think_s: f64,
}

/// A service centre of a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// Service demand of each class in seconds: visits × service time.
    pub demands_s: Vec<f64>,
    /// Speed with 1, 2, 3 … customers, in servers; the last value applies to more customers. `[1.0]` is one server,
    /// `[1.0, 2.0]` two. `None`: a delay without waiting.
    pub speeds: Option<Vec<f64>>,
}

impl Centre {
    /// A queue with `servers` servers.
    #[must_use]
    pub fn queue(servers: u32, demands_s: Vec<f64>) -> Self {
        Self { demands_s, speeds: Some((1..=servers.max(1)).map(f64::from).collect()) }
    }

    /// A delay.
    #[must_use]
    pub fn delay(demands_s: Vec<f64>) -> Self {
        Self { demands_s, speeds: None }
    }

    /// Whether the centre is a single server with speed 1, or a delay.
    pub(super) fn is_load_independent(&self) -> bool {
        self.speeds.as_ref().is_none_or(|speeds| speeds.iter().all(|speed| *speed == 1.0))
    }
}

/// A closed network.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ClosedNetwork {
    /// The service centres.
    pub centres: Vec<Centre>,
    /// The classes of customers.
    pub classes: Vec<ClosedClass>,
}

/// The mean values of a closed network.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedMeans {
    /// Throughput X of each class in passes per second; 0 for a class without customers.
    pub rates_per_s: Vec<f64>,
    /// Mean number of customers of each class at each centre: `queues[centre][class]`.
    pub queues: Vec<Vec<f64>>,
}

impl ClosedMeans {
    /// Mean number of customers of all classes at a centre.
    #[must_use]
    pub fn queue(&self, centre: usize) -> f64 {
        self.queues[centre].iter().sum()
    }

    /// Mean number of customers of a class at all centres.
    #[must_use]
    pub fn in_system(&self, class: usize) -> f64 {
        self.queues.iter().map(|queue| queue[class]).sum()
    }
}

impl ClosedNetwork {
    /// Number of populations ∏(N+1) that an exact solution evaluates.
    #[must_use]
    pub fn lattice_size(&self) -> f64 {
        self.classes.iter().map(|class| class.users as f64 + 1.0).product()
    }

    /// Approximate number of elementary steps of [`exact()`].
    #[must_use]
    pub fn exact_cost(&self) -> f64 {
        let classes = self.classes.len().max(1) as f64;
        let independent = self.centres.iter().filter(|centre| centre.is_load_independent()).count() as f64;
        let speeds: f64 = self.load_dependent().map(|(_, speeds)| speeds as f64).sum();
        let dependent = self.load_dependent().count() as f64;
        // Each load-dependent centre is multiplied into the products of all others, by recursive halving.
        self.lattice_size() * classes * (independent + speeds * (2.0 + dependent.max(1.0).log2()))
    }

    /// Approximate peak memory of [`exact()`] in bytes.
    #[must_use]
    pub fn exact_memory_bytes(&self) -> f64 {
        let dependent = self.load_dependent().count() as f64;
        if dependent > 0.0 {
            // Series with 16 bytes per population: one product per level of the recursion, and the series of a derivative.
            return self.lattice_size() * 16.0 * (5.0 + dependent.log2());
        }
        match self.classes.len() {
            0 | 1 => self.centres.len() as f64 * 16.0,
            _ => self.lattice_size() * 8.0 * self.centres.len() as f64,
        }
    }

    /// The centres with load-dependent speeds, with the number of speeds.
    fn load_dependent(&self) -> impl Iterator<Item = (usize, usize)> {
        self.centres
            .iter()
            .enumerate()
            .filter(|(_, centre)| !centre.is_load_independent())
            .map(|(at, centre)| (at, centre.speeds.as_ref().map_or(0, Vec::len)))
    }
}
