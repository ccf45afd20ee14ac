//! The encoder against an independent implementation: tiny random models (NumPy, `scripts/peers/tiny_encoders.py`) always,
//! all-MiniLM-L6-v2 (HuggingFace transformers, `scripts/peers/minilm.py`) where it lies in the folder of models.
#![allow(clippy::unwrap_used)] // a test file

use std::path::Path;

use landmark_neural::encoder::{Classifier, DropoutRates, Encoder, ModelError, Sequence, TokenBatch, Tokenizer};
use landmark_neural::torch::Torch;
use landmark_oracles::neural::{ModelFiles, Precision};
use serde_json::Value;
use tch::{Device, Kind};

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn whole_numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn tiny_roberta() -> ModelFiles {
    ModelFiles::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny-roberta")).unwrap()
}

fn sequences(cases: &Value) -> Vec<Sequence> {
    let read =
        |case: &Value| Sequence { ids: whole_numbers(&case["ids"]), types: whole_numbers(&case["types"]), cut: 0 };
    cases.as_array().unwrap().iter().map(read).collect()
}

#[test]
fn hidden_states_and_logits_of_tiny_models_are_those_of_an_independent_implementation() {
    Torch::start().unwrap();
    let golden = golden("tiny_encoders.json");
    for (name, files) in [("bert", ModelFiles::tiny()), ("roberta", tiny_roberta())] {
        let cases = &golden[name];
        let sequences = sequences(cases);
        let encoder = Encoder::open(&files, Device::Cpu, Precision::F32).unwrap();
        let classifier = Classifier::open(&files, Device::Cpu, Precision::F32).unwrap();
        let states = encoder.token_states(&sequences).unwrap();
        for ((case, sequence), states) in cases.as_array().unwrap().iter().zip(&sequences).zip(states) {
            for (wanted, row) in case["states"].as_array().unwrap().iter().zip(states.rows()) {
                for (wanted, seen) in numbers(wanted).iter().zip(row) {
                    // f32 against f64 through two layers of numbers near 1
                    assert!((wanted - f64::from(*seen)).abs() < 2e-5, "{name}: {wanted} {seen}");
                }
            }
            let batch = TokenBatch::new([sequence]);
            let logits = tch::no_grad(|| classifier.logits(&batch, DropoutRates::default())).unwrap();
            let seen: Vec<f64> = Vec::try_from(logits.to_kind(Kind::Double).view(-1)).unwrap();
            for (wanted, seen) in numbers(&case["logits"]).iter().zip(&seen) {
                assert!((wanted - seen).abs() < 2e-5, "{name}: {wanted} {seen}");
            }
        }
    }
}

#[test]
fn a_sequence_in_a_batch_of_several_lengths_gets_the_logits_it_gets_alone() {
    Torch::start().unwrap();
    let classifier = Classifier::open(&ModelFiles::tiny(), Device::Cpu, Precision::F32).unwrap();
    let sequences = sequences(&golden("tiny_encoders.json")["bert"]);
    let logits = |batch: &TokenBatch| -> Vec<f64> {
        let logits = tch::no_grad(|| classifier.logits(batch, DropoutRates::default())).unwrap();
        Vec::try_from(logits.to_kind(Kind::Double).view(-1)).unwrap()
    };
    let together = logits(&TokenBatch::new(&sequences));
    for (sequence, together) in sequences.iter().zip(together) {
        // a product of another height may round differently
        assert!((logits(&TokenBatch::new([sequence]))[0] - together).abs() < 1e-5);
    }
}

#[test]
fn a_pair_is_cut_and_dressed_as_the_tokenizers_own_processor_does() {
    let text = std::fs::read_to_string(tiny_roberta().tokenizer()).unwrap();
    let models = [
        (
            "bert",
            ModelFiles::tiny(),
            String::from_utf8(ModelFiles::tiny().tokenizer_bytes().unwrap().to_vec()).unwrap(),
        ),
        ("roberta", tiny_roberta(), text),
    ];
    for (name, files, json) in models {
        let ours = Tokenizer::open(&files).unwrap();
        let mut theirs: tokenizers::Tokenizer = json.parse().unwrap();
        theirs.with_truncation(None).unwrap();
        let (a, b) = ("The old man's dog sleeps.", "a cat, not the dog, runs?");
        let encoding = theirs.encode((a, b), true).unwrap();
        let wanted: Vec<i64> = encoding.get_ids().iter().map(|&id| i64::from(id)).collect();
        let pair = ours.pair(&ours.text(a).unwrap(), &ours.text(b).unwrap(), 512);
        assert_eq!(pair.ids, wanted, "{name}");
        let types: Vec<i64> = encoding.get_type_ids().iter().map(|&id| i64::from(id)).collect();
        assert_eq!(pair.types, types, "{name}");
        assert_eq!(pair.ids.len(), ours.length_of_pair(ours.text(a).unwrap().len(), ours.text(b).unwrap().len(), 512));
    }
}

