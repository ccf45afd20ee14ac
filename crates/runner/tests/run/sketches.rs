//! The sketching studies on the real binary: bounds, smoke runs without a download, a stream that is stopped, and bad input.

use serde_json::json;

use crate::scratch::Scratch;

const STREAM: &str = "\
name: mine
experiment: text_sketch
text_sketch: { file: texts.txt, hash: { bits: 8 }, sketch_rows: 6, dimension: 4, save_every: 10 }
";

const INTENT: &str = "\
name: requests
experiment: intent
intent: { texts: 200, representations: [none, sent, sent_plus], labels: [5, all], shares: [0, 100], hash: { bits: 10 }, sketch_rows: 20, dimension: 10 }
";

const SKETCHING: &str = "\
name: batches
experiment: sketching
sketching: { rows: 600, columns: 20, sketch_rows: 8, batches: [1, 3] }
";

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|i| format!("turn the lamp number {} on in room {}\n", i % 17, i % 5)).collect()
}

/// [`STREAM`] over these bytes.
fn stream(bytes: &[u8]) -> Scratch {
    let scratch = Scratch::with(STREAM);
    std::fs::write(scratch.path("texts.txt"), bytes).unwrap();
    scratch
}

#[test]
fn batches_are_within_their_bounds_and_a_second_run_changes_nothing() {
    let scratch = Scratch::with(SKETCHING);
    scratch.run_well("");
    scratch.has("runs/batches/summary.md", &["figure_1", "buffered"]);
    let before = scratch.files("runs/batches");
    scratch.run_well("");
    assert_eq!(before, scratch.files("runs/batches"));
}

#[test]
fn intents_are_classified_without_a_download_and_the_average_is_that_of_the_domains() {
    let scratch = Scratch::with(INTENT);
    scratch.run_well("");
    scratch.has("runs/requests/summary.md", &["home", "travel", "average", "sent_plus", "no benchmark"]);
    let accuracy = |dataset: &str| {
        let of = json!({ "dataset": dataset, "method": "sent", "metric": "accuracy", "position": 100 });
        scratch.values("runs/requests", &of)[0]
    };
    let mean = (accuracy("home") + accuracy("travel")) / 2.0;
    assert!((accuracy("average") - mean).abs() < 1e-12); // two numbers
    assert!(mean > 0.2, "{mean}"); // a fifth by chance
}

#[test]
fn the_gain_is_what_a_representation_won_less_what_it_lost_over_domains_and_replicates() {
    let scratch = Scratch::with(INTENT);
    scratch.run_well("--set replicates=2");
    let rows = scratch.figures("runs/requests");
    for labels in ["5 labels an intent", "all labels"] {
        let of = |metric: &str| -> Vec<&serde_json::Value> {
            let is_it = |row: &&serde_json::Value| {
                row["metric"] == metric
                    && row["comparison"] == labels
                    && row["method"] == "sent"
                    && row["position"] == 100
            };
            rows.iter().filter(is_it).collect()
        };
        let shares = |metric: &str| -> f64 {
            of(metric).iter().map(|row| row["value"].as_f64().unwrap() / row["items"].as_f64().unwrap()).sum()
        };
        let counted = of("wins").len() as f64;
        assert_eq!(counted % 2.0, 0.0, "two replicates of each domain");
        let gain = of("gain");
        assert_eq!(gain.len(), 1);
        let wanted = (shares("wins") - shares("losses")) / counted;
        assert!((gain[0]["value"].as_f64().unwrap() - wanted).abs() < 1e-12, "{labels}: {wanted}");
    }
}

#[test]
fn a_stream_counts_what_it_skips_and_writes_its_projection() {
    let scratch = stream(&[lines(0, 50).as_bytes(), b"\n  \ncaf\xe9\n", lines(50, 60).as_bytes()].concat());
    scratch.run_well("");
    scratch.has("runs/mine/summary.md", &["empty lines, skipped", "not UTF-8, skipped"]);
    let rows = scratch.figures("runs/mine");
    let count = |id: &str| rows.iter().find(|row| row["method"] == id).unwrap()["value"].as_f64().unwrap();
    assert_eq!((count("texts"), count("empty"), count("invalid_utf8")), (60.0, 2.0, 1.0));
    let projection: ndarray::Array2<f64> = ndarray_npy::read_npy(scratch.path("runs/mine/projection.npy")).unwrap();
    assert_eq!(projection.dim(), (256, 4));
}

