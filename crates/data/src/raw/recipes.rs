//! Recipes: what each file of the catalog is made from.
//!
//! A source has several addresses, which are tried in turn; whichever answers, what came must fit its [`Pin`]. Addresses on GitHub
//! name a commit. A file may have several recipes, from copies of its corpus in several forms: the first that works counts, and
//! all of them must give the same text. Files that are used as they are published are no recipes: [`published`].

use super::archive::Unpack;
use super::{Conversion, RawFiles};

mod homes;
mod sources;

use homes::*;
use sources::*;

pub use homes::{PUBLISHED, Published, published};

/// A file of ours and the way to make it.
#[derive(Debug)]
pub struct Recipe {
    /// Path below the data folder.
    pub file: &'static str,
    /// Sha256 of its text: of the file itself, or of what it unpacks to. Empty where nobody could tell so far: then the first
    /// fetch [records](crate::catalog::DataFile::recorded) it.
    pub text_sha256: &'static str,
    /// Sources of its raw files.
    pub sources: &'static [&'static Source],
    /// Conversion of the raw files.
    pub conversion: Conversion,
}

/// Raw files that are fetched together.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Where they are, the first tried first.
    pub addresses: &'static [Address],
    /// Size of the download in bytes, about.
    pub bytes: u64,
    /// Digest or id that it is known by.
    pub pin: Pin,
}

