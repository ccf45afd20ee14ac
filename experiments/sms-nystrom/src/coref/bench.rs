//! From a corpus to the pair scores of every test topic: states, mentions, a trained scorer, a threshold.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use landmark_core::entries::EntryPlan;
use landmark_core::oracle::{
    AsymmetryPolicy, EmbeddingProxy, Oracle, OracleShape, Precomputed, Symmetrization, Symmetrized, Symmetry, block_of,
};
use landmark_core::rank::RankCmp;
use landmark_data::{CorefPart, MentionCorpus};
use landmark_harness::job::Request;
use landmark_harness::matrices::Matrix;
use landmark_harness::metered_store::MeteredStore;
use landmark_harness::models::libtorch;
use landmark_harness::progress::Progress;
use landmark_harness::study::StudyError;
use landmark_oracles::neural::{
    DeviceChoice, EncoderChoice, Goal, Group, MentionScorer, PairScorer, ScorerEpoch, ScorerRecipe, TokenStates,
    candidate_spans,
};
use landmark_tasks::coreference::{CondensedDistances, CorefScores, Dendrogram, Singletons, score_coreference};
use ndarray::Array2;

use super::{ENTRY, Settings, Source};

/// A span by the place of its document and its first and last word: what a mention is called when clusters are scored.
pub(super) type Name = (usize, usize, usize);

/// A test or development topic.
pub(super) struct Topic {
    pub(super) name: String,
    /// The mentions that are clustered.
    pub(super) mentions: Vec<Name>,
    pub(super) key: Vec<Vec<Name>>,
    /// Scores of all ordered pairs, n × n.
    pub(super) raw: Array2<f64>,
    /// Their mean over both orders.
    pub(super) symmetric: Precomputed,
    /// The same, asked for entry by entry: what a method sees.
    pub(super) scores: Symmetrized<Arc<dyn Oracle>>,
    /// Cosine of the mentions' representations, a free relative of the scores.
    pub(super) proxy: EmbeddingProxy,
}

/// The test topics of one source of mentions, ready to be approximated.
pub(super) struct Scored {
    pub(super) topics: Vec<Topic>,
    /// The development topics, whose scores are all there since the threshold is chosen on them.
    pub(super) development: Vec<Topic>,
    /// Chosen on the development topics with the exact scores.
    pub(super) threshold: f64,
    /// CoNLL F1 there.
    pub(super) dev: f64,
    /// Epochs: loss and CoNLL F1 of the development topics.
    pub(super) curve: Vec<ScorerEpoch>,
}

/// PairScoring of the study: what everything is computed from.
pub(super) struct PairScoring {
    pub(super) corpus: MentionCorpus,
    settings: Settings,
    choice: EncoderChoice,
    folder: PathBuf,
    seed: u64,
    store: String,
    states: OnceCell<Box<dyn TokenStates>>,
    matrices: Vec<TopicMatrix>,
}

/// The scores of a development or test topic.
struct TopicMatrix {
    source: Source,
    part: CorefPart,
    /// Number of its mentions; which they are shows only when those that are predicted are.
    len: usize,
    /// MeteredStore that evaluates them, once the scorer is trained.
    metered: OnceCell<MeteredStore>,
}

impl TopicMatrix {
    /// Both orders of a pair are asked for, and a mention with itself.
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.len, Symmetry::Asymmetric)
    }
}

impl PairScoring {
    pub(super) fn new(
        corpus: MentionCorpus,
        settings: &Settings,
        choice: EncoderChoice,
        folder: PathBuf,
        (seed, store): (u64, &str),
    ) -> Self {
        let (settings, store, states) = (settings.clone(), store.to_owned(), OnceCell::new());
        let mut new = Self { corpus, settings, choice, folder, seed, store, states, matrices: Vec::new() };
        new.matrices = new.topic_matrices();
        new
    }

    fn topic_matrices(&self) -> Vec<TopicMatrix> {
        let mut matrices = Vec::new();
        for &source in &self.settings.mentions {
            for part in [CorefPart::Dev, CorefPart::Test] {
                for topic in self.corpus.topics(part) {
                    let len = match source {
                        Source::Gold => self.gold(topic).len(),
                        Source::Predicted => self.spans(topic).len().min(self.kept(self.words(topic))),
                    };
                    matrices.push(TopicMatrix { source, part, len, metered: OnceCell::new() });
                }
            }
        }
        matrices
    }

