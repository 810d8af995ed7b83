//! The cases, described; `write` puts them into their folders.

mod assertions;
mod compressed;
mod config;
mod controllers;
mod documents;
mod embedded;
mod flow;
mod found;
mod functions;
mod http;
mod http_more;
mod invocation;
mod keystores;
mod listeners;
mod managers;
mod more_functions;
mod nesting;
mod plugin_checks;
mod plugin_data;
mod plugin_flow;
mod plugin_groups;
mod processors;
mod rates;
mod raw_samplers;
mod results;
mod samplers;
mod script_library;
mod scripts;
mod threads;
mod websockets;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use busyhour_standin::{Mask, Order, Settings};

use super::jmx::Node;

/// One case as described here.
pub struct Description {
    name: &'static str,
    document: String,
    settings: Settings,
    files: Vec<(&'static str, Vec<u8>)>,
}

/// Begins the description of a case: its folder, the elements and functions it covers, its plan.
pub fn case(name: &'static str, covers: &[&str], plan: Node) -> Description {
    let covers = covers.iter().map(|&word| word.to_owned()).collect();
    Description {
        name,
        document: plan.document(),
        settings: Settings { covers, ..Settings::default() },
        files: Vec::new(),
    }
}

impl Description {
    /// What the case shows.
    pub fn why(mut self, why: &str) -> Self {
        self.settings.why = why.to_owned();
        self
    }

    /// How order is compared.
    pub fn order(mut self, order: Order) -> Self {
        self.settings.order = order;
        self
    }

    /// Masks what matches a pattern.
    pub fn mask(mut self, pattern: &str, with: &str) -> Self {
        self.settings.masks.push(Mask { pattern: pattern.to_owned(), with: with.to_owned() });
        self
    }

    /// Leaves result columns out of the comparison.
    pub fn mask_columns(mut self, columns: &[&str]) -> Self {
        self.settings.mask_columns.extend(columns.iter().map(|&column| column.to_owned()));
        self
    }

    /// Changes the text of the plan, into forms that the builder does not write.
    pub fn edit(mut self, change: impl FnOnce(String) -> String) -> Self {
        self.document = change(self.document);
        self
    }

    /// Changes any setting.
    pub fn setting(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// A JMeter property on the command line.
    pub fn property(mut self, name: &str, value: &str) -> Self {
        self.settings.properties.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Plugins that JMeter needs for it: `group:artifact:version`.
    pub fn plugins(mut self, coordinates: &[&str]) -> Self {
        self.settings.plugins.extend(coordinates.iter().map(|&coordinate| coordinate.to_owned()));
        self
    }

    /// A file beside the plan.
    pub fn file(mut self, name: &'static str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, content.into()));
        self
    }

    fn write(&self, cases: &Path) -> Result<()> {
        let dir = cases.join(self.name);
        fs::create_dir_all(&dir)?;
        let mut settings = serde_json::to_string_pretty(&self.settings)?;
        settings.push('\n');
        fs::write(dir.join("plan.jmx"), &self.document)?;
        fs::write(dir.join("case.json"), settings)?;
        for (name, content) in &self.files {
            fs::write(dir.join(name), content)?;
        }
        Ok(())
    }
}

/// Whether a name contains one of `parts`; any does if there are none.
pub fn chosen(name: &str, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|part| name.contains(part.as_str()))
}

fn all() -> Vec<Description> {
    let mut all = Vec::new();
    all.extend(assertions::cases());
    all.extend(compressed::cases());
    all.extend(config::cases());
    all.extend(controllers::cases());
    all.extend(documents::cases());
    all.extend(flow::cases());
    all.extend(embedded::cases());
    all.extend(found::cases());
    all.extend(functions::cases());
    all.extend(http::cases());
    all.extend(http_more::cases());
    all.extend(invocation::cases());
    all.extend(keystores::cases());
    all.extend(listeners::cases());
    all.extend(managers::cases());
    all.extend(more_functions::cases());
    all.extend(nesting::cases());
    all.extend(plugin_flow::cases());
    all.extend(plugin_checks::cases());
    all.extend(plugin_data::cases());
    all.extend(plugin_groups::cases());
    all.extend(processors::cases());
    all.extend(rates::cases());
    all.extend(raw_samplers::cases());
    all.extend(results::cases());
    all.extend(samplers::cases());
    all.extend(script_library::cases());
    all.extend(scripts::cases());
    all.extend(threads::cases());
    all.extend(websockets::cases());
    all
}

/// Writes the plans, settings and data files of the chosen cases; recordings stay as they are.
///
/// # Errors
/// Fails when two cases share a name or a file cannot be written.
pub fn write(dir: &Path, names: &[String]) -> Result<()> {
    let all = all();
    let mut seen = std::collections::BTreeSet::new();
    for description in &all {
        ensure!(seen.insert(description.name), "two cases are called {}", description.name);
        if chosen(description.name, names) {
            description.write(dir).with_context(|| format!("writing {}", description.name))?;
        }
    }
    println!("{} cases", all.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_in_the_folder_are_those_described() {
        let cases = crate::workspace_root().join("conformance/cases");
        let mut described: Vec<_> = all().iter().map(|description| description.name.to_owned()).collect();
        described.sort();
        let found: Vec<_> =
            busyhour_standin::cases(&cases).unwrap().into_iter().map(|case| case.name).collect();
        assert_eq!(found, described);
        for description in all() {
            let dir = cases.join(description.name);
            let plan = fs::read_to_string(dir.join("plan.jmx")).unwrap();
            assert!(
                plan == description.document,
                "write {} anew: cargo xtask conformance plans",
                description.name
            );
            assert_eq!(
                busyhour_standin::Case::open(&dir).unwrap().settings,
                description.settings,
                "{}",
                description.name
            );
        }
    }
}
