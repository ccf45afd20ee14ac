//! A user's own files as they are, from the file to the page: `init`, labeled texts and pairs, programs that are checked.
#![cfg(unix)]

use ndarray::Array2;

use crate::own_data::{CONFIG, PROGRAM, asked, place};
use crate::scratch::{Scratch, number_before};

fn labeled(scratch: &Scratch, name: &str, separator: char) {
    let words = [["tea", "milk", "sugar", "cup"], ["engine", "wheel", "brake", "road"]];
    let rows: String = (0..60)
        .map(|i| {
            let of = words[i % 2];
            let text = format!("{} {} {} {}", of[i % 4], of[(i / 2) % 4], of[(i / 3) % 4], of[(i / 5) % 4]);
            let part = if i < 40 { "train" } else { "test" };
            [format!("k{i}"), ["drink", "car"][i % 2].to_owned(), part.to_owned(), text].join(&separator.to_string())
                + "\n"
        })
        .collect();
    scratch.write(name, &(["key", "kind", "part", "text"].join(&separator.to_string()) + "\n" + &rows));
}

#[test]
fn init_goes_from_a_spreadsheet_to_the_page_in_three_commands() {
    let scratch = Scratch::with("");
    labeled(&scratch, "my texts.csv", ';');
    let seen = scratch.well(&["init", "my texts.csv", "--score", "wmd"]);
    for words in [
        "60 texts in `text`",
        "ids: `key` (k0, k1, k2, …)",
        "labels: 2 in `kind`; train and test in `part`",
        "written: `my_texts.yaml`",
        "of 1,770 pairs (",
        "landmark my_texts.yaml --dry-run",
    ] {
        assert!(seen.out.contains(words), "{words}: {}", seen.out);
    }
    assert!(seen.out.lines().count() <= 9, "{}", seen.out);
    scratch.well("my_texts.yaml --dry-run").prints(&["of 1,770 pairs ("]);
    scratch.well("my_texts.yaml");
    assert!(scratch.path("runs/my_texts/report.html").exists());
    // a profile of few, which commands find again; for one that is nowhere written a run prints a warning
    let few = scratch.well("my_texts.yaml --profile smoke --dry-run");
    assert!(few.out.contains("of 780 pairs (") && !few.err.contains("does not define"), "{}{}", few.out, few.err);
    scratch.well("my_texts.yaml --profile smoke --quiet");
    scratch.well("topk my_texts.yaml --profile smoke -k 3");
    scratch
        .well("my_texts.yaml --profile medium --dry-run")
        .must_complain("warning: `my_texts.yaml` does not define the profile `medium`: it runs in full");
    scratch.well(&["classify", "my_texts.yaml", "--labels", "my texts.csv", "--label", "kind", "--split", "part"]);
    // what is there is not written over
    scratch.refuses(&["init", "my texts.csv", "--score", "wmd"], &["cannot write `my_texts.yaml`: it exists"]);
    scratch.well(&["init", "my texts.csv", "--score", "wmd", "--force", "--landmarks", "7"]);
    assert!(scratch.read("my_texts.yaml").contains("ranks: 7 "));
}

#[test]
fn init_with_a_similarity_of_strings_finds_the_copies_with_typos() {
    let scratch = Scratch::with("");
    let rows: String = (0..40)
        .map(|i| {
            let name =
                format!("{} {} {}", ["Ada", "Grace", "Emmy", "Mary"][i / 2 % 4], "Lovelace Street", 10 * (i / 2) + 7);
            let typo = name.replacen('e', "", i % 2);
            format!("{i}\t{typo}\n")
        })
        .collect();
    scratch.write("people.tsv", &("id\ttext\n".to_owned() + &rows));
    scratch.well("init people.tsv --score string --landmarks 10");
    scratch.well("people.yaml --quiet");
    let mine = "mine people.yaml --at-least 0.9 --target-recall 0.9";
    // more than the columns took is allowed by a budget only, and both are stated before
    scratch.well(&format!("{mine} --dry-run")).prints(&["calls are allowed (the limit without `--budget`"]);
    scratch.well(&format!("{mine} --budget 5 --dry-run")).prints(&["5 calls are allowed (`--budget`): too few"]);
    let refused = scratch.ends(2, &format!("{mine} --budget -5"));
    refused.reports(&["'-5' for '--budget"]);
    scratch.well(&format!("{mine} --budget 1000"));
    let table = scratch.read("runs/people/pairs.tsv");
    assert!(table.lines().count() > 18, "{table}");
    // a threshold that nothing reaches leaves the list of before
    let none = "mine people.yaml --at-least 60 --target-recall 0.9 --budget 100";
    scratch.ends(3, none);
    assert_eq!(scratch.read("runs/people/pairs.tsv"), table);
    scratch.ends(3, &format!("{none} --groups"));
    assert!(!scratch.path("runs/people/groups.tsv").exists());
    // a budget that ends before the scores of the columns are there again is no failure
    scratch.ends(3, &format!("{mine} --budget 5 --store fresh"));
    // a budget that pays for no landmark is refused by the dry run, and no next step needs factors
    let few = "people.yaml --set budget.calls=12 --set ranks=11 --store fresh";
    scratch.well(&format!("{few} --dry-run")).prints(&["too few for one landmark"]);
    scratch.ends(3, few).reports(&["Next: raise `budget`"]);
}

