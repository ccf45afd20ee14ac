//! Sentences of labelled pairs, and the cross-encoder over them.

use std::path::Path;

use landmark_data::catalog::{self, PairParts};
use landmark_data::{DataError, SentencePairs};
use landmark_report::Caveat;

use super::{Preparation, Stage, StageError};
use crate::config::{MatrixSubject, PairsConfig, RunSettings};

/// The sample that ships inside.
const SAMPLE: &str = "embedded_pairs";

/// Pairs to learn from and to judge by, under the name that their rows have.
#[cfg_attr(not(feature = "torch"), expect(dead_code, reason = "without torch nothing scores them"))]
struct Loaded {
    name: &'static str,
    train: SentencePairs,
    dev: SentencePairs,
    are_graded: bool,
    /// All pairs to judge by; `dev` may be a sample of them.
    all: SentencePairs,
}

fn load(
    matrix: &MatrixSubject,
    items: &PairsConfig,
    seed: u64,
    data: Option<&Path>,
    stamps: &mut Vec<Caveat>,
) -> Result<Loaded, StageError> {
    let wanted = matrix.dataset.name;
    let (name, parts) = match catalog::load_pairs(wanted, data) {
        Ok(parts) => (wanted, parts),
        Err(error @ (DataError::MissingFile { .. } | DataError::NoDataFolder { .. })) if items.fallback.is_some() => {
            stamps.push(Caveat {
                dataset: None,
                text: format!("FELL BACK to the embedded sample, because {error}"),
                breaks_comparison: true,
            });
            (SAMPLE, catalog::load_pairs(SAMPLE, None)?)
        }
        Err(error) => return Err(error.into()),
    };
    let PairParts { train, dev: all, are_graded } = parts;
    let dev = items.limit.map_or_else(|| all.clone(), |limit| all.sample(name, limit, seed));
    if dev.len() < all.len() {
        stamps.push(Caveat {
            dataset: Some(name.to_owned()),
            text: format!("{} of {} pairs, {} sentences: `dataset.limit`", dev.len(), all.len(), dev.sentences().len()),
            breaks_comparison: true,
        });
    }
    Ok(Loaded { name, train, dev, are_graded, all })
}

#[cfg(not(feature = "torch"))]
pub(super) fn set(
    run: &RunSettings,
    matrix: &MatrixSubject,
    items: &PairsConfig,
    data: Option<&Path>,
    _: Preparation,
) -> Result<Stage, StageError> {
    load(matrix, items, run.seed, data, &mut Vec::new())?;
    Err(StageError::NoTorch)
}

#[cfg(feature = "torch")]
pub(super) use with_torch::set;

#[cfg(feature = "torch")]
mod with_torch {
    use std::sync::Arc;

    use landmark_core::oracle::{Identity, Oracle, OracleError, Pair, Symmetrized, Symmetry};
    use landmark_oracles::cross_encoder::{Epoch, FineTune, FineTuned, LabelledPairs, Score, Target};
    use landmark_oracles::encoder::{ModelError, ModelFiles};
    use landmark_oracles::torch::DeviceChoice;
    use serde_json::json;
    use tch::Device;

    use super::*;
    use crate::config::{CrossEncoderConfig, OracleConfig};
    use crate::stage::models::Models;
    use crate::stage::proxies::embeddings_of;
    use crate::stage::{Calibration, ModelFailure, Proxies, Sentences, facts};

