//! Sources of items: the documents of the catalog, and matrices.

use std::sync::LazyLock;

use landmark_data::catalog::{self, Holds};
use landmark_yaml::{Entry, Parameter, parameter, required};

const LIMIT: Parameter = parameter("limit", "all", "a seeded, stratified sample of this many items");
const LIMIT_FIRST: Parameter =
    parameter("limit", "all", "only the first so many items; of labelled ones a stratified sample");
const SPLIT: Parameter =
    parameter("split", "{ train: 0.7 }", "`given`, or a random share to train on in each replicate");
const HEADERS: Parameter = parameter("headers", "subject", "header lines of a post: `subject`, `keep` or `strip`");
const VECTORS: Parameter =
    required("vectors", "self300", "word vectors: a name, `{ path, format }` or `{ kind: ppmi_svd }`");
const MAX_WORDS: Parameter = parameter("max_words", "all", "keep a document's most frequent distinct words");
const MIN_COUNT: Parameter = parameter("min_count", "1", "drop words that occur fewer times in all documents");
const STOP_WORDS: Parameter = parameter("drop_stop_words", "true", "leave stop words out");
const CLASSES: Parameter = parameter("classes", "all", "keep the first so many labels");
const FALLBACK: Parameter =
    parameter("fallback", "none", "`embedded`: use the sample inside when the files are missing");

const INSIDE: &[Parameter] = &[LIMIT, SPLIT, VECTORS, MAX_WORDS, MIN_COUNT, STOP_WORDS, CLASSES];
const DOCUMENTS: &[Parameter] = &[LIMIT, SPLIT, VECTORS, MAX_WORDS, MIN_COUNT, STOP_WORDS, CLASSES, FALLBACK];
const POSTS: &[Parameter] = &[LIMIT, SPLIT, VECTORS, MAX_WORDS, MIN_COUNT, STOP_WORDS, CLASSES, FALLBACK, HEADERS];

const QUESTIONS: &[Parameter] = &[LIMIT, SPLIT];

const PAIRS: &[Parameter] = &[
    parameter("limit", "all", "a seeded sample of so many of the pairs to judge by; all pairs are learned from"),
    parameter(
        "threshold_pairs",
        "500",
        "where pairs have labels, a seeded sample of so many to learn from, whose scores choose the threshold of a yes; 0: ½",
    ),
    FALLBACK,
];

const PATH_OF_ROWS: Parameter =
    required("path", "sentences.tsv", "the file; `$LANDMARK_DATA/…` starts at the folder of the corpora");
const FORMAT: Parameter = parameter(
    "format",
    "none",
    "`txt` (a text a line), `tsv`, `csv`, `jsonl`, `parquet` or `folder` (a text a file); none: by its ending",
);
const DELIMITER: Parameter =
    parameter("delimiter", "none", "what stands between the columns of a CSV file; none: found out");
const ROW_SPLIT: Parameter = parameter(
    "split",
    "{ train: 0.7 }",
    "a random share to learn from, `{ column: split }` (`train` or `test`), or `{ file: test.tsv }` to judge by",
);
const LABELLED_SPLIT: Parameter = parameter("split", "none", ROW_SPLIT.doc);
const OWN_VECTORS: Parameter =
    parameter("vectors", "none", "word vectors, for `wmd`: a name, `{ path, format }` or `{ kind: ppmi_svd }`");

const MATRICES: [Entry; 5] = [
    Entry {
        id: "precomputed",
        summary: "your own n × n matrix",
        parameters: &[
            required("path", "matrix.npy", "the file: `.npy`, `.npz`, or numbers in lines (`.csv`, `.tsv`)"),
            parameter("labels", "none", "a file with one label a line, for classification"),
            SPLIT,
        ],
        source: "yours",
    },
    Entry {
        id: "texts",
        summary: "your own texts, with labels or without: a TXT, TSV, CSV, JSONL or Parquet file, or a folder",
        parameters: &[
            PATH_OF_ROWS,
            FORMAT,
            parameter("id", "none", "the column of the ids; none: the number of the row"),
            parameter("text", "text", "the column of the texts"),
            parameter("label", "none", "the column of their labels, for `classification`"),
            LABELLED_SPLIT,
            DELIMITER,
            parameter("empty_texts", "error", "a row without a text: `error`, or `drop`, counted"),
            LIMIT_FIRST,
            OWN_VECTORS,
        ],
        source: "yours",
    },
    Entry {
        id: "trees",
        summary: "your own trees, with labels or without: one in brackets a row, or CoNLL-U, for `tree_kernel`",
        parameters: &[
            required(
                "path",
                "trees.tsv",
                "the file; of CoNLL-U where it ends in `.conllu`, with labels in comments: `# label = NUM`",
            ),
            FORMAT,
            parameter("tree", "tree", "the column of the trees"),
            parameter("id", "none", "the column, or comment, of the ids; none: the number of the row"),
            parameter("label", "none", "the column, or comment, of the labels"),
            ROW_SPLIT,
            DELIMITER,
            LIMIT,
        ],
        source: "yours",
    },
    Entry {
        id: "pairs",
        summary: "your own labelled pairs of texts, graded or yes and no, for `glue`",
        parameters: &[
            PATH_OF_ROWS,
            FORMAT,
            parameter("first", "first", "the column of the first text"),
            parameter("second", "second", "the column of the second"),
            parameter("score", "score", "the column of grades, in any scale"),
            parameter("label", "none", "the column of labels instead: two of them"),
            parameter("yes", "none", "the label of a yes; `1`, `true` and `yes` are known"),
            parameter(
                "split",
                "none",
                "pairs to learn from: `{ train: 0.2 }`, `{ column: split }`, or `{ file: test.tsv }` to judge by",
            ),
            DELIMITER,
            PAIRS[0],
            PAIRS[1],
            OWN_VECTORS,
        ],
        source: "yours",
    },
    Entry {
        id: "random_psd",
        summary: "Z Zᵀ of a random n × n matrix Z",
        parameters: &[
            parameter("n", "1000", "number of items"),
            parameter("distribution", "normal", "entries of Z: `normal` (the paper's text) or `uniform` (its program)"),
        ],
        source: "SMS-Nyström paper, figure 3",
    },
];

/// Every dataset.
pub static DATASETS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let documents = catalog::all().filter_map(|dataset| {
        let parameters = match (&dataset.holds, dataset.name) {
            (Holds::EmbeddedDocuments, _) => INSIDE,
            (Holds::Documents { .. }, "20news") => POSTS,
            (Holds::Documents { .. }, _) => DOCUMENTS,
            (Holds::Kelp { .. }, _) => QUESTIONS,
            (Holds::Pairs { .. } | Holds::EmbeddedPairs, _) => PAIRS,
            _ => return None,
        };
        Some(Entry { id: dataset.name, summary: dataset.title, parameters, source: dataset.how_to_get })
    });
    documents.chain(MATRICES).collect()
});