#[test]
fn init_lists_what_it_needs_where_nobody_can_be_asked() {
    let scratch = Scratch::with("");
    labeled(&scratch, "x.tsv", '\t');
    for (arguments, words) in [
        ("init x.tsv", "`--score wmd`"),
        ("init x.tsv --score cross-encoder", "`--model FOLDER`"),
        ("init x.tsv --score chat", "`--url https://"),
        ("init nowhere.tsv --score wmd", "no such file or folder: `nowhere.tsv`"),
        ("init x.tsv --score wmd --text texts", "the file has: key, kind, part, text"),
    ] {
        scratch.refuses(arguments, &[words]);
        assert!(!scratch.path("x.yaml").exists());
    }
    // every score writes a configuration that reads back, and reports what to fix before it can be opened, whether or not it can be opened here
    for (score, more) in [
        ("rerank", &["--url", "http://127.0.0.1:9/rerank"][..]),
        ("chat", &["--url", "http://127.0.0.1:9/v1/chat/completions", "--model", "judge", "--key", "NO_SUCH_KEY"]),
        ("cross-encoder", &["--model", "nowhere"]),
        ("program", &["--command", "/bin/sh scorer.sh"]),
    ] {
        let fixed = ["init", "x.tsv", "--force", "--score", score];
        let seen = scratch.well(&[&fixed[..], more].concat());
        assert!(seen.out.contains("calls: "), "{score}: {}", seen.out);
        let is_open = !seen.out.contains("fix this first: ");
        assert_eq!(is_open, score == "rerank", "{score}: {}", seen.out);
        assert_eq!(is_open, !seen.out.contains("next, when that is fixed:"), "{score}: {}", seen.out);
        scratch.well("check x.yaml");
        // what is a comment is what it would have to be
        let yaml = scratch.read("x.yaml");
        // an installed program has no folder of documentation
        assert!(yaml.contains("`landmark list proxies`") && !yaml.contains("docs/"), "{yaml}");
        let is_asked_twice = ["rerank", "chat"].contains(&score);
        assert_eq!(yaml.contains("  symmetrize: mean"), is_asked_twice, "{score}: {yaml}");
        if score == "chat" {
            let priced = yaml.replace("  # price:", "  price:").replace("# budget:", "budget:");
            assert!(priced.contains("\nbudget: { money: 5 }") && priced.contains("\n  price: {"), "{priced}");
            scratch.write("priced.yaml", &priced);
            scratch.well("check priced.yaml");
        }
    }
}

#[test]
fn init_reads_a_matrix_and_knows_distances() {
    let scratch = Scratch::with("");
    let distances = Array2::from_shape_fn((30, 30), |(i, j)| (i as f64 - j as f64).abs());
    scratch.write_matrix("far.npy", &distances);
    scratch.well("init far.npy").prints(&["a matrix of 30 items, symmetric", "these are distances"]);
    scratch.well("far.yaml --quiet");
    assert!(scratch.path("runs/far/factors/vectors.npy").exists());
    // the same as numbers in lines
    let lines: String = distances
        .rows()
        .into_iter()
        .map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    scratch.write("lines.csv", &lines);
    scratch.say("init lines.csv").must_complain("for a matrix of scores use `--score matrix`");
    scratch.well("init lines.csv --score matrix").prints(&["a matrix of 30 items", "calls: none"]);
    // of a given matrix the error is known
    assert!(!scratch.read("lines.yaml").contains("error_estimate"));
    // another configuration of the same file has results of its own
    scratch.well("init far.npy --out again.yaml");
    assert!(scratch.read("again.yaml").contains("name: again\n"));
}

