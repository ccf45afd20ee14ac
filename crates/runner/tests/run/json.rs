//! `--json`: every command answers with data, and no fact is taken out of a sentence.
#![cfg(unix)]

use serde_json::Value as Json;

use crate::own_data::place;
use crate::scratch::Scratch;

fn json(scratch: &Scratch, words: &str) -> Json {
    let seen = scratch.well(&format!("{words} --json"));
    assert_eq!(seen.out.lines().count(), 1, "{words:?}: {}", seen.out);
    let answer: Json =
        serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{words:?}: {error}\n{}", seen.out));
    assert!(answer.is_object(), "{words:?}: {answer}");
    answer
}

fn files(answer: &Json) -> Vec<String> {
    answer["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_are_those_that_were_written_whatever_backticks_stand_in_texts() {
    let scratch = place();
    // the name of every cluster has one backtick, and a name between two that is there
    let rows: String = (0..60).map(|i| format!("n{i}\t{i} `store\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.run_well("--quiet");
    let answer = json(&scratch, "cluster config.yaml --clusters 3");
    assert_eq!(files(&answer), ["runs/mine/clusters.tsv", "runs/mine/report.html"]);
    let clusters = answer["result"]["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 3);
    assert!(clusters[0]["name"].as_str().is_some_and(|name| name.ends_with(" `store")), "{answer}");
    assert_eq!(clusters.iter().map(|cluster| cluster["size"].as_u64().unwrap()).sum::<u64>(), 60);
    assert_eq!((&answer["result"]["items"], &answer["result"]["ended"]), (&Json::from(60), &Json::from("Done")));
}

#[test]
fn commands_on_a_finished_run_give_their_figures_and_files_as_data() {
    let scratch = place();
    scratch.run_well("--quiet");
    let found = json(&scratch, "mine config.yaml --pairs 5");
    assert_eq!(found["result"]["pairs"], 5);
    assert_eq!(files(&found)[0], "runs/mine/pairs.tsv");
    let lists = json(&scratch, "topk config.yaml --k 3 --out near.tsv");
    assert_eq!((files(&lists), &lists["result"]["listed"]), (vec!["near.tsv".to_owned()], &Json::from(3)));
    let exported = json(&scratch, "export config.yaml --to npy");
    assert!(files(&exported).contains(&"runs/mine/export/items.npy".to_owned()), "{exported}");
    assert!(files(&exported).iter().all(|file| scratch.path(file).is_file()), "{exported}");
    assert_eq!(exported["result"]["vectors"]["rows"], 60);
    let labels: String = (0..20).map(|i| format!("n{}\t{}\n", 3 * i, ["low", "high"][usize::from(i > 9)])).collect();
    scratch.write("labels.tsv", &format!("key\tlabel\n{labels}"));
    let classified = json(&scratch, "classify config.yaml --labels labels.tsv");
    assert_eq!(classified["result"]["classes"], serde_json::json!(["high", "low"]));
    assert!(classified["result"]["accuracy"].as_f64().unwrap() > 0.5, "{classified}");
    let drawn = json(&scratch, "report config.yaml");
    assert!(files(&drawn)[0].ends_with("report.html"), "{drawn}");
}

#[test]
fn commands_on_stores_models_and_files_answer_with_data() {
    let scratch = place();
    scratch.run_well("--quiet");
    let store = json(&scratch, "store ls");
    let oracle = &store["result"]["oracles"][0];
    assert!(oracle["kind"] == "subprocess" && oracle["entries"].as_u64().unwrap() > 0, "{store}");
    assert_eq!(json(&scratch, "store verify")["result"]["problems"], serde_json::json!([]));
    assert_eq!(json(&scratch, "store gc --dry-run")["result"]["dry_run"], true);
    assert_eq!(json(&scratch, "store ls --failures")["result"]["oracles"], serde_json::json!([]));
    let validated = json(&scratch, "check config.yaml");
    assert_eq!(validated["result"]["configurations"][0]["good"], true);
    let shown = json(&scratch, "check --print config.yaml");
    assert_eq!(shown["result"]["profile"], "laptop");
    assert_eq!(json(&scratch, "list sicur")["result"]["found"][0]["kind"], "method");
    assert!(json(&scratch, "data")["result"]["datasets"].as_array().unwrap().len() > 3);
    assert_eq!(json(&scratch, "data twitter")["result"]["name"], "twitter");
    assert!(json(&scratch, "list")["result"]["methods"].as_array().unwrap().len() > 3);
    assert_eq!(json(&scratch, "completions bash")["result"]["shell"], "bash");
}

#[test]
fn a_wrong_configuration_is_data_too() {
    let scratch = place();
    scratch.write("wrong.yaml", "name: wrong\nexperiment: own_datum\n");
    let seen = scratch.say("check wrong.yaml config.yaml --json");
    let answer: Json = serde_json::from_str(&seen.out).unwrap();
    let checked = &answer["result"]["configurations"];
    assert_eq!((seen.code, &checked[0]["good"], &checked[1]["good"]), (Some(2), &Json::from(false), &Json::from(true)));
    assert!(checked[0]["error"].as_str().is_some_and(|error| !error.is_empty()), "{answer}");
}

#[test]
fn figures_of_a_scorer_are_numbers_and_repeated_mentions_are_listed() {
    let scratch = Scratch::with("");
    let document = |labels: [&str; 4]| {
        let rows: String = labels.iter().enumerate().map(|(i, label)| format!("d 0 {i} w {label}\n")).collect();
        format!("#begin document (d); part 000\n{rows}#end document\n")
    };
    scratch.write("key", &document(["(1)", "(1)", "(2)", "(2)"]));
    scratch.write("response", &document(["(1)|(3)", "(1)", "(2)", "(2)|(3)"]));
    let answer = json(&scratch, "score coref key response");
    // the cluster that appears first keeps a mention: (1) and (3) appear at the first word
    assert!(answer["result"]["conll"].as_f64().is_some_and(|conll| conll < 1.0), "{answer}");
    let repeated = answer["result"]["repeated"]["response"].as_array().unwrap();
    let place = |one: &Json| ["first_word", "kept_in", "dropped_from"].map(|key| one[key].as_u64().unwrap());
    assert_eq!(repeated.iter().map(place).collect::<Vec<_>>(), [[0, 1, 3], [3, 3, 2]]);
}
