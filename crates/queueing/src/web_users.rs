//! The number of real users of a web site that a measured load represents.
//!
//! The threads of a load generator have short think times, so a few of them generate a high load. A real user has the
//! think time Z′ between pages. The number of real users with the same load is N′ = λ(R + Z′), equation (15) of Brady &
//! Gunther, with λ in *pages* per second.

/// The number of users N′ = λ(R + Z′).
///
/// As published, `response_s` is the mean over *objects*, although the rate is in pages. With the response time of a page
/// (the sum over its objects, if they are fetched in sequence), the equation is Little's law for pages.
pub fn real_users(pages_per_s: f64, response_s: f64, think_s: f64) -> f64 {
    pages_per_s * (response_s + think_s)
}

/// The figures of one object in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObjectLoad {
    /// Number of requests.
    pub requests: u64,
    /// Sum of the response times in seconds.
    pub responses_s: f64,
}

/// A page and its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLoad {
    /// The objects, as separate entries of the log.
    pub objects: Vec<ObjectLoad>,
    /// Number of visits of the page in one pass of the script, if known.
    pub visits: Option<u64>,
}

/// A load, measured in objects and in pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebLoad {
    /// Objects per second.
    pub objects_per_s: f64,
    /// Mean response time of an object in seconds.
    pub object_response_s: f64,
    /// Pages per object.
    pub pages_per_object: f64,
    /// Mean response time of a page in seconds if its objects are fetched in sequence. `None` if an object of a page was never
    /// requested.
    pub page_response_s: Option<f64>,
}

impl WebLoad {
    /// Groups objects into pages. `objects_per_s` is the rate of all objects.
    ///
    /// The number of pages per object is taken from the script if the visits of every page are known. Otherwise it is taken
    /// from the log, where an object of a page with n objects counts as 1/n of a page. `None` without requests.
    pub fn from_pages(pages: &[PageLoad], objects_per_s: f64) -> Option<Self> {
        let objects = || pages.iter().flat_map(|page| &page.objects);
        let requests: u64 = objects().map(|object| object.requests).sum();
        if requests == 0 {
            return None;
        }
        let scripted: Option<Vec<f64>> =
            pages.iter().map(|page| page.visits.map(|visits| visits as f64)).collect();
        let visits = scripted.unwrap_or_else(|| pages.iter().map(PageLoad::logged_visits).collect());
        let all_visits: f64 = visits.iter().sum();
        let all_objects: f64 =
            visits.iter().zip(pages).map(|(visits, page)| visits * page.objects.len() as f64).sum();
        let responses_s: Option<Vec<f64>> = pages.iter().map(PageLoad::response_s).collect();
        let page_response_s = responses_s.map(|all| {
            all.iter().zip(&visits).map(|(response_s, visits)| response_s * visits).sum::<f64>() / all_visits
        });
        Some(Self {
            objects_per_s,
            object_response_s: objects().map(|object| object.responses_s).sum::<f64>() / requests as f64,
            pages_per_object: all_visits / all_objects,
            page_response_s,
        })
    }

    /// λ in pages per second.
    pub fn pages_per_s(&self) -> f64 {
        self.objects_per_s * self.pages_per_object
    }

    /// N′ for a think time Z′ by equation (15) as published: with the response time of an object.
    pub fn users_as_published(&self, think_s: f64) -> f64 {
        real_users(self.pages_per_s(), self.object_response_s, think_s)
    }

    /// N′ for a think time Z′ with the response time of a page.
    pub fn users(&self, think_s: f64) -> Option<f64> {
        Some(real_users(self.pages_per_s(), self.page_response_s?, think_s))
    }

    /// Rounds the rate (1/s) and the response time (ms) to two digits, as in the calculation of the published table.
    #[must_use]
    pub fn rounded_as_published(self) -> Self {
        let round = |value: f64, unit: f64| (value / unit).round() * unit;
        Self {
            objects_per_s: round(self.objects_per_s, 0.01),
            object_response_s: round(self.object_response_s, 0.00001),
            page_response_s: self.page_response_s.map(|response_s| round(response_s, 0.00001)),
            ..self
        }
    }
}

