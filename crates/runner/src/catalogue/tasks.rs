//! Tasks that a factored matrix is used for.

use landmark_yaml::{Entry, parameter};

const ANSWER_RANKING: Entry = Entry {
    id: "answer_ranking",
    summary: "comments of a question by the score of a machine: MAP, AvgRec, MRR, P, R, F1, accuracy",
    parameters: &[],
    source: "SemEval-2016 Task 3, subtask A",
};

/// Every task.
pub static TASKS: &[Entry] = &[
    ANSWER_RANKING,
    Entry {
        id: "classification",
        summary: "linear SVM by dual coordinate descent on the embedding, kernel SVM on the exact matrix",
        parameters: &[
            parameter("c", "search", "cost of an error: a number, or `search`"),
            parameter(
                "on",
                "embedding",
                "`embedding`, or `matrix`: a kernel SVM on all of K̃ (8n² bytes), which keeps what a proxy knows beyond the rank",
            ),
            parameter("loss", "squared_hinge", "`hinge` or `squared_hinge`"),
            parameter("multi_class", "one_vs_rest", "`one_vs_rest` or `crammer_singer`"),
        ],
        source: "Hsieh et al. 2008; Crammer & Singer 2001",
    },
    Entry {
        id: "coreference",
        summary: "average linkage on 1 − K̃, cut below a threshold: MUC, B³, CEAFm, CEAFe, BLANC, LEA, CoNLL F1",
        parameters: &[],
        source: "Pradhan et al. 2014; Moosavi & Strube 2016",
    },
    Entry {
        id: "pair_scoring",
        summary: "Pearson, Spearman, F1 and accuracy of approximated entries at labelled pairs",
        parameters: &[],
        source: "GLUE; SMS-Nyström paper, §4.2",
    },
];
