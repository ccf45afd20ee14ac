//! A run that lacks corpora or models: how much that is, a question or a wish, and then the fetch.

use landmark_oracles::neural::{KnownModel, ModelFiles};

use crate::console::{Watch, megabytes};
use crate::corpora;
use crate::download::{DownloadSettings, Downloader};
use crate::error::FetchError;
use crate::models;
use crate::places::{ACCEPT_VARIABLE, FETCH_VARIABLE, Places};

#[derive(Debug, Clone, Copy, Default)]
pub struct Wish {
    pub fetch: bool,
    pub accept_licenses: bool,
}

impl Wish {
    #[must_use]
    pub fn or_variables(self) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| value == "1");
        Self {
            fetch: self.fetch || is_set(FETCH_VARIABLE),
            accept_licenses: self.accept_licenses || is_set(ACCEPT_VARIABLE),
        }
    }
}

/// Fetches what is not there of what a run names, if that is wished for or the answer to a question is yes.
///
/// Files are looked for, not read: the run checks them. What can't be fetched is reported, and the run continues: it falls back to a
/// sample where its configuration allows that, or names the file that it lacks.
pub fn on_need(
    datasets: &[&str],
    known: &[&'static KnownModel],
    places: &Places,
    wish: Wish,
    watch: &mut dyn Watch,
) -> Result<(), FetchError> {
    let missing = corpora::missing_by(datasets, |file| Ok(!places.data.join(file.path).exists()))?;
    let known: Vec<_> = known.iter().filter(|model| ModelFiles::find(model.name, None).is_err()).collect();
    if missing.is_empty() && known.is_empty() {
        return Ok(());
    }
    let models = known.iter().map(|model| (model.name, models::missing_bytes(model, None)));
    let bytes = corpora::download_bytes(&missing) + models.clone().map(|(_, bytes)| bytes).sum::<u64>();
    let names = missing.iter().map(|missing| missing.dataset.name).chain(models.map(|(name, _)| name));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let what = format!("missing: {}; about {} to download", names.join(", "), megabytes(bytes));
    let wish = wish.or_variables();
    if wish.fetch {
        watch.say(&what);
    } else if !watch.ask(&format!("{what}. Fetch them now?")) {
        return Ok(());
    }
    corpora::agree(&missing, &places.data, wish.accept_licenses, watch)?;
    let downloader = Downloader::new(DownloadSettings::default())?;
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|missing| missing.dataset.name).collect();
        passable(corpora::fetch(&names, places, &downloader, watch).map(|_| ()), watch)?;
    }
    for model in known {
        let fetched = models::fetch(model, None, places, &downloader, watch);
        passable(fetched.map(|_| ()), watch)?;
    }
    Ok(())
}

/// Faults of the network are reported; those of the disk end it.
fn passable(fetched: Result<(), FetchError>, watch: &mut dyn Watch) -> Result<(), FetchError> {
    match fetched {
        Err(error @ FetchError::Write { .. }) => Err(error),
        Err(error) => {
            watch.say(&format!("not fetched, the run continues without: {error}"));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
