//! The study at work: for each source of mentions the exact scores first, then each method at each fraction and in each replicate.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use landmark_core::oracle::Oracle;
use landmark_core::stream::stream;
use landmark_data::{CorefPart, MentionCorpus, catalog};
use landmark_harness::config::{ConfigPath, MethodConfig, ProxyKind, RunSettings, SearchPart};
use landmark_harness::items::ItemsError;
use landmark_harness::job::Request;
use landmark_harness::layout::About;
use landmark_harness::matrices::Matrix;
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_oracles::neural::{EncoderChoice, ModelFiles};
use landmark_report::{Caveat, Metric, ResultRow, Subject, Variant};
use landmark_tasks::coreference::{CorefScores, Singletons};
use ndarray::{Array2, ArrayView2};
use serde_json::{Value as Json, json};

use super::bench::{PairScoring, Scored, Topic, score};
use super::draw::{Draw, dendrograms};
use super::neighbors::{self, Pooled};
use super::{Settings, Source};

/// Computation of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    /// The scores themselves, as they come and symmetrized, and the proxy alone.
    Exact(Source),
    /// A method at a share of landmark mentions.
    Approximated { source: Source, method: usize, fraction: f64, replicate: u64 },
    /// The nearest of every mention at the given numbers of calls.
    Neighbors { source: Source, replicate: u64 },
}

/// Mentions with their scores, and how they are approximated.
pub(super) struct Clustering {
    settings: Settings,
    methods: Vec<MethodConfig>,
    run: RunSettings,
    pieces: Vec<Piece>,
    scoring: PairScoring,
    /// Scored topics by source, once they are needed.
    scored: RefCell<Vec<(Source, Rc<Scored>)>>,
    description: String,
    stamps: Vec<Caveat>,
    notes: Vec<String>,
    facts: Json,
}

impl Clustering {
    pub(super) fn open(
        settings: &Settings,
        methods: &[MethodConfig],
        context: &StudyContext<'_>,
    ) -> Result<Self, StudyError> {
        let corpus = match &settings.files {
            None => catalog::load_mentions(&settings.dataset, context.data)?,
            Some(files) => {
                let place = |written: &String| {
                    let path = ConfigPath { written: written.clone(), resolved: settings.folder.join(written) };
                    path.at(context.data).ok_or_else(|| ItemsError::NoDataFolder(written.clone()))
                };
                MentionCorpus::read(&settings.dataset, &place(&files.documents)?, &place(&files.mentions)?)?
            }
        };
        let corpus = match settings.topics {
            Some(topics) => corpus.first_topics(topics),
            None => corpus,
        };
        let files = ModelFiles::find(&settings.encoder, None)?;
        let facts = json!({ "corpus": corpus.identity().to_hex(), "encoder": files.identity()?.to_hex() });
        let test = corpus.counts(CorefPart::Test, settings.kinds);
        let description = format!(
            "{} gold mentions in {} clusters of {} test topics, {} documents",
            test.mentions,
            test.clusters,
            corpus.topics(CorefPart::Test).len(),
            test.documents
        );
        let folder = ModelFiles::models_folder(None).join("coref");
        let choice = EncoderChoice { files, window: settings.window, precision: settings.precision };
        Ok(Self {
            pieces: pieces(settings, methods, context.run),
            stamps: stamps(settings),
            notes: if methods.is_empty() { Vec::new() } else { notes() },
            scoring: PairScoring::new(corpus, settings, choice, folder, (context.run.seed, context.store)),
            settings: settings.clone(),
            methods: methods.to_vec(),
            run: context.run.clone(),
            scored: RefCell::default(),
            description,
            facts,
        })
    }

    /// Trains and scores where that was not done before.
    fn scored(&self, source: Source, progress: &Progress) -> Result<Rc<Scored>, StudyError> {
        let found =
            self.scored.borrow().iter().find(|(known, _)| *known == source).map(|(_, scored)| Rc::clone(scored));
        if let Some(scored) = found {
            return Ok(scored);
        }
        let scored = Rc::new(self.scoring.score(source, progress)?);
        self.scored.borrow_mut().push((source, Rc::clone(&scored)));
        Ok(scored)
    }

