//! Provenance of a result: everything needed to make it again, or to see why it came out differently. Written as `run.json`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;

use crate::config::{Config, Overlays};
use crate::job_costs::CostTotal;
use crate::needs::Needs;
use crate::oracles::wmd::Skipped;
use landmark_core::untrusted::redacted;

/// Contents of `run.json`, next to the `command` of the run, the `facts` of its report, and `rows`: count and digest of its rows.
#[derive(Debug, Clone, Serialize)]
pub struct Provenance {
    pub version: &'static str,
    /// The sources it was built from, or runs in.
    pub source: Source,
    pub config: ConfigFacts,
    pub seed: u64,
    /// Hashes and counts of dataset, vectors and oracle.
    pub data: Json,
    /// Files of the catalog that the configuration names, in the form that its digests hold them to.
    pub files: Vec<FileFacts>,
    /// Calls planned, made, reused: of all cells, whichever run computed them.
    pub calls: Calls,
    /// Machine of the run that wrote this.
    pub machine: Machine,
    /// Program of the run that wrote this.
    pub build: Build,
    /// Wall seconds of all cells, and of opening the data.
    pub wall_seconds: f64,
    /// Costs of the jobs, summed: machines and revisions.
    pub cells: CostTotal,
    /// Largest resident memory of the process, where the system reports it.
    pub peak_memory_bytes: Option<u64>,
}

/// Entries of the matrix: evaluations of the oracle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Calls {
    /// Number of calls that the run needs by the plan.
    pub planned: u64,
    /// True where the plan is an upper bound: `planned` and `reused` are the largest numbers possible.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Number of calls made; `bought` in files of earlier versions.
    pub evaluated: u64,
    /// Number of planned calls whose scores were there already.
    pub reused: u64,
    /// Distances not solved among the calls made, where the configuration allows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skipped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileFacts {
    /// Path below the data folder.
    pub path: &'static str,
    /// Its sha256: a file with another is refused before a run starts.
    pub sha256: &'static str,
}

/// Sources of the program: revision and state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    pub revision: Option<String>,
    /// True where files differ from that revision; unknown outside a working copy.
    pub dirty: Option<bool>,
    /// `working copy` where the run started inside this project, else `build`.
    pub of: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigFacts {
    pub file: String,
    pub text: String,
    /// The profile laid over it.
    pub profile: String,
    /// Assignments laid over both, in order. Files of versions before 2.1 lack it.
    pub set: Vec<String>,
    /// The configuration as it ran, defaults included.
    pub resolved: String,
    pub hash: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub cpu: Option<String>,
    pub cores: usize,
    pub threads: usize,
    pub memory_bytes: Option<u64>,
    /// Model of each GPU of NVIDIA's that its driver lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<String>,
    pub os: String,
}

/// The compiler and libraries of the program, and the sources it was built from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Build {
    #[serde(skip)]
    pub version: &'static str,
    /// Git revision of the sources; empty where it is not known.
    #[serde(skip)]
    pub revision: &'static str,
    pub rustc: &'static str,
    pub target: &'static str,
    /// `release` or `debug`.
    pub profile: &'static str,
    /// Library that factors and multiplies.
    pub linear_algebra: &'static str,
}

impl Provenance {
    /// Looks around. `data` is what the problem knows of its dataset, vectors and oracle; `opening` the time that no cell accounts for.
    pub fn gather(
        config: &Config,
        data: Json,
        calls: &Calls,
        cells: CostTotal,
        opening: Duration,
        build: &Build,
    ) -> Result<Self, serde_json::Error> {
        let mut source = Source::look(build);
        // one cell of a changed tree is enough
        if cells.revisions.iter().any(|share| share.dirty) {
            source.dirty = Some(true);
        }
        Ok(Self {
            version: build.version,
            source,
            config: ConfigFacts {
                file: config.run.file.display().to_string(),
                text: redacted(&config.text),
                profile: config.run.profile.name.clone(),
                set: config.run.set.iter().map(|assignment| redacted(assignment)).collect(),
                resolved: redacted(&config.to_yaml()?),
                hash: config.config_hash()?.to_hex(),
            },
            seed: config.run.seed,
            data,
            files: files(&serde_json::to_value(config)?),
            calls: *calls,
            machine: Machine::look(),
            build: *build,
            wall_seconds: cells.seconds + opening.as_secs_f64(),
            cells,
            peak_memory_bytes: status_kilobytes("VmHWM:").map(|kilobytes| kilobytes * 1024),
        })
    }
}

