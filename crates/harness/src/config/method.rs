//! `methods:` — the approximators of a sweep, each with its parameters, exact entries and proxy.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, Link, Proxied};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape};
use landmark_http::EmbeddingParams;
use landmark_yaml::{Node, Problem, Section, Span, Value, ids};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::entries::EntriesConfig;
use super::item_kind::ItemKind;
use super::method_entry::MethodEntry;
use super::reading::Reading;
use super::values::ConfigPath;

/// One method of a sweep.
#[derive(Clone, Serialize)]
pub struct MethodConfig {
    /// Id in the catalogue.
    pub id: &'static str,
    /// Label in the tables; unique in a configuration.
    pub name: String,
    /// Its own parameters, after defaults.
    #[serde(flatten)]
    pub params: Map<String, Json>,
    /// Entries that it returns exactly.
    pub known: Known,
    /// One order a pair instead of the mean of both, at half the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<MethodOrder>,
    /// Approximate the residual of this instead of the matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyConfig>,
    /// Entries that its calls go to, where they are not columns alone.
    #[serde(skip_serializing_if = "EntriesConfig::is_columns")]
    pub entries: EntriesConfig,
    /// The method itself, checked, its calls divided as `entries` says: what is planned.
    #[serde(skip)]
    pub approximator: Arc<dyn Approximate>,
    /// The same without its entries divided: what a proxy is put around.
    #[serde(skip)]
    bare: Arc<dyn Approximate>,
    /// Its line of the catalogue.
    #[serde(skip)]
    pub entry: &'static MethodEntry,
    /// Place in the configuration.
    #[serde(skip)]
    pub place: Span,
}

impl fmt::Debug for MethodConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} {:?}", self.name, Json::Object(self.params.clone()), self.known, self.proxy)
    }
}

/// Order of a pair that a method reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodOrder {
    /// One of both by a coin.
    Random,
}

/// Cheap relatives of the oracle, one as a rule, and how they are fitted to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyConfig {
    /// Kind of the first.
    pub kind: ProxyKind,
    /// K ≈ q(P): what q is.
    pub fit: ProxyFit,
    /// Terms beside the scores of the proxies.
    pub link: ProxyLink,
    /// Kinds of the others.
    pub more: Vec<ProxyKind>,
}

/// Features of a pair that a link sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyLink {
    /// The scores of the proxies.
    #[default]
    Pair,
    /// Popularity of its items, too, where columns that were left out are so predicted better.
    Hub,
}

impl ProxyLink {
    fn is_pair(&self) -> bool {
        *self == Self::Pair
    }
}

/// One proxy is a map, several are a list, whose first says how they are fitted.
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

/// A cheap relative of the oracle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProxyKind {
    /// Relaxed word mover's distance.
    Rwmd,
    /// Word centroid distance.
    Wcd,
    /// Cosine of bags of words.
    BagOfWords,
    /// Cosine of hashed character n-grams.
    CharacterNgrams {
        /// Characters of an n-gram.
        n: usize,
        /// Columns that they are hashed to.
        dimension: usize,
    },
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
    Endpoint { endpoint: Box<EmbeddingParams> },
    /// Cosine of the rows of a file.
    EmbeddingCosine {
        /// n × d `.npy`.
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

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FitName {
    Polynomial,
}

impl ProxyKind {
    /// Reads a proxy that nothing is fitted to.
    pub(super) fn read_alone(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        ProxyConfig::read(node, path, reading).map(|proxy| proxy.kind)
    }

    /// Id in the catalogue.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Rwmd => "rwmd",
            Self::Wcd => "wcd",
            Self::BagOfWords => "bag_of_words",
            Self::CharacterNgrams { .. } => "character_ngrams",
            Self::MentionCosine => "mention_cosine",
            Self::Fragments { .. } => "fragments",
            Self::BiEncoder { .. } | Self::Endpoint { .. } | Self::EmbeddingCosine { .. } => "embedding_cosine",
        }
    }

    /// True for a distance, which is seen through the oracle's γ.
    pub fn is_distance(&self) -> bool {
        matches!(self, Self::Rwmd | Self::Wcd)
    }

    /// The kinds of items that it compares.
    pub fn reads(&self) -> &'static [ItemKind] {
        match self {
            Self::Rwmd | Self::Wcd => &[ItemKind::Documents],
            Self::BagOfWords => &[ItemKind::Trees, ItemKind::Documents, ItemKind::Pairs, ItemKind::Texts],
            Self::Fragments { .. } => &[ItemKind::Trees],
            Self::MentionCosine => &[ItemKind::Mentions],
            Self::BiEncoder { .. } | Self::Endpoint { .. } | Self::CharacterNgrams { .. } => {
                &[ItemKind::Pairs, ItemKind::Texts]
            }
            Self::EmbeddingCosine { .. } => ItemKind::ALL,
        }
    }
}