    /// The matrices of all sources, development topics before test topics.
    pub(super) fn matrices(&self) -> Vec<Matrix<'_>> {
        self.matrices.iter().map(|matrix| Matrix { shape: matrix.shape(), metered: matrix.metered.get() }).collect()
    }

    /// Every entry of this source: the threshold is chosen on whole development topics, and errors are measured on whole test topics.
    pub(super) fn requests(&self, source: Source) -> Vec<Request> {
        let of_source = self.matrices.iter().enumerate().filter(|(_, matrix)| matrix.source == source);
        of_source.map(|(number, matrix)| Request { matrix: number, plan: EntryPlan::all(matrix.len) }).collect()
    }

    /// The topics of a part with all their scores, each of which is looked up in the store first.
    fn scored(
        &self,
        (source, part): (Source, CorefPart),
        topics: &[Unscored],
        network: &dyn MentionScorer,
    ) -> Result<Vec<Topic>, StudyError> {
        let matrices = self.matrices.iter().filter(|matrix| matrix.source == source && matrix.part == part);
        let score = |(topic, matrix): (&Unscored, &TopicMatrix)| {
            let scorer = topic.scorer(network)?;
            let proxy = EmbeddingProxy::cosine(scorer.mentions().mapv(f64::from))?;
            let metered = match matrix.metered.get() {
                Some(metered) => metered,
                None => {
                    let what = format!("{}, {}, topic {}", self.corpus.name(), source.words(), topic.name);
                    let metered = MeteredStore::at(&self.store, Arc::new(scorer), ENTRY.entry.id, what)?;
                    matrix.metered.get_or_init(|| metered)
                }
            };
            let all: Vec<usize> = (0..matrix.len).collect();
            let raw = block_of(&metered.scores(), &all, &all)?;
            topic.compared(raw, metered.scores(), proxy)
        };
        topics.iter().zip(matrices).map(score).collect()
    }

    /// Trains, or finds what was trained, and scores the test topics.
    pub(super) fn score(&self, source: Source, progress: &Progress) -> Result<Scored, StudyError> {
        let states = self.states(progress)?;
        let spans = match source {
            Source::Gold => None,
            Source::Predicted => Some(self.span_scorer(states, progress)?),
        };
        let spans = spans.as_deref();
        let groups = self.groups(CorefPart::Train, states, spans)?;
        let dev = self.groups(CorefPart::Dev, states, spans)?;
        let recipe = ScorerRecipe {
            goal: Goal::Pairs,
            params: self.settings.pairs,
            groups: &groups.iter().map(|topic| topic.group.clone()).collect::<Vec<_>>(),
            dataset: &format!("{}-{}", self.corpus.name(), source.words().replace(' ', "-")),
            seed: self.seed,
        };
        let mut judge = |network: &dyn MentionScorer| -> Result<f64, StudyError> {
            let topics = dev.iter().map(|topic| topic.judged(network)).collect::<Result<Vec<_>, _>>()?;
            Ok(self.best_exact_threshold(&topics)?.1)
        };
        let (scorer, curve) = states.train(&recipe, &self.folder, &mut judge, &mut |epoch| {
            progress.say(&format!(
                "pair scorer, {}: epoch {} of {}, loss {:.4}, CoNLL F1 {:.2} on the development topics, {:.0} s",
                source.words(),
                epoch.number,
                self.settings.pairs.epochs,
                epoch.loss,
                100.0 * epoch.score,
                epoch.seconds
            ));
        })?;
        let development = self.scored((source, CorefPart::Dev), &dev, scorer.as_ref())?;
        let (threshold, dev) = self.best_exact_threshold(&development)?;
        let test = self.groups(CorefPart::Test, states, spans)?;
        let topics = self.scored((source, CorefPart::Test), &test, scorer.as_ref())?;
        Ok(Scored { topics, development, threshold, dev, curve })
    }

    fn states(&self, progress: &Progress) -> Result<&dyn TokenStates, StudyError> {
        if let Some(states) = self.states.get() {
            return Ok(states.as_ref());
        }
        let mut report = |done: usize, all: usize| progress.now(format!("states of {done} of {all} documents"));
        let neural = libtorch(DeviceChoice::Auto, None)?;
        let states = neural.token_states(&self.corpus, &self.choice, &self.folder, &mut report)?;
        Ok(self.states.get_or_init(|| states).as_ref())
    }

    /// The network that decides which spans are mentions, judged by the share of gold mentions among those it keeps.
    fn span_scorer(&self, states: &dyn TokenStates, progress: &Progress) -> Result<Box<dyn MentionScorer>, StudyError> {
        let settings = self.settings.spans.unwrap_or(self.settings.pairs);
        let groups = self.candidates(CorefPart::Train, states)?;
        let dev = self.candidates(CorefPart::Dev, states)?;
        let recipe = ScorerRecipe {
            goal: Goal::Mentions,
            params: settings,
            groups: &groups.iter().map(|topic| topic.group.clone()).collect::<Vec<_>>(),
            dataset: self.corpus.name(),
            seed: self.seed,
        };
        let mut judge = |network: &dyn MentionScorer| -> Result<f64, StudyError> {
            let (mut found, mut all) = (0, 0);
            for topic in &dev {
                let kept = topic.keep(network, self.kept(topic.words))?;
                found += kept.group.clusters.iter().flatten().count();
                all += topic.key.iter().map(Vec::len).sum::<usize>();
            }
            Ok(found as f64 / all.max(1) as f64)
        };
        let (scorer, _) = states.train(&recipe, &self.folder, &mut judge, &mut |epoch| {
            progress.say(&format!(
                "span scorer: epoch {} of {}, loss {:.4}, {:.1} % of the gold mentions of the development topics are kept, {:.0} s",
                epoch.number,
                settings.epochs,
                epoch.loss,
                100.0 * epoch.score,
                epoch.seconds
            ));
        })?;
        Ok(scorer)
    }

    /// Number of spans that are kept in a text of `words` words.
    fn kept(&self, words: usize) -> usize {
        // at most the number of words
        (self.settings.top * words as f64) as usize
    }

    /// The mentions of each topic of a part: gold ones, or the best of all spans.
    fn groups(
        &self,
        part: CorefPart,
        states: &dyn TokenStates,
        spans: Option<&dyn MentionScorer>,
    ) -> Result<Vec<Unscored>, StudyError> {
        match spans {
            None => {
                let gold = |topic: &str| -> Vec<Name> { self.gold(topic).into_iter().map(|(name, _)| name).collect() };
                self.corpus.topics(part).into_iter().map(|topic| self.topic(topic, gold(topic), states)).collect()
            }
            Some(network) => {
                self.candidates(part, states)?.iter().map(|topic| topic.keep(network, self.kept(topic.words))).collect()
            }
        }
    }

    /// All spans of each topic of a part.
    fn candidates(&self, part: CorefPart, states: &dyn TokenStates) -> Result<Vec<Unscored>, StudyError> {
        self.corpus.topics(part).into_iter().map(|topic| self.topic(topic, self.spans(topic), states)).collect()
    }

    /// All spans of a topic.
    fn spans(&self, topic: &str) -> Vec<Name> {
        let of = |document: usize| {
            let spans = candidate_spans(&self.corpus, document, self.settings.longest);
            spans.into_iter().map(move |(start, end)| (document, start, end))
        };
        self.corpus.documents_of(topic).into_iter().flat_map(of).collect()
    }

    /// Words in the validated sentences of a topic.
    fn words(&self, topic: &str) -> usize {
        self.corpus.documents_of(topic).into_iter().map(|k| self.corpus.documents()[k].validated_tokens()).sum()
    }

    /// Gold mentions of a topic with the numbers of their clusters.
    fn gold(&self, topic: &str) -> Vec<(Name, usize)> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mentions = self.corpus.mentions_of(topic, self.settings.kinds);
        mentions
            .into_iter()
            .map(|mention| {
                let next = numbers.len();
                let cluster = *numbers.entry(&mention.cluster).or_insert(next);
                ((mention.document, mention.start(), mention.end()), cluster)
            })
            .collect()
    }

    fn topic(&self, topic: &str, mentions: Vec<Name>, states: &dyn TokenStates) -> Result<Unscored, StudyError> {
        let gold = self.gold(topic);
        let mut key = vec![Vec::new(); gold.iter().map(|(_, cluster)| cluster + 1).max().unwrap_or(0)];
        gold.iter().for_each(|&(name, cluster)| key[cluster].push(name));
        let clusters: HashMap<Name, usize> = gold.into_iter().collect();
        let mut group = Group::default();
        for &(document, start, end) in &mentions {
            let span = states.span(document, start, end).ok_or_else(|| {
                let id = &self.corpus.documents()[document].id;
                format!("the words {start} to {end} of `{id}` have no states: they are in no validated sentence")
            })?;
            group.spans.push(span);
            group.clusters.push(clusters.get(&(document, start, end)).copied());
        }
        Ok(Unscored { name: topic.to_owned(), mentions, group, key, words: self.words(topic) })
    }

    /// The candidate with the best CoNLL F1 on these topics with their exact scores, and that figure.
    fn best_exact_threshold(&self, topics: &[Topic]) -> Result<(f64, f64), StudyError> {
        let link = |topic: &Topic| self.link(topic.symmetric.matrix().view());
        let dendrograms = topics.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        self.best_threshold(topics, &dendrograms)
    }

    /// The candidate with the best CoNLL F1 on these topics when these merges are cut there, and that figure.
    pub(super) fn best_threshold(
        &self,
        topics: &[Topic],
        dendrograms: &[Dendrogram],
    ) -> Result<(f64, f64), StudyError> {
        let mut best: Option<(f64, f64)> = None;
        for &threshold in &self.settings.thresholds {
            let labels: Vec<Vec<usize>> =
                dendrograms.iter().map(|dendrogram| dendrogram.cut_below(threshold)).collect();
            let conll = score(topics, &labels, Singletons::Drop)?.conll;
            if best.is_none_or(|(_, most)| conll > most) {
                best = Some((threshold, conll));
            }
        }
        best.ok_or_else(|| "`coref.thresholds` is empty".into())
    }

    /// All merges on 1 − K.
    pub(super) fn link(&self, similarities: ndarray::ArrayView2<'_, f64>) -> Result<Dendrogram, StudyError> {
        Ok(CondensedDistances::of_similarities(similarities)?.link(self.settings.linkage))
    }
}

