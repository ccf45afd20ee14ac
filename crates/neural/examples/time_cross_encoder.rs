//! Seconds of scoring and of a training epoch, for `scripts/bench-peers bert`.
//!
//! ```text
//! time_cross_encoder MODEL PAIRS.tsv score|train f32|bf16|int8 ROUNDS
//! ```
//!
//! PAIRS.tsv has a target between 0 and 1 and two sentences a line. Prints a JSON object a round.

use std::time::{Duration, Instant};

use landmark_core::oracle::Oracle;
use landmark_neural::cross_encoder::{CrossEncoder, fine_tune};
use landmark_neural::torch::Torch;
use landmark_oracles::neural::{
    CrossEncoderParams, DeviceChoice, FineTune, FineTuneParams, LabelledPairs, ModelFiles, Precision, Target,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, pairs, what, precision, rounds] = &arguments[..] else {
        return Err("usage: time_cross_encoder MODEL PAIRS.tsv score|train f32|bf16|int8 ROUNDS".into());
    };
    let device = Torch::start()?.device(DeviceChoice::Auto)?;
    let precision = match &precision[..] {
        "f32" => Precision::F32,
        "bf16" => Precision::Bf16,
        "int8" => Precision::Int8,
        other => return Err(format!("`{other}` is none of f32, bf16, int8").into()),
    };
    let files = ModelFiles::find(model, None)?;
    let text = std::fs::read_to_string(pairs)?;
    let (mut texts, mut targets) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [target, first, second] = fields[..] else { return Err(format!("no pair: {line}").into()) };
        targets.push(target.parse()?);
        texts.extend([first.to_owned(), second.to_owned()]);
    }
    let pairs: Vec<(usize, usize)> = (0..targets.len()).map(|k| (2 * k, 2 * k + 1)).collect();
    for _ in 0..rounds.parse()? {
        if what == "score" {
            let params = CrossEncoderParams { precision, ..CrossEncoderParams::default() };
            let lanes = if device.is_cuda() { 1 } else { usize::try_from(tch::get_num_threads())? };
            let oracle = CrossEncoder::open(&files, &texts, params, &vec![device; lanes])?;
            let mut scores = vec![0.0; pairs.len()];
            oracle.evaluate(&pairs[..pairs.len().min(64)], &mut scores[..pairs.len().min(64)])?;
            let start = Instant::now();
            oracle.evaluate(&pairs, &mut scores)?;
            report("pairs", pairs.len(), start);
        } else {
            let models = tempfile::tempdir()?;
            let labelled = LabelledPairs { texts: &texts, pairs: &pairs, targets: &targets };
            let one = &pairs[..1];
            let recipe = FineTune {
                base: &files,
                dataset: "time",
                train: labelled,
                dev: LabelledPairs { texts: &texts, pairs: one, targets: &targets[..1] },
                target: Target::Grade,
                params: FineTuneParams { epochs: 1, precision: Some(precision), ..FineTuneParams::default() },
                max_length: 128,
                seed: 2022,
                checkpoint_every: Duration::MAX,
            };
            let tuned = fine_tune(&recipe, models.path(), device, &mut |_| {})?;
            let epoch = &tuned.curve[0];
            write(&format!(r#"{{"epoch_seconds": {}, "loss": {}}}"#, epoch.seconds, epoch.loss));
        }
    }
    Ok(())
}

fn report(what: &str, count: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    write(&format!(r#"{{"{what}": {count}, "seconds": {seconds}, "threads": {}}}"#, tch::get_num_threads()));
}

#[allow(clippy::print_stdout)]
fn write(line: &str) {
    println!("{line}");
}