impl MethodConfig {
    /// Reads the list; an entry may be a bare id. Names are made unique here.
    pub fn read_all(node: &Node, reading: &Reading<'_>) -> Vec<Self> {
        let problems = reading.problems;
        let Value::List(items) = &node.value else {
            problems.add(Problem::new(format!("`methods` is {}, but must be a list", node.describe())).at(node.place));
            return Vec::new();
        };
        if items.is_empty() {
            problems.add(
                Problem::new("`methods` is empty").at(node.place).help("name at least one; `landmark list methods`"),
            );
        }
        let read = |(index, item)| Self::read(item, &format!("methods[{index}]"), reading);
        let methods: Vec<Self> = items.iter().enumerate().filter_map(read).collect();
        for (index, method) in methods.iter().enumerate() {
            if let Some(first) = methods[..index].iter().find(|first| first.name == method.name) {
                problems.add(
                    Problem::new(format!("two methods are called `{}`", method.name))
                        .at(method.place)
                        .label("the second")
                        .also(first.place, "the first")
                        .help("tell them apart with `name: …`"),
                );
            }
        }
        methods
    }

    /// The method with another |S2| / |S1|; itself where it has no second set.
    ///
    /// # Errors
    /// A ratio that it refuses.
    pub fn with_second_set(&self, ratio: f64) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let other = self.approximator.with_second_set(ratio)?;
        Ok(other.unwrap_or_else(|| Arc::clone(&self.approximator)))
    }

    /// The method around its proxies, the first one first, its calls divided as `entries` says; `ratio` is another |S2| / |S1|.
    ///
    /// # Errors
    /// A ratio that it refuses.
    pub fn around(
        &self,
        proxies: Vec<Arc<dyn Oracle>>,
        ratio: Option<f64>,
    ) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let other = ratio.map_or(Ok(None), |ratio| self.bare.with_second_set(ratio))?;
        let bare = other.unwrap_or_else(|| Arc::clone(&self.bare));
        let (Some(wanted), Some((first, more))) = (&self.proxy, proxies.split_first()) else {
            return self.entries.around(bare, Vec::new());
        };
        if let Some(own) = bare.with_proxies(&proxies) {
            return self.entries.around(own, Vec::new());
        }
        let proxied = Proxied::new(bare, Arc::clone(first), wanted.family()).with_more(more.iter().cloned());
        let proxied = match wanted.link {
            ProxyLink::Pair => proxied,
            ProxyLink::Hub => proxied.with_popularity(),
        };
        self.entries.around(Arc::new(proxied), proxies)
    }

    /// True where a fit chooses pairs by what it sees, so that another fit chooses others.
    pub fn chooses_pairs(&self) -> bool {
        let (len, rank) = TRIAL;
        let items: Vec<usize> = (0..len).collect();
        let shape = OracleShape::symmetric(len);
        let trial = Landmarks::new(len, items.clone(), items).map_err(ApproximateError::from);
        let plan = trial.and_then(|landmarks| self.approximator.plan(shape, &landmarks, rank));
        !self.entries.is_columns() || plan.is_ok_and(|plan| plan.chosen > 0)
    }

    fn read(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        let problems = reading.problems;
        let empty = Node::empty(node.place);
        let (id, id_place, section) = match &node.value {
            Value::Text(id) => (id.clone(), node.place, Section::new(&empty, path, problems)?),
            _ => {
                let section = Section::new(node, path, problems)?;
                let place = section.required_node("id")?.place;
                (section.optional::<String>("id")?, place, section)
            }
        };
        let Some(entry) = reading.known.method(&id) else {
            let known = reading.known.methods.iter().map(|method| method.id);
            problems.add(Problem::unknown("method", &id, known).at(id_place));
            return None;
        };
        let name: Option<String> = section.optional("name");
        let known = section.or("known", Known::NOTHING);
        let order = section.optional("order");
        let proxy = section.node("proxy").map(|node| ProxyConfig::read(node, &section.path_of("proxy"), reading));
        let entries = section.node("entries");
        let entries = entries.map(|node| EntriesConfig::read(node, &section.path_of("entries"), reading));
        let own = section.rest();
        if let Value::Map(entries) = &own.value {
            let takes: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
            let also = ["id", "name", "known", "order", "proxy", "entries"];
            for (key, _) in entries.iter().filter(|(key, _)| !takes.contains(&key.text.as_str())) {
                let known = takes.iter().copied().chain(also);
                let problem = Problem::unknown("parameter", &key.text, known).and(&format!(" of `{id}`"));
                problems.add(problem.at(key.place));
            }
            if entries.iter().any(|(key, _)| !takes.contains(&key.text.as_str())) {
                return None;
            }
        }
        let built = (entry.read)(&own, path, problems)?;
        let proxy = match proxy {
            Some(proxy) => Some(proxy?),
            None => None,
        };
        let entries = entries.unwrap_or(Some(EntriesConfig::Columns))?;
        let name = name.unwrap_or_else(|| default_name(entry.id, known, order, proxy.as_ref(), entries));
        let bare = built.approximator;
        if !entries.is_columns() && !evaluates_some_columns(bare.as_ref()) {
            let message = format!("`{id}` evaluates no columns, or all of them: no calls are left for `entries`");
            problems.add(Problem::new(message).at(section.node("entries").map_or(node.place, |node| node.place)));
            return None;
        }
        // parameters out of range were said where they are read
        let approximator = entries.around(Arc::clone(&bare), Vec::new()).ok()?;
        Some(Self {
            id: entry.id,
            name,
            params: built.params,
            known,
            order,
            proxy,
            entries,
            approximator,
            bare,
            entry,
            place: node.place,
        })
    }
}

