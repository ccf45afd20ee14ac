//! The cross-encoder as an oracle, and its fine-tuning, on the tiny model inside.
#![allow(clippy::unwrap_used)] // a test file

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use landmark_core::oracle::{Oracle, OracleError, Symmetrization, Symmetrized, block_of};
use landmark_neural::cross_encoder::{CrossEncoder, fine_tune, time_training};
use landmark_neural::encoder::{ModelError, Weights};
use landmark_neural::torch::Torch;
use landmark_oracles::neural::{
    CrossEncoderParams, FineTune, FineTuneParams, FineTuned, LabelledPairs, ModelFiles, Precision, Score, Target,
    TuningProgress,
};
use tch::Device;

const TEXTS: [&str; 8] = [
    "A man plays music.",
    "The old woman sings in the rain.",
    "A dog runs.",
    "",
    "The train opens the city and the river, and a boat on the river sleeps.",
    "Rain.",
    "A cat is not a dog.",
    "Zebras yawn.",
];

fn texts() -> Vec<String> {
    TEXTS.map(String::from).to_vec()
}

fn open(params: CrossEncoderParams) -> CrossEncoder {
    Torch::start().unwrap();
    CrossEncoder::open(&ModelFiles::tiny(), &texts(), params, &[Device::Cpu]).unwrap()
}

#[test]
fn a_score_does_not_depend_on_its_company_or_on_the_number_of_workers() {
    let oracle = open(CrossEncoderParams::default());
    let all: Vec<usize> = (0..oracle.len()).collect();
    let together = block_of(&oracle, &all, &all).unwrap();
    let two =
        CrossEncoder::open(&ModelFiles::tiny(), &texts(), CrossEncoderParams::default(), &[Device::Cpu; 2]).unwrap();
    assert_eq!(block_of(&two, &all, &all).unwrap(), together);
    for i in 0..oracle.len() {
        for j in 0..oracle.len() {
            let mut alone = [0.0];
            oracle.evaluate(&[(i, j)], &mut alone).unwrap();
            // one sequence more in a product may change the order of its sums
            assert!((alone[0] - together[[i, j]]).abs() < 1e-6, "{i} {j}");
        }
    }
}

#[test]
fn the_mean_of_both_orders_is_symmetric_at_twice_the_price() {
    let oracle = Symmetrized::new(open(CrossEncoderParams::default()), Symmetrization::Mean);
    assert_eq!(oracle.evaluations_per_pair(), 2);
    let all: Vec<usize> = (0..oracle.len()).collect();
    let block = block_of(&oracle, &all, &all).unwrap();
    assert_eq!(block, block.t());
}

#[test]
fn an_identity_moves_with_score_length_precision_and_texts() {
    let plain = CrossEncoderParams::default();
    for of in [CrossEncoder::identity, CrossEncoder::identity_apart_from_texts] {
        let identity = of(&open(plain));
        assert_eq!(identity, of(&open(plain)));
        assert_ne!(identity, of(&open(CrossEncoderParams { score: Score::Label, ..plain })));
        assert_ne!(identity, of(&open(CrossEncoderParams { max_length: Some(16), ..plain })));
        assert_ne!(identity, of(&open(CrossEncoderParams { precision: Precision::Bf16, ..plain })));
    }
    let other = ["A man plays music!"].map(String::from);
    let other = CrossEncoder::open(&ModelFiles::tiny(), &other, plain, &[Device::Cpu]).unwrap();
    assert_ne!(open(plain).identity(), other.identity());
    assert_eq!(open(plain).identity_apart_from_texts(), other.identity_apart_from_texts());
}

#[test]
fn empty_and_endless_texts_are_scored_and_counted() {
    Torch::start().unwrap();
    let texts = [String::new(), "dog ".repeat(10_000), "A cat.".to_owned()];
    let oracle =
        CrossEncoder::open(&ModelFiles::tiny(), &texts, CrossEncoderParams::default(), &[Device::Cpu]).unwrap();
    assert_eq!(oracle.empty(), 1);
    assert_eq!(oracle.cut(), (1, 10_000 - (128 - 2)));
    assert_eq!((oracle.cut_pairs(), oracle.longest()), (2, 128), "with each of the others");
    let all = [0, 1, 2];
    assert!(block_of(&oracle, &all, &all).unwrap().iter().all(|score| (0.0..=1.0).contains(score)));
}