    /// The scores as they come (a pair in the order of the text), their mean over both orders, and the proxy.
    fn exact(&self, source: Source, scored: &Scored) -> Result<Vec<ResultRow>, StudyError> {
        let all: u64 = scored.topics.iter().map(|topic| topic.mentions.len() as u64).sum();
        let cells: u64 = scored.topics.iter().map(|topic| (topic.mentions.len() as u64).pow(2)).sum();
        let blank = |id: &str, name: &str, evaluations: u64, metric, value| {
            let subject = Subject::new(self.settings.title(source), id).called(name);
            let subject = Subject { items: all, is_cap: id == "exact", ..subject };
            let row = row(&self.run, subject, metric, value).at("columns", all).at("rank", all);
            row.cost(if evaluations == 0 { 0 } else { cells }, evaluations)
        };
        let mut rows = Vec::new();
        let raw = |topic: &Topic| topic.raw.clone();
        let symmetric = |topic: &Topic| topic.symmetric.matrix().clone();
        for (id, name, evaluations, matrix) in [
            ("exact_asymmetric", "exact, one order", cells, &raw as &dyn Fn(&Topic) -> Array2<f64>),
            ("exact", "exact, both orders", cells, &symmetric),
        ] {
            let labels = scored
                .topics
                .iter()
                .map(|topic| Ok(self.scoring.link(matrix(topic).view())?.cut_below(scored.threshold)))
                .collect::<Result<Vec<_>, StudyError>>()?;
            let error = pooled(scored.topics.iter().map(|topic| (topic.raw.view(), matrix(topic))));
            let of = |metric, value| blank(id, name, evaluations, metric, value);
            let shown = figures(&scored.topics, &labels, &of)?;
            // the threshold is that of both orders
            let own = shown.iter().filter(|row| id == "exact" && row.metric == Metric::ConllF1);
            let own =
                own.map(|row| ResultRow { metric: Metric::OwnThresholdConllF1, ..row.clone() }).collect::<Vec<_>>();
            rows.extend(shown.into_iter().chain(own));
            rows.push(of(Metric::RelativeError, error));
        }
        let proxies = scored.topics.iter().map(|topic| whole(&topic.proxy)).collect::<Result<Vec<_>, StudyError>>()?;
        let dendrograms =
            proxies.iter().map(|matrix| self.scoring.link(matrix.view())).collect::<Result<Vec<_>, _>>()?;
        let of = |metric, value| blank("proxy", "proxy alone, its best threshold", 0, metric, value);
        // a cosine has a scale of its own, so the threshold of the scores does not apply to it; the best one bounds it from above
        let mut best: Option<(f64, Vec<Vec<usize>>)> = None;
        for step in 1..40 {
            let threshold = 0.025 * f64::from(step);
            let labels: Vec<Vec<usize>> =
                dendrograms.iter().map(|dendrogram| dendrogram.cut_below(threshold)).collect();
            let conll = score(&scored.topics, &labels, Singletons::Drop)?.conll;
            if best.as_ref().is_none_or(|(most, _)| conll > *most) {
                best = Some((conll, labels));
            }
        }
        if let Some((_, labels)) = best {
            rows.extend(figures(&scored.topics, &labels, &of)?);
        }
        let of = |metric, value| blank("exact", "exact, both orders", cells, metric, value);
        rows.push(of(Metric::Threshold, scored.threshold));
        rows.push(of(Metric::DevConllF1, scored.dev));
        for epoch in &scored.curve {
            rows.push(of(Metric::TrainingLoss, epoch.loss).at("epoch", epoch.number));
        }
        Ok(rows)
    }

    fn approximated(
        &self,
        (source, scored): (Source, &Scored),
        method: usize,
        fraction: f64,
        replicate: u64,
    ) -> Result<Vec<ResultRow>, StudyError> {
        let entry = &self.methods[method];
        let draw = Draw { settings: &self.settings, entry, source, fraction, seed: self.run.seed, replicate };
        let started = Instant::now();
        let tested = draw.clustered(&scored.topics)?;
        let seconds = started.elapsed().as_secs_f64();
        // the same method on the development topics, so that its own scale of distances has a threshold of its own
        let on_development = draw.clustered(&scored.development)?;
        let (own, _) = self.scoring.best_threshold(&scored.development, &dendrograms(on_development))?;
        let fits = scored.topics.iter().zip(&tested).filter_map(|(topic, found)| Some((topic, found.fit.as_ref()?)));
        let (mut columns, mut cells, mut evaluations) = (0, 0, 0);
        let mut dense = Vec::new();
        for (topic, fit) in fits {
            columns += fit.columns as u64;
            cells += fit.cells;
            evaluations += fit.evaluations;
            dense.push((topic.symmetric.matrix().view(), fit.approximation.to_dense()?));
        }
        let dendrograms = dendrograms(tested);
        let cut = |threshold: f64| -> Vec<Vec<usize>> {
            dendrograms.iter().map(|dendrogram| dendrogram.cut_below(threshold)).collect()
        };
        let labels = cut(scored.threshold);
        let own_conll = score(&scored.topics, &cut(own), Singletons::Drop)?.conll;
        let items = scored.topics.iter().map(|topic| topic.mentions.len()).sum();
        let subject = Subject::new(self.settings.title(source), method_id(entry)).called(&entry.name).items(items);
        let subject = Subject { variant: variant(entry), ..subject };
        let of = |metric, value| {
            let row = row(&self.run, subject.clone(), metric, value).at("columns", columns).at("rank", columns);
            row.cost(cells, evaluations).replicate(replicate)
        };
        let mut rows = figures(&scored.topics, &labels, &of)?;
        rows.extend([of(Metric::OwnThresholdConllF1, own_conll), of(Metric::Threshold, own)]);
        rows.push(of(Metric::RelativeError, pooled(dense.into_iter())).seconds(seconds));
        Ok(rows)
    }

