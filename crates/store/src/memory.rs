//! Memory that columns may take on the heap.

use std::fs::read_to_string;
use std::path::{Component, Path};

const LEAST: u64 = 1 << 30;
/// The part of a machine's memory that is granted: the rest is for factors, three to five times as large as the columns of a fit.
const PART: u64 = 3;

/// Bytes of columns that one oracle may keep on the heap unless set otherwise: a third of the memory of the machine, or of its control group (a
/// container, a slice), or a group above that, where one has less; 1 GiB at least, and where the system does not report it.
pub fn default_memory() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    granted(machine, group_limit(Path::new("/")))
}

/// The least limit among the control groups of this process and all above them, of version 1 and 2; `root` is where `proc` and `sys` stand.
fn group_limit(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = root.join("sys/fs/cgroup");
    // where no group is named, that of the mount itself
    let of_mount = limits(&mounts, "", "memory.max");
    let of_groups = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        match controllers {
            // both versions at once: the second has a folder of its own
            "" => [limits(&mounts, path, "memory.max"), limits(&mounts.join("unified"), path, "memory.max")].concat(),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                limits(&mounts.join("memory"), path, "memory.limit_in_bytes")
            }
            _ => Vec::new(),
        }
    });
    of_groups.chain(of_mount).min()
}

/// Limits of a group and of all above it, up to the mount. A container often sees the path of its group from outside, and as the mount only the
/// group itself: what is not there is passed over.
fn limits(mount: &Path, path: &str, file: &str) -> Vec<u64> {
    let names: Vec<_> = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let limit = |depth: usize| {
        let folder = names[..depth].iter().fold(mount.to_owned(), |folder, name| folder.join(name));
        read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    (0..=names.len()).filter_map(limit).collect()
}

fn granted(machine: Option<u64>, group: Option<u64>) -> u64 {
    machine.into_iter().chain(group).min().map_or(LEAST, |bytes| (bytes / PART).max(LEAST))
}

/// Bytes behind `MemTotal:   123 kB`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_container_with_less_than_its_machine_counts_and_little_is_never_less_than_one() {
        assert_eq!(granted(Some(24 * GIB), None), 8 * GIB);
        assert_eq!(granted(Some(96 * GIB), Some(6 * GIB)), 2 * GIB);
        assert_eq!(granted(Some(2 * GIB), None), GIB);
        assert_eq!(granted(None, None), GIB);
    }

    #[test]
    fn the_least_limit_counts_of_a_group_and_of_all_above_it_in_both_versions() {
        let limit = |groups: &str, files: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let file = root.path().join(path);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            };
            write("proc/self/cgroup", groups);
            files.iter().for_each(|(path, text)| write(&format!("sys/fs/cgroup/{path}"), text));
            group_limit(root.path())
        };
        let nested = "0::/user.slice/job.scope\n";
        assert_eq!(limit(nested, &[("user.slice/job.scope/memory.max", "4096\n")]), Some(4096));
        let slice = [("user.slice/memory.max", "2048\n"), ("user.slice/job.scope/memory.max", "max\n")];
        assert_eq!(limit(nested, &slice), Some(2048), "a group has no more than the one above it");
        assert_eq!(limit(nested, &[("user.slice/job.scope/memory.max", "max\n")]), None);
        let first = "5:cpu,cpuacct:/a\n4:memory:/docker/a\n";
        assert_eq!(limit(first, &[("memory/docker/a/memory.limit_in_bytes", "512\n")]), Some(512));
        assert_eq!(limit(first, &[("memory/memory.limit_in_bytes", "256\n")]), Some(256), "seen from inside");
        assert_eq!(limit("4:memory:/\n0::/x\n", &[("unified/x/memory.max", "128\n")]), Some(128));
        assert_eq!(limit("0::/../other\n", &[("memory.max", "64\n")]), Some(64));
        assert_eq!(limit("", &[("memory.max", "32\n")]), Some(32));
        assert_eq!(limit("", &[]), None);
    }
}