/// The mentions of a topic before they are compared.
struct Unscored {
    name: String,
    mentions: Vec<Name>,
    group: Group,
    key: Vec<Vec<Name>>,
    words: usize,
}

impl Unscored {
    /// The `count` best spans in the order of the text.
    fn keep(&self, network: &dyn MentionScorer, count: usize) -> Result<Self, StudyError> {
        let scores = network.mention_scores(&self.group.spans)?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].rank_cmp(&scores[a]).then(a.cmp(&b)));
        order.truncate(count);
        order.sort_unstable();
        let group = Group {
            spans: order.iter().map(|&k| self.group.spans[k]).collect(),
            clusters: order.iter().map(|&k| self.group.clusters[k]).collect(),
        };
        let mentions = order.iter().map(|&k| self.mentions[k]).collect();
        Ok(Self { name: self.name.clone(), mentions, group, key: self.key.clone(), words: self.words })
    }

    fn scorer(&self, network: &dyn MentionScorer) -> Result<PairScorer, StudyError> {
        let spans = &self.group.spans;
        Ok(PairScorer::new(network.pair_layers()?, spans.len(), network.represent(spans)?)?)
    }

    /// By a network that is still in training, whose scores are worth nothing after the next step.
    fn judged(&self, network: &dyn MentionScorer) -> Result<Topic, StudyError> {
        let scorer = self.scorer(network)?;
        let proxy = EmbeddingProxy::cosine(scorer.mentions().mapv(f64::from))?;
        self.compared(scorer.matrix(), Arc::new(scorer), proxy)
    }

    fn compared(&self, raw: Array2<f64>, scores: Arc<dyn Oracle>, proxy: EmbeddingProxy) -> Result<Topic, StudyError> {
        Ok(Topic {
            name: self.name.clone(),
            mentions: self.mentions.clone(),
            key: self.key.clone(),
            symmetric: Precomputed::new(raw.clone(), AsymmetryPolicy::Mean)?,
            scores: Symmetrized::new(scores, Symmetrization::Mean),
            proxy,
            raw,
        })
    }
}

/// The figures of all topics for the labels of their mentions.
pub(super) fn score(
    topics: &[Topic],
    labels: &[Vec<usize>],
    singletons: Singletons,
) -> Result<CorefScores, StudyError> {
    let clusters = |(topic, labels): (&Topic, &Vec<usize>)| {
        let mut clusters = vec![Vec::new(); labels.iter().max().map_or(0, |most| most + 1)];
        topic.mentions.iter().zip(labels).for_each(|(&mention, &label)| clusters[label].push(Span(mention)));
        clusters
    };
    let responses: Vec<Vec<Vec<Span>>> = topics.iter().zip(labels).map(clusters).collect();
    let keys: Vec<Vec<Vec<Span>>> = topics
        .iter()
        .map(|topic| topic.key.iter().map(|cluster| cluster.iter().copied().map(Span).collect()).collect())
        .collect();
    let documents: Vec<_> = keys.iter().zip(&responses).map(|(key, response)| (&key[..], &response[..])).collect();
    Ok(score_coreference(&documents, singletons)?)
}

/// A mention with a name for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Span(Name);

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (document, start, end) = self.0;
        write!(f, "document {document}, words {start}–{end}")
    }
}
