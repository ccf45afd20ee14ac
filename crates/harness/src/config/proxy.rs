//! Proxies: cheap relatives of an oracle, whose scores take no call.

use landmark_core::approximate::Link;
use landmark_http::EmbeddingParams;
use landmark_yaml::{
    ConfigPath, Entry, FromNode, Keys, Node, Problem, Problems, Section, Value, choice, ids, read_from_node,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::item_kind::ItemKind;

/// The proxy that only the methods of `coref` may name.
pub const MENTION_COSINE: &str = "mention_cosine";

/// The keys of a proxy that has none of its own.
const FITTED: Keys = Keys::of::<Fitted>();

pub static PROXIES: &[Entry] = &[
    Entry {
        id: "rwmd",
        summary: "relaxed word mover's distance, a lower bound of WMD",
        keys: FITTED,
        source: "Kusner et al. 2015, §4",
    },
    Entry {
        id: "wcd",
        summary: "word centroid distance, the cheapest lower bound of WMD",
        keys: FITTED,
        source: "Kusner et al. 2015, §4",
    },
    Entry {
        id: "bag_of_words",
        summary: "cosine of the words of two texts, counted; no model and no vectors",
        keys: FITTED,
        source: "this project",
    },
    Entry {
        id: "character_ngrams",
        summary: "cosine of hashed character n-grams weighted by inverse document frequency; for names, titles and addresses",
        keys: Keys::of::<CharacterNgrams>().and::<Fitted>(),
        source: "this project",
    },
    Entry {
        id: MENTION_COSINE,
        summary: "cosine of the representations of two mentions; for `coref`",
        keys: FITTED,
        source: "this project",
    },
    Entry {
        id: "fragments",
        summary: "cosine of the small fragments that the tree kernel counts, written out",
        keys: Keys::of::<Fragments>().and::<Fitted>(),
        source: "this project",
    },
    Entry {
        id: "embedding_cosine",
        summary: "cosine of your own vectors, one row an item, of those that an endpoint gives, or of an encoder's mean hidden states",
        keys: Keys::of::<Embedded>().and::<Fitted>(),
        source: "this project",
    },
];

/// How proxies are fitted to the oracle; the first of a list states it for all.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Fitted {
    /// K ≈ q(P) on the evaluated columns: `polynomial`
    fit: FitName,
    /// degree of the polynomial, 1 to 3
    #[schemars(range(min = 1, max = 3))]
    degree: usize,
    /// `hub` tries how popular items are, too, h_i + h_j and h_i·h_j from the evaluated columns
    link: ProxyLink,
}

