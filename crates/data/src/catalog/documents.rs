//! The corpora of document classification (SMS-Nyström, Table 1, and the two further sets of the WMD paper).

use std::borrow::Cow;

use super::shared::{SNIPS_TRAIN, WMD_TWITTER};
use super::{DataFile, Dataset, Holds, PublishedStatistics};
use crate::documents::Columns;
use crate::rows::RowFormat;

pub(super) const NEWSGROUPS: &str = "20news";

const TABLE_1: &str = "SMS-Nyström, Table 1";
const KUSNER_TABLE_1: &str = "Kusner et al. 2015, Table 1";

const SPLIT: Columns = Columns { split: Some(Cow::Borrowed("split")), ..Columns::PLAIN };
const ID_SPLIT: Columns = Columns { id: Some(Cow::Borrowed("id")), ..SPLIT };

pub(super) static DOCUMENTS: &[Dataset] = &[
    Dataset {
        name: "embedded",
        title: "Embedded sample: cooking, astronomy, gardening, cycling",
        holds: Holds::EmbeddedDocuments,
        files: &[],
        licence: "MIT OR Apache-2.0 (written for this project)",
        how_to_get: "ships inside",
        caveat: "a sample for trying things out, no benchmark",
        published: None,
    },
    Dataset {
        name: "twitter",
        title: "Twitter (Sanders)",
        holds: Holds::Documents { format: RowFormat::Tsv, columns: SPLIT },
        files: &[WMD_TWITTER],
        licence: "unstated",
        how_to_get: "`all_twitter_by_line.txt` of https://github.com/mkusner/wmd at commit 8522da3, as columns `split label text`",
        caveat: "3,115 tweets, of which 7 lose all words against the papers' vectors; the split column is a fixed random one, \
                 the papers average 5 unpublished random 70/30 splits",
        published: Some(PublishedStatistics {
            source: TABLE_1,
            classes: 3,
            train: 2_176,
            test: 932,
            bow_dimension: 6_344,
            length: 9.9,
        }),
    },
    Dataset {
        name: "recipe_l",
        title: "Recipe-L (Yummly, What's Cooking)",
        holds: Holds::Documents {
            format: RowFormat::Tsv,
            columns: Columns { text: Cow::Borrowed("ingredients"), ..ID_SPLIT },
        },
        files: &[DataFile {
            path: "wmd/recipe_l.tsv.gz",
            bytes: 1_531_838,
            sha256: "411980c199dd3b1423341af567a032d6ee64c9b543aa01f0808e5eef6977f618",
        }],
        licence: "unstated (competition data)",
        how_to_get: "`train.json.zip` of https://github.com/jielulovesdessert/What-is-cooking at commit c33094b, as columns \
                     `split label id ingredients`, ingredients joined with ` | `",
        caveat: "taken for Recipe-L because size and classes agree; the split column is a fixed random one, the papers average 5",
        published: Some(PublishedStatistics {
            source: TABLE_1,
            classes: 20,
            train: 27_841,
            test: 11_933,
            bow_dimension: 3_590,
            length: 18.5,
        }),
    },
    Dataset {
        name: "ohsumed",
        title: "Ohsumed (single-label documents of the 23 cardiovascular categories)",
        holds: Holds::Documents { format: RowFormat::Tsv, columns: ID_SPLIT },
        files: &[DataFile {
            path: "wmd/ohsumed_single23.tsv.gz",
            bytes: 3_089_308,
            sha256: "af965eac43f4a7bcdf0e6181512a7172b2342ff764b2219c237d0a6414c57cfd",
        }],
        licence: "unstated",
        how_to_get: "`data/ohsumed_single_23/` of https://github.com/yao8839836/text_gcn at commit 9622236, as columns \
                     `split label id text`",
        caveat: "3,357/4,043 documents with exactly one category; the first ten classes keep 1,249/1,632, where the papers have \
                 3,999/5,153 with documents of several labels among them: not comparable",
        published: Some(PublishedStatistics {
            source: TABLE_1,
            classes: 10,
            train: 3_999,
            test: 5_153,
            bow_dimension: 31_789,
            length: 59.2,
        }),
    },
    Dataset {
        name: NEWSGROUPS,
        title: "20 Newsgroups by-date",
        holds: Holds::Documents { format: RowFormat::Jsonl, columns: Columns { id_within_label: true, ..ID_SPLIT } },
        files: &[DataFile {
            path: "wmd/20news_bydate.jsonl.gz",
            bytes: 13_690_605,
            sha256: "5ce871782af650553dad9ec3755e39e503552f8bc1b95d4e5d6431dad3d45105",
        }],
        licence: "unstated",
        how_to_get: "`data/20ng/` of https://github.com/yao8839836/text_gcn at commit 9622236, as JSON lines \
                     `split label id text`, decoded as latin-1",
        caveat: "11,314/7,532 posts with their headers; the papers' 11,293/7,528 lack the empty ones",
        published: Some(PublishedStatistics {
            source: TABLE_1,
            classes: 20,
            train: 11_293,
            test: 7_528,
            bow_dimension: 29_671,
            length: 72.0,
        }),
    },
    Dataset {
        name: "amazon",
        title: "Amazon reviews, label = product domain",
        holds: Holds::Documents { format: RowFormat::Tsv, columns: SPLIT },
        files: &[DataFile {
            path: "wmd/amazon.tsv.gz",
            bytes: 2_385_614,
            sha256: "9768cac8a6a9271fe10a2f9cf70a3bcb20249c68e55eb121fdf74497acb5c927",
        }],
        licence: "unstated",
        how_to_get: "`data/xml/` of https://github.com/muko034/sentiment-prediction at commit d01bfa5, as columns \
                     `split label sentiment text`",
        caveat: "the split column is a fixed random one, the papers average 5; some reviews occur twice",
        published: Some(PublishedStatistics {
            source: KUSNER_TABLE_1,
            classes: 4,
            train: 5_600,
            test: 2_400,
            bow_dimension: 42_063,
            length: 45.0,
        }),
    },
    Dataset {
        name: "classic",
        title: "Classic (CACM, CISI, CRAN and MED abstracts)",
        holds: Holds::Documents { format: RowFormat::Tsv, columns: Columns { id_within_label: true, ..ID_SPLIT } },
        files: &[DataFile {
            path: "wmd/classic.tsv.gz",
            bytes: 1_562_941,
            sha256: "e691a6fb6379bacddce299b291aeabbdf7fc4532cb264cebd99fceb903366a0c",
        }],
        licence: "unstated (SMART collections)",
        how_to_get: "`cacm.all`, `CISI.ALL`, `cran.all.1400` and `MED.ALL`, for example of \
                     https://github.com/cw417/inverted-index-search, https://github.com/PsychoProg/tf-idf and \
                     https://github.com/Chetan-Prasad/IR-Lucene_Cran, as columns `split label id text` (title and abstract)",
        caveat: "7,095 documents, two more than the papers have; the split column is a fixed random one, the papers average 5",
        published: Some(PublishedStatistics {
            source: KUSNER_TABLE_1,
            classes: 4,
            train: 4_965,
            test: 2_128,
            bow_dimension: 24_277,
            length: 38.6,
        }),
    },
    Dataset {
        name: "snips_utterances",
        title: "SNIPS 2017 custom intents, its training utterances as documents",
        holds: Holds::Documents {
            format: RowFormat::Tsv,
            columns: Columns { label: Cow::Borrowed("intent"), ..Columns::PLAIN },
        },
        files: &[SNIPS_TRAIN],
        licence: "CC0 1.0",
        how_to_get: "`2017-06-custom-intent-engines/` of https://github.com/sonos/nlu-benchmark, as columns `intent text`",
        caveat: "13,784 utterances without a split; `snips` has the given test utterances",
        published: None,
    },
];
