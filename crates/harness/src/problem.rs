//! A similarity matrix to be approximated: from a checked configuration to items, a raw oracle and its proxies.
//!
//! Nothing is evaluated here. The stack that evaluates is built by [`MeteredStore`](crate::metered_store::MeteredStore) on top of [`Problem::raw`].

use std::path::Path;
use std::sync::Arc;

use landmark_core::contents::Contents;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Coin, Kernel, Kernelized, OneOrder, Oracle, OracleError, Symmetry};
use landmark_core::stream::stream;
use landmark_data::{Split, matrices};
use landmark_oracles::subprocess::ScoredItems;
use landmark_report::Caveat;
use landmark_store::ItemList;
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use serde_json::{Value as Json, json};

use crate::config::item_kind::ItemKind;
use crate::config::{ConfigPath, MatrixSubject, ProxyConfig, ProxyKind, RunSettings, SplitConfig};
use crate::items::OwnItems;
use crate::loaded::{Chosen, Labels, LoadError, Loaded, LoadedItems, Texts, Uses};
use crate::oracles::cross_encoder::Sentences;
use crate::oracles::scorer::Scorer;
use crate::oracles::{Items, Opened, Opening, Preparation, Training, Words};

mod proxies;
mod served;

use proxies::{Embeddings, embeddings_of};
pub use proxies::{Proxies, kept};

/// Everything an experiment over one matrix is about.
pub struct Problem {
    /// Names the random streams and the rows; `embedded` where the run fell back to the sample.
    pub dataset: String,
    /// Past queries among the items, which stand behind the others.
    pub queries: usize,
    /// Scores a pair, unmetered and unstored.
    pub raw: Arc<dyn Oracle>,
    /// The score of a pair as it is asked for; `raw` may be of both orders.
    pub as_given: Arc<dyn Oracle>,
    /// Its two orders, where some method is to read one of them.
    pub orders: Option<SplitOrders>,
    /// The score as given apart from its items, and these, where lists of them share what is kept.
    pub item_list: Option<ItemList>,
    /// Contents of the items if draws go by them and equal items are evaluated once: of a user's data whose scorer states what it sees of an item.
    pub contents: Option<Arc<Contents>>,
    /// Description of the oracle in words, for the store's listing.
    pub description: String,
    /// True where an evaluation costs enough to be worth keeping: a matrix that is already there does not.
    pub is_priced: bool,
    /// Cheap relatives of the raw score.
    pub proxies: Proxies,
    /// The items, with what only items of their kind have.
    pub items: Items,
    pub stamps: Vec<Caveat>,
    /// Notes on what was dropped, filled or replaced, in sentences.
    pub notes: Vec<String>,
    pub facts: Json,
}

/// An asymmetric score, and the coin by which one order of each pair is read.
pub struct SplitOrders {
    /// The score of a pair as it is asked for.
    pub as_given: Arc<dyn Oracle>,
    pub coin: Coin,
}

impl SplitOrders {
    /// Both orders apart, where a method of the configuration reads one of them and there are two.
    fn of(run: &RunSettings, matrix: &MatrixSubject, as_given: Arc<dyn Oracle>) -> Option<Self> {
        let is_split = matrix.reads_one_order() && as_given.symmetry() == Symmetry::Asymmetric;
        is_split.then(|| Self { as_given, coin: Coin::new(run.seed) })
    }

    /// One order of each pair by the coin, and the other.
    pub fn over(&self, as_given: &Arc<dyn Oracle>) -> [Arc<dyn Oracle>; 2] {
        [self.coin, self.coin.turned()].map(|coin| Arc::new(OneOrder::new(Arc::clone(as_given), coin)) as _)
    }
}

impl Problem {
    /// Loads the data and builds the oracle and the proxies that the methods name.
    pub fn load(
        run: &RunSettings,
        matrix: &MatrixSubject,
        data: Option<&Path>,
        preparation: Preparation,
    ) -> Result<Self, LoadError> {
        if let (Some(queries), Some(items)) = (matrix.queries(), matrix.dataset.texts()) {
            let of = |config| -> Result<ScoredItems, LoadError> {
                let OwnItems { ids, texts, .. } = OwnItems::of(config, data)?;
                Ok(ScoredItems::new(ids, texts)?)
            };
            let embeddings = queries.embeddings.as_ref().map(|path| matrices::read_rows(&path.resolved)).transpose()?;
            return Self::of_queries(run, matrix, data, &of(items)?, &of(&queries.texts)?, embeddings.as_ref());
        }
        let uses = Uses {
            empty: matrix.oracle.settings().empty_documents(),
            compares_words: compares_words(matrix),
            reads: matrix.oracle.reads(),
            takes_unlabeled: matrix.experiment.makes_factors(),
        };
        let loaded = Loaded::load(run, &matrix.dataset, data, uses)?;
        let embeddings = embeddings_of(loaded.chosen());
        Self::open(run, matrix, data, preparation, loaded, &embeddings)
    }

