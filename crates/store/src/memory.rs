//! Memory that columns may take on the heap.

use std::fs::read_to_string;

/// Least bytes granted: what any machine has to spare.
const LEAST: u64 = 1 << 30;
/// The part of a machine's memory that is granted: the rest is for factors, three to five times as large as the columns of a fit.
const PART: u64 = 3;

/// Bytes of columns that one oracle may keep on the heap unless told otherwise: a third of the memory of the machine, or of its control group (a
/// container) where that has less; 1 GiB at least, and where the system does not say.
pub fn default_memory() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    granted(machine, group)
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
    fn the_total_is_read_from_its_line() {
        assert_eq!(total("MemFree:  1 kB\nMemTotal:       24683656 kB\nMemFree: 2 kB\n"), Some(24_683_656 * 1024));
        assert_eq!(total("MemFree: 1 kB\n"), None);
    }
}
