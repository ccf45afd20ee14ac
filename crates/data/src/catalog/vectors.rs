//! The word vectors: parts and stand-ins that small corpora need, and the papers' own files (GoogleNews, 3 million words; GloVe) as they
//! are published.

use super::{DataFile, Dataset, Holds};
use crate::word_vectors::VectorFormat;

pub(super) static VECTORS: &[Dataset] = &[
    Dataset {
        name: "self300",
        title: "Skip-gram vectors trained on the corpora themselves, 60,000 words, 300 dimensions",
        holds: Holds::WordVectors { format: VectorFormat::Npy, member: None, fold_case: false },
        files: &[
            DataFile {
                path: "vectors/self300.f16.npy",
                bytes: 36_000_128,
                sha256: "067210ec046077cf0ed4a420ab45ee64b431d86a1b76415114704783110ebe2f",
            },
            DataFile {
                path: "vectors/self300.vocab.tsv",
                bytes: 682_466,
                sha256: "41a37eed7503b01c50e19e2462d311bfb5720d9cd7f8d04d03fd9fd7bb8c8368",
            },
        ],
        licence: "own training: no outside licence (the underlying texts keep theirs)",
        how_to_get: "trained for the data folder, not published elsewhere. Instead: GoogleNews word2vec \
                     (https://code.google.com/archive/p/word2vec) by path, or `ppmi_svd`, which needs no file",
        caveat: "skip-gram with 5 negatives, window 5, 24.1 M tokens that include these corpora: nearly full coverage, but \
                 accuracies are not comparable with those of GoogleNews",
        published: None,
    },
    Dataset {
        name: "gn300_8k",
        title: "word2vec GoogleNews, 8,000 of its 3 million words, 300 dimensions",
        holds: Holds::WordVectors { format: VectorFormat::Npy, member: None, fold_case: true },
        files: &[
            DataFile {
                path: "vectors/gn300_8k.f16.npy",
                bytes: 4_800_128,
                sha256: "df38d20640740eb5f875aa0615f90257816d17ce666a9de29b9e470ccaf45370",
            },
            DataFile {
                path: "vectors/gn300_8k.vocab.txt",
                bytes: 64_286,
                sha256: "984dd90d5ec610e9863d6af1369b94e160d118551b080f466a53d5db0ee99b73",
            },
        ],
        licence: "Apache 2.0 (GoogleNews release); by way of PsychWordVec (GPL-3)",
        how_to_get: "`data/demodata.rda` of https://github.com/psychbruce/PsychWordVec at commit 660631c, as a float16 matrix \
                     and a list of words; the whole set: https://code.google.com/archive/p/word2vec",
        caveat: "genuine values, frequent words only, 692 of them just with a capital (case is folded): it covers 38 to 79 % of the tokens \
                 of these corpora",
        published: None,
    },
    Dataset {
        name: "glove50_8k",
        title: "GloVe 6B, its 7,844 most frequent words, 50 dimensions",
        holds: Holds::WordVectors { format: VectorFormat::GloveText, member: None, fold_case: false },
        files: &[DataFile {
            path: "vectors/glove6B_50d_top7844.txt.gz",
            bytes: 1_327_969,
            sha256: "87ccb3e507be9406da996aabd89c3e1c160f3f61b05bc5179e76bd16cfc264c3",
        }],
        licence: "PDDL 1.0 (GloVe release)",
        how_to_get: "the first lines of `glove.6B.50d.txt`, https://nlp.stanford.edu/projects/glove/ (here by way of \
                     https://github.com/PymatFlow/project2 at commit 21f46b7)",
        caveat: "genuine values, frequent words only: it covers 47 to 82 % of the tokens of these corpora",
        published: None,
    },
    Dataset {
        name: "googlenews300",
        title: "word2vec GoogleNews, 3 million words and phrases, 300 dimensions: the papers' own",
        holds: Holds::WordVectors { format: VectorFormat::Word2vecBinary, member: None, fold_case: false },
        files: &[DataFile {
            path: "vectors/GoogleNews-vectors-negative300.bin.gz",
            bytes: 1_647_046_227,
            sha256: "21c05ae916a67a4da59b1d006903355cced7de7da1e42bff9f0504198c748da8",
        }],
        licence: "Apache 2.0 (GoogleNews release)",
        how_to_get: "https://code.google.com/archive/p/word2vec",
        caveat: "used as published; its sha256 is the one that others publish who use it, for it could not be had for a check here",
        published: None,
    },
    glove_6b("glove_6b_50d", "GloVe 6B, 400,000 words, 50 dimensions", "glove.6B.50d.txt"),
    glove_6b("glove_6b_100d", "GloVe 6B, 400,000 words, 100 dimensions", "glove.6B.100d.txt"),
    glove_6b("glove_6b_200d", "GloVe 6B, 400,000 words, 200 dimensions", "glove.6B.200d.txt"),
    glove_6b("glove_6b_300d", "GloVe 6B, 400,000 words, 300 dimensions", "glove.6B.300d.txt"),
    glove(
        "glove_840b_300d",
        "GloVe 840B, 2.2 million words, 300 dimensions",
        "glove.840B.300d.txt",
        &[DataFile {
            path: "vectors/glove.840B.300d.zip",
            bytes: 2_176_768_927,
            sha256: "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
        }],
    ),
];

const fn glove_6b(name: &'static str, title: &'static str, member: &'static str) -> Dataset {
    const FILES: &[DataFile] = &[DataFile {
        path: "vectors/glove.6B.zip",
        bytes: 862_182_613,
        sha256: "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
    }];
    glove(name, title, member, FILES)
}

const fn glove(name: &'static str, title: &'static str, member: &'static str, files: &'static [DataFile]) -> Dataset {
    Dataset {
        name,
        title,
        holds: Holds::WordVectors { format: VectorFormat::GloveText, member: Some(member), fold_case: false },
        files,
        licence: "PDDL 1.0 (GloVe release)",
        how_to_get: "https://nlp.stanford.edu/projects/glove/",
        caveat: "read in its archive, as published; its sha256 is the one that others publish who use it, for it could not be had for a check here",
        published: None,
    }
}