/// `shift_ridge + known + rwmd`: what distinguishes it from the bare method.
fn default_name(
    id: &str,
    known: Known,
    order: Option<MethodOrder>,
    proxy: Option<&ProxyConfig>,
    entries: EntriesConfig,
) -> String {
    let mut name = id.to_owned();
    match (known.landmarks, known.diagonal) {
        (false, false) => {}
        (true, _) => name += " + known",
        (false, true) => name += " + diagonal",
    }
    if let Some(proxy) = proxy {
        name = proxy.kinds().fold(name, |name, kind| format!("{name} + {}", kind.id()));
        if proxy.link == ProxyLink::Hub {
            name += " + hub";
        }
    }
    if order.is_some() {
        name += ", one order";
    }
    if !entries.is_columns() {
        name += " + scattered";
    }
    name
}

/// Items and landmarks of a fit that is planned to see what a method does.
const TRIAL: (usize, usize) = (64, 16);

/// The endpoint of a proxy; what it names lies beside the configuration.
fn endpoint(section: &Section<'_>, path: &str, folder: &Path) -> Option<EmbeddingParams> {
    let (problems, node) = (section.problems(), section.required_node("endpoint")?);
    let params: EmbeddingParams = problems.read(node, &section.path_of("endpoint"))?;
    if let Err(error) = params.check() {
        problems.add(Problem::new(format!("`{path}.endpoint`: {error}")).at(node.place));
    }
    let certificate = params.certificate.as_ref().map(|file| folder.join(file));
    Some(EmbeddingParams { cache: folder.join(&params.cache), certificate, ..params })
}