/// `run.json` in a folder of results; a run that finds everything done, and a report, leave it as it is.
pub(crate) fn kept(folder: &Path) -> Option<Json> {
    serde_json::from_str(&std::fs::read_to_string(folder.join("run.json")).ok()?).ok()
}

/// Profile and assignments of a run, from its `run.json`.
pub fn overlays(facts: &Json) -> Overlays {
    let recorded = serde_json::from_value(facts["config"]["set"].clone()).ok();
    Overlays {
        profile: facts["config"]["profile"].as_str().map(str::to_owned),
        set: recorded.unwrap_or_else(|| set_of_command(facts["command"].as_str().unwrap_or_default())),
    }
}

/// Assignments of a command, for `run.json` files that have no `set`: `--set K=V`, `--set=K=V`, `-s K=V`, `-s=K=V` and `-sK=V`.
fn set_of_command(command: &str) -> Vec<String> {
    let (mut set, mut words) = (Vec::new(), shlex::split(command).unwrap_or_default().into_iter());
    while let Some(word) = words.next() {
        if word == "--set" || word == "-s" {
            set.extend(words.next());
        } else if let Some(given) = word.strip_prefix("--set=") {
            set.push(given.to_owned());
        } else if let Some(given) = word.strip_prefix("-s").filter(|given| given.contains('=')) {
            set.push(given.strip_prefix('=').unwrap_or(given).to_owned());
        }
    }
    set
}

/// Files of every dataset of the catalog that the settings of a configuration name.
fn files(config: &Json) -> Vec<FileFacts> {
    let named = Needs::of(config).datasets.into_iter();
    named.flat_map(|dataset| &dataset.files).map(|file| FileFacts { path: file.path, sha256: file.sha256 }).collect()
}

impl Source {
    /// The working copy around the working directory if it is this project's, else what the build recorded.
    pub fn look(build: &Build) -> Self {
        let manifest = git(&["show", "HEAD:crates/runner/Cargo.toml"]);
        if manifest.is_some_and(|manifest| manifest.contains("name = \"runner\"")) {
            // results are what sources make: they differ whenever a run writes them again
            let status = ["status", "--porcelain", "--untracked-files=no", "--", ":(top)", ":(top,exclude)results"];
            let dirty = git(&status).map(|changes| !changes.trim().is_empty());
            return Self {
                revision: git(&["rev-parse", "HEAD"]).map(|text| text.trim().to_owned()),
                dirty,
                of: "working copy",
            };
        }
        let revision = Some(build.revision).filter(|revision| !revision.is_empty()).map(str::to_owned);
        Self { revision, dirty: None, of: "build" }
    }
}

impl Machine {
    /// In words: `AMD EPYC, 2 threads`, `AMD EPYC, 16 threads, NVIDIA H100 80GB HBM3`.
    pub fn words(&self) -> String {
        let cpu = self.cpu.as_deref().unwrap_or("a processor without a name");
        let plural = if self.threads == 1 { "" } else { "s" };
        let gpus: String = self.gpus.iter().map(|gpu| format!(", {gpu}")).collect();
        format!("{cpu}, {} thread{plural}{gpus}", self.threads)
    }

