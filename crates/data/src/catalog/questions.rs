//! Questions: TREC question classification with its dependency trees, and forum threads with their comments.

use super::shared::{
    FORUM_DEV, FORUM_TRAIN_2015DEV, FORUM_TRAIN_2015TEST, FORUM_TRAIN_PART1_PARTIAL, FORUM_TRAIN_PART2, TREC_TRAIN,
};
use super::{DataFile, Dataset, Holds};

pub(super) static QUESTIONS: &[Dataset] = &[
    Dataset {
        name: "trec",
        title: "TREC question classification with dependency trees (KeLP)",
        holds: Holds::Kelp { text: "quest" },
        files: &[
            TREC_TRAIN,
            DataFile {
                path: "qc_kelp/test.klp.gz",
                bytes: 83_852,
                sha256: "f2d72def84ecd6907b38e711f421016352ba8233505bbb3c849a140a57cf18f4",
            },
        ],
        licence: "Apache-2.0 (repository); questions of the UIUC/TREC set for research use",
        how_to_get: "`train_5500.coarse.klp.gz` and `TREC_10.coarse.klp.gz` in `src/main/resources/qc/` of \
                 https://github.com/SAG-KeLP/kelp-full at commit da68b91",
        caveat: "5,452 questions to train on and 500 to test on, in 6 coarse classes; trees grct, lct, loct, cgrct and clct",
        published: None,
    },
    Dataset {
        name: "embedded_threads",
        title: "Embedded sample: question threads of a made-up city",
        holds: Holds::EmbeddedThreads,
        files: &[],
        licence: "MIT OR Apache-2.0 (written for this project)",
        how_to_get: "ships inside",
        caveat: "24 threads, a sample for trying things out, no benchmark",
        published: None,
    },
    Dataset {
        name: "qatar_living",
        title: "SemEval-2016 Task 3 A: question threads of Qatar Living",
        holds: Holds::Threads,
        files: &[
            FORUM_TRAIN_PART2,
            FORUM_TRAIN_PART1_PARTIAL,
            FORUM_TRAIN_2015DEV,
            FORUM_TRAIN_2015TEST,
            FORUM_DEV,
            DataFile {
                path: "cqa_semeval2016/test.jsonl.gz",
                bytes: 279_802,
                sha256: "e5ab55ac9b2d924678b114637530c946962141700be68a8fb3b20aeec95b1d73",
            },
        ],
        licence: "free for general research use (stated in the README of the distribution)",
        how_to_get: "https://alt.qcri.org/semeval2016/task3/; these files are JSON lines of the official XML (train-part2, dev and the \
                     2015 sets of https://github.com/bnsriram/NLPCommunityQuestionAnswering at commit 8e89aea), of \
                     `TEST-BASE.csv` of https://github.com/chaobotic-vasu/Community-Question-Answering at commit 9febaf7 and of \
                     `subtask_A/csv` of https://github.com/Mieloch/cqa-sem-eval at commit d45fc6a",
        caveat: "12,470 training comments of the paper's 20,340: train-part1 has 5,275 of its 14,110, the 2015 training set is missing, the \
                 2015 dev and test sets stand in (3,405); 315 of 327 test threads, those without a body are missing; no users, dates \
                 or categories in the test threads",
        published: None,
    },
    Dataset {
        name: "qatar_living_full",
        title: "SemEval-2016 Task 3 A: question threads of Qatar Living, all that the paper learned from",
        holds: Holds::Threads,
        files: &[
            DataFile { path: "cqa_semeval2016/train_part1.jsonl.gz", bytes: 2_000_000, sha256: "" },
            FORUM_TRAIN_PART2,
            FORUM_DEV,
            DataFile { path: "cqa_semeval2016/test_full.jsonl.gz", bytes: 300_000, sha256: "" },
        ],
        licence: "free for general research use (stated in the README of the distribution)",
        how_to_get: "https://alt.qcri.org/semeval2016/task3/",
        caveat: "20,340 training comments, as in the paper: `cqa.train: [train_part1, train_part2, dev]`, `cqa.test: test_full`. train-part1 and the test set \
                 could not be had for a check here: the first is known by the id that git has for it, of the second the first fetch is recorded",
        published: None,
    },
];
