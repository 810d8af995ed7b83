//! `busyhour cluster manifests`: the Kubernetes objects of a run.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use busyhour_cluster::{HubFiles, Invitation, plan_file_paths};
use busyhour_diagnostic::io_hints::with_hint;
use busyhour_kubernetes::{
    HubAddress, KubeObject, MountedFile, OutputFile, ResultStorage, RunSettings, SECRET_BYTES_MAX, Spread,
    Toleration, helm_chart, kustomize_directory, manifests, name_from,
};
use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, hinted, note, print};
use busyhour_terminal::quantities::time_s;

use super::args::{ManifestsArgs, SpreadArg};
use crate::agents::failure::failure;
use crate::agents::labels::labels;
use crate::run_check;

/// Runs the verb.
pub(super) fn main(args: &ManifestsArgs) -> Exit {
    match execute(args) {
        Ok(()) => Exit::Completed,
        Err((exit, message)) => complain(exit, &message),
    }
}

fn execute(args: &ManifestsArgs) -> Result<(), (Exit, String)> {
    let hub_dir = HubFiles::at(args.hub_dir.clone());
    let invitation = read_text(&hub_dir.agent())
        .and_then(|_| {
            Invitation::read(&hub_dir.agent().display().to_string()).map_err(|error| failure(&error))
        })
        .map_err(|(exit, message)| (exit, hinted_for_hub(message)))?;
    let refused = |error: busyhour_kubernetes::ManifestError| (Exit::Refused, error.to_string());
    let address = HubAddress::parse(&invitation.url).map_err(refused)?;
    let hub = hub_files(&hub_dir)?;
    check_run_options(args)?;
    let settings = settings(args, address)?;
    match (&args.kustomize, &args.helm) {
        (Some(dir), _) => {
            write(dir, &kustomize_directory(&settings, &hub).map_err(refused)?)?;
            note(&format!("apply it with: kubectl apply --server-side -k {}", dir.display()));
        }
        (None, Some(dir)) => {
            write(dir, &helm_chart(&settings, &hub).map_err(refused)?)?;
            note(&format!("install it with: helm install {} {}", settings.name, dir.display()));
        }
        (None, None) => {
            let objects = manifests(&settings, &hub).map_err(refused)?;
            let texts: Vec<String> = objects.iter().map(KubeObject::yaml).collect();
            print(&texts.join("---\n"));
        }
    }
    Ok(())
}

/// Checks the options of the run, together with those that the controller gets from this command.
fn check_run_options(args: &ManifestsArgs) -> Result<(), (Exit, String)> {
    let agents = args.agents.to_string();
    let own =
        ["--on", "nats://127.0.0.1:4222", "--agents", &agents, "--dir", "run", "--wait-for-agents", "1s"];
    let words = std::iter::once(OsString::from("run"))
        .chain(std::iter::once(args.plan.clone().into_os_string()))
        .chain(args.run_options.iter().map(OsString::from))
        .chain(own.iter().map(OsString::from));
    let length = run_check::check_with_length(words.collect()).map_err(|error| {
        let hint = "--on, --agents, --dir and --wait-for-agents are set by this command";
        (Exit::Usage, hinted(format!("options of the run, after --: {error}"), hint))
    })?;
    let is_longer = |length: &String| time_s(length).ok() > time_s(&args.length).ok();
    match length.filter(is_longer) {
        Some(length) => Err((
            Exit::Usage,
            format!(
                "options of the run, after --: the run takes --for {length}, but Kubernetes ends the jobs 25 minutes after \
                 --for {} of this command; give the larger time before --",
                args.length
            ),
        )),
        None => Ok(()),
    }
}

fn settings(args: &ManifestsArgs, hub: HubAddress) -> Result<RunSettings, (Exit, String)> {
    let usage = |error: CommandError| (Exit::Usage, error.to_string());
    let seconds = |option: &str, text: &str| match time_s(text) {
        Ok(seconds) if seconds >= 1.0 => Ok(seconds.ceil() as u64),
        Ok(_) => Err((Exit::Usage, format!("{option}: at least 1s"))),
        Err(error) => Err(usage(format!("{option}: {error}").into())),
    };
    let (plan, files) = plan_files(&args.plan, &args.run_options)?;
    let stem = args.plan.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(RunSettings {
        name: args.name.clone().unwrap_or_else(|| name_from(&stem)),
        namespace: args.namespace.clone().or_else(|| hub.namespace.clone()),
        creates_namespace: args.create_namespace,
        image: args.image.clone(),
        nats_image: args.nats_image.clone(),
        agents: args.agents,
        cores: args.cores,
        memory: args.memory.clone(),
        plan,
        files,
        run_options: args.run_options.clone(),
        length_s: seconds("--for", &args.length)?,
        ttl_s: seconds("--delete-after", &args.delete_after)?,
        results: match &args.results_claim {
            Some(claim) => ResultStorage::Claim(claim.clone()),
            None => ResultStorage::Pod { keep_s: seconds("--keep-results", &args.keep_results)? },
        },
        spread: match args.spread {
            SpreadArg::Even => Spread::Preferred,
            SpreadArg::OnePerNode => Spread::OnePerNode,
            SpreadArg::Off => Spread::Off,
        },
        labels: labels(&args.labels).map_err(|error| (Exit::Usage, format!("--label: {error}")))?,
        priority_class: args.priority_class.clone(),
        pull_secrets: args.pull_secrets.clone(),
        node_labels: labels(&args.node_labels)
            .map_err(|error| (Exit::Usage, format!("--node-label: {error}")))?,
        tolerations: args
            .tolerations
            .iter()
            .map(|text| Toleration::parse(text))
            .collect::<Result<_, _>>()
            .map_err(|error| (Exit::Usage, format!("--toleration: {error}")))?,
        disk: args.disk.clone(),
        egress: args.egress.clone(),
        hub,
    })
}

