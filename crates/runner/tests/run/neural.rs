//! The library that runs models: opened at the first need, and refused by name where it is not the program's own.

use std::process::Command;

use crate::scratch::{Said, Scratch};

const MODEL: &str = "name: pairs\nexperiment: glue\ndataset: { name: embedded_pairs, limit: 4 }\n\
    oracle: { kind: cross_encoder, model: tiny, device: cpu }\nmethods: [sms_nystrom]\nranks: [2]\n";

#[cfg(target_os = "linux")]
#[test]
fn the_program_starts_without_libtorch() {
    // the loader prints what the program needs, and does not start it
    let listed = Said::of(Scratch::with("").command(&["--version"]).env("LD_TRACE_LOADED_OBJECTS", "1"));
    assert!(listed.out.contains("libc.so"), "{}", listed.out);
    assert!(!listed.out.contains("torch") && !listed.out.contains("libc10"), "{}", listed.out);
}

#[cfg(not(feature = "torch"))]
#[test]
fn a_program_without_models_says_so() {
    Scratch::with(MODEL).complains(&[], &["which this program was built without", "--features torch"]);
}

#[cfg(feature = "torch")]
#[test]
fn a_library_that_is_not_there_or_belongs_to_another_build_is_refused_by_name() {
    let scratch = Scratch::with(MODEL);
    let with = |library: &str| Said::of(scratch.command(&["config.yaml"]).env("LANDMARK_NEURAL", library));
    let said = with("nowhere.so");
    assert_ne!(said.code, Some(0));
    said.must_complain("at none of `nowhere.so`");
    said.must_complain("LANDMARK_NEURAL");

    scratch.write("library.txt", "no library");
    with("./library.txt").must_complain("`./library.txt` can't be opened");

    let source =
        "#[no_mangle] pub extern \"C\" fn landmark_neural_stamp() -> *const u8 { b\"0.0.9, another\\0\".as_ptr() }";
    scratch.write("other.rs", source);
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut rustc = Command::new(rustc);
    rustc.args(["--crate-type", "cdylib", "-o", "other.so", "other.rs"]).current_dir(scratch.path(""));
    assert!(rustc.status().unwrap().success());
    let said = with("./other.so");
    assert_ne!(said.code, Some(0));
    said.must_complain("`./other.so` belongs to another build of this program: it is of 0.0.9, another");
}

#[cfg(feature = "torch")]
#[test]
fn whole_numbers_say_how_far_they_are_from_f32_and_train_nothing() {
    let scratch = Scratch::with(&MODEL.replace("device: cpu", "device: cpu, precision: int8"));
    let said = scratch.run(&[]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let summary = std::fs::read_to_string(scratch.path("runs/pairs/summary.md")).unwrap();
    assert!(summary.contains("`int8` against f32 on 100 pairs: scores differ by 0.0"), "{summary}");

    let trained = MODEL.replace("device: cpu", "device: cpu, fine_tune: { precision: int8 }");
    Scratch::with(&trained).complains(&[], &["`oracle.fine_tune.precision` is int8, but must be f32 or bf16"]);
}

#[cfg(feature = "torch")]
#[test]
fn a_list_of_texts_that_grew_asks_a_model_only_for_pairs_of_new_ones() {
    use crate::scratch::number_before;

    let made = " new calls";
    let serves = " scores of the same scorer on other lists of items serve this one";
    let own = "name: mine\nexperiment: own_data\ndataset: { name: texts, path: items.txt }\n\
               oracle: { kind: cross_encoder, model: tiny, device: cpu, order: ORDER }\nmethods: [sms_nystrom]\nranks: 4\n";
    let texts = |n: usize| {
        let text = |i: usize| format!("the {} ferry of line {i}", ["early", "late", "slow"][i % 3]);
        (0..n).map(text).collect::<Vec<_>>().join("\n")
    };
    for order in ["mean", "max"] {
        let scratch = Scratch::with(&own.replace("ORDER", order));
        scratch.write("items.txt", &texts(10));
        scratch.run_well(&["--quiet"]);
        scratch.write("items.txt", &texts(30));
        let dry = scratch.run_well(&["--dry-run"]);
        // all pairs of ten texts, each with itself among them
        assert_eq!(number_before(&dry.err, serves), 55, "{order}: {}", dry.err);
        let to_buy = number_before(&dry.out, " new calls (");
        let bought = number_before(&scratch.run_well(&[]).err, made);
        assert_eq!(bought, to_buy, "{order}");
        // the factors are those of a store that knew nothing
        let estimates = || {
            let z: ndarray::Array2<f64> = ndarray_npy::read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
            z.dot(&z.t())
        };
        let grown = estimates();
        let alone = number_before(&scratch.run_well(&["--store", "another", "--force"]).err, made);
        assert!(bought < alone, "{order}: {bought} of {alone}");
        let apart = (grown - estimates()).mapv(f64::abs).fold(0.0, |a: f64, &b| a.max(b));
        // a model in single precision scores a pair in another batch a little differently
        assert!(apart < 1e-3, "{order}: estimates differ by {apart}");
    }
    // the sentences of labelled pairs, whose two orders are kept apart
    let scratch = Scratch::with(MODEL);
    let before = number_before(&scratch.run_well(&[]).err, made);
    scratch.write("config.yaml", &MODEL.replace("limit: 4", "limit: 8"));
    let said = scratch.run_well(&[]);
    let (carried, bought) = (number_before(&said.err, serves), number_before(&said.err, made));
    let alone = number_before(&scratch.run_well(&["--store", "another", "--force"]).err, made);
    assert!(carried > 0 && carried <= before, "{}", said.err);
    // every call that is kept is one less, those of the new list are all there are
    assert_eq!(bought, alone - carried, "{}", said.err);
}