impl Default for Fitted {
    fn default() -> Self {
        Self { fit: FitName::Polynomial, degree: 2, link: ProxyLink::Pair }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FitName {
    Polynomial,
}

/// Hashed character n-grams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CharacterNgrams {
    /// characters of an n-gram
    #[schemars(range(min = 1, max = 8))]
    pub n: usize,
    /// columns that they are hashed to
    #[schemars(range(min = 1, max = 65_536))]
    pub dimension: usize,
}

impl Default for CharacterNgrams {
    fn default() -> Self {
        Self { n: 3, dimension: 512 }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Fragments {
    /// nodes (productions) of the largest fragment, 1 to 4
    #[schemars(range(min = 1, max = 4))]
    size: usize,
}

impl Default for Fragments {
    fn default() -> Self {
        Self { size: 3 }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Embedded {
    /// an n × d `.npy` file; or one of `model` and `endpoint`
    #[schemars(example = &"vectors.npy")]
    path: Option<ConfigPath>,
    /// instead of `path`, for sentences and texts: a model, such as `all-MiniLM-L6-v2`
    model: Option<String>,
    /// instead of `path`, for sentences and texts: `{ url, model, key, texts_per_request, cache }`; each text is asked for once
    endpoint: Option<Box<EmbeddingParams>>,
}

/// Cheap relatives of the oracle, one as a rule, and how they are fitted to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyConfig {
    /// Kind of the first.
    pub kind: ProxyKind,
    /// K ≈ q(P): what q is.
    pub fit: ProxyFit,
    /// Terms in addition to the scores of the proxies.
    pub link: ProxyLink,
    /// Kinds of the others.
    pub more: Vec<ProxyKind>,
}

/// Features of a pair that a link sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProxyLink {
    /// The scores of the proxies.
    #[default]
    Pair,
    /// Hubness of its items as well, if that predicts held-out columns better.
    Hub,
}

impl ProxyLink {
    fn is_pair(&self) -> bool {
        *self == Self::Pair
    }
}

/// One proxy is a map, several are a list, whose first states how they are fitted.
impl Serialize for ProxyConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct First<'a> {
            #[serde(flatten)]
            kind: &'a ProxyKind,
            #[serde(flatten)]
            fit: ProxyFit,
            #[serde(skip_serializing_if = "ProxyLink::is_pair")]
            link: ProxyLink,
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum One<'a> {
            First(First<'a>),
            Other(&'a ProxyKind),
        }
        let first = One::First(First { kind: &self.kind, fit: self.fit, link: self.link });
        if self.more.is_empty() {
            return first.serialize(serializer);
        }
        serializer.collect_seq(std::iter::once(first).chain(self.more.iter().map(One::Other)))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProxyKind {
    /// Relaxed word mover's distance.
    Rwmd,
    Wcd,
    BagOfWords,
    /// Cosine of hashed character n-grams.
    CharacterNgrams(CharacterNgrams),
    /// Cosine of the representations of two mentions.
    MentionCosine,
    /// Cosine of the small fragments that a tree kernel counts.
    Fragments {
        /// Nodes (productions) of the largest.
        size: usize,
    },
    /// Cosine of the mean hidden states of an encoder.
    #[serde(rename = "embedding_cosine")]
    BiEncoder {
        /// A folder, a name among the models, or `tiny`.
        model: String,
    },
    /// Cosine of the vectors that an endpoint gives.
    #[serde(rename = "embedding_cosine")]
    Endpoint {
        endpoint: Box<EmbeddingParams>,
    },
    /// Cosine of the rows of a file.
    EmbeddingCosine {
        path: ConfigPath,
    },
}

/// Family of functions from which q, in K ≈ q(P), is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "fit", rename_all = "snake_case")]
pub enum ProxyFit {
    Polynomial {
        /// 1, 2 or 3.
        degree: usize,
    },
}

impl ProxyKind {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Rwmd => "rwmd",
            Self::Wcd => "wcd",
            Self::BagOfWords => "bag_of_words",
            Self::CharacterNgrams(_) => "character_ngrams",
            Self::MentionCosine => "mention_cosine",
            Self::Fragments { .. } => "fragments",
            Self::BiEncoder { .. } | Self::Endpoint { .. } | Self::EmbeddingCosine { .. } => "embedding_cosine",
        }
    }

    /// True for a distance, which is seen through the oracle's γ.
    pub fn is_distance(&self) -> bool {
        matches!(self, Self::Rwmd | Self::Wcd)
    }

    pub fn reads(&self) -> &'static [ItemKind] {
        match self {
            Self::Rwmd | Self::Wcd => &[ItemKind::Documents],
            Self::BagOfWords => &[ItemKind::Trees, ItemKind::Documents, ItemKind::Pairs, ItemKind::Texts],
            Self::Fragments { .. } => &[ItemKind::Trees],
            Self::MentionCosine => &[ItemKind::Mentions],
            Self::BiEncoder { .. } | Self::Endpoint { .. } | Self::CharacterNgrams(_) => {
                &[ItemKind::Pairs, ItemKind::Texts]
            }
            Self::EmbeddingCosine { .. } => ItemKind::ALL,
        }
    }
}

impl ProxyConfig {
    /// Kinds of all proxies, the first one first.
    pub fn kinds(&self) -> impl Iterator<Item = &ProxyKind> {
        std::iter::once(&self.kind).chain(&self.more)
    }

    /// Ids of all proxies, for people.
    pub fn label(&self) -> String {
        self.kinds().map(ProxyKind::id).collect::<Vec<_>>().join(", ")
    }

    /// The family of q, as core names it.
    pub fn family(&self) -> Link {
        let ProxyFit::Polynomial { degree } = self.fit;
        Link { degree }
    }