    pub(crate) fn set(
        run: &RunSettings,
        matrix: &MatrixSubject,
        items: &PairsConfig,
        data: Option<&Path>,
        preparation: Preparation,
    ) -> Result<Stage, StageError> {
        let OracleConfig::CrossEncoder(wanted) = &matrix.oracle else {
            return Err(StageError::Pair { dataset: matrix.dataset.name.to_owned(), oracle: matrix.oracle.kind() });
        };
        let (mut stamps, mut notes) = (Vec::new(), Vec::new());
        let loaded = load(matrix, items, run.seed, data, &mut stamps)?;
        let models = Models::start(run, &wanted.device)?;
        let base = ModelFiles::find(&wanted.model, None).map_err(ModelFailure::from)?;
        stamps.extend(model_stamp(run, wanted, &base));

        let (files, curve) = prepare(run, wanted, &loaded, &base, models.device(), preparation)?;
        let sentences = loaded.dev.sentences();
        let (as_given, said) = files.over(sentences, wanted, &models)?;
        notes.extend(said);
        let raw = in_one_order(&as_given, wanted);
        let calibration = calibration(&loaded, items, run.seed, |texts| {
            let (as_given, _) = files.over(texts, wanted, &models)?;
            Ok(in_one_order(&as_given, wanted))
        })?;
        notes.extend(curve_note(&curve, loaded.are_graded, loaded.all.len()));
        let bi_encoder = |model: &str| models.bi_encoder(model, sentences);
        let proxies = Proxies::for_texts(matrix, sentences.len(), None, &embeddings_of(sentences.len()), &bi_encoder)?;
        let more = json!({
            "model": wanted.model,
            "fine_tuned": curve,
            "torch": models.report(),
            "device": String::from(wanted.device.parse::<DeviceChoice>().unwrap_or_default()),
        });
        Ok(Stage {
            dataset: loaded.name.to_owned(),
            description: format!(
                "cross-encoder `{}` over {} sentences of {} `{}` pairs",
                wanted.model,
                sentences.len(),
                loaded.dev.len(),
                loaded.name
            ),
            is_priced: true,
            proxies,
            clouds: None,
            negligible: None,
            own: None,
            program: None,
            labels: None,
            stamps,
            notes,
            facts: facts(loaded.name, raw.len(), raw.as_ref(), more),
            sentences: Some(Sentences {
                as_given,
                order: wanted.order,
                pairs: loaded.dev.pairs().to_vec(),
                targets: loaded.dev.targets().to_vec(),
                are_graded: loaded.are_graded,
                calibration,
                are_labels: wanted.score == Score::Label,
                is_trained: matches!(files, Prepared::Ready(_)),
                train: loaded.train.len(),
                curve,
            }),
            raw,
        })
    }

    fn model_stamp(run: &RunSettings, wanted: &CrossEncoderConfig, base: &ModelFiles) -> Option<Caveat> {
        let text = if base.is_tiny() {
            "the model `tiny`: random numbers in two small layers, fine-tuned on what it is given; it knows no language"
                .to_owned()
        } else if run.paper.is_some() {
            format!("the cross-encoder is `{}`, fine-tuned here; the paper says only BERT", wanted.model)
        } else {
            return None;
        };
        Some(Caveat { dataset: None, text, breaks_comparison: true })
    }

    /// A model with a head, or the recipe of one.
    enum Prepared {
        Ready(ModelFiles),
        ToBeTrained(Identity),
    }

    impl Prepared {
        /// The score of these texts, each pair as it is asked for, and what is to be said of it.
        fn over(
            &self,
            texts: &[String],
            wanted: &CrossEncoderConfig,
            models: &Models,
        ) -> Result<(Arc<dyn Oracle>, Vec<String>), StageError> {
            match self {
                Self::Ready(files) => models.cross_encoder(files, wanted, texts),
                Self::ToBeTrained(recipe) => {
                    let note = "the model is not fine-tuned yet: that comes first, and what it will score is not known";
                    let oracle = Arc::new(Untrained { len: texts.len(), recipe: *recipe });
                    Ok((oracle, vec![note.to_owned()]))
                }
            }
        }
    }

    /// Both orders of a pair as one score, where that is wanted.
    fn in_one_order(as_given: &Arc<dyn Oracle>, wanted: &CrossEncoderConfig) -> Arc<dyn Oracle> {
        match wanted.order.symmetrization() {
            Some(mode) => Arc::new(Symmetrized::new(Arc::clone(as_given), mode)),
            None => Arc::clone(as_given),
        }
    }

    /// A sample of the pairs to learn from, where they have labels and a threshold is to be chosen on them.
    fn calibration(
        loaded: &Loaded,
        items: &PairsConfig,
        seed: u64,
        score: impl FnOnce(&[String]) -> Result<Arc<dyn Oracle>, StageError>,
    ) -> Result<Option<Calibration>, StageError> {
        if loaded.are_graded || items.threshold_pairs == 0 {
            return Ok(None);
        }
        let sample = loaded.train.sample(loaded.name, items.threshold_pairs, seed);
        Ok(Some(Calibration {
            oracle: score(sample.sentences())?,
            description: format!("cross-encoder over {} `{}` pairs to learn from", sample.len(), loaded.name),
            pairs: sample.pairs().to_vec(),
            labels: sample.targets().iter().map(|&target| target > 0.5).collect(),
        }))
    }

