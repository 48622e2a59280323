//! Use of the machine by processes, as Linux reports it in `/proc`. Elsewhere nothing is known.

use std::collections::BTreeSet;
use std::fs;

/// Use of the machine by processes and all their descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time so far, in microseconds.
    pub cpu_us: u64,
    /// Resident memory in bytes.
    pub memory: u64,
    /// Open files.
    pub files: u64,
    /// Threads.
    pub threads: u64,
    /// Processes.
    pub processes: u64,
}

/// The use by these processes and their descendants; `None` if none of them is running or the system does not say.
pub fn process_usage(roots: &[u32]) -> Option<ProcessUsage> {
    let (mut seen, mut left) = (BTreeSet::new(), roots.to_vec());
    let mut usage = ProcessUsage::default();
    while let Some(pid) = left.pop() {
        if seen.insert(pid)
            && let Some(one) = usage_of(pid)
        {
            usage.cpu_us += one.cpu_us;
            usage.memory += one.memory;
            usage.files += one.files;
            usage.threads += one.threads;
            usage.processes += 1;
            left.extend(children(pid));
        }
    }
    (usage.processes > 0).then_some(usage)
}

fn usage_of(pid: u32) -> Option<ProcessUsage> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let files = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |files| files.count() as u64);
    Some(ProcessUsage {
        cpu_us: cpu_us(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?,
        // A process that has ended and is not yet collected has no memory.
        memory: field("VmRSS:")? * 1024,
        files,
        threads: field("Threads:")?,
        processes: 1,
    })
}

/// Processor time of `/proc/PID/stat`: fields 14 and 15, in hundredths of a second on every Linux platform.
fn cpu_us(stat: &str) -> Option<u64> {
    // The name of the program is in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) * 10_000)
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_files_and_threads() {
        let usage = process_usage(&[std::process::id()]).expect("known");
        assert!(usage.memory > 100_000 && usage.files > 2 && usage.threads >= 1 && usage.processes >= 1, "{usage:?}");
        assert_eq!(process_usage(&[u32::MAX]), None);
    }

    #[test]
    fn the_name_of_a_program_may_contain_anything() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 12 3 0 0 20 0 1 0 5 0 0";
        assert_eq!(cpu_us(stat), Some(150_000));
    }
}
