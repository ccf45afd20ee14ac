//! Collections: several configurations on one page.

use crate::scratch::{MATRIX, Scratch, smooth_matrix};

fn collected(shown: &str) -> Scratch {
    let scratch = Scratch::with(&format!(
        "name: both\ntitle: Both of them\nexperiment: collection\nshown: {shown}\nmembers: [first.yaml, beside/../second.yaml]\n"
    ));
    std::fs::create_dir(scratch.path("beside")).unwrap();
    scratch.write_matrix("matrix.npy", &smooth_matrix());
    scratch.write("first.yaml", &MATRIX.replace("name: mine", "name: first\ntitle: The first matrix"));
    let second = "name: second\ntitle: The second matrix\nexperiment: error_curve\ndataset: { name: random_psd, n: 20 }\noracle: precomputed\n";
    scratch.write("second.yaml", &format!("{second}methods: [nystrom]\nranks: [5]\n"));
    scratch
}

#[test]
fn a_collection_runs_its_members_and_shows_them_on_one_page() {
    for shown in ["together", "in_turn"] {
        let scratch = collected(shown);
        scratch.run_well("--quiet");
        let page =
            String::from_utf8(scratch.files("runs/both").remove(std::path::Path::new("report.html")).unwrap()).unwrap();
        assert!(page.contains("precomputed") && page.contains("random_psd"), "{shown}");
        // a member is a configuration like any other
        assert!(scratch.path("runs/first/report.html").exists() && scratch.path("runs/second/run.json").exists());
        let before = scratch.files("runs");
        scratch.run_well("--quiet");
        assert_eq!(scratch.files("runs"), before, "{shown}");
    }
}

#[test]
fn a_collection_shows_only_what_it_is_asked_for() {
    let scratch = collected("together");
    scratch.run_well("--quiet --set only=[table-entries]");
    let names: Vec<String> = scratch.files("runs/both").keys().map(|path| path.display().to_string()).collect();
    assert!(names.contains(&"table-entries.tex".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("figure")), "{names:?}");
}

#[test]
fn a_broken_or_missing_member_is_named_with_its_file() {
    let scratch = collected("together");
    scratch.write("second.yaml", "name: second\nexperiment: eror_curve\n");
    scratch.complains("", &["the member `beside/../second.yaml` is wrong", "`eror_curve`"]);
    scratch.complains("--set members=[third.yaml]", &["`third.yaml` is wrong", "can't be read"]);
    scratch.complains("--set members=[]", &["`members` is empty"]);
}

#[test]
fn the_page_shows_what_is_there_and_names_what_is_not() {
    let scratch = collected("in_turn");
    let page = || scratch.read("runs/both/report.html");

    scratch.ends(2, "report config.yaml").reports(&["cannot report `runs/first`"]);
    assert!(!scratch.path("runs").exists());

    scratch.say("first.yaml --quiet");
    scratch.well("report config.yaml");
    assert!(page().contains("The first matrix</h1>") && !page().contains("The second matrix</h1>"));
    assert!(page().contains("<li>The second matrix: <code>landmark second.yaml</code></li>"));
    assert!(!scratch.path("runs/second").exists());

    scratch.run_well("--quiet");
    assert!(page().contains("The first matrix</h1>") && page().contains("The second matrix</h1>"));
    assert!(!page().contains("Not run yet"));
}

#[test]
fn a_page_shows_of_each_member_the_largest_run_that_is_no_larger_than_its_own_profile() {
    let scratch = collected("in_turn");
    let mut first = scratch.read("first.yaml");
    first.push_str(
        "profiles: { laptop: { title: The first on a laptop }, medium: { title: The first at medium size } }\n",
    );
    scratch.write("first.yaml", &first);
    let draw = |profile: &str| {
        scratch.well(&["report", "config.yaml", "--profile", profile]);
        scratch.read(&format!("runs/{profile}/both/report.html"))
    };
    scratch.say("first.yaml --quiet");
    for profile in ["medium", "paper"] {
        let page = draw(profile);
        assert!(page.contains("The first on a laptop</h1>"), "{profile}");
        // what has no results in any is named as it would be run for this page
        assert!(page.contains(&format!("<code>landmark second.yaml --profile {profile}</code>")), "{profile}");
    }
    scratch.say("first.yaml --quiet --profile medium");
    for published in [false, true] {
        if published {
            std::fs::remove_file(scratch.path("runs/medium/first/cells.jsonl")).unwrap();
        }
        let page = draw("paper");
        assert!(
            page.contains("The first at medium size</h1>") && !page.contains("The first on a laptop</h1>"),
            "{page}"
        );
    }
    assert!(draw("medium").contains("The first at medium size</h1>"));
    // a page of laptops shows no larger run, and none a test
    scratch.say("second.yaml --quiet --profile smoke");
    scratch.well("report config.yaml");
    let page = scratch.read("runs/both/report.html");
    assert!(page.contains("The first on a laptop</h1>") && !page.contains("The second matrix</h1>"));

    scratch.write("runs/medium/first/run.json", "{ \"command\"");
    scratch.ends(2, "report config.yaml --profile paper").reports(&["`runs/medium/first/run.json` is no JSON"]);
}

#[test]
fn a_page_of_all_together_lists_below_what_it_lacks_and_how_it_is_made() {
    let scratch = collected("together");
    let summary = || scratch.read("runs/both/summary.md");
    scratch.say("first.yaml --quiet");
    scratch.well("report config.yaml");
    assert!(summary().contains("not run: The second matrix: `landmark second.yaml`"), "{}", summary());
    assert!(summary().contains("\nlandmark config.yaml\n"), "{}", summary());

    scratch.run_well("");
    assert!(!summary().contains("not run: "), "{}", summary());
}

#[test]
fn a_published_member_is_drawn_under_the_settings_of_its_run() {
    let scratch = collected("in_turn");
    scratch.say("first.yaml --quiet --set ranks=[7]");
    std::fs::remove_file(scratch.path("runs/first/cells.jsonl")).unwrap();
    let summary = || scratch.read("runs/first/summary.md");
    let drawn = summary();
    assert!(drawn.contains("--set ranks=[7]"), "{drawn}");
    scratch.well("report config.yaml");
    assert_eq!(summary(), drawn);
}
