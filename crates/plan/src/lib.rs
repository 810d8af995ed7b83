//! The JMX test plan as written: a tree that preserves the whole file, with the position of each part.
//!
//! [`parse`] reads a JMeter test plan and never fails: it returns everything that could be read, and findings with line and
//! column. The plan is interpreted only as far as JMeter's own reader does it (short names of classes, outdated names of
//! properties). No content is dropped: unknown elements remain in the tree, and [`TestPlan::write`] returns the bytes of the
//! file with the [edits](TestPlan::set_text) applied.
//!
//! ```
//! let source = br#"<jmeterTestPlan version="1.2"><hashTree>
//!   <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop"/><hashTree>
//!     <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
//!       <stringProp name="ThreadGroup.num_threads">5</stringProp>
//!     </ThreadGroup><hashTree/>
//!   </hashTree>
//! </hashTree></jmeterTestPlan>"#;
//! let (mut plan, diagnostics) = busyhour_plan::parse(source, "shop.jmx");
//! assert!(diagnostics.is_empty());
//!
//! let group = plan.elements().find(|element| element.kind() == "ThreadGroup").unwrap();
//! assert_eq!(group.path(), ["Shop", "Users"]);
//! assert_eq!(group.text("ThreadGroup.num_threads"), Some("5"));
//!
//! let group = group.id();
//! plan.set_text(group, "ThreadGroup.num_threads", "${__P(users,5)}").unwrap();
//! assert!(String::from_utf8(plan.write()).unwrap().contains(">${__P(users,5)}</stringProp>"));
//! ```

mod assemble;
mod edit;
mod edits;
mod element;
mod encoding;
mod findings;
mod names;
mod parse;
mod property;
mod scan;
mod slice;
mod test_plan;
mod tree;
mod xml;

pub use assemble::{AssemblyError, Below};
pub use edit::EditError;
pub use element::Element;
pub use findings::DIAGNOSTICS_MAX;
pub use parse::{DEPTH_MAX, parse};
pub use property::{Properties, Property};
pub use test_plan::TestPlan;
pub use tree::{ElementId, PropertyId, PropertyKind};