    /// `is_first`: it may state how all of them are fitted.
    fn read_one(node: &Node, path: &str, problems: &Problems, is_first: bool) -> Option<Self> {
        let (kind, place, section) = Section::tagged(node, path, "kind", problems)?;
        let kind = match kind.as_str() {
            "rwmd" => ProxyKind::Rwmd,
            "wcd" => ProxyKind::Wcd,
            "bag_of_words" => ProxyKind::BagOfWords,
            "character_ngrams" => ProxyKind::CharacterNgrams(section.part()?),
            MENTION_COSINE => ProxyKind::MentionCosine,
            "fragments" => ProxyKind::Fragments { size: section.part::<Fragments>()?.size },
            "embedding_cosine" => section.part::<Embedded>()?.kind(&section)?,
            other => {
                problems.add(Problem::unknown("proxy", other, ids(PROXIES)).at(place));
                return None;
            }
        };
        let fitted = if is_first { section.part()? } else { Fitted::default() };
        section.finish(&[]);
        let FitName::Polynomial = fitted.fit;
        let fit = ProxyFit::Polynomial { degree: fitted.degree };
        Some(Self { kind, fit, link: fitted.link, more: Vec::new() })
    }
}

impl Embedded {
    fn kind(self, section: &Section<'_>) -> Option<ProxyKind> {
        let path_of = |key| section.path_of(key);
        let given =
            [("endpoint", self.endpoint.is_some()), ("model", self.model.is_some()), ("path", self.path.is_some())];
        let mut given = given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key);
        if let (Some(first), Some(second)) = (given.next(), given.next()) {
            let message =
                format!("`{}` and `{}` exclude each other: name one of them", path_of(first), path_of(second));
            section.refuse(second, message);
            return None;
        }
        if let Some(endpoint) = self.endpoint {
            if let Err(error) = endpoint.check() {
                section.refuse("endpoint", format!("`{}`: {error}", path_of("endpoint")));
            }
            // what it names lies next to the configuration
            let folder = section.problems().folder();
            let certificate = endpoint.certificate.as_ref().map(|file| folder.join(file));
            let params = EmbeddingParams { cache: folder.join(&endpoint.cache), certificate, ..*endpoint };
            return Some(ProxyKind::Endpoint { endpoint: Box::new(params) });
        }
        match (self.model, self.path) {
            (Some(model), _) => Some(ProxyKind::BiEncoder { model }),
            (None, Some(path)) => Some(ProxyKind::EmbeddingCosine { path }),
            (None, None) => {
                let help = "name a file of embeddings, a row an item, or a bi-encoder that makes them by `model`";
                section.required_node_or("path", help);
                None
            }
        }
    }
}

/// One proxy, or a list of them.
impl FromNode for ProxyConfig {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let Value::List(nodes) = &node.value else { return Self::read_one(node, path, problems, true) };
        if nodes.is_empty() {
            problems
                .add(Problem::new(format!("`{path}` is empty")).at(node.place).help("name a proxy, or leave it out"));
            return None;
        }
        let read =
            |(index, node): (usize, &Node)| Self::read_one(node, &format!("{path}[{index}]"), problems, index == 0);
        let all: Option<Vec<Self>> = nodes.iter().enumerate().map(read).collect();
        let mut all = all?.into_iter();
        let first = all.next()?;
        let more: Vec<ProxyKind> = all.map(|proxy| proxy.kind).collect();
        for (index, kind) in more.iter().enumerate() {
            if *kind == first.kind || more[..index].contains(kind) {
                problems.add(Problem::new(format!("`{path}` names `{}` twice", kind.id())).at(nodes[index + 1].place));
                return None;
            }
        }
        Some(Self { more, ..first })
    }
}

/// A proxy that nothing is fitted to.
impl FromNode for ProxyKind {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        ProxyConfig::read_one(node, path, problems, true).map(|proxy| proxy.kind)
    }
}

read_from_node!(ProxyConfig, {
    let one = choice("kind", PROXIES);
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
});

read_from_node!(ProxyKind, choice("kind", PROXIES));
