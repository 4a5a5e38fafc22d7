//! The checks of `mnemal doctor` on the file system of the data directory.

use std::path::Path;

use super::{Finding, OK, WARN, finding};

/// Network file systems, on which processes of two machines do not share memory. Source: the names in Linux.
const NETWORK: [&str; 9] = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph"];

/// Warns of a network file system: the write-ahead log needs memory shared by all processes.
pub(super) fn file_system(file: &Path) -> Finding {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    match folder.and_then(|folder| kind(&mounts, &folder)) {
        Some(kind) if NETWORK.contains(&kind.as_str()) => finding(
            "file system",
            WARN,
            format!("{kind} is a network file system; keep the space on a local disk"),
        ),
        Some(kind) => finding("file system", OK, kind),
        None => finding("file system", OK, "not known on this system"),
    }
}

/// Returns the file system type of a folder: that of the longest matching mount point.
fn kind(mounts: &str, folder: &Path) -> Option<String> {
    let mount = |line: &str| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?.replace("\\040", " "), words.next()?.to_owned()))
    };
    let above = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind)
}

/// Lists copies that a restore, a recovery or a migration left in the space's folder: a forget does not reach them.
pub(super) fn copies(file: &Path) -> Finding {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = file.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let left = [".before-restore-", ".damaged-", ".restoring", ".recovering", ".bak"];
    let mut names: Vec<String> = folder
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|other| {
            other.strip_prefix(&name).is_some_and(|end| left.iter().any(|part| end.contains(part)))
        })
        .collect();
    names.sort_unstable();
    if names.is_empty() {
        return finding("copies", OK, "none are left beside the space");
    }
    let what = format!("a forget does not reach {}; delete what you need no more", names.join(", "));
    finding("copies", WARN, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_above_a_folder_counts() {
        let mounts = "/dev/vda / ext4 rw 0 0\nserver:/home /home/ada\\040x nfs4 rw 0 0\n";
        assert_eq!(kind(mounts, Path::new("/home/ada x/data")).as_deref(), Some("nfs4"));
        assert_eq!(kind(mounts, Path::new("/home/ada")).as_deref(), Some("ext4"));
        assert_eq!(kind("", Path::new("/")), None);
    }
}