/// True where a fit names some columns and not all of them, seen on eight items.
fn evaluates_some_columns(method: &dyn Approximate) -> bool {
    let items: Vec<usize> = (0..8).collect();
    let Ok(landmarks) = Landmarks::new(items.len(), items.clone(), items) else { return false };
    (1..8).contains(&method.entries(8, &landmarks, 2).full_columns().len())
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

    /// Reads one proxy, or a list of them.
    fn read(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        let Value::List(nodes) = &node.value else { return Self::read_one(node, path, reading, true) };
        let problems = reading.problems;
        if nodes.is_empty() {
            problems
                .add(Problem::new(format!("`{path}` is empty")).at(node.place).help("name a proxy, or leave it out"));
            return None;
        }
        let read =
            |(index, node): (usize, &Node)| Self::read_one(node, &format!("{path}[{index}]"), reading, index == 0);
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

    /// `is_first`: it may say how all of them are fitted.
    fn read_one(node: &Node, path: &str, reading: &Reading<'_>, is_first: bool) -> Option<Self> {
        let Reading { folder, problems, known } = *reading;
        let empty = Node::empty(node.place);
        let (kind, section) = match &node.value {
            Value::Text(kind) => (kind.clone(), Section::new(&empty, path, problems)?),
            _ => {
                let section = Section::new(node, path, problems)?;
                (section.required("kind")?, section)
            }
        };
        let kind = match kind.as_str() {
            "rwmd" => ProxyKind::Rwmd,
            "wcd" => ProxyKind::Wcd,
            "bag_of_words" => ProxyKind::BagOfWords,
            "character_ngrams" => {
                let n = section.checked("n", |n: &usize| (1..=8).contains(n), "between 1 and 8");
                let dimension =
                    section.checked("dimension", |d: &usize| (1..=65_536).contains(d), "between 1 and 65536");
                ProxyKind::CharacterNgrams { n: n.unwrap_or(3), dimension: dimension.unwrap_or(512) }
            }
            "mention_cosine" => ProxyKind::MentionCosine,
            "fragments" => {
                let size = section.checked("size", |size: &usize| (1..=4).contains(size), "between 1 and 4");
                ProxyKind::Fragments { size: size.unwrap_or(3) }
            }
            "embedding_cosine" if section.has("endpoint") => {
                for key in ["model", "path"].into_iter().filter(|key| section.has(key)) {
                    section.refuse(key, format!("`{path}` has an `endpoint` and a `{key}`: name one of them"));
                }
                ProxyKind::Endpoint { endpoint: Box::new(endpoint(&section, path, folder)?) }
            }
            "embedding_cosine" if section.has("model") => {
                if section.has("path") {
                    section.refuse("path", format!("`{path}` has a `model` and a `path`: name one of them"));
                }
                ProxyKind::BiEncoder { model: section.required("model")? }
            }
            "embedding_cosine" => {
                let help = "name a file of embeddings, a row an item, or a bi-encoder that makes them by `model`";
                let node = section.required_node_or("path", help)?;
                ProxyKind::EmbeddingCosine { path: ConfigPath::read(node, &section.path_of("path"), folder, problems)? }
            }
            other => {
                let place = section.node("kind").unwrap_or(node).place;
                problems.add(Problem::unknown("proxy", other, ids(known.proxies)).at(place));
                return None;
            }
        };
        if !is_first {
            section.finish(&[]);
            return Some(Self {
                kind,
                fit: ProxyFit::Polynomial { degree: 2 },
                link: ProxyLink::Pair,
                more: Vec::new(),
            });
        }
        let degree = section.checked("degree", |degree: &usize| (1..=3).contains(degree), "1, 2 or 3");
        let FitName::Polynomial = section.or("fit", FitName::Polynomial);
        let fit = ProxyFit::Polynomial { degree: degree.unwrap_or(2) };
        let link = section.or("link", ProxyLink::Pair);
        section.finish(&[]);
        Some(Self { kind, fit, link, more: Vec::new() })
    }
}
