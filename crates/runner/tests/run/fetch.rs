//! `--fetch` and `landmark data`: what a run lacks comes from a mirror, or the run reports it and falls back. Nothing leaves the machine.

use std::path::Path;
use std::process::Command;

use crate::scratch::{Printed, SAMPLE, Scratch};

fn with_mirror(scratch: &Scratch, mirror: &Path, arguments: &str) -> Command {
    let mut command = scratch.command(arguments);
    command.env("LANDMARK_MIRROR", mirror).env("LANDMARK_MIRROR_ONLY", "1");
    command
}

fn tweets() -> String {
    SAMPLE.replace("name: embedded", "name: twitter, fallback: embedded")
}

#[test]
fn without_a_network_a_run_falls_back_and_every_page_states_it() {
    let scratch = Scratch::with(&tweets());
    let nothing = scratch.path("nothing");
    let seen = Printed::of(&mut with_mirror(&scratch, &nothing, "config.yaml --fetch --accept-licenses"));
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    seen.reports(&["missing: `twitter`; about 0.3 MB to download", "not fetched, the run continues without"]);
    seen.reports(&["FELL BACK to the embedded sample"]);
}

#[test]
fn a_licence_that_nobody_accepts_stops_a_run_before_it_starts() {
    let scratch = Scratch::with(&tweets());
    let seen = Printed::of(&mut with_mirror(&scratch, &scratch.path("nothing"), "config.yaml --fetch"));
    assert_ne!(seen.code, Some(0));
    seen.reports(&["twitter: unstated"]);
    seen.must_complain("the licenses of `twitter` were not accepted");
    assert!(!scratch.path("store").exists() && !scratch.path("runs").exists());
}

#[test]
#[ignore = "needs LANDMARK_RAW"]
fn a_run_from_an_empty_cache_fetches_converts_and_goes_on() {
    let raw = std::env::var_os("LANDMARK_RAW").expect("`LANDMARK_RAW` names a folder of raw sources");
    let scratch = Scratch::with(&tweets());
    let seen = Printed::of(&mut with_mirror(&scratch, Path::new(&raw), "config.yaml --fetch --accept-licenses"));
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(seen.err.contains("wmd/twitter.tsv.gz") && !seen.err.contains("FELL BACK"), "{}{}", seen.err, seen.out);
    assert!(scratch.path("cache/landmark/wmd/twitter.tsv.gz").exists());
    let again = Printed::of(&mut with_mirror(&scratch, &scratch.path("nothing"), "config.yaml"));
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(!again.err.contains("missing"), "{}", again.err);
    let verified = Printed::of(&mut with_mirror(&scratch, Path::new(&raw), "data verify"));
    assert!(verified.code == Some(0) && verified.out.contains("right"), "{}{}", verified.out, verified.err);
}

#[cfg(feature = "torch")]
#[test]
fn a_model_that_is_missing_too_gives_way_to_the_one_inside() {
    let text = "name: pairs\nexperiment: glue\ndataset: { name: stsb, limit: 8, fallback: embedded }\n\
                oracle: { kind: cross_encoder, model: all-MiniLM-L6-v2, fine_tune: { epochs: 1 } }\n\
                methods: [sms_nystrom]\nranks: [4]\nreplicates: 1\n";
    let scratch = Scratch::with(text);
    let nothing = scratch.path("nothing");
    let seen = Printed::of(&mut with_mirror(&scratch, &nothing, "config.yaml --fetch --accept-licenses"));
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    seen.reports(&["missing: `stsb`, `all-MiniLM-L6-v2`"]);
    for wanted in ["FELL BACK to the embedded sample", "FELL BACK to the model `tiny` inside"] {
        seen.reports(&[wanted]);
    }
}

#[test]
fn the_commands_name_their_folder_and_their_mistakes() {
    let scratch = Scratch::with("");
    let nothing = scratch.path("nothing");
    let say = |arguments: &str| Printed::of(&mut with_mirror(&scratch, &nothing, arguments));
    assert!(say("data").out.contains("fetch one into `"));
    say("data fetch twiter").must_complain("did you mean `twitter`?");
    say("data fetch --paper sms").must_complain("expected one of sms-nystrom, intent-sketch");
    let failed = say("data fetch twitter --accept-licenses");
    assert_eq!(failed.code, Some(1), "{}", failed.err);
    failed.must_complain("can't be fetched");
    assert_eq!(say("data verify twitter").code, Some(1));
    for (paper, _) in landmark_fetch::corpora::PAPERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(paper);
        assert!(folder.is_dir(), "`{paper}` is no paper of this project");
    }
}