/// The plan, and the files that it or the options mention.
fn plan_files(plan: &Path, options: &[String]) -> Result<(MountedFile, Vec<MountedFile>), (Exit, String)> {
    let base = plan.parent().map(Path::to_owned).unwrap_or_default();
    let read = |path: &Path| {
        read_input(path, INPUT_BYTES).map_err(|error| {
            (Exit::Refused, format!("cannot read {}: {}", path.display(), with_hint(&error)))
        })
    };
    let contents = read(plan)?;
    let name = plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = String::from_utf8_lossy(&contents);
    let texts = std::iter::once(text.as_ref()).chain(options.iter().map(String::as_str));
    let paths = plan_file_paths(texts, &base);
    let mut files = Vec::new();
    let mut bytes = contents.len();
    for (path, full) in paths.into_iter().filter(|(path, _)| *path != name) {
        let contents = read(&full)?;
        bytes += contents.len();
        files.push(MountedFile { path, contents });
        if bytes > SECRET_BYTES_MAX {
            // The error about the size names the largest file so far.
            break;
        }
    }
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    if !names.is_empty() {
        note(&format!("files of the plan: {}", names.join(", ")));
    }
    Ok((MountedFile { path: name, contents }, files))
}

fn hub_files(hub: &HubFiles) -> Result<busyhour_kubernetes::HubContents, (Exit, String)> {
    let read = |name: &str| {
        read_text(&hub.dir.join(name)).map_err(|(exit, message)| (exit, hinted_for_hub(message)))
    };
    Ok(busyhour_kubernetes::HubContents {
        server_pem: read("server.pem")?,
        server_key: read("server.key")?,
        authorization: read("authorization.conf")?,
        agent: read_text(&hub.agent())?,
        controller: read_text(&hub.controller())?,
    })
}

fn hinted_for_hub(message: String) -> String {
    let hint = "create the files of the hub with the name of its Service: busyhour cluster init --dir DIR --host NAME-hub";
    hinted(message, hint)
}

fn read_text(path: &Path) -> Result<String, (Exit, String)> {
    let failed =
        |error: &dyn std::fmt::Display| (Exit::Refused, format!("cannot read {}: {error}", path.display()));
    let bytes = read_input(path, SECRET_BYTES_MAX as u64).map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|_| failed(&"it is not a text in UTF-8"))
}

/// Writes the files of a directory. Existing files with the same names are overwritten.
fn write(dir: &Path, files: &[OutputFile]) -> Result<(), (Exit, String)> {
    for file in files {
        let path = dir.join(&file.path);
        write_file(&path, file).map_err(|error| {
            (Exit::Internal, format!("cannot write {}: {}", path.display(), with_hint(&error)))
        })?;
    }
    Ok(())
}

fn write_file(path: &Path, file: &OutputFile) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if file.is_secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)?.write_all(&file.contents)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ManifestsArgs,
    }

    fn checked(options: &[&str]) -> Result<(), String> {
        let words = ["manifests", "a.jmx", "--image", "i", "--agents", "2", "--for", "5min", "--"];
        let line = Line::try_parse_from(words.iter().chain(options)).unwrap();
        check_run_options(&line.args).map_err(|(_, message)| message)
    }

    #[test]
    fn a_run_is_not_longer_than_its_jobs() {
        assert_eq!(checked(&["--rate", "5/s", "--for", "300s"]), Ok(()));
        let message = checked(&["--rate", "5/s", "--for", "2h"]).unwrap_err();
        assert!(message.contains("--for 2h, but") && message.contains("--for 5min of"), "{message}");
    }

    #[test]
    fn options_of_the_run_are_checked() {
        for good in [&[][..], &["-J", "users=5", "--csv", "unique"], &["--threshold", "errors < 1%"]] {
            assert_eq!(checked(good), Ok(()));
        }
        for bad in [
            &["--frobnicate"][..],
            &["--agents", "5"],
            &["--on", "nats://x:1"],
            &["--dir", "x"],
            &["--wait-for-agents", "5s"],
            &["--threshold", "nonsense"],
        ] {
            let message = checked(bad).unwrap_err();
            assert!(message.starts_with("options of the run, after --: "), "{message}");
        }
    }
}