#[test]
fn a_program_to_start_from_runs_as_it_is() {
    let scratch = Scratch::with("");
    labeled(&scratch, "x.tsv", '\t');
    scratch.well("init x.tsv --score program").prints(&["program: `x_score.py`", "change its VERSION"]);
    let program = scratch.read("x_score.py");
    assert!(program.contains("python3 x_score.py < batches") && !program.contains("sentence_similarity"), "{program}");
    scratch.well("x.yaml").reports(&["calls checked the scorer"]);
}

const LABELLED: &str = "\
name: labelled
experiment: classification
dataset: { name: texts, path: x.tsv, id: key, label: kind, split: { column: part }, vectors: { kind: ppmi_svd, dimension: 4 } }
oracle: { kind: wmd, gamma: 1.0 }
methods: [nystrom, sms_nystrom, sicur, { id: stacur, same: true }, shift_ridge, wme, exact]
ranks: [8]
compare: rank
";

#[test]
fn labelled_texts_are_classified_by_every_method_by_yaml_alone() {
    let scratch = Scratch::with(LABELLED);
    labeled(&scratch, "x.tsv", '\t');
    let seen = scratch.run_well("");
    scratch
        .has("runs/labelled/summary.md", &["nystrom", "sms_nystrom", "sicur", "stacur", "shift_ridge", "wme", "exact"]);
    seen.reports(&["ccuracy", "at best, by "]);
    // the two kinds share no word
    let rows = scratch.json("runs/labelled/run.json");
    assert!(rows.is_object());
    // by a second file, and by seed
    let text = scratch.read("x.tsv");
    let lines: Vec<&str> = text.lines().collect();
    scratch.write("train.tsv", &(lines[..41].join("\n") + "\n"));
    scratch.write("test.tsv", &([&lines[..1], &lines[41..]].concat().join("\n") + "\n"));
    for (name, split) in [("by_file", "{ file: test.tsv }"), ("by_seed", "{ train: 0.6 }")] {
        let config = LABELLED.replace("name: labelled", &format!("name: {name}")).replace("{ column: part }", split);
        scratch.write(
            "other.yaml",
            &config.replace("x.tsv", "train.tsv").replace(
                "[nystrom, sms_nystrom, sicur, { id: stacur, same: true }, shift_ridge, wme, exact]",
                "[nystrom]",
            ),
        );
        scratch.well("other.yaml --quiet");
    }
    scratch.complains(&["--set", "dataset.split={ column: kind }"], &["`kind` of `k0`", "write `train` or `test`"]);
    scratch.complains("--set dataset.label=null", &["`dataset.split` selects the labeled texts"]);
}

const PAIRS: &str = "\
name: judged
experiment: glue
dataset: { name: pairs, path: pairs.tsv, first: one, second: other, score: seen }
oracle: { kind: subprocess, command: [/bin/sh, scorer.sh], gamma: 0.05, checks: 0 }
methods: [shift_ridge, nystrom]
ranks: [12]
error_estimate: 50
compare: rank
";

fn judged() -> Scratch {
    let scratch = Scratch::with(PAIRS);
    scratch.write("scorer.sh", PROGRAM);
    let pairs = (0..40).map(|i| ((i * 7) % 41, (i * 11 + 3) % 41));
    let rows: String = pairs
        .map(|(i, j): (i64, i64)| format!("{i}\t{j}\t{}\t{}\n", 50 - (i - j).abs(), u8::from((i - j).abs() < 12)))
        .collect();
    scratch.write("pairs.tsv", &format!("one\tother\tseen\talike\n{rows}"));
    scratch
}

#[test]
fn pairs_of_ones_own_are_judged_under_any_score() {
    let scratch = judged();
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    let seen = scratch.run_well("");
    let mut pairs = asked(&scratch);
    assert_eq!(pairs.len() as u64, planned, "{}", seen.err);
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len() as u64, planned, "no pair twice");
    scratch.has("runs/judged/summary.md", &["Spearman"]);
    // labels, and a threshold from pairs that are learned from
    let yes_no =
        "dataset={ name: pairs, path: pairs.tsv, first: one, second: other, label: alike, split: { train: 0.4 } }";
    scratch.run_well(&["--set", yes_no]);
    scratch.has("runs/judged/summary.md", &["F1"]);
    for (set, words) in [
        ("dataset.seen=x", "`seen`"),
        ("dataset.score=one1", "no column `one1`; did you mean `one`?"),
        ("dataset={ name: pairs, path: pairs.tsv, first: one, second: other, label: seen }", "labels:"),
    ] {
        scratch.complains(&["--set", set], &[words]);
    }
}