#[test]
fn words_know_their_tokens() {
    let tokenizer = Tokenizer::open(&ModelFiles::tiny()).unwrap();
    let tokens = tokenizer.words(&["The", "dog's", "", "zoo"]).unwrap();
    let whole = tokenizer.text("The dog's zoo").unwrap();
    assert_eq!(tokens.ids, whole);
    // the | dog ' s | nothing | z ##o ##o
    assert_eq!(tokens.words, [0..1, 1..4, 4..4, 4..7]);
}

#[test]
fn ten_thousand_words_are_cut_to_what_the_model_takes_and_counted() {
    Torch::start().unwrap();
    let (files, text) = (ModelFiles::tiny(), "dog ".repeat(10_000));
    let tokenizer = Tokenizer::open(&files).unwrap();
    let encoder = Encoder::open(&files, Device::Cpu, Precision::F32).unwrap();
    let longest = encoder.config().longest();
    let ids = tokenizer.text(&text).unwrap();
    let sequence = tokenizer.single(&ids, longest);
    assert_eq!((sequence.ids.len(), sequence.cut), (longest, 10_000 + 2 - longest));
    assert_eq!(encoder.token_states(&[sequence]).unwrap()[0].nrows(), longest);
    let uncut = tokenizer.single(&ids, usize::MAX);
    let error = encoder.token_states(&[uncut]).unwrap_err();
    assert!(matches!(error, ModelError::TooLong { seen: 10_002, .. }), "{error}");
    let nothing = tokenizer.text("").unwrap();
    assert!(nothing.is_empty());
    assert_eq!(encoder.token_states(&[tokenizer.single(&nothing, longest)]).unwrap()[0].nrows(), 2);
}

fn changed(name: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> (tempfile::TempDir, ModelFiles) {
    let folder = tempfile::tempdir().unwrap();
    let tiny = ModelFiles::tiny();
    for (file, bytes) in [
        ("config.json", tiny.config_bytes()),
        ("tokenizer.json", tiny.tokenizer_bytes()),
        ("model.safetensors", tiny.weights_bytes()),
    ] {
        let bytes = bytes.unwrap().to_vec();
        let bytes = if file == name { change(bytes) } else { bytes };
        std::fs::write(folder.path().join(file), bytes).unwrap();
    }
    let files = ModelFiles::at(folder.path()).unwrap();
    (folder, files)
}

fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from));
    text.replace(from, to).into_bytes()
}

