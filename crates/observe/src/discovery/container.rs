//! Recognises containers by the names of their cgroups.

use super::found::{Container, ContainerRuntime};

/// Length of the identifier of a container.
const ID_LENGTH: usize = 64;

/// The container of a cgroup, such as `/system.slice/docker-ID.scope`, `/docker/ID` or `/kubepods/…/cri-containerd-ID.scope`.
pub(super) fn container_of(cgroup: &str) -> Option<Container> {
    // Of nested containers, the last identifier is the innermost. The cgroups inside a container follow it.
    let part = cgroup.split('/').rev().find(|part| identifier(part).is_some())?;
    let id = identifier(part)?;
    let runtime = match part.split(id).next().unwrap_or_default() {
        "docker-" => ContainerRuntime::Docker,
        "cri-containerd-" | "containerd-" => ContainerRuntime::Containerd,
        "crio-" | "crio-conmon-" => ContainerRuntime::CriO,
        "libpod-" | "libpod-conmon-" => ContainerRuntime::Podman,
        "" if cgroup.contains("/docker/") => ContainerRuntime::Docker,
        _ => ContainerRuntime::Unknown,
    };
    Some(Container { runtime, id: id.to_owned() })
}

/// The identifier at the end of a part, before `.scope`.
fn identifier(part: &str) -> Option<&str> {
    let part = part.strip_suffix(".scope").unwrap_or(part);
    let id = part.get(part.len().checked_sub(ID_LENGTH)?..)?;
    id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_recognised_by_cgroup_names() {
        let id = "0123456789abcdef".repeat(4);
        for (path, runtime) in [
            (format!("/system.slice/docker-{id}.scope"), ContainerRuntime::Docker),
            (format!("/docker/{id}"), ContainerRuntime::Docker),
            (format!("/docker/{id}/init.scope"), ContainerRuntime::Docker),
            (format!("/kubepods.slice/pod1.slice/cri-containerd-{id}.scope"), ContainerRuntime::Containerd),
            (format!("/kubepods/besteffort/pod1/{id}"), ContainerRuntime::Unknown),
            (format!("/machine.slice/libpod-{id}.scope/container"), ContainerRuntime::Podman),
            (format!("/kubepods.slice/crio-{id}.scope"), ContainerRuntime::CriO),
        ] {
            assert_eq!(container_of(&path), Some(Container { runtime, id: id.clone() }), "{path}");
        }
        for path in
            ["/", "/system.slice/nginx.service", "/docker/0123", &format!("/x/{}", "g".repeat(64)), "/ä"]
        {
            assert_eq!(container_of(path), None, "{path}");
        }
    }
}