#[test]
fn a_file_that_has_grown_is_read_from_where_it_ended_to_the_same_sketch() {
    let (grown, whole) = (stream(lines(0, 40).as_bytes()), stream(lines(0, 90).as_bytes()));
    grown.run_well("");
    grown.write("texts.txt", &lines(0, 90));
    grown.run_well("").must_complain("going on after line 40");
    whole.run_well("");
    let saved = |scratch: &Scratch| {
        let bytes = std::fs::read(scratch.path("runs/mine/stream.sketch")).unwrap();
        // what stands before the sketch names the beginning it was first made from
        let sketch = bytes.windows(8).position(|bytes| bytes == b"LMSKETCH").unwrap();
        bytes[sketch..].to_vec()
    };
    assert_eq!(saved(&grown), saved(&whole));
}

/// Sketches `of` shares at once, the last one twice, and merges them.
fn in_shares(scratch: &Scratch, of: usize) {
    let share = |number: usize| {
        let seen = scratch.well(&["config.yaml", "--share", &format!("{number}/{of}")]);
        seen.err
    };
    std::thread::scope(|scope| (0..of).for_each(|number| _ = scope.spawn(move || share(number))));
    assert!(share(of - 1).contains("were sketched before"));
    scratch.run_well("").must_complain(&format!("merging {of} shares"));
}

#[test]
fn a_stream_sketched_in_shares_is_merged_to_the_same_sketch_whichever_came_first() {
    let text = [lines(0, 200).as_bytes(), b"\n  \ncaf\xe9\n", lines(200, 400).as_bytes()].concat();
    let [one, other, whole] = [(); 3].map(|()| stream(&text));
    in_shares(&one, 8);
    in_shares(&other, 8);
    let saved = |scratch: &Scratch| std::fs::read(scratch.path("runs/mine/stream.sketch")).unwrap();
    assert_eq!(saved(&one), saved(&other));
    let value = |scratch: &Scratch, id: &str| {
        let rows = scratch.figures("runs/mine");
        rows.iter().find(|row| row["method"] == id).unwrap()["value"].as_f64().unwrap()
    };
    for (id, count) in [("texts", 400.0), ("pieces", 8.0), ("empty", 2.0), ("invalid_utf8", 1.0)] {
        assert_eq!(value(&one, id), count, "{id}");
    }
    // another sketch than that of one process, and as good: each is within its own bound of the same directions
    whole.run_well("--quiet");
    let (bound, bound_whole) = (value(&one, "bound"), value(&whole, "bound"));
    assert!(bound > 0.0 && bound_whole > 0.0 && saved(&one) != saved(&whole));
    let share = |scratch: &Scratch| value(scratch, "direction");
    let apart = (share(&one) - share(&whole)).abs() * 100.0;
    let relative = value(&one, "relative bound").max(value(&whole, "relative bound"));
    assert!(apart <= relative * 100.0, "{apart} is beyond the bounds");
    // one piece is what one process does
    let alone = stream(&text);
    in_shares(&alone, 1);
    assert_eq!(saved(&alone), saved(&whole));
    // a run resumes from the merged sketch
    let grown = [&text[..], lines(400, 450).as_bytes()].concat();
    std::fs::write(one.path("texts.txt"), grown).unwrap();
    one.run_well("").must_complain("going on after line 403");
    assert_eq!(value(&one, "texts"), 450.0);
}