    /// Facts that the system reports; `None` where it doesn't.
    pub fn look() -> Self {
        let cpu_info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu_info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            cpu: cpu.map(|(_, model)| model.trim().to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            threads: rayon::current_num_threads(),
            memory_bytes: kilobytes(&memory, "MemTotal:").map(|kilobytes| kilobytes * 1024),
            gpus: gpus(Path::new("/proc/driver/nvidia/gpus")),
            os: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned(),
        }
    }
}

/// Models of the GPUs that a driver lists, one folder a card; none where there is no such driver.
fn gpus(driver: &Path) -> Vec<String> {
    let mut cards: Vec<_> = std::fs::read_dir(driver).into_iter().flatten().flatten().map(|card| card.path()).collect();
    cards.sort();
    let model = |card: PathBuf| {
        let information = std::fs::read_to_string(card.join("information")).ok()?;
        Some(information.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned())
    };
    cards.into_iter().filter_map(model).collect()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn status_kilobytes(key: &str) -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, key)
}

/// The number behind `key` in a file of `Key:   123 kB` lines.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.trim().trim_end_matches("kB").trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_that_run_json_records_however_the_command_spells_them() {
        let facts = serde_json::json!({
            "command": "landmark configs/a.yaml --set 'title=a' -sranks=[1]",
            "config": { "profile": "paper", "set": ["replicates=2", "title=x ' y"] }
        });
        let overlays = overlays(&facts);
        assert_eq!(overlays.profile.as_deref(), Some("paper"));
        assert_eq!(overlays.set, ["replicates=2", "title=x ' y"]);
        let none = serde_json::json!({ "command": "landmark a.yaml --set a=1", "config": { "set": [] } });
        assert!(super::overlays(&none).set.is_empty());
    }

    #[test]
    fn settings_of_an_older_run_json_are_read_from_its_command_in_every_spelling() {
        let command =
            "runner a.yaml --profile paper --set ranks=[1] --set 'title=a b c' --set=b=2 -s d=4 -sc=3 --store s";
        let overlays = overlays(&serde_json::json!({ "command": command, "config": { "profile": "paper" } }));
        assert_eq!(overlays.set, ["ranks=[1]", "title=a b c", "b=2", "d=4", "c=3"]);
    }

    #[test]
    fn a_machine_names_the_cards_that_its_driver_lists() {
        let driver = tempfile::tempdir().unwrap();
        for (card, model) in [("0000:02:00.0", "NVIDIA H200"), ("0000:01:00.0", "NVIDIA H100 80GB HBM3")] {
            let folder = driver.path().join(card);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("information"), format!("Model: \t\t {model}\nIRQ:   \t\t 44\n")).unwrap();
        }
        std::fs::create_dir(driver.path().join("0000:03:00.0")).unwrap();
        let gpus = gpus(driver.path());
        assert_eq!(gpus, ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]);
        let machine = Machine { cpu: Some("AMD EPYC".to_owned()), gpus, threads: 16, ..Machine::look() };
        assert_eq!(machine.words(), "AMD EPYC, 16 threads, NVIDIA H100 80GB HBM3, NVIDIA H200");
        assert!(super::gpus(&driver.path().join("absent")).is_empty());
    }

    #[test]
    fn files_of_the_datasets_that_a_configuration_names_are_listed_with_their_digests() {
        let config = serde_json::json!({ "dataset": { "name": "twitter", "vectors": "self300" }, "title": "tweets" });
        let paths: Vec<_> = files(&config).iter().map(|file| file.path).collect();
        assert_eq!(paths, ["wmd/twitter.tsv.gz", "vectors/self300.f16.npy", "vectors/self300.vocab.tsv"]);
        assert!(files(&serde_json::json!({ "dataset": { "name": "embedded" } })).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_a_peak_of_memory_and_this_machine_a_size() {
        let peak = status_kilobytes("VmHWM:").unwrap() * 1024;
        assert!(peak > 0 && peak <= Machine::look().memory_bytes.unwrap());
    }
}
