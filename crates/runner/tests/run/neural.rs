//! The library that runs models: opened at the first need, and refused by name where it is not the program's own.

use std::process::Command;

use crate::scratch::{Printed, Scratch};

const MODEL: &str = "name: pairs\nexperiment: glue\ndataset: { name: embedded_pairs, limit: 4 }\n\
    oracle: { kind: cross_encoder, model: tiny, device: cpu }\nmethods: [sms_nystrom]\nranks: [2]\n";

#[cfg(target_os = "linux")]
#[test]
fn the_program_starts_without_libtorch() {
    // the loader prints what the program needs, and does not start it
    let listed = Printed::of(Scratch::with("").command("--version").env("LD_TRACE_LOADED_OBJECTS", "1"));
    listed.prints(&["libc.so"]);
    assert!(!listed.out.contains("torch") && !listed.out.contains("libc10"), "{}", listed.out);
}

#[test]
fn a_library_that_is_not_there_or_belongs_to_another_build_is_refused_by_name() {
    let scratch = Scratch::with(MODEL);
    let with = |library: &str| Printed::of(scratch.command("config.yaml").env("LANDMARK_NEURAL", library));
    let seen = with("nowhere.so");
    assert_ne!(seen.code, Some(0));
    seen.must_complain(
        "at none of `nowhere.so`; build it with `scripts/setup && cargo build --release -p runner --features torch`",
    );
    seen.must_complain("LANDMARK_NEURAL");

    scratch.write("library.txt", "no library");
    with("./library.txt").must_complain("cannot load `./library.txt`, which runs models");

    let source =
        "#[no_mangle] pub extern \"C\" fn landmark_neural_stamp() -> *const u8 { b\"0.0.9, another\\0\".as_ptr() }";
    scratch.write("other.rs", source);
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut rustc = Command::new(rustc);
    rustc.args(["--crate-type", "cdylib", "-o", "other.so", "other.rs"]).current_dir(scratch.path(""));
    assert!(rustc.status().unwrap().success());
    let seen = with("./other.so");
    assert_ne!(seen.code, Some(0));
    seen.must_complain("`./other.so` belongs to another build of this program: it is of 0.0.9, another");
}

#[cfg(feature = "torch")]
#[test]
fn whole_numbers_say_how_far_they_are_from_f32_and_train_nothing() {
    let scratch = Scratch::with(&MODEL.replace("device: cpu", "device: cpu, precision: int8"));
    scratch.run_well("");
    scratch.has("runs/pairs/summary.md", &["`int8` against f32 on 100 pairs: scores differ by 0.0"]);

    let trained = MODEL.replace("device: cpu", "device: cpu, fine_tune: { precision: int8 }");
    Scratch::with(&trained).complains("", &["`oracle.fine_tune.precision` is int8, but must be f32 or bf16"]);
}

#[cfg(feature = "torch")]
#[test]
fn pairs_above_the_limit_of_the_model_are_counted_in_the_run_and_on_its_page() {
    let scratch = Scratch::with(
        "name: mine\nexperiment: own_data\ndataset: { name: texts, path: items.txt }\n\
         oracle: { kind: cross_encoder, model: tiny, device: cpu, order: mean, max_length: 16 }\nmethods: [shift_ridge]\nranks: 3\n",
    );
    // 13 tokens are left for two texts: three long ones among six, so that a pair of two short ones alone fits
    let long = "a b c d e f g h i j k l";
    scratch.write(
        "items.txt",
        &["a b", "c d", "e f", long, "b c d e f g h i j k l a", "c d e f g h i j k l a b"].join("\n"),
    );
    let seen = scratch.run_well("");
    let stated = "12 of 15 pairs have more than the 16 tokens that the model reads at most, and are cut";
    seen.reports(&[stated]);
    scratch.has("runs/mine/report.html", &[stated]);
}