#[test]
fn damaged_weights_and_another_configuration_name_the_tensor_and_both_shapes() {
    Torch::start().unwrap();
    let config = |from, to| changed("config.json", |bytes| replaced(bytes, from, to));
    for ((_folder, files), wanted) in [
        (
            changed("model.safetensors", |bytes| bytes[..bytes.len() - 100].to_vec()),
            &["model.safetensors` is no whole safetensors file"][..],
        ),
        (config("\"hidden_size\": 16", "\"hidden_size\": 24"), &["word_embeddings.weight", "16]", "24]"][..]),
        (
            config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"),
            &["no tensor `encoder.layer.2.attention.self.query.weight`"][..],
        ),
    ] {
        let error = Encoder::open(&files, Device::Cpu, Precision::F32).unwrap_err().to_string();
        assert!(wanted.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn the_tokenizer_of_another_model_is_refused() {
    let shrunk = |bytes| replaced(bytes, "\"vocab_size\": 123,", "\"vocab_size\": 100,");
    let (_folder, files) = changed("config.json", shrunk);
    let error = Tokenizer::open(&files).unwrap_err().to_string();
    assert!(error.contains("gives ids up to 122, but the model has word embeddings for 100"), "{error}");
    let (_folder, files) = changed("tokenizer.json", |bytes| replaced(bytes, "[SEP]", "[END]"));
    let error = Tokenizer::open(&files).unwrap_err().to_string();
    assert!(error.contains("it has no token `[SEP]`"), "{error}");
}

#[test]
fn an_identity_moves_with_every_file_and_the_precision() {
    Torch::start().unwrap();
    let identity = |files: &ModelFiles, precision| Encoder::open(files, Device::Cpu, precision).unwrap().identity();
    let tiny = identity(&ModelFiles::tiny(), Precision::F32);
    assert_eq!(tiny, identity(&ModelFiles::tiny(), Precision::F32));
    assert_ne!(tiny, identity(&ModelFiles::tiny(), Precision::Bf16));
    assert_ne!(tiny, identity(&ModelFiles::tiny(), Precision::Int8));
    for file in ["config.json", "tokenizer.json"] {
        let (_folder, files) = changed(file, |mut bytes| {
            bytes.push(b' ');
            bytes
        });
        assert_ne!(tiny, identity(&files, Precision::F32), "{file}");
    }
}

fn minilm() -> Option<ModelFiles> {
    Torch::start().unwrap();
    let files = ModelFiles::find("all-MiniLM-L6-v2", None);
    files.inspect_err(|_| eprintln!("skipped: all-MiniLM-L6-v2 is not among the models (`landmark model fetch`)")).ok()
}

#[test]
fn minilm_gives_what_transformers_gives() {
    let Some(files) = minilm() else { return };
    let golden = golden("minilm.json");
    let tokenizer = Tokenizer::open(&files).unwrap();
    let encoder = Encoder::open(&files, Device::Cpu, Precision::F32).unwrap();
    let sentences: Vec<&str> =
        golden["sentences"].as_array().unwrap().iter().map(|sentence| sentence.as_str().unwrap()).collect();
    let ids: Vec<Vec<i64>> = sentences.iter().map(|sentence| tokenizer.text(sentence).unwrap()).collect();
    let pair = tokenizer.pair(&ids[0], &ids[1], 512);
    assert_eq!((&pair.ids, &pair.types), (&whole_numbers(&golden["pair_ids"]), &whole_numbers(&golden["pair_types"])));
    // f32 on both sides, six layers of sums over 384 and 1,536 terms in different orders
    let near = |wanted: &Value, seen: &[f64]| {
        numbers(wanted).iter().zip(seen).for_each(|(x, y)| assert!((x - y).abs() < 2e-5, "{x} {y}"));
    };
    let states = encoder.token_states(&[pair]).unwrap().remove(0).mapv(f64::from);
    near(&golden["pair_first"], &states.row(0).to_vec());
    near(&golden["pair_last"], &states.row(states.nrows() - 1).to_vec());
    let singles: Vec<Sequence> = ids.iter().map(|ids| tokenizer.single(ids, 512)).collect();
    let vectors = encoder.embeddings(&singles).unwrap();
    near(&golden["embedding"], &vectors.row(0).to_vec());
    let cosines: Vec<f64> =
        (0..3).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| vectors.row(i).dot(&vectors.row(j))).collect();
    near(&golden["cosines"], &cosines);
}

#[test]
fn whole_numbers_keep_the_vectors_of_minilm() {
    let Some(files) = minilm() else { return };
    let tokenizer = Tokenizer::open(&files).unwrap();
    let texts =
        ["A plane is taking off.", "An air plane is taking off!", "The stock market fell sharply on Tuesday", ""];
    let sequences: Vec<Sequence> =
        texts.iter().map(|text| tokenizer.single(&tokenizer.text(text).unwrap(), 512)).collect();
    let vectors = |precision| {
        let encoder = Encoder::open(&files, Device::Cpu, precision).unwrap();
        encoder.embeddings(&sequences).unwrap()
    };
    let (exact, rounded) = (vectors(Precision::F32), vectors(Precision::Int8));
    assert_ne!(exact, rounded);
    for (x, y) in exact.rows().into_iter().zip(rounded.rows()) {
        // the lowest is .986; scores of a fine-tuned cross-encoder agree far better, with a Pearson of .9997
        assert!(x.dot(&y) > 0.98, "{}", x.dot(&y));
    }
    // a text's numbers are its own, whatever else is in the batch
    let alone = Encoder::open(&files, Device::Cpu, Precision::Int8).unwrap().embeddings(&sequences[1..2]).unwrap();
    let off = alone.row(0).iter().zip(rounded.row(1)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(off < 1e-6, "{off}");
}