#[test]
fn pairs_that_are_listed_are_scored_by_the_factors_and_by_the_program() {
    let scratch = place();
    scratch.run_well("--quiet");
    let rows: String = (0..20).map(|i| format!("n{i}\t{}\t{}\n", 59 - i, 100 - (59 - 2 * i))).collect();
    scratch.write("listed.tsv", &format!("first\tsecond\tscore\n{rows}"));
    let before = asked(&scratch).len();
    scratch.well("pairs config.yaml listed.tsv").prints(&["the factors with `score`: Pearson 0.9"]);
    assert_eq!(asked(&scratch).len(), before, "the factors ask nobody");
    scratch
        .well("pairs config.yaml listed.tsv --evaluate")
        .prints(&["20 of 20 pairs have an exact score", "the score with `score`: Pearson 0.9"]);
    assert!(asked(&scratch).len() > before);
    let table = scratch.read("runs/mine/listed.tsv");
    assert!(table.starts_with("first\tsecond\testimate\tscore\tagainst\nn0\tn59\t"), "{table}");
    scratch.write("wrong.tsv", "first\tsecond\nn1\tn99\n");
    scratch.refuses("pairs config.yaml wrong.tsv", &["row 1: `n99` is no item"]);
}

#[test]
fn a_program_that_is_not_what_it_states_is_found_before_it_is_paid_for() {
    let checked = CONFIG.replace(", checks: 0", "");
    let with = |program: &str, config: &str| {
        let scratch = place();
        scratch.write("config.yaml", config);
        scratch.write("scorer.sh", program);
        scratch
    };
    // an order that matters
    let scratch = with(&PROGRAM.replace("${d#-}", "$d"), &checked);
    scratch.complains(
        "",
        &["states that its score is symmetric", "`symmetric: false`", "oracle.symmetrize: mean"].map(
            |words| match words {
                "`symmetric: false`" => "\"symmetric\": false",
                other => other,
            },
        ),
    );
    assert!(asked(&scratch).len() <= 32, "{}", asked(&scratch).len());
    // another score under the same name
    let scratch = with(PROGRAM, &checked);
    let planned_calls = scratch.run_well("--dry-run");
    assert_eq!(number_before(&planned_calls.out, " calls to check the scorer"), 16);
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    scratch.run_well("--quiet");
    assert_eq!(asked(&scratch).len(), before, "a finished run checks nothing");
    scratch.write("scorer.sh", &PROGRAM.replace("d=$(($1 - $2))", "d=$((2 * ($1 - $2)))"));
    scratch.complains(
        "--set ranks=20",
        &["calls itself `difference`", "a program that has changed needs another identity"],
    );
    // distances that pass for similarities
    let scratch = with(PROGRAM, &checked.replace(", gamma: 0.05", ""));
    scratch.run_well("").reports(&["warning: items are less like themselves"]);
    let scratch = Scratch::with(crate::scratch::MATRIX);
    scratch.write_matrix("matrix.npy", &Array2::from_shape_fn((20, 20), |(i, j)| (i as f64 - j as f64).abs()));
    scratch.run_well("").reports(&["items are less like themselves"]);
}

#[test]
fn a_command_that_cannot_go_on_prints_what_to_type() {
    let scratch = place();
    scratch.refuses(
        "topk config.yaml --set ranks=12",
        &["run the configuration first", "run `landmark config.yaml --set ranks=12` first"],
    );
    scratch.run_well("--quiet");
    for (arguments, words) in [
        ("classify config.yaml --labels items.tsv", "`--label COLUMN`"),
        ("classify config.yaml --labels items.tsv --label text --id no", "`--id COLUMN`"),
        ("classify config.yaml --labels items.tsv --label text --split no", "`--split COLUMN`"),
        ("classify config.yaml --labels no.tsv", "one on the command line where you are"),
        ("project config.yaml no.tsv", "`no.tsv` can't be read"),
        ("pairs config.yaml items.tsv", "use `--first COLUMN`"),
        ("pairs config.yaml items.tsv --first key", "use `--second COLUMN`"),
        ("no.yaml", "`landmark init FILE` writes one for a file of yours"),
    ] {
        scratch.refuses(arguments, &[words]);
    }
    scratch.well("mine config.yaml --pairs 5").prints(&["`--at-least SCORE --target-recall 0.9`"]);
    // which is what it takes
    scratch.well("mine config.yaml --at-least 0.5 --target-recall 0.5 --dry-run");
}

