//! Executor of the workers: this machine, a Slurm array, HyperQueue. For the latter two the files that submit them are written.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TilePlan;

/// Tasks of an array, at most: Slurm's own limit is 1,001 unless a site raises it.
const LARGEST_ARRAY: usize = 1000;

/// Executor of the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// This machine: start `runner worker` as often as you like.
    Local,
    /// A job array of Slurm.
    Slurm,
    /// A job of HyperQueue.
    HyperQueue,
}

/// `cluster:` — what a site wants to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterConfig {
    /// Lines after `#SBATCH`: `--mem=8G`, `--time=01:00:00`, `--partition=…`.
    pub slurm: Vec<String>,
    /// Array tasks that run at a time; as many as there is room for where absent.
    pub at_a_time: Option<usize>,
    /// Options of `hq submit`: `--cpus=4`.
    pub hyperqueue: Vec<String>,
    /// Seconds that a worker may be silent before another takes its tile over; 60 where absent.
    pub lease: Option<u64>,
    /// Shell lines before a worker starts: `module load python`.
    pub prologue: Vec<String>,
}

/// A file to be written, and how it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its name in the folder of the results.
    pub name: &'static str,
    /// Its content.
    pub text: String,
}

/// A command, each word quoted for a shell.
pub fn command_line(program: &Path, words: &[String]) -> String {
    let program = program.display().to_string();
    std::iter::once(&program).chain(words).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The files that an executor takes, and the command that submits them.
pub fn scripts(
    executor: Executor,
    name: &str,
    plan: &TilePlan,
    command: &str,
    site: &ClusterConfig,
    folder: &Path,
) -> (Vec<Script>, String) {
    let tasks = plan.tiles.len().min(LARGEST_ARRAY);
    let at = |name: &str| quoted(&PathBuf::from(folder).join(name).display().to_string());
    match executor {
        Executor::Local => {
            (Vec::new(), format!("{command} # in as many terminals, or on as many machines, as you like"))
        }
        Executor::Slurm => (vec![slurm(name, tasks, command, site, folder)], format!("sbatch {}", at("job.sbatch"))),
        Executor::HyperQueue => {
            let numbers: Vec<String> = (0..tasks).map(|task| task.to_string()).collect();
            let prologue: String = site.prologue.iter().map(|line| format!("{line}\n")).collect();
            let worker = format!(
                "#!/bin/sh\n# one task of HyperQueue: its number is HQ_ENTRY\n{prologue}exec {command} --share \"$HQ_ENTRY/{tasks}\"\n"
            );
            let files = vec![
                Script { name: "tasks.json", text: format!("[{}]\n", numbers.join(", ")) },
                Script { name: "worker.sh", text: worker },
            ];
            let options: String = site.hyperqueue.iter().map(|option| format!(" {}", quoted(option))).collect();
            let submit = format!(
                "hq submit{options} --name {} --from-json {} -- sh {}",
                quoted(name),
                at("tasks.json"),
                at("worker.sh")
            );
            (files, submit)
        }
    }
}

fn slurm(name: &str, tasks: usize, command: &str, site: &ClusterConfig, folder: &Path) -> Script {
    let at_a_time = site.at_a_time.map_or_else(String::new, |count| format!("%{count}"));
    let log = folder.join("slurm-%A_%a.log").display().to_string();
    let mut text = "#!/bin/bash\n".to_owned();
    text += &format!("#SBATCH --job-name=landmark-{name}\n#SBATCH --array=0-{}{at_a_time}\n", tasks.saturating_sub(1));
    text += &format!("#SBATCH --requeue\n#SBATCH --output={log}\n");
    for line in &site.slurm {
        text += &format!("#SBATCH {line}\n");
    }
    text += "# a task that was killed or requeued goes on where it was: nothing published is evaluated again\n";
    for line in &site.prologue {
        text += &format!("{line}\n");
    }
    text += &format!("exec {command} --share \"$SLURM_ARRAY_TASK_ID/{tasks}\"\n");
    Script { name: "job.sbatch", text }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::entries::EntrySet;
    use landmark_core::oracle::{Identity, OracleShape, Symmetry};

    use super::*;

    /// One column over as many items as there are to be tiles.
    fn plan(tiles: usize) -> TilePlan {
        let (symmetry, diagonal_known) = (Symmetry::Asymmetric, false);
        let shape = OracleShape { len: tiles, symmetry, diagonal_known, evaluations_per_pair: 1 };
        let mut set = EntrySet::new(shape);
        set.add_column(0);
        TilePlan::of_entries(&set, shape, Identity::of(&[]), 1, None).unwrap()
    }

    #[test]
    fn a_slurm_array_has_a_task_a_tile_and_the_lines_of_the_site() {
        let site = ClusterConfig { slurm: vec!["--mem=8G".into()], at_a_time: Some(20), ..ClusterConfig::default() };
        let command = command_line(Path::new("/bin/runner"), &["worker".into(), "a b.yaml".into()]);
        let (files, submit) = scripts(Executor::Slurm, "mine", &plan(40), &command, &site, Path::new("/r/cluster"));
        assert_eq!(submit, "sbatch /r/cluster/job.sbatch");
        for line in [
            "#SBATCH --array=0-39%20\n",
            "#SBATCH --mem=8G\n",
            "exec /bin/runner worker 'a b.yaml' --share \"$SLURM_ARRAY_TASK_ID/40\"\n",
        ] {
            assert!(files[0].text.contains(line), "{}", files[0].text);
        }
    }

    #[test]
    fn more_tiles_than_an_array_may_have_are_shared_among_its_tasks() {
        let (files, _) = scripts(Executor::Slurm, "mine", &plan(2000), "w", &ClusterConfig::default(), Path::new("r"));
        assert!(files[0].text.contains("--array=0-999\n") && files[0].text.contains("/1000\""), "{}", files[0].text);
    }

    #[test]
    fn hyperqueue_gets_a_list_of_entries() {
        let site = ClusterConfig { hyperqueue: vec!["--cpus=2".into()], ..ClusterConfig::default() };
        let (files, submit) = scripts(Executor::HyperQueue, "mine", &plan(4), "w", &site, Path::new("/r"));
        assert_eq!(files[0].text, "[0, 1, 2, 3]\n");
        assert_eq!(submit, "hq submit --cpus=2 --name mine --from-json /r/tasks.json -- sh /r/worker.sh");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
