//! ECB+: counts as published, and both of its formats the same corpus.

use std::process::Command;

use landmark_data::catalog;
use landmark_data::mentions::CorefCounts;
use landmark_data::{CorefPart, MentionCorpus, MentionKinds};

use crate::data_folder;

#[test]
fn ecb_plus_has_the_published_documents_sentences_mentions_clusters_and_singletons() {
    let Some(folder) = data_folder() else { return };
    let corpus = catalog::load_mentions("ecbplus", Some(&folder)).unwrap();
    assert_eq!(corpus.documents().len(), 982);
    // Cattan et al. 2021, table 1
    for (part, topics, documents, sentences, events, entities) in [
        (CorefPart::Train, 25, 574, 1_037, (3_808, 1_527, 1_116), (4_758, 1_286, 814)),
        (CorefPart::Dev, 8, 196, 346, (1_245, 409, 280), (1_476, 330, 205)),
        (CorefPart::Test, 10, 206, 457, (1_780, 805, 623), (2_055, 608, 412)),
    ] {
        assert_eq!(corpus.topics(part).len(), topics);
        for (kinds, (mentions, clusters, singletons)) in
            [(MentionKinds::Events, events), (MentionKinds::Entities, entities)]
        {
            let wanted = CorefCounts { documents, sentences, mentions, clusters, singletons };
            assert_eq!(corpus.counts(part, kinds), wanted, "{part:?} {kinds:?}");
        }
    }
}

#[test]
fn the_xml_of_ecb_plus_is_the_same_corpus_as_its_json_lines() {
    let Some(folder) = data_folder() else { return };
    let unpacked = tempfile::tempdir().unwrap();
    let archive = folder.join("ecbplus/ecbplus_xml.zip");
    let unzip = Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&archive).arg(unpacked.path()).status();
    if !unzip.is_ok_and(|status| status.success()) {
        eprintln!("skipped: `python3 -m zipfile` cannot unpack {}", archive.display());
        return;
    }
    let sentences = folder.join("ecbplus/ECBplus_coreference_sentences.csv");
    let from_xml = MentionCorpus::read_ecb_xml("ecbplus", &unpacked.path().join("ECB+"), &sentences).unwrap();
    let from_lines = catalog::load_mentions("ecbplus", Some(&folder)).unwrap();
    let by_id = |corpus: &MentionCorpus| {
        let mut documents = corpus.documents().to_vec();
        documents.sort_by(|a, b| a.id.cmp(&b.id));
        documents
    };
    assert_eq!(by_id(&from_xml), by_id(&from_lines));
    let mentions = |corpus: &MentionCorpus| {
        let of = |mention: &landmark_data::Mention| {
            let document = corpus.documents()[mention.document].id.clone();
            (document, mention.tokens.clone(), mention.kind, mention.tag.clone(), mention.cluster.clone())
        };
        let mut mentions: Vec<_> = corpus.mentions().iter().map(of).collect();
        mentions.sort();
        mentions
    };
    assert_eq!(mentions(&from_xml), mentions(&from_lines));
}
