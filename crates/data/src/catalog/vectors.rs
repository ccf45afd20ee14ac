//! The word vectors. The papers' own files (GoogleNews, 3 million words; GloVe 840B) can be read by path; these are the
//! parts and stand-ins that lie in the data folder.

use super::{DataFile, Dataset, Holds};
use crate::word_vectors::VectorFormat;

pub(super) static VECTORS: &[Dataset] = &[
    Dataset {
        name: "self300",
        title: "Skip-gram vectors trained on the corpora themselves, 60,000 words, 300 dimensions",
        holds: Holds::WordVectors { format: VectorFormat::Npy, fold_case: false },
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
        holds: Holds::WordVectors { format: VectorFormat::Npy, fold_case: true },
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
        holds: Holds::WordVectors { format: VectorFormat::GloveText, fold_case: false },
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
];