/// Digest or id that the raw files of a source are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// Digest of the raw files, [`RawFiles::digest`], of a copy that was converted here.
    Files(&'static str),
    /// Sha256 of the download as it comes, packed, which several that use it publish.
    Download(&'static str),
    /// Id of the only raw file in the git repository of its address, which its commit names.
    GitBlob(&'static str),
    /// Nothing: no digest is published. What comes first is believed and recorded.
    Unknown,
}

impl Pin {
    /// True where the sha256 of the download itself must be known.
    pub fn is_of_download(self) -> bool {
        matches!(self, Self::Download(_))
    }

    /// Holds what came against it: `download` is the sha256 of the bytes as they came.
    ///
    /// # Errors
    /// The digest that was seen and the one that was wanted, in words that follow an address.
    pub fn check(self, download: &str, files: &RawFiles) -> Result<(), String> {
        let (what, seen, wanted) = match self {
            Self::Unknown => return Ok(()),
            Self::Files(wanted) => ("has the sha256", files.digest(), wanted),
            Self::Download(wanted) => ("has the sha256", download.to_owned(), wanted),
            Self::GitBlob(wanted) => {
                ("has the git id", files.git_id().unwrap_or_else(|| "of no file".to_owned()), wanted)
            }
        };
        if seen == wanted { Ok(()) } else { Err(format!("{what} {seen}, wanted is {wanted}")) }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    pub url: &'static str,
    pub unpack: Unpack,
}

/// The first recipe of a file of the catalog; none where it isn't made of anything.
pub fn of(file: &str) -> Option<&'static Recipe> {
    all_of(file).next()
}

/// Every recipe of a file, the first tried first.
pub fn all_of(file: &str) -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter().chain(HOMES).filter(move |recipe| recipe.file == file)
}

/// True where a file can be had from public sources.
pub fn is_public(file: &str) -> bool {
    of(file).is_some() || published(file).is_some()
}

/// Every recipe whose text was compared with ours, by the path of its file.
pub static RECIPES: &[Recipe] = &[
    Recipe {
        file: "cqa_semeval2016/dev.jsonl.gz",
        text_sha256: "b17161aa2d627b50ea49dc528fdce5f5a4f33cbf620e124dea9b4ada5fdd4a07",
        sources: &[&FORUM_DEV],
        conversion: Conversion::SemEval("SemEval2016-Task3-CQA-QL-dev-subtaskA.xml"),
    },
    Recipe {
        file: "cqa_semeval2016/train_2015dev.jsonl.gz",
        text_sha256: "4a068a5d49ccc63d8c867a67eb3157f4e2ca79afd222576188c8da24f6cae1c1",
        sources: &[&FORUM_2015DEV],
        conversion: Conversion::SemEval(
            "SemEval2015-Task3-CQA-QL-dev-reformatted-excluding-2016-questions-cleansed.xml",
        ),
    },
    Recipe {
        file: "cqa_semeval2016/train_2015test.jsonl.gz",
        text_sha256: "2a051ef79ce5266fbe55cfef283307a01ad5e54b7789d8168cb52f8ef2ad0b69",
        sources: &[&FORUM_2015TEST],
        conversion: Conversion::SemEval(
            "SemEval2015-Task3-CQA-QL-train-reformatted-excluding-2016-questions-cleansed.xml",
        ),
    },
    Recipe {
        file: "cqa_semeval2016/train_part2.jsonl.gz",
        text_sha256: "cc1fda5d7a7c09471fb112654e7a5402dfdf7afc68a272941977bf3c349de058",
        sources: &[&FORUM_PART2],
        conversion: Conversion::SemEval("SemEval2016-Task3-CQA-QL-train-part2-subtaskA.xml"),
    },
    Recipe {
        file: "ecbplus/docs.jsonl.gz",
        text_sha256: "09b1e9bdba1bf5d97ff935c66fd65286a648fcb2a8b58be8f66cb6155dbee057",
        sources: &[&ECB_XML, &ECB_SENTENCES],
        conversion: Conversion::EcbDocuments,
    },
    Recipe {
        file: "ecbplus/mentions.jsonl.gz",
        text_sha256: "1dfbb7b69e3ca6fccc114d1a948f5bb25825cd3d62a0608afd113ceae0cbd373",
        sources: &[&ECB_XML, &ECB_SENTENCES],
        conversion: Conversion::EcbMentions,
    },
    Recipe {
        file: "intent/atis/test.tsv.gz",
        text_sha256: "76a00f951ad3ec2ba47c03c225382226a506c236bb7a71e76de53e63711d3d3f",
        sources: &[&ATIS_TEST],
        conversion: Conversion::Atis("atis.test.w-intent.iob"),
    },
    Recipe {
        file: "intent/atis/train.tsv.gz",
        text_sha256: "d515eab237cf474170450b80a5d6bdcbb6204e6c40b5a7e155af9f9a82a904b0",
        sources: &[&ATIS_TRAIN],
        conversion: Conversion::Atis("atis.train.w-intent.iob"),
    },
    Recipe {
        file: "intent/clinc150/domains.json",
        text_sha256: "b947b579d3b8e74b06f93b01083d8efaff2888b43a3e362533bd88a6e1211b3a",
        sources: &[&CLINC_DOMAINS],
        conversion: Conversion::Copy("domains.json"),
    },
    Recipe {
        file: "intent/clinc150/test.tsv.gz",
        text_sha256: "64f795ef3ff84e9500525af09506b4a46d1df28e773939b8a28bf3764e5c8413",
        sources: &[&CLINC],
        conversion: Conversion::Clinc { file: "data_full.json", part: "test" },
    },
    Recipe {
        file: "intent/clinc150/train.tsv.gz",
        text_sha256: "a5d8364a9f1437c3a08500ca99584d93700f64b10fcf5d984556aad1f552c41e",
        sources: &[&CLINC],
        conversion: Conversion::Clinc { file: "data_full.json", part: "train" },
    },
    Recipe {
        file: "intent/clinc150/val.tsv.gz",
        text_sha256: "6d37a24aa6cd589ae4faf457266a56bd909829151672a0d4ec4a7738d245435f",
        sources: &[&CLINC],
        conversion: Conversion::Clinc { file: "data_full.json", part: "val" },
    },
    Recipe {
        file: "intent/snips/test.tsv.gz",
        text_sha256: "6814d4fbe630d734e431d65faeda97d1ef8213a91f15ae67f14deb41a79e9284",
        sources: &[
            &SNIPS_TEST_ADD_TO_PLAYLIST,
            &SNIPS_TEST_BOOK_RESTAURANT,
            &SNIPS_TEST_GET_WEATHER,
            &SNIPS_TEST_PLAY_MUSIC,
            &SNIPS_TEST_RATE_BOOK,
            &SNIPS_TEST_SEARCH_CREATIVE_WORK,
            &SNIPS_TEST_SEARCH_SCREENING_EVENT,
        ],
        conversion: Conversion::Snips { before: "validate_", after: ".json" },
    },
    Recipe {
        file: "intent/snips/train.tsv.gz",
        text_sha256: "6b56d25ee6a9fc9ef1ca2cd9997af29a9bd6c81710e1b7323050203b6eca4f74",
        sources: &[
            &SNIPS_TRAIN_ADD_TO_PLAYLIST,
            &SNIPS_TRAIN_BOOK_RESTAURANT,
            &SNIPS_TRAIN_GET_WEATHER,
            &SNIPS_TRAIN_PLAY_MUSIC,
            &SNIPS_TRAIN_RATE_BOOK,
            &SNIPS_TRAIN_SEARCH_CREATIVE_WORK,
            &SNIPS_TRAIN_SEARCH_SCREENING_EVENT,
        ],
        conversion: Conversion::Snips { before: "train_", after: "_full.json" },
    },
    Recipe {
        file: "mrpc/dev.tsv",
        text_sha256: "a7d5a90703e679e0416cbe099c87e3da31cc387ce169bfc92ba4671864faecf7",
        sources: &[&MSR_TRAIN, &MSR_VAL, &GLUE_MRPC_DEV],
        conversion: Conversion::Paraphrases {
            tables: &["msr-para-train.tsv", "msr-para-val.tsv"],
            order: Some("glue-dev.tsv"),
        },
    },
    Recipe {
        file: "mrpc/test.tsv",
        text_sha256: "2da7c650a986d42dd618fd729f7d3b80131f54e13b1e1202ba074095be1c3104",
        sources: &[&MSR_TEST],
        conversion: Conversion::Paraphrases { tables: &["msr-para-test.tsv"], order: None },
    },
    Recipe {
        file: "mrpc/train.tsv",
        text_sha256: "41ef57a1e783c83230609943bc772106bda1b4e3d89bf170cc49a3644117366b",
        sources: &[&MSR_TRAIN, &MSR_VAL, &GLUE_MRPC_TRAIN],
        conversion: Conversion::Paraphrases {
            tables: &["msr-para-train.tsv", "msr-para-val.tsv"],
            order: Some("glue-train.tsv"),
        },
    },
    Recipe {
        file: "qc_kelp/test.klp.gz",
        text_sha256: "fb565f32a23abc52b9c4b942c654f0993fc8710095e2c5083f5fddd65dc4ebe6",
        sources: &[&TREC_TEST],
        conversion: Conversion::Copy("TREC_10.coarse.klp.gz"),
    },
    Recipe {
        file: "qc_kelp/train.klp.gz",
        text_sha256: "f41dae8d96aaa86a5f6d32e0408b27975135ab3cd11e48212c2028ca418da33d",
        sources: &[&TREC_TRAIN],
        conversion: Conversion::Copy("train_5500.coarse.klp.gz"),
    },
    Recipe {
        file: "rte/dev.tsv",
        text_sha256: "08d3d632056457367c90dbce3534cc1c4ded9101bfb2f7115012722a4c9e1e2c",
        sources: &[&RTE_DEV],
        conversion: Conversion::Rte("dev.tsv"),
    },
    Recipe {
        file: "rte/test.tsv",
        text_sha256: "344c39046b870f2865f5b981e2f4b4776e69d3b7879f0e2e820e11a8aa180f18",
        sources: &[&RTE_TEST],
        conversion: Conversion::Rte("test.tsv"),
    },
    Recipe {
        file: "rte/train.tsv",
        text_sha256: "fad8953c326fc4725f92215d649c9ffd0bc6b8042631daee69669edc8351cbda",
        sources: &[&RTE_TRAIN],
        conversion: Conversion::Rte("train.tsv"),
    },
    Recipe {
        file: "stsb/dev.tsv",
        text_sha256: "5c5d65b88ffe327867d1b9813a67addbb9dfffb812976da40e0f11cff356aa53",
        sources: &[&STS_DEV],
        conversion: Conversion::StsCsv("sts-dev.csv"),
    },
    Recipe {
        file: "stsb/test.tsv",
        text_sha256: "e82aed16d8aa8b6befe7e8faa2dd73d696f144f540bed8b80d7f8a87326e44bb",
        sources: &[&STS_TEST],
        conversion: Conversion::StsCsv("sts-test.csv"),
    },
    Recipe {
        file: "stsb/train.tsv",
        text_sha256: "ccefbd64f7af0c57c560eb2d97a035fff337be6f469fa66aeda03620bfe5d077",
        sources: &[&STS_TRAIN],
        conversion: Conversion::StsCsv("sts-train.csv"),
    },
    Recipe {
        file: "vectors/glove6B_50d_top7844.txt.gz",
        text_sha256: "1572d1f95d1c46f29a037bf1697cbf069b17a2e72b827ce12f9d24efeee33030",
        sources: &[&GLOVE_HEAD, &GLOVE_TAIL],
        conversion: Conversion::Vectors(&["glove-head.txt", "glove-tail.txt"]),
    },
    Recipe {
        file: "wmd/20news_bydate.jsonl.gz",
        text_sha256: "96093375d83cecf199b6b632d8831f83fd52f95ac4931ccff3555365f3855e16",
        sources: &[&NEWSGROUPS],
        conversion: Conversion::Posts,
    },
    Recipe {
        file: "wmd/amazon.tsv.gz",
        text_sha256: "37634d2d79b3647ad9a5831e62740cb775ab288b2069a41d345c732898df03b3",
        sources: &[
            &BOOKS_NEGATIVE,
            &BOOKS_POSITIVE,
            &DVD_NEGATIVE,
            &DVD_POSITIVE,
            &ELECTRONICS_NEGATIVE,
            &ELECTRONICS_POSITIVE,
            &KITCHEN_NEGATIVE,
            &KITCHEN_POSITIVE,
        ],
        conversion: Conversion::Reviews(&[
            "books/negative.review",
            "books/positive.review",
            "dvd/negative.review",
            "dvd/positive.review",
            "electronics/negative.review",
            "electronics/positive.review",
            "kitchen/negative.review",
            "kitchen/positive.review",
        ]),
    },
    Recipe {
        file: "wmd/classic.tsv.gz",
        text_sha256: "600043eb2e6808cfcd2d3a6eb4aa5f2becba3d32e54d41afb2c0ee02deebca4b",
        sources: &[&CACM, &CISI, &CRAN, &MED],
        conversion: Conversion::Smart(&[
            ("cacm", "cacm.all"),
            ("cisi", "CISI.ALL"),
            ("cran", "cran.all.1400"),
            ("med", "MED.ALL"),
        ]),
    },
    Recipe {
        file: "wmd/ohsumed_single23.tsv.gz",
        text_sha256: "c1dba509c33eaac6b661a1f2dcd691e476d6ca8616dae65cc38e326d7a8c3bd4",
        sources: &[&OHSUMED],
        conversion: Conversion::Abstracts { below: "ohsumed_single_23/" },
    },
    Recipe {
        file: "wmd/recipe_l.tsv.gz",
        text_sha256: "4a706136260824b79aef399b41a785898d582fddc5d7c84f3741222b70acb287",
        sources: &[&YUMMLY],
        conversion: Conversion::Recipes("train.json"),
    },
    Recipe {
        file: "wmd/twitter.tsv.gz",
        text_sha256: "9cd87066f1801a281ab1fd02306442fd398d92b98c253f9ec381042232b17d6f",
        sources: &[&TWEETS],
        conversion: Conversion::Tweets("all_twitter_by_line.txt"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_digests() {
        let is_hex =
            |digest: &str, digits| digest.len() == digits && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        for recipe in RECIPES.iter().chain(HOMES) {
            assert!(is_hex(recipe.text_sha256, 64) || recipe.text_sha256.is_empty(), "{}", recipe.file);
            for source in recipe.sources {
                match source.pin {
                    Pin::Files(digest) | Pin::Download(digest) => assert!(is_hex(digest, 64), "{digest}"),
                    Pin::GitBlob(id) => assert!(is_hex(id, 40), "{id}"),
                    // what can't be checked must be recorded
                    Pin::Unknown => assert!(recipe.text_sha256.is_empty(), "{}", recipe.file),
                }
            }
        }
        assert!(RECIPES.iter().all(|recipe| !recipe.text_sha256.is_empty()));
    }

    #[test]
    fn recipes_of_one_file_want_the_same_text() {
        for home in HOMES {
            assert!(all_of(home.file).all(|recipe| recipe.text_sha256 == home.text_sha256), "{}", home.file);
        }
    }

    #[test]
    fn every_address_on_github_names_a_commit() {
        let is_commit = |part: &str| part.len() == 40 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
        let recipes = RECIPES.iter().chain(HOMES);
        for address in recipes.flat_map(|recipe| recipe.sources).flat_map(|source| source.addresses) {
            let is_pinned = address.url.split(['/', '@']).any(is_commit);
            assert!(is_pinned || !address.url.contains("github"), "{}", address.url);
        }
    }

    #[test]
    fn a_pin_says_what_it_saw_and_what_it_wanted() {
        // printf 'hello\n' | git hash-object --stdin; sha256sum
        let (id, sha256) = (
            "ce013625030ba8dba906f756967f9e9ca394464a",
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        );
        let files = RawFiles::one("x", b"hello\n".to_vec());
        for pin in [Pin::GitBlob(id), Pin::Files(sha256), Pin::Download("d"), Pin::Unknown] {
            assert_eq!(pin.check("d", &files), Ok(()), "{pin:?}");
        }
        let other = RawFiles::one("x", b"hullo\n".to_vec());
        assert!(Pin::GitBlob(id).check("d", &other).unwrap_err().ends_with(&format!("wanted is {id}")));
        assert!(Pin::Files(sha256).check("d", &other).unwrap_err().starts_with("has the sha256"));
        assert_eq!(Pin::Download("d").check("e", &files), Err("has the sha256 e, wanted is d".to_owned()));
        assert!(Pin::GitBlob(id).check("d", &RawFiles::default()).unwrap_err().contains("of no file"));
    }
}