fn changed(change: impl Fn(&str, f32) -> Option<f32>) -> (tempfile::TempDir, ModelFiles) {
    let folder = tempfile::tempdir().unwrap();
    let tiny = ModelFiles::tiny();
    std::fs::write(folder.path().join("config.json"), tiny.config_bytes().unwrap()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tiny.tokenizer_bytes().unwrap()).unwrap();
    let bytes = tiny.weights_bytes().unwrap().to_vec();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors = std::collections::BTreeMap::new();
    let weights = Weights::parse(&bytes, Path::new("tiny"), Device::Cpu).unwrap();
    for (name, view) in file.tensors() {
        let short = name.strip_prefix("bert.").unwrap_or(&name);
        let shape: Vec<i64> = view.shape().iter().map(|&side| side as i64).collect();
        let values: Vec<f32> = Vec::try_from(weights.get(short, &shape).unwrap().view(-1)).unwrap();
        if let Some(values) = values.into_iter().map(|value| change(short, value)).collect::<Option<Vec<f32>>>() {
            tensors.insert(name.clone(), tch::Tensor::from_slice(&values).view(&shape[..]));
        }
    }
    Weights::write(&tensors, &folder.path().join("model.safetensors")).unwrap();
    let files = ModelFiles::at(folder.path()).unwrap();
    (folder, files)
}

#[test]
fn an_output_that_is_no_number_names_its_pair() {
    Torch::start().unwrap();
    let (_folder, files) = changed(|name, value| Some(if name == "classifier.bias" { f32::NAN } else { value }));
    let oracle = CrossEncoder::open(&files, &texts(), CrossEncoderParams::default(), &[Device::Cpu]).unwrap();
    let error = oracle.evaluate(&[(4, 2), (1, 2)], &mut [0.0; 2]).unwrap_err();
    assert!(matches!(error, OracleError::NotFinite { i: 4, j: 2, .. }), "{error}");
}

#[test]
fn a_model_without_a_head_is_refused_by_name() {
    Torch::start().unwrap();
    let (_folder, files) = changed(|name, value| (!name.starts_with("classifier")).then_some(value));
    let error = CrossEncoder::open(&files, &texts(), CrossEncoderParams::default(), &[Device::Cpu]).err().unwrap();
    assert!(matches!(error, ModelError::NoHead { .. }), "{error}");
}

fn lesson() -> (Vec<String>, Vec<(usize, usize)>, Vec<f64>) {
    let subjects = ["a dog", "the old dog", "a small dog", "the dog", "a cat", "the man", "an old woman", "the bird"];
    let verbs = ["runs", "sleeps", "plays", "walks"];
    let texts: Vec<String> =
        subjects.iter().flat_map(|subject| verbs.map(|verb| format!("{subject} {verb}."))).collect();
    let pairs: Vec<(usize, usize)> = (0..texts.len()).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let is_dog = |k: usize| texts[k].contains("dog");
    let targets = pairs.iter().map(|&(i, j)| f64::from(u8::from(is_dog(i) && is_dog(j)))).collect();
    (texts, pairs, targets)
}

fn train(models: &Path, epochs: usize, dies_after: Option<usize>) -> Option<FineTuned> {
    train_with(models, FineTuneParams { epochs, ..FineTuneParams::default() }, dies_after)
}

fn train_with(models: &Path, params: FineTuneParams, dies_after: Option<usize>) -> Option<FineTuned> {
    let mut steps = 0;
    let mut on_progress = |progress: TuningProgress<'_>| match progress {
        TuningProgress::Steps { done, all, .. } => {
            steps += 1;
            assert!(done <= all && (done - 1) == (steps - 1) % all, "step {done} of {all}");
        }
        TuningProgress::Epoch(epoch) => assert!(dies_after != Some(epoch.number), "killed"),
    };
    with_recipe(params, Duration::MAX, |recipe| {
        let run = AssertUnwindSafe(|| fine_tune(recipe, models, Device::Cpu, &mut on_progress));
        catch_unwind(run).ok().map(Result::unwrap)
    })
}

static TRAINING: Mutex<()> = Mutex::new(());