    fn prepare(
        run: &RunSettings,
        wanted: &CrossEncoderConfig,
        loaded: &Loaded,
        base: &ModelFiles,
        device: Device,
        preparation: Preparation,
    ) -> Result<(Prepared, Vec<Epoch>), StageError> {
        let Some(params) = wanted.fine_tune else { return Ok((Prepared::Ready(base.clone()), Vec::new())) };
        let recipe = FineTune {
            base,
            dataset: loaded.name,
            train: labelled(&loaded.train),
            // a sample of the pairs to judge by reduces no training: epochs are judged by all of them
            dev: labelled(&loaded.all),
            target: if loaded.are_graded { Target::Grade } else { Target::Label },
            params,
            max_length: wanted.max_length,
            seed: run.seed,
        };
        let models = ModelFiles::models_folder(None);
        let tuned = match recipe.finished(&models).map_err(ModelFailure::from)? {
            Some(tuned) => tuned,
            None if preparation.may_train => {
                train(&recipe, &models, device, wanted, loaded, preparation.quiet).map_err(ModelFailure::from)?
            }
            None => {
                let identity = recipe.recipe().map_err(ModelFailure::from)?;
                return Ok((Prepared::ToBeTrained(identity), Vec::new()));
            }
        };
        Ok((Prepared::Ready(tuned.files), tuned.curve))
    }

    /// Fine-tunes, and says how it goes.
    fn train(
        recipe: &FineTune<'_>,
        models: &Path,
        device: Device,
        wanted: &CrossEncoderConfig,
        loaded: &Loaded,
        quiet: bool,
    ) -> Result<FineTuned, ModelError> {
        let say = |text: String| {
            if !quiet {
                eprintln!("{text}");
            }
        };
        let folder = recipe.folder(models)?;
        let (model, pairs, name) = (&wanted.model, loaded.train.len(), loaded.name);
        say(format!("fine-tuning `{model}` on {pairs} pairs of `{name}`; checkpoints in `{}`", folder.display()));
        recipe.run(models, device, &mut |Epoch { number, loss, score, both_orders, seconds }| {
            let judge = judge(loaded.are_graded);
            let both = both_orders.map_or_else(String::new, |score| format!(" ({score:.4} of both orders)"));
            say(format!("  epoch {number}: loss {loss:.4}, {judge} {score:.4}{both}, {seconds:.0} s"));
        })
    }

    fn labelled(pairs: &SentencePairs) -> LabelledPairs<'_> {
        LabelledPairs { texts: pairs.sentences(), pairs: pairs.pairs(), targets: pairs.targets() }
    }

    fn judge(are_graded: bool) -> &'static str {
        if are_graded { "Pearson" } else { "accuracy" }
    }

    fn curve_note(curve: &[Epoch], are_graded: bool, pairs: usize) -> Option<String> {
        let best = curve.iter().reduce(|best, epoch| if epoch.score > best.score { epoch } else { best })?;
        Some(format!(
            "fine-tuned for {} epochs; the best on all {pairs} pairs to judge by, epoch {} with {} {:.4}, is the one used, as published numbers on this set are chosen too",
            curve.len(),
            best.number,
            judge(are_graded),
            best.score
        ))
    }

    /// What stands for a model that a dry run may not train: its shape is known, its scores are not.
    struct Untrained {
        len: usize,
        recipe: Identity,
    }

    impl Oracle for Untrained {
        fn len(&self) -> usize {
            self.len
        }

        fn symmetry(&self) -> Symmetry {
            Symmetry::Asymmetric
        }

        fn identity(&self) -> Identity {
            self.recipe
        }

        fn evaluate(&self, pairs: &[Pair], _: &mut [f64]) -> Result<(), OracleError> {
            let what = format!("{} pairs of a model that is not fine-tuned yet", pairs.len());
            Err(OracleError::Failed { what, source: "run the configuration to fine-tune it".into() })
        }
    }
}
