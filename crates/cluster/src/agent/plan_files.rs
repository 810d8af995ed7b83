//! The files of a plan: kept by their hash, and fetched from the controller if they are missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use async_nats::Client;

use crate::messages::{FileFact, FileRequest};
use crate::parts::{create_private_dir, hash, is_inside, part_of_message};
use crate::subjects;
use crate::wire::encode;

/// Number of attempts for one part of a file.
const ATTEMPTS: u32 = 5;

/// Puts the files of a plan into `plan_dir`. Files that were fetched for an earlier run are taken from `cache`.
///
/// # Errors
/// A file cannot be fetched or written, or its path leaves the directory of the plan.
pub(super) async fn provide(
    client: &Client,
    run: &str,
    files: &[FileFact],
    cache: &Path,
    plan_dir: &Path,
) -> Result<(), String> {
    for file in files {
        if !is_inside(&file.path)
            || file.sha256.len() != 64
            || !file.sha256.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err(format!("the file {:?} is not inside the directory of the plan", file.path));
        }
        let kept = cache.join(&file.sha256);
        if !has_hash(&kept, file) {
            fetch(client, run, file, &kept).await?;
        }
        let target = plan_dir.join(&file.path);
        let place = || -> std::io::Result<()> {
            if let Some(parent) = target.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::copy(&kept, &target).map(drop)
        };
        place().map_err(|error| format!("cannot write {}: {error}", target.display()))?;
    }
    Ok(())
}

fn has_hash(path: &Path, file: &FileFact) -> bool {
    hash(path).is_ok_and(|(bytes, sha256)| bytes == file.bytes && sha256 == file.sha256)
}

/// Fetches a file part by part.
async fn fetch(client: &Client, run: &str, file: &FileFact, kept: &Path) -> Result<(), String> {
    let io = |error: std::io::Error| format!("cannot keep {}: {error}", file.path);
    create_private_dir(kept.parent().unwrap_or(Path::new("."))).map_err(io)?;
    let mut name = kept.as_os_str().to_owned();
    name.push(format!(".{run}"));
    let unfinished = PathBuf::from(name);
    let mut out = std::fs::File::create(&unfinished).map_err(io)?;
    let mut from = 0;
    while from < file.bytes {
        let part = fetch_part(client, run, &FileRequest { sha256: file.sha256.clone(), from })
            .await
            .map_err(|why| format!("cannot fetch the file {}: {why}", file.path))?;
        if part.is_empty() {
            return Err(format!("the file {} became shorter", file.path));
        }
        out.write_all(&part).map_err(io)?;
        from += part.len() as u64;
    }
    out.sync_all().map_err(io)?;
    if !has_hash(&unfinished, file) {
        return Err(format!("the file {} arrived damaged, or changed while it was sent", file.path));
    }
    std::fs::rename(&unfinished, kept).map_err(io)
}

async fn fetch_part(client: &Client, run: &str, request: &FileRequest) -> Result<Vec<u8>, String> {
    let bytes = encode(request).map_err(|error| error.to_string())?;
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match client.request(subjects::files(run), bytes.clone().into()).await {
            Ok(answer) => return part_of_message(&answer.payload),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}
