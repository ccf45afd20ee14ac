//! Questions: TREC question classification with its dependency trees, and forum threads with their comments.

use super::{DataFile, Dataset, Holds};

pub(super) static QUESTIONS: &[Dataset] = &[
    Dataset {
        name: "trec",
        title: "TREC question classification with dependency trees (KeLP)",
        holds: Holds::Kelp { text: "quest" },
        files: &[
            DataFile {
                path: "qc_kelp/train.klp.gz",
                bytes: 1_420_295,
                sha256: "ffae7694fc5664e228e4daf30bf17b93d987276e6c38cddca485a5a63beb0175",
            },
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
            DataFile {
                path: "cqa_semeval2016/train_part2.jsonl.gz",
                bytes: 379_594,
                sha256: "a4ec2e85be392fc2b7e61ac968cf1a5fc14f845c8174ee369b57cb752d80c2cf",
            },
            DataFile {
                path: "cqa_semeval2016/train_part1_partial.jsonl.gz",
                bytes: 684_300,
                sha256: "41cd50e57cd34c9a98f2d87fba96e28063f1870000dd0ac2104be388d44508bf",
            },
            DataFile {
                path: "cqa_semeval2016/train_2015dev.jsonl.gz",
                bytes: 167_810,
                sha256: "3b2fcf16fb5f0b28b6ea688282232611c956823ca109ca6fa1544be49ff00b71",
            },
            DataFile {
                path: "cqa_semeval2016/train_2015test.jsonl.gz",
                bytes: 199_926,
                sha256: "061c0cfd6b067f873c7c97b9aa7c2bd5ace5ca9864af2fa2e62cc43c500b8bba",
            },
            DataFile {
                path: "cqa_semeval2016/dev.jsonl.gz",
                bytes: 243_387,
                sha256: "456f57d59390f1f92b16dcb40b8433ec09913aae6ff0104461d9ac7596884ed3",
            },
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
];