    /// The same score and proxies over texts and queries that stand behind them; `embeddings` are those of the queries.
    pub fn of_queries(
        run: &RunSettings,
        matrix: &MatrixSubject,
        data: Option<&Path>,
        items: &ScoredItems,
        queries: &ScoredItems,
        embeddings: Option<&Array2<f64>>,
    ) -> Result<Self, LoadError> {
        let kept: Vec<usize> = (0..items.len()).collect();
        let embeddings = embeddings.map(Array2::view);
        let joined = Joined { old: items, kept: &kept, new: queries, embeddings }.load(run, matrix, data)?;
        Ok(Self { queries: queries.len(), ..joined })
    }

    fn open(
        run: &RunSettings,
        matrix: &MatrixSubject,
        data: Option<&Path>,
        preparation: Preparation,
        loaded: Loaded,
        embeddings: &Embeddings<'_>,
    ) -> Result<Self, LoadError> {
        let proxies = Proxies::build(run, matrix, &loaded, embeddings)?;
        let dataset = loaded.dataset.clone();
        let money = matrix.budget.money;
        let opening = Opening { run, data, smallest_gamma: matrix.smallest_gamma(), money, preparation };
        let opened = matrix.oracle.settings().open(loaded, &opening)?;
        let Opened { raw, as_given, item_list, description, is_priced, items, stamps, mut notes, facts: more } = opened;
        notes.extend(proxies.notes.iter().cloned());
        let facts = json!({ "dataset": dataset, "items": raw.len(), "oracle": raw.identity().to_hex(), "more": more });
        let orders = SplitOrders::of(run, matrix, Arc::clone(&as_given));
        // the corpora of papers keep the draws that their tables were made with
        let own = item_list.as_ref().filter(|_| matrix.experiment.makes_factors());
        let contents = own.map(|list| Arc::new(list.contents()));
        Ok(Self {
            dataset,
            queries: 0,
            raw,
            as_given,
            orders,
            item_list,
            contents,
            description,
            is_priced,
            proxies,
            items,
            stamps,
            notes,
            facts,
        })
    }

    /// Uniform landmarks of a replicate: by the contents of the items where these are known, by place where not.
    pub fn uniform_landmarks(&self, seed: u64, replicate: u64) -> Landmarks {
        let mut rng = stream(seed, &self.dataset, "landmarks", replicate);
        Landmarks::drawn(self.items(), self.contents.as_deref(), &mut rng)
    }

    pub fn items(&self) -> usize {
        self.raw.len()
    }

    /// Labels of the items, where there are any.
    pub fn labels(&self) -> Option<&Labels> {
        match &self.items {
            Items::Documents { labels, .. } | Items::Questions { labels } => Some(labels),
            Items::Matrix { labels } | Items::Texts { labels, .. } => labels.as_ref(),
            Items::Pairs(_) => None,
        }
    }

    /// The words of the items, where they are documents.
    pub fn words(&self) -> Option<&Words> {
        match &self.items {
            Items::Documents { words, .. } => Some(words),
            Items::Texts { words, .. } => words.as_ref(),
            Items::Questions { .. } | Items::Pairs(_) | Items::Matrix { .. } => None,
        }
    }

    /// The labeled pairs, where the items are their sentences.
    pub fn sentences(&self) -> Option<&Sentences> {
        match &self.items {
            Items::Pairs(sentences) => Some(sentences),
            Items::Texts { pairs, .. } => pairs.as_deref(),
            Items::Documents { .. } | Items::Questions { .. } | Items::Matrix { .. } => None,
        }
    }

    /// The user's own texts, where that is what the items are.
    pub fn texts(&self) -> Option<&Arc<ScoredItems>> {
        if let Items::Texts { scored, .. } = &self.items { Some(scored) } else { None }
    }

    /// The program or endpoint that scores them, where there is one.
    pub fn scorer(&self) -> Option<&Scorer> {
        if let Items::Texts { scorer, .. } = &self.items { scorer.as_ref() } else { None }
    }