    /// Recall of every mention's nearest in its topic.
    fn neighbors(&self, source: Source, scored: &Scored, replicate: u64) -> Result<Vec<ResultRow>, StudyError> {
        let draw = |topic: &Topic| {
            let dataset = self.settings.streams(source, &topic.name);
            stream(self.run.seed, &dataset, "landmarks", replicate)
        };
        let found = neighbors::pooled(
            &scored.topics,
            &self.settings.calls,
            &self.settings.ablations,
            (self.run.seed, replicate),
            &draw,
        )?;
        let row = |found: Pooled| {
            let subject = neighbors::subject(self.settings.title(source), found.method).items(found.mentions);
            let row = row(&self.run, subject, found.metric, found.judged.mean).at("calls", found.calls);
            let row = row.compared_at(ProxyKind::MentionCosine.id()).replicate(replicate);
            // both orders of a pair
            row.cost(found.spent, 2 * found.spent).within(found.judged.lower, found.judged.upper)
        };
        Ok(found.into_iter().map(row).collect())
    }
}

/// The id in results; rescaled SMS-Nyström is a method of its own in figure 6.
fn method_id(entry: &MethodConfig) -> String {
    let rescaled = entry.params.get("rescale").is_some_and(|rescale| rescale != "none");
    if rescaled { format!("{}_rescaled", entry.id) } else { entry.id.to_owned() }
}

/// Departures from the authors' form; those rows have no number of theirs to compare with.
fn variant(entry: &MethodConfig) -> Variant {
    let mut variant = Variant::default();
    if entry.known.landmarks || entry.known.diagonal {
        variant.switch_on("known");
    }
    if let Some(proxy) = &entry.proxy {
        variant.set("proxy", proxy.label());
    }
    let holds = |name: &str| entry.params.get(name) == Some(&json!(true));
    // the authors' program shifts the inner matrix alone
    let departures = ["outer_shift", "correct_diagonal"].into_iter().filter(|name| holds(name));
    departures.for_each(|name| variant.switch_on(name));
    variant
}

/// √(Σ‖K − K̃‖² / Σ‖K‖²) over topics.
fn pooled<'a>(topics: impl Iterator<Item = (ArrayView2<'a, f64>, Array2<f64>)>) -> f64 {
    let (mut error, mut all) = (0.0, 0.0);
    for (exact, approximate) in topics {
        all += exact.iter().map(|value| value * value).sum::<f64>();
        error += exact.iter().zip(&approximate).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    }
    if all == 0.0 { 0.0 } else { (error / all).sqrt() }
}

fn whole(oracle: &dyn Oracle) -> Result<Array2<f64>, StudyError> {
    let all: Vec<usize> = (0..oracle.len()).collect();
    Ok(landmark_core::oracle::block_of(oracle, &all, &all)?)
}