impl PageLoad {
    fn logged_visits(&self) -> f64 {
        let requests: u64 = self.objects.iter().map(|object| object.requests).sum();
        requests as f64 / self.objects.len().max(1) as f64
    }

    fn response_s(&self) -> Option<f64> {
        let mean =
            |object: &ObjectLoad| (object.requests > 0).then(|| object.responses_s / object.requests as f64);
        self.objects.iter().map(mean).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_table_follows_from_its_rates_and_response_times() {
        // (λ in objects per second, R in ms, pages per second and N′ at Z′ = 10, 20, 30, 40, 50 s as printed)
        let table = [
            (15.91, 53.17, "9.546 95.97 191.43 286.89 382.35 477.81"),
            (31.73, 52.74, "19.038 191.38 381.76 572.14 762.52 952.90"),
            (46.79, 54.06, "28.074 282.26 563.00 843.74 1124.48 1405.22"),
            (60.26, 59.64, "36.156 363.72 725.28 1086.84 1448.40 1809.96"),
            (77.56, 74.97, "46.536 468.85 934.21 1399.57 1864.93 2330.29"),
            (118.03, 132.67, "70.818 717.58 1425.76 2133.94 2842.12 3550.30"),
            (159.16, 253.38, "95.496 979.16 1934.12 2889.08 3844.04 4799.00"),
        ];
        for (objects_per_s, response_ms, printed) in table {
            let load = WebLoad {
                objects_per_s,
                object_response_s: response_ms / 1_000.0,
                pages_per_object: 9.0 / 15.0,
                page_response_s: None,
            };
            let mut row = format!("{:.3}", load.pages_per_s());
            for think_s in [10.0, 20.0, 30.0, 40.0, 50.0] {
                row.push_str(&format!(" {:.2}", load.users_as_published(think_s)));
                assert_eq!(load.users(think_s), None);
            }
            assert_eq!(row, printed);
        }
    }

    fn object(requests: u64, mean_s: f64) -> ObjectLoad {
        ObjectLoad { requests, responses_s: requests as f64 * mean_s }
    }

    fn page(objects: &[ObjectLoad], visits: Option<u64>) -> PageLoad {
        PageLoad { objects: objects.to_vec(), visits }
    }

    #[test]
    fn pages_are_counted_from_the_script_or_from_the_log() {
        let home = [object(400, 0.01), object(400, 0.03)];
        let search = [object(200, 0.5)];
        let load = WebLoad::from_pages(&[page(&home, None), page(&search, None)], 10.0).unwrap();
        // 600 pages of 1000 objects; a page takes (400 × 0.04 + 200 × 0.5) / 600 s.
        assert!((load.pages_per_s() - 6.0).abs() < 1e-12);
        assert!((load.page_response_s.unwrap() - 116.0 / 600.0).abs() < 1e-12);
        assert!((load.object_response_s - 0.116).abs() < 1e-12);
        assert!((load.users(10.0).unwrap() - 6.0 * (10.0 + 116.0 / 600.0)).abs() < 1e-9);
        // The visits in the script have a ratio of four to one.
        let load = WebLoad::from_pages(&[page(&home, Some(4)), page(&search, Some(1))], 10.0).unwrap();
        assert!((load.pages_per_object - 5.0 / 9.0).abs() < 1e-12);
        // If the visits of one page are missing, the log is used.
        let load = WebLoad::from_pages(&[page(&home, Some(4)), page(&search, None)], 10.0).unwrap();
        assert!((load.pages_per_object - 0.6).abs() < 1e-12);
    }

    #[test]
    fn missing_requests_have_no_response_time() {
        let pages = [page(&[object(5, 0.1), object(0, 0.0)], Some(1))];
        let load = WebLoad::from_pages(&pages, 1.0).unwrap();
        assert_eq!(load.page_response_s, None);
        assert_eq!(load.users(10.0), None);
        assert_eq!(WebLoad::from_pages(&[page(&[object(0, 0.0)], None)], 1.0), None);
        assert_eq!(WebLoad::from_pages(&[], 1.0), None);
    }
}
