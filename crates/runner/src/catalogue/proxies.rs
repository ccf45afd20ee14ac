//! Cheap relatives of an oracle, whose entries cost nothing.

use landmark_yaml::{Entry, Parameter, parameter, required};

const FIT: Parameter = parameter("fit", "polynomial", "K ≈ q(P) on the evaluated columns: `polynomial`");
const DEGREE: Parameter = parameter("degree", "2", "degree of the polynomial, 1 to 3");
const LINK: Parameter = parameter(
    "link",
    "pair",
    "`hub` tries how popular items are, too, h_i + h_j and h_i·h_j from the evaluated columns",
);

/// The proxy that only the methods of `coref` may name.
pub const MENTION_COSINE: &str = "mention_cosine";

/// Every proxy.
pub static PROXIES: &[Entry] = &[
    Entry {
        id: "rwmd",
        summary: "relaxed word mover's distance, a lower bound of WMD",
        parameters: &[FIT, DEGREE, LINK],
        source: "Kusner et al. 2015, §4",
    },
    Entry {
        id: "wcd",
        summary: "word centroid distance, the cheapest lower bound of WMD",
        parameters: &[FIT, DEGREE, LINK],
        source: "Kusner et al. 2015, §4",
    },
    Entry {
        id: "bag_of_words",
        summary: "cosine of the words of two texts, counted; no model and no vectors",
        parameters: &[FIT, DEGREE, LINK],
        source: "this project",
    },
    Entry {
        id: "character_ngrams",
        summary: "cosine of hashed character n-grams weighted by inverse document frequency; for names, titles and addresses",
        parameters: &[
            parameter("n", "3", "characters of an n-gram"),
            parameter("dimension", "512", "columns that they are hashed to"),
            FIT,
            DEGREE,
            LINK,
        ],
        source: "this project",
    },
    Entry {
        id: MENTION_COSINE,
        summary: "cosine of the representations of two mentions; for `coref`",
        parameters: &[FIT, DEGREE, LINK],
        source: "this project",
    },
    Entry {
        id: "fragments",
        summary: "cosine of the small fragments that the tree kernel counts, written out",
        parameters: &[parameter("size", "3", "nodes (productions) of the largest fragment, 1 to 4"), FIT, DEGREE, LINK],
        source: "this project",
    },
    Entry {
        id: "embedding_cosine",
        summary: "cosine of your own vectors, one row an item, of those that an endpoint gives, or of an encoder's mean hidden states",
        parameters: &[
            required("path", "vectors.npy", "an n × d `.npy` file"),
            parameter(
                "model",
                "none",
                "instead of `path`, for sentences and texts: a model, such as `all-MiniLM-L6-v2`",
            ),
            parameter(
                "endpoint",
                "none",
                "instead of `path`, for sentences and texts: `{ url, model, key, texts_per_request, cache }`; each text is asked for once",
            ),
            FIT,
            DEGREE,
            LINK,
        ],
        source: "this project",
    },
];
