//! Tasks that a factored matrix is used for.

use landmark_harness::config::SvmConfig;
use landmark_yaml::{Entry, Keys};

const ANSWER_RANKING: Entry = Entry {
    id: "answer_ranking",
    summary: "comments of a question by the score of a machine: MAP, AvgRec, MRR, P, R, F1, accuracy",
    keys: Keys::NONE,
    source: "SemEval-2016 Task 3, subtask A",
};

pub static TASKS: &[Entry] = &[
    ANSWER_RANKING,
    Entry {
        id: "classification",
        summary: "linear SVM by dual coordinate descent on the embedding, kernel SVM on the exact matrix",
        keys: SvmConfig::KEYS.under("svm"),
        source: "Hsieh et al. 2008; Crammer & Singer 2001",
    },
    Entry {
        id: "coreference",
        summary: "average linkage on 1 − K̃, cut below a threshold: MUC, B³, CEAFm, CEAFe, BLANC, LEA, CoNLL F1",
        keys: Keys::NONE,
        source: "Pradhan et al. 2014; Moosavi & Strube 2016",
    },
    Entry {
        id: "pair_scoring",
        summary: "Pearson, Spearman, F1 and accuracy of approximated entries at labelled pairs",
        keys: Keys::NONE,
        source: "GLUE; SMS-Nyström paper, §4.2",
    },
];