fn commands_of_the_tour() -> Vec<String> {
    let text = std::fs::read_to_string(repository("docs/tutorials/command-line.md")).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_tour_runs_as_it_is_written() {
    let scratch = Scratch::with("");
    let commands = commands_of_the_tour();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in &commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["cp", from, to] => drop(std::fs::copy(repository(from), scratch.path(to)).unwrap()),
            ["landmark", ..] => {
                let seen = scratch.well(&words[1..]);
                if words.contains(&"--json") {
                    let answer: serde_json::Value = serde_json::from_str(&seen.out).unwrap();
                    assert!(answer.is_object(), "{answer}");
                }
            }
            _ => panic!("`{command}` is no command of the tour"),
        }
    }
    let text = std::fs::read_to_string(repository("docs/tutorials/command-line.md")).unwrap();
    for picture in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
        assert!(repository("docs/tutorials").join(picture).exists(), "{picture}");
    }
}

const TREES: &str = "\
name: parsed
experiment: classification
dataset: { name: trees, path: trees.tsv, label: kind, split: { column: part } }
oracle: { kind: tree_kernel, kernel: ptk }
methods: [nystrom, shift_ridge, exact]
ranks: [6]
compare: rank
";

#[test]
fn trees_of_ones_own_are_classified_from_brackets_and_from_parses() {
    let scratch = Scratch::with(TREES);
    let sides = ["train", "test"];
    let tree = |i: usize| match i % 2 {
        0 => format!("(S (NP (D the) (N n{})) (VP (V runs)))", i % 5),
        _ => format!("(Q (W who) (V eats) (O (N n{})))", i % 5),
    };
    let rows: String =
        (0..40).map(|i| format!("{}\t{}\t{}\n", ["s", "q"][i % 2], sides[usize::from(i >= 28)], tree(i))).collect();
    scratch.write("trees.tsv", &format!("kind\tpart\ttree\n{rows}"));
    scratch.run_well("").reports(&["at best, by "]);
    scratch.write("bad.tsv", "kind\tpart\ttree\ns\ttrain\t(S (A b)\n");
    scratch.complains("--set dataset.path=bad.tsv", &["row 1: `tree`", "write a tree in brackets"]);
    let word = |n: usize, form: &str, head: usize, relation: &str| {
        format!("{n}\t{form}\t{form}\tNOUN\tNN\t_\t{head}\t{relation}\t_\t_\n")
    };
    let sentence = |i: usize| {
        let (kind, words) = match i % 2 {
            0 => ("s", word(1, "dogs", 2, "nsubj") + &word(2, &format!("bark{}", i % 3), 0, "root")),
            _ => (
                "q",
                word(1, "who", 0, "root") + &word(2, "eats", 1, "dep") + &word(3, &format!("n{}", i % 3), 2, "obj"),
            ),
        };
        format!("# label = {kind}\n# part = {}\n{words}\n", sides[usize::from(i >= 28)])
    };
    scratch.write("parses.conllu", &(0..40).map(sentence).collect::<String>());
    let parses = "dataset={ name: trees, path: parses.conllu, label: label, split: { column: part } }";
    scratch.run_well(&["--quiet", "--set", parses]);
    scratch.complains(
        &["--set", "dataset={ name: trees, path: parses.conllu, label: kind }"],
        &["row 1: the sentence has no comment `# kind = …`"],
    );
}

#[test]
fn the_example_that_the_program_carries_runs_in_an_empty_folder() {
    let scratch = Scratch::with("");
    scratch.well("init --example quickstart");
    for file in ["quickstart.yaml", "quickstart/neighbors.yaml", "records.yaml"] {
        let text = scratch.read(file);
        assert!(text.starts_with("# ") && !text.contains("$schema"), "{file} names a file that is not there");
    }
    scratch.refuses("init --example quickstart", &["quickstart.yaml`: it exists"]);
    scratch.well("init --example quickstart --force");
    scratch.well("quickstart.yaml --profile smoke --quiet");
    scratch.well("records.yaml --profile smoke --quiet");
    let listed = scratch.well("mine records.yaml --profile smoke --at-least 0.5 --rerank 40");
    assert!(!listed.out.is_empty(), "{}", listed.err);
    // rows of a file or an example, not both, and one of them
    scratch.ends(2, "init records.tsv --example quickstart");
    scratch.ends(2, "init");
}
