use super::*;
use crate::fixture;

fn file(claims: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("paper").join("claims.yaml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("title: T\nshows: []\nclaims:\n{claims}")).unwrap();
    (folder, path)
}

/// The rows of the fixture as a published run.
fn published() -> Published {
    let facts = serde_json::json!({ "source": { "revision": "0123456789", "dirty": false } });
    let run = PublishedRun { name: "fixture".into(), folder: "fixture".into(), rows: fixture::rows(), facts };
    let mut published = Published::default();
    published.insert(run);
    published
}

fn judged(test: &str) -> JudgedClaim {
    judged_with(&format!("    test: '{test}'\n")).unwrap()
}

fn judged_with(rest: &str) -> Result<JudgedClaim, ClaimsError> {
    let (_folder, path) = file(&format!("  - id: c\n    place: p\n    says: s\n    runs: [fixture]\n{rest}"));
    let known = KnownNames::of(vec!["stacur".into()], Vec::new());
    Ok(Claims::read(&path)?.judge(None, &published(), &known)?.remove(0))
}

#[test]
fn a_file_without_a_claim_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claims.yaml");
    fs::write(&path, "").unwrap();
    let error = Claims::read(&path).unwrap_err().to_string();
    assert!(error.contains("claims.yaml"), "{error}");
}

#[test]
fn a_claim_is_judged_at_every_place_and_states_which_one_decides() {
    let holds = judged("relative_error(method=nystrom, comparison=rank) > 1");
    assert_eq!(holds.verdict, ClaimVerdict::Holds);
    assert!(
        holds.numbers.starts_with("at 8 of 8 places; 2.026 > 1.000, difference 1.026 ± 0.136"),
        "{}",
        holds.numbers
    );
    assert!(holds.numbers.ends_with("recipes, s = 100"), "{}", holds.numbers);
    assert_eq!(holds.size, "n = 1,000, profile laptop, 3 replicates, at 0123456");
    let fails = judged("relative_error(method=sms_nystrom, comparison=rank) < 1");
    assert_eq!(fails.verdict, ClaimVerdict::DoesNotHold);
    assert!(fails.numbers.starts_with("at 5 of 8 places; 1.856 < 1.000 is false"), "{}", fails.numbers);
    let most =
        judged_with("    test: 'relative_error(method=sms_nystrom, comparison=rank) < 1'\n    at: most\n").unwrap();
    assert_eq!(most.verdict, ClaimVerdict::Holds);
}

#[test]
fn runs_of_one_dataset_at_two_sizes_are_two_places_and_no_mean() {
    let small = published();
    let mut both = published();
    let mut whole = small.run("fixture").unwrap().clone();
    "whole".clone_into(&mut whole.name);
    for row in &mut whole.rows {
        row.subject.items *= 4;
        row.value += 1.0;
    }
    both.insert(whole);
    let test = "relative_error(method=nystrom, dataset=recipes, comparison=rank, columns=100)";
    let text = format!("  - {{ id: c, place: p, says: s, runs: [fixture, whole], test: '{test} < 2.5' }}\n");
    let (_folder, path) = file(&text);
    let claims = Claims::read(&path).unwrap();
    let judged = |published: &Published| claims.judge(None, published, &KnownNames::default()).unwrap().remove(0);
    let claim = judged(&both);
    assert!(claim.numbers.starts_with("at 1 of 2 places; 3.026 < 2.500 is false"), "{}", claim.numbers);
    assert!(claim.numbers.ends_with(" ± 0.136, n = 4,000"), "{}", claim.numbers);
    let small = test.replace("columns", "items=1000, columns");
    let (_folder, path) = file(&text.replace(test, &small));
    let claim = Claims::read(&path).unwrap().judge(None, &both, &KnownNames::default()).unwrap().remove(0);
    assert!(claim.numbers.starts_with("2.026 < 2.500"), "{}", claim.numbers);
}

#[test]
fn what_is_missing_makes_a_claim_untested_and_what_nobody_has_is_an_error() {
    let untested = judged("relative_error(method=stacur) < 1");
    let ClaimVerdict::Untested(why) = untested.verdict else { panic!("{untested:?}") };
    assert!(why.starts_with("no row of `relative_error` at method `stacur`"), "{why}");
    let error = judged_with("    test: 'relative_error(method=sicurr) < 1'\n").unwrap_err().to_string();
    assert!(error.ends_with("claim `c`: there is no method `sicurr`; did you mean `SiCUR`?"), "{error}");
    let error = judged_with("    test: 'relative_error(dataset=tweet) < 1'\n").unwrap_err().to_string();
    assert!(error.ends_with("there is no dataset `tweet`; did you mean `tweets`?"), "{error}");
    let error = judged_with("    test: 'relative_eror() < 1'\n").unwrap_err().to_string();
    assert!(error.ends_with("there is no metric `relative_eror`; did you mean `relative_error`?"), "{error}");
    let error = judged_with("    id: c\n").unwrap_err().to_string();
    assert!(error.contains("id"), "{error}");
    let error = judged_with("").unwrap_err().to_string();
    assert!(error.ends_with("give either `test` or `untested`, and why"), "{error}");
}

#[test]
fn a_run_that_is_not_published_is_named() {
    let (_folder, path) = file("  - { id: c, place: p, says: s, runs: [elsewhere], test: 'accuracy() > 0.5' }\n");
    let claims = Claims::read(&path).unwrap();
    let all = claims.judge(None, &published(), &KnownNames::default()).unwrap();
    assert_eq!(all[0].verdict, ClaimVerdict::Untested("no published run of `elsewhere`".into()));
    assert!(claims.judge(Some("fixture"), &published(), &KnownNames::default()).unwrap().is_empty());
    assert_eq!(claims.paper, "paper");
}

#[test]
fn rows_come_back_from_parquet_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let rows = fixture::rows();
    crate::ResultStore::open(folder.path()).unwrap().publish(&rows).unwrap();
    assert_eq!(crate::rows_from_parquet(&folder.path().join("results.parquet")).unwrap(), rows);
}

#[test]
fn the_largest_profile_is_what_counts() {
    let folder = tempfile::tempdir().unwrap();
    for (place, profile) in [("fixture", "laptop"), ("desk/fixture", "desk"), ("smoke/fixture", "smoke")] {
        let mut rows = fixture::rows();
        rows.iter_mut().for_each(|row| row.profile = profile.to_owned());
        crate::ResultStore::open(&folder.path().join(place)).unwrap().publish(&rows).unwrap();
    }
    let published = Published::read(folder.path(), ["fixture", "other"]).unwrap();
    assert_eq!(published.run("fixture").unwrap().profile(), "medium");
    assert!(published.run("other").is_none());
}
