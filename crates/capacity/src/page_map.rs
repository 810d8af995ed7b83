//! The assignment of objects in a log to pages, in a TOML file.

use crate::error::CapacityError;
use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

/// An example of the file, for messages.
const EXAMPLE: &str = "[[page]]\nname = \"Home\"\nobjects = [\"010_Home\", \"012_Home_jpg\"]\n\
    visits = 4      # how often one pass of the script visits it; for all pages or for none\n";

/// The assignment of objects to pages.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMap {
    /// The pages in order.
    #[serde(default, rename = "page")]
    pub pages: Vec<Page>,
    /// Labels of objects that do not belong to a page.
    #[serde(default)]
    pub ignore: BTreeSet<String>,
}

/// A page and its objects.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The name.
    pub name: String,
    /// The labels of its objects, in the order in which they are requested.
    pub objects: Vec<String>,
    /// Number of visits to the page in one pass of the script. Either all pages have a number or none has one.
    pub visits: Option<u64>,
}

impl PageMap {
    /// Reads the assignment from a file.
    pub fn read(path: &Path) -> Result<Self, CapacityError> {
        let name = path.display();
        let text = read_input_text(path, INPUT_BYTES)
            .map_err(|source| CapacityError::Unreadable { name: name.to_string(), source })?;
        Self::parse(&text).map_err(|problem| format!("{name}: {problem}").into())
    }

    fn parse(text: &str) -> Result<Self, CapacityError> {
        let map: Self = toml::from_str(text)
            .map_err(|error| format!("{}\nExample:\n\n{EXAMPLE}", error.to_string().trim_end()))?;
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), CapacityError> {
        if self.pages.is_empty() {
            return Err(format!("it contains no pages; example:\n\n{EXAMPLE}").into());
        }
        let mut pages = BTreeMap::new();
        for page in &self.pages {
            if page.objects.is_empty() {
                return Err(format!("page {:?} has no objects", page.name).into());
            }
            if page.visits == Some(0) {
                return Err(format!("page {:?}: visits must be at least 1", page.name).into());
            }
            for object in &page.objects {
                if let Some(other) = pages.insert(object, &page.name) {
                    return Err(format!(
                        "object {object:?} is in page {other:?} and in page {:?}; its response times would count twice",
                        page.name
                    ).into());
                }
                if self.ignore.contains(object) {
                    return Err(format!("object {object:?} of page {:?} is ignored too", page.name).into());
                }
            }
        }
        let with = self.pages.iter().filter(|page| page.visits.is_some()).count();
        if with != 0 && with != self.pages.len() {
            return Err(
                "some pages have visits and some have none; give them for all pages or for none".into()
            );
        }
        Ok(())
    }

    /// Whether the label belongs to a page.
    #[must_use]
    pub fn has(&self, object: &str) -> bool {
        self.pages.iter().any(|page| page.objects.iter().any(|known| known == object))
    }

    /// The labels that are neither assigned to a page nor ignored.
    #[must_use]
    pub fn unknown<'a>(&self, labels: &'a [String]) -> Vec<&'a str> {
        labels
            .iter()
            .map(String::as_str)
            .filter(|label| !self.has(label) && !self.ignore.contains(*label))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        PageMap::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_example_is_parsed() {
        let map = PageMap::parse(&format!("ignore = [\"Login\"]\n{EXAMPLE}")).unwrap();
        assert_eq!(map.pages[0].visits, Some(4));
        assert!(map.has("012_Home_jpg") && !map.has("Login"));
        let labels = ["010_Home", "Login", "Logout"].map(str::to_owned);
        assert_eq!(map.unknown(&labels), ["Logout"]);
    }

    #[test]
    fn errors_are_reported() {
        assert!(refused("").starts_with("it contains no pages"));
        assert!(refused("[[page]]\nname = \"A\"\nobjects = [1]\n").contains("line 3"));
        assert!(
            refused("[[page]]\nname = \"A\"\nobjects = [\"a\"]\nvisit = 3\n")
                .contains("unknown field `visit`")
        );
        let page = |name: &str, rest: &str| format!("[[page]]\nname = \"{name}\"\n{rest}\n");
        assert_eq!(refused(&page("A", "objects = []")), "page \"A\" has no objects");
        let twice = page("A", "objects = [\"x\"]") + &page("B", "objects = [\"x\"]");
        assert!(refused(&twice).starts_with("object \"x\" is in page \"A\" and in page \"B\""));
        let half = page("A", "objects = [\"x\"]\nvisits = 2") + &page("B", "objects = [\"y\"]");
        assert!(refused(&half).contains("for all pages or for none"));
        assert!(refused(&page("A", "objects = [\"x\"]\nvisits = 0")).contains("at least 1"));
        assert!(
            refused(&("ignore = [\"x\"]\n".to_owned() + &page("A", "objects = [\"x\"]")))
                .contains("is ignored too")
        );
    }
}
