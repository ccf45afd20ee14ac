//! ECB+: counts as published.

use landmark_data::catalog;
use landmark_data::mentions::CorefCounts;
use landmark_data::{CorefPart, MentionKinds};

use crate::data_folder;

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn ecb_plus_has_the_published_documents_sentences_mentions_clusters_and_singletons() {
    let folder = data_folder();
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