/// The rows of one clustering, with and without singletons.
fn figures(
    topics: &[Topic],
    labels: &[Vec<usize>],
    of: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Vec<ResultRow>, StudyError> {
    let CorefScores { muc, b_cubed, ceaf_e, lea, conll, .. } = score(topics, labels, Singletons::Drop)?;
    let kept = score(topics, labels, Singletons::Keep)?;
    Ok(vec![
        of(Metric::ConllF1, conll),
        of(Metric::ConllF1Singletons, kept.conll),
        of(Metric::MucF1, muc.f1),
        of(Metric::BCubedF1, b_cubed.f1),
        of(Metric::CeafEF1, ceaf_e.f1),
        of(Metric::LeaF1, lea.f1),
    ])
}

impl StudyWork for Clustering {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &self.stamps, notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let scorer = json!({
            "facts": self.facts, "kinds": self.settings.kinds, "window": self.settings.window, "precision": self.settings.precision, "pairs": self.settings.pairs,
            "linkage": self.settings.linkage, "thresholds": self.settings.thresholds,
        });
        let predicted = json!({
            "spans": self.settings.spans, "top": self.settings.top, "longest": self.settings.longest,
        });
        let part = |piece: &Piece| {
            let (source, title, group, own) = match *piece {
                Piece::Exact(source) => (
                    source,
                    "exact".to_owned(),
                    "exact".to_owned(),
                    json!({ "exact": "both orders have a threshold of their own" }),
                ),
                Piece::Approximated { source, method, fraction, replicate } => {
                    let entry = &self.methods[method];
                    let group = format!("{} at {fraction}", entry.name);
                    let own = json!({ "method": entry, "fraction": fraction, "replicate": replicate });
                    (source, format!("{group}, replicate {}", replicate + 1), group, own)
                }
                Piece::Neighbors { source, replicate } => {
                    let own = json!({ "neighbours": self.settings.calls, "ablations": SearchPart::in_order(&self.settings.ablations), "replicate": replicate });
                    (source, format!("neighbors, replicate {}", replicate + 1), "neighbors".to_owned(), own)
                }
            };
            let of_source = if source == Source::Predicted { predicted.clone() } else { Json::Null };
            let key = json!({ "version": 2, "scorer": scorer, "source": source, "spans": of_source, "piece": own });
            let words = source.words();
            Part { title: format!("{words}, {title}"), group: format!("{words}, {group}"), key }
        };
        self.pieces.iter().map(part).collect()
    }

    fn matrices(&self) -> Vec<Matrix<'_>> {
        self.scoring.matrices()
    }

    fn requests(&self, part: usize) -> Result<Vec<Request>, StudyError> {
        let (Piece::Exact(source) | Piece::Approximated { source, .. } | Piece::Neighbors { source, .. }) =
            self.pieces[part];
        Ok(self.scoring.requests(source))
    }

    fn measure(&self, part: usize, _: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        match self.pieces[part] {
            Piece::Exact(source) => self.exact(source, &*self.scored(source, progress)?),
            Piece::Approximated { source, method, fraction, replicate } => {
                let scored = self.scored(source, progress)?;
                self.approximated((source, &scored), method, fraction, replicate)
            }
            Piece::Neighbors { source, replicate } => {
                self.neighbors(source, &*self.scored(source, progress)?, replicate)
            }
        }
    }
}

fn pieces(settings: &Settings, methods: &[MethodConfig], run: &RunSettings) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for &source in &settings.mentions {
        pieces.push(Piece::Exact(source));
        if !settings.calls.is_empty() {
            pieces.extend((0..run.replicates as u64).map(|replicate| Piece::Neighbors { source, replicate }));
        }
        for &fraction in &settings.fractions {
            for (method, entry) in methods.iter().enumerate() {
                let draws = entry.entry.draws;
                for replicate in 0..if draws { run.replicates as u64 } else { 1 } {
                    pieces.push(Piece::Approximated { source, method, fraction, replicate });
                }
            }
        }
    }
    pieces
}

fn stamps(settings: &Settings) -> Vec<Caveat> {
    let mut texts = Vec::new();
    if settings.files.is_none() && settings.dataset != "ecbplus" {
        texts.push("a sample of made-up news, not the paper's corpus".to_owned());
    }
    if !settings.encoder.contains("roberta-large") {
        texts.push(format!("encoder {}, the paper's is RoBERTa-large", settings.encoder));
    }
    if settings.pairs != landmark_oracles::neural::ScorerParams::default() {
        texts.push(format!("a smaller scorer: hidden layers of {}", settings.pairs.hidden));
    }
    texts.extend(settings.topics.map(|topics| format!("{topics} topics of each part of the split")));
    texts.into_iter().map(|text| Caveat { dataset: None, text, breaks_comparison: true }).collect()
}

fn notes() -> Vec<String> {
    [
        "the fraction is s1/n of each topic, for SiCUR s2/n, as the authors count it; s2 = min(2·s1, n) for SMS-Nyström",
        "errors of the approximations are against the scores of both orders, which they approximate; that of `exact, both orders` is against \
         the scores as they come",
        "singletons are dropped on both sides before scoring, as the paper does; `with singletons` keeps them",
        "the threshold is chosen on the development topics with the exact scores and serves every method; under `threshold of its own` each \
         method is cut where its own approximation of the development topics is best, at the same fraction: their scores are all there, since \
         the first threshold needs them",
    ]
    .map(str::to_owned)
    .to_vec()
}