fn with_recipe<T>(params: FineTuneParams, checkpoint_every: Duration, work: impl FnOnce(&FineTune<'_>) -> T) -> T {
    let _turn = TRAINING.lock().unwrap_or_else(PoisonError::into_inner);
    Torch::start().unwrap();
    let (texts, pairs, targets) = lesson();
    let labeled = LabelledPairs { texts: &texts, pairs: &pairs, targets: &targets };
    work(&FineTune {
        base: &ModelFiles::tiny(),
        dataset: "lesson",
        train: labeled,
        dev: labeled,
        target: Target::Grade,
        params: FineTuneParams { batch: 16, learning_rate: 3e-3, precision: Some(Precision::F32), ..params },
        max_length: 32,
        seed: 8,
        checkpoint_every,
    })
}

#[test]
fn a_training_learns_and_one_that_was_killed_ends_with_the_same_weights() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tuned = train(whole.path(), 6, None).unwrap();
    assert_eq!(tuned.curve.len(), 6);
    assert!(tuned.curve[5].loss < 0.5 * tuned.curve[0].loss, "{:?}", tuned.curve);
    assert!(tuned.curve[5].score > 0.9, "{:?}", tuned.curve);

    assert!(train(killed.path(), 6, Some(2)).is_none());
    let resumed = train(killed.path(), 6, None).unwrap();
    assert_eq!(resumed.files.identity().unwrap(), tuned.files.identity().unwrap());
    let losses = |tuned: &FineTuned| tuned.curve.iter().map(|epoch| (epoch.loss, epoch.score)).collect::<Vec<_>>();
    assert_eq!(losses(&resumed), losses(&tuned));

    // finished, it is found and not trained again
    let found = train(killed.path(), 6, Some(1)).unwrap();
    assert_eq!(found.curve, resumed.curve);
    // and it is a model
    let oracle = CrossEncoder::open(&found.files, &texts(), CrossEncoderParams::default(), &[Device::Cpu]).unwrap();
    let mut scores = [0.0; 2];
    oracle.evaluate(&[(2, 2), (2, 5)], &mut scores).unwrap();
    assert!(scores[0] > scores[1], "{scores:?}");
}

#[test]
fn a_mean_of_the_weights_is_kept_with_a_training_that_it_does_not_move() {
    let models = tempfile::tempdir().unwrap();
    let with = |average: Option<f64>| FineTuneParams { epochs: 3, average, ..FineTuneParams::default() };
    let plain = train_with(models.path(), with(None), None).unwrap();
    let losses = |tuned: &FineTuned| tuned.curve.iter().map(|epoch| epoch.loss).collect::<Vec<_>>();

    // a mean that remembers nothing is the weights
    let forgetful = train_with(models.path(), with(Some(0.0)), None).unwrap();
    assert_eq!(forgetful.files.identity().unwrap(), plain.files.identity().unwrap());

    let mean = train_with(models.path(), with(Some(0.99)), None).unwrap();
    assert_eq!(losses(&mean), losses(&plain));
    assert_ne!(mean.files.identity().unwrap(), plain.files.identity().unwrap());
    assert!(mean.curve[2].score > 0.5, "{:?}", mean.curve);

    let killed = tempfile::tempdir().unwrap();
    assert!(train_with(killed.path(), with(Some(0.99)), Some(1)).is_none());
    let resumed = train_with(killed.path(), with(Some(0.99)), None).unwrap();
    assert_eq!(resumed.files.identity().unwrap(), mean.files.identity().unwrap());
}

#[test]
fn a_training_killed_inside_an_epoch_resumes_at_its_last_step_and_ends_with_the_same_weights() {
    for (dropout, average) in [(Some(0.2), Some(0.9)), (Some(0.0), None)] {
        let params = FineTuneParams { epochs: 3, dropout, average, ..FineTuneParams::default() };
        let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wanted = train_with(whole.path(), params, None).unwrap();
        let (mut steps, mut deaths) = (Vec::new(), vec![(3, 7), (2, 5)]);
        let mut tuned = None;
        while tuned.is_none() {
            let next = deaths.pop();
            let mut on_progress = |progress: TuningProgress<'_>| {
                if let TuningProgress::Steps { epoch, done, .. } = progress {
                    steps.push((epoch, done));
                    assert!(next != Some((epoch, done)), "killed");
                }
            };
            tuned = with_recipe(params, Duration::ZERO, |recipe| {
                let run = AssertUnwindSafe(|| fine_tune(recipe, killed.path(), Device::Cpu, &mut on_progress));
                catch_unwind(run).ok().map(Result::unwrap)
            });
        }
        let tuned = tuned.unwrap();
        // no step is made twice
        assert!(steps.contains(&(2, 6)) && steps.is_sorted_by(|before, after| before < after), "{steps:?}");
        assert_eq!(tuned.files.identity().unwrap(), wanted.files.identity().unwrap(), "dropout {dropout:?}");
        let losses = |tuned: &FineTuned| tuned.curve.iter().map(|epoch| epoch.loss).collect::<Vec<_>>();
        assert_eq!(losses(&tuned), losses(&wanted));
    }
}

#[test]
fn steps_that_are_only_timed_change_no_later_training() {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let params = FineTuneParams { epochs: 1, ..FineTuneParams::default() };
    let wanted = train_with(before.path(), params, None).unwrap();
    let seconds = with_recipe(params, Duration::MAX, |recipe| time_training(recipe, Device::Cpu, 40).unwrap());
    assert!(seconds > 0.0);
    let tuned = train_with(after.path(), params, None).unwrap();
    assert_eq!(tuned.files.identity().unwrap(), wanted.files.identity().unwrap());
}
