//! Fine-tuning of a cross-encoder: its plan in words, its progress, its learning curve.

use std::path::Path;
use std::time::Duration;

use landmark_data::SentencePairs;
use landmark_oracles::neural::{Epoch, FineTune, FineTuned, LabelledPairs, NeuralError, TuningProgress};
use landmark_report::amounts::{count, counted, duration};

use crate::loaded::Pairs;
use crate::models::Models;
use crate::progress::Progress;

/// A training is killed at most this long after its last checkpoint.
pub(super) const CHECKPOINT_EVERY: Duration = Duration::from_secs(300);

/// The epochs and steps of a training that is still to come, and the time per epoch if `sample` is given.
pub(super) fn training_plan(
    recipe: &FineTune<'_>,
    libtorch: &Models,
    sample: Option<u64>,
) -> Result<String, NeuralError> {
    let (steps, batch) = (recipe.steps_per_epoch(), recipe.params.batch);
    let time = match sample {
        Some(pairs) => {
            // steps differ in length: a few at least
            let timed = usize::try_from(pairs).unwrap_or(usize::MAX).div_ceil(batch).max(5).min(steps);
            let seconds = libtorch.time_training(recipe, timed)?;
            let of = counted(timed as u64, "step");
            format!(", about {} per epoch (measured on {of}; judging adds to it)", duration(seconds * steps as f64))
        }
        None => String::new(),
    };
    Ok(format!(
        "the model is not fine-tuned yet: the run first trains {} of {} each ({} pairs, {batch} per step){time}",
        counted(recipe.params.epochs as u64, "epoch"),
        counted(steps as u64, "step"),
        count(recipe.train.pairs.len() as u64)
    ))
}

/// Fine-tunes, and shows its progress.
pub(super) fn train(
    recipe: &FineTune<'_>,
    models: &Path,
    libtorch: &Models,
    model: &str,
    loaded: &Pairs,
    quiet: bool,
) -> Result<FineTuned, NeuralError> {
    let say = |text: String| {
        if !quiet {
            eprintln!("{text}");
        }
    };
    let folder = recipe.folder(models)?;
    let (pairs, name) = (loaded.train.len(), recipe.dataset);
    say(format!("fine-tuning `{model}` on {pairs} pairs of `{name}`; checkpoints in `{}`", folder.display()));
    let all_epochs = recipe.params.epochs;
    let busy = Progress::busy("fine-tuning: reading the model and the pairs", quiet);
    libtorch.fine_tune(recipe, models, &mut |progress| {
        let per_epoch = duration(progress.seconds_per_epoch());
        let &Epoch { number, loss, score, both_orders, .. } = match progress {
            TuningProgress::Epoch(epoch) => epoch,
            TuningProgress::Steps { epoch, done, all, .. } if done < all => {
                busy.now(format!(
                    "fine-tuning, epoch {epoch} of {all_epochs}, step {done} of {all}, {per_epoch} per epoch"
                ));
                return;
            }
            TuningProgress::Steps { epoch, .. } => {
                busy.now(format!("fine-tuning, epoch {epoch} of {all_epochs}, judging the model"));
                return;
            }
        };
        let judge = judge(loaded.are_graded);
        let both = both_orders.map_or_else(String::new, |score| format!(" ({score:.4} of both orders)"));
        busy.say(&format!("  epoch {number}: loss {loss:.4}, {judge} {score:.4}{both}, {per_epoch}"));
    })
}

pub(super) fn labeled(pairs: &SentencePairs) -> LabelledPairs<'_> {
    LabelledPairs { texts: pairs.sentences(), pairs: pairs.pairs(), targets: pairs.targets() }
}

fn judge(are_graded: bool) -> &'static str {
    if are_graded { "Pearson" } else { "accuracy" }
}

pub(super) fn curve_note(curve: &[Epoch], are_graded: bool, pairs: usize) -> Option<String> {
    let best = curve.iter().reduce(|best, epoch| if epoch.score > best.score { epoch } else { best })?;
    Some(format!(
        "fine-tuned for {} epochs; the best on all {pairs} pairs to judge by, epoch {} with {} {:.4}, is the one used, as published numbers on this set are chosen too",
        curve.len(),
        best.number,
        judge(are_graded),
        best.score
    ))
}