    /// The proxy of this kind as a similarity, seen through the same γ as the oracle.
    pub fn proxy(&self, kind: &ProxyKind, gamma: Option<f64>) -> Result<Option<Arc<dyn Oracle>>, OracleError> {
        let Some(proxy) = self.proxies.get(kind) else { return Ok(None) };
        similarity(proxy, gamma.filter(|_| kind.is_distance())).map(Some)
    }

    /// The proxies of a method as similarities, in the order of the configuration; a method without any has none.
    pub fn proxies(
        &self,
        proxy: Option<&ProxyConfig>,
        gamma: Option<f64>,
    ) -> Result<Vec<Arc<dyn Oracle>>, OracleError> {
        let kinds = proxy.into_iter().flat_map(ProxyConfig::kinds);
        kinds.filter_map(|kind| self.proxy(kind, gamma).transpose()).collect()
    }

    pub fn split(&self, split: Option<SplitConfig>, seed: u64, replicate: u64) -> Result<Split, LoadError> {
        let given = self.labels().and_then(|labels| labels.given_split.clone());
        match (split, given) {
            (Some(SplitConfig::Given), Some(split)) => Ok(split),
            (Some(SplitConfig::Given) | None, _) => Err(LoadError::NoSplit { dataset: self.dataset.clone() }),
            (Some(SplitConfig::Train(share)), _) => {
                Ok(Split::random(self.items(), share, seed, &self.dataset, replicate)?)
            }
        }
    }
}

/// A raw score seen through exp(−γd), or as it is.
pub fn similarity(raw: Arc<dyn Oracle>, gamma: Option<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
    match gamma {
        None => Ok(raw),
        Some(gamma) => Ok(Arc::new(Kernelized::new(raw, Kernel::Exponential { gamma })?)),
    }
}

/// True where the oracle or a proxy compares items by the vectors of their words.
fn compares_words(matrix: &MatrixSubject) -> bool {
    matrix.proxies().map(ProxyKind::reads).chain([matrix.oracle.reads()]).any(|reads| reads == [ItemKind::Documents])
}

/// New texts together with some of those that there were.
pub struct Joined<'a> {
    pub old: &'a ScoredItems,
    /// Those of them that the new ones are compared with.
    pub kept: &'a [usize],
    pub new: &'a ScoredItems,
    /// Their embeddings, one row a text, where a proxy reads those of the old ones from a file.
    pub embeddings: Option<ArrayView2<'a, f64>>,
}

impl Joined<'_> {
    /// The same score and proxies over the texts that are kept, followed by the new ones.
    pub fn load(&self, run: &RunSettings, matrix: &MatrixSubject, data: Option<&Path>) -> Result<Problem, LoadError> {
        let Some(texts) = matrix.dataset.texts() else {
            return Err(LoadError::pair(matrix.dataset.name.to_owned(), matrix.oracle.kind()));
        };
        let joined = |old: &[String], new: &[String]| -> Vec<String> {
            self.kept.iter().map(|&item| old[item].clone()).chain(new.iter().cloned()).collect()
        };
        let items =
            ScoredItems::new(joined(self.old.ids(), self.new.ids()), joined(self.old.texts(), self.new.texts()))?;
        // commands know the first items of a file, and a limit may have left out others
        let beyond = if texts.limit.is_some() { OwnItems::of(texts, data)?.beyond } else { Some(0) };
        let of_old =
            embeddings_of(Chosen { of: beyond.map(|beyond| self.old.len() + beyond), ..Chosen::all(self.old.len()) });
        let embeddings = |path: &ConfigPath| {
            let (old, new) = (of_old(path)?, self.embeddings.ok_or(LoadError::NoNewEmbeddings)?);
            if new.dim() != (self.new.len(), old.ncols()) {
                return Err(LoadError::NewEmbeddings { seen: new.dim(), wanted: (self.new.len(), old.ncols()) });
            }
            // both have rows of the same length
            Ok(concatenate![Axis(0), old.select(Axis(0), self.kept), new])
        };
        let words = compares_words(matrix).then(|| matrix.oracle.settings().empty_documents());
        // vectors that are learned must not change with new texts
        let source = (texts.path.written.as_str(), texts.vectors.as_ref());
        let (texts, notes) = Texts::of(run, matrix.dataset.name, source, Arc::new(items), self.old, words, data)?;
        let dataset = matrix.dataset.name.to_owned();
        let texts = Texts { others: self.new.len(), ..texts };
        let loaded = Loaded { dataset, items: LoadedItems::Texts(texts), stamps: Vec::new(), notes };
        let preparation = Preparation { training: Training::Later { sample: None }, quiet: true };
        Problem::open(run, matrix, data, preparation, loaded, &embeddings)
    }
}