#[test]
fn shares_of_a_stream_that_are_torn_or_cannot_be_cut_are_refused_and_missing_ones_are_named() {
    let scratch = stream(lines(0, 100).as_bytes());
    for share in ["0/2", "1/2"] {
        scratch.well(&["config.yaml", "--share", share]);
    }
    let folder = std::fs::read_dir(scratch.path("store/sketches")).unwrap().next().unwrap().unwrap().path();
    let sketch = folder.join("1-of-2.sketch");
    let kept = std::fs::read(&sketch).unwrap();
    std::fs::write(&sketch, &kept[..kept.len() / 2]).unwrap();
    scratch.complains("", &["truncated", "1-of-2.sketch`; remove it"]);
    // of shares that are not all there none is used
    std::fs::remove_file(&sketch).unwrap();
    scratch.run_well("").must_complain("1 of 2 shares are missing, so the file is read without them");
    assert_eq!(scratch.figures("runs/mine").iter().find(|row| row["method"] == "pieces").unwrap()["value"], 1.0);
    // nothing, packed
    let packed = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0][..], &[0; 8]].concat();
    std::fs::write(scratch.path("texts.txt"), packed).unwrap();
    scratch.complains("--share 0/2", &["which is packed", "unpack it"]);
    let batches = Scratch::with(SKETCHING);
    batches.refuses("config.yaml --share 0/2", &["`experiment: sketching` (expected a matrix or a `text_sketch`)"]);
}

#[test]
fn a_saved_sketch_that_does_not_fit_is_named_with_the_next_step() {
    let scratch = stream(lines(0, 30).as_bytes());
    scratch.run_well("");
    let saved = "runs/mine/stream.sketch";
    let other = "--set text_sketch.sketch_rows=5 --set text_sketch.dimension=2";
    scratch.complains(other, &["`runs/mine/stream.sketch` was made with rows 6, but now 5 is asked for", "remove it"]);
    scratch.complains("--set text_sketch.hash.bits=9", &["cannot continue from", "another hash", "remove it"]);
    scratch.complains("--set text_sketch.form=figure_1", &["made with the form buffered"]);
    let bytes = std::fs::read(scratch.path(saved)).unwrap();
    std::fs::write(scratch.path(saved), &bytes[..bytes.len() / 2]).unwrap();
    scratch.complains("--force", &["cannot continue from", "truncated", "remove it"]);
    std::fs::write(scratch.path(saved), &bytes).unwrap();
    scratch.write("texts.txt", &lines(7, 60));
    scratch.complains("", &["made with a file of another beginning"]);
}

#[test]
fn bad_lines_are_errors_where_that_is_asked_for() {
    let scratch = stream(b"one text\n\ncaf\xe9\n");
    scratch.complains("--set text_sketch.empty=error", &["texts.txt:2: an empty line", "`empty: skip`"]);
    scratch.complains("--set text_sketch.invalid_utf8=error", &["texts.txt:3: byte 3 of the line is not UTF-8"]);
    let nothing = stream(b"\n \n\xff\n");
    nothing.complains("", &["holds no text: 3 lines, 2 of them empty and 1 not UTF-8"]);
}

#[test]
fn impossible_sketches_are_refused_before_anything_is_read() {
    let scratch = stream(b"one text\n");
    let set = |assignment: &'static str| ["--set", assignment];
    scratch.complains(&set("text_sketch.sketch_rows=0"), &["`rows` is 0, but must be at least 1"]);
    scratch.complains(&set("text_sketch.sketch_rows=257"), &["257, but must be at most the 256 columns"]);
    scratch.complains(&set("text_sketch.dimension=7"), &["between 1 and the 6 rows of the sketch"]);
    scratch.complains(&set("text_sketch.file=gone.txt"), &["`gone.txt`, which does not exist"]);
    scratch.complains(&set("text_sketch.hash.bits=40"), &["1 to 24"]);
    let batches = Scratch::with(SKETCHING);
    batches.complains(&set("sketching.sketch_rows=21"), &["21, but must be at most the 20 columns"]);
    batches.complains(&set("sketching.batches=[601]"), &["lists 601, but each must be between 1 and the 600 rows"]);
    let intent = Scratch::with(INTENT);
    intent.complains(&set("intent.corpora=[clinc15]"), &["there is no `clinc15`", "did you mean `clinc150`?"]);
    intent.complains(&set("intent.representations=[sent]"), &["must list `none`"]);
    intent.complains(&set("intent.labels=[0]"), &["numbers of at least 1, or `all`"]);
    intent.complains(&set("intent.corpora=[clinc150]"), &["LANDMARK_DATA", "Public source"]);
    assert!(!intent.path("runs").exists());
}
