//! The class `FileServer`, which returns the plan's directory, and the class `GuiPackage`, whose instance is null without a
//! GUI.

use std::path::Path;

use super::super::classes::Class;
use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor};
use super::{text_of, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "FileServer",
        statics: "getFileServer getDefaultBase resolveBaseRelativeName",
        constructor_arguments: None,
        methods: "getBaseDir getBaseDirRelative getScriptName getResolvedFile getDefaultBase resolveBaseRelativeName",
        call_static: static_call,
        construct: no_constructor,
    },
    LibraryClass {
        class: "GuiPackage",
        statics: "getInstance",
        constructor_arguments: None,
        methods: "getTestPlanFile",
        call_static: |_, _, _| Ok(V::NULL),
        construct: no_constructor,
    },
];

#[derive(Debug)]
struct FileServer;

fn static_call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getFileServer", []) => Ok(V::object(Object::Library(Box::new(FileServer)))),
        ("getDefaultBase", []) => Ok(V::text(working_directory())),
        ("resolveBaseRelativeName", [name]) => {
            let name = text_of(machine, name)?;
            let Some(relative) = name.strip_prefix("~/") else { return Ok(V::text(name)) };
            Ok(V::text(format!("{}/{relative}", machine.scope.plan_directory())))
        }
        _ => Err(unsupported(format!("`FileServer.{method}` with these arguments"))),
    }
}

fn working_directory() -> String {
    std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default()
}

/// The folder's path relative to the working directory; `.` if the folder is not below it.
fn relative_directory(folder: &str) -> String {
    let below = folder.strip_prefix(&working_directory()).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|below| !below.is_empty()).unwrap_or(".").to_owned()
}

impl Instance for FileServer {
    fn class(&self) -> Class {
        Class::known("FileServer")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let file = |path: &str| V::object(Object::File(path.into()));
        match (method, arguments) {
            ("getBaseDir", []) => Ok(V::text(machine.scope.plan_directory())),
            ("getBaseDirRelative", []) => Ok(file(&relative_directory(&machine.scope.plan_directory()))),
            ("getScriptName", []) => Ok(V::text(machine.scope.plan_file())),
            ("getResolvedFile", [name]) => {
                let name = text_of(machine, name)?;
                if name.starts_with('/') || Path::new(&name).exists() {
                    return Ok(file(&name));
                }
                Ok(file(&format!("{}/{name}", machine.scope.plan_directory())))
            }
            ("getDefaultBase" | "resolveBaseRelativeName", _) => static_call(machine, method, arguments),
            _ => Err(unknown(object, method)),
        }
    }
}
