//! Training and measuring: what a part of the intent study does.

use landmark_core::stream::stream;
use landmark_data::feature_hashing::NgramHash;
use landmark_harness::config::RunSettings;
use landmark_harness::layout::About;
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{Caveat, Metric, ResultRow, Subject};
use landmark_tasks::classification::{ClassificationValidParams, classify_sparse};
use landmark_tasks::metrics::bootstrap_mean;
use landmark_tasks::sentence_features::{hstack, predicted_labels, subsample_per_label};
use landmark_tasks::svm::SparseRows;
use ndarray::Array2;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::gain::{Outcome, paired_bootstrap};
use super::sentences::{self, Domain};
use super::unlabeled::{Shares, Unlabeled};
use super::{Intent, Labels, Representation};

/// The mean over domains, as a dataset.
pub(super) const AVERAGE: &str = "average";
/// Axis of the share of the unlabeled text, in per cent.
pub(super) const SHARE: &str = "share";
/// Resamples of the interval over test items.
const RESAMPLES: usize = 1000;

/// The study with its data in memory.
pub(super) struct Classifying {
    settings: Intent,
    run: RunSettings,
    domains: Vec<Domain>,
    unlabeled: Unlabeled,
    machine: ClassificationValidParams,
    hash: NgramHash,
    hash_plus: NgramHash,
    description: String,
    stamps: Vec<Caveat>,
    notes: Vec<String>,
    facts: Json,
}

/// Case of a part: its labels, replicate and scope.
#[derive(Debug, Clone, Copy)]
struct Case {
    labels: Labels,
    replicate: u64,
    scope: Scope,
}

/// Scope of a part among all domains.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// One of them.
    Domain(usize),
    /// The mean of a replicate.
    Average,
    /// The gain over all replicates.
    Gain,
}

/// A representation at a share of the unlabeled text.
struct Contender<'a> {
    representation: &'a Representation,
    /// Index among the word vectors.
    vectors: usize,
    share: Option<u64>,
}

impl Contender<'_> {
    /// Its value of a metric among the rows of one part.
    fn find(&self, rows: &[ResultRow], metric: Metric) -> Option<f64> {
        let id = self.representation.id();
        let is_it = |row: &&ResultRow| row.metric == metric && row.subject.id == id && share_of(row) == self.share;
        rows.iter().find(is_it).map(|row| row.value)
    }
}

/// Share of the unlabeled text that a row is of, in per cent.
pub(super) fn share_of(row: &ResultRow) -> Option<u64> {
    row.axes.number(SHARE).map(|_| row.count(SHARE))
}

impl Classifying {
    pub(super) fn open(settings: Intent, context: &StudyContext<'_>) -> Result<Self, StudyError> {
        let run = context.run.clone();
        let (domains, mut notes) = sentences::read(&settings, context.data)?;
        let unlabeled = Unlabeled::read(&settings, context.data, run.seed)?;
        let used = settings.texts.unwrap_or(usize::MAX).min(unlabeled.len());
        let utterances: usize = domains.iter().map(|domain| domain.documents.len()).sum();
        let description = format!("{} domains, {utterances} utterances, {used} texts without labels", domains.len());
        notes.push(format!(
            "The unlabeled text is {used} of {} texts of `{}`; the paper has 17,032,086,719 queries of a search engine and a sketch of 1,000,000 rows of as many columns.",
            unlabeled.len(),
            settings.unlabelled,
        ));
        notes.push(
            "SENT+ in this project: features of the first two words are part of the counts and of the sketch; the predicted intent is a feature of labeled \
             utterances only, predicted out of fold on the training side. The paper states no more than that both are used."
                .to_owned(),
        );
        if settings.representations.contains(&Representation::SentIdf) {
            notes.push("`sent_idf` is not of the paper: counts weighted by inverse document frequency before the sketch and before Π, directions divided by their singular values.".to_owned());
        }
        let stamps = if settings.corpora.iter().any(|corpus| corpus == "utterances") {
            let text = "the embedded sample of utterances, no benchmark".to_owned();
            vec![Caveat { dataset: None, text, breaks_comparison: true }]
        } else {
            Vec::new()
        };
        let facts = json!({ "texts_without_labels": used, "utterances": utterances });
        let machine = settings.machine().check()?;
        let (hash, hash_plus) = (settings.hash(0).check()?, settings.hash(2).check()?);
        Ok(Self { settings, run, domains, unlabeled, machine, hash, hash_plus, description, stamps, notes, facts })
    }

    /// Replicate by replicate, for the sketches of one are gigabytes; the gains over all of them last.
    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for replicate in 0..self.run.replicates as u64 {
            for labels in self.settings.labels() {
                let domains = (0..self.domains.len()).map(Scope::Domain).chain([Scope::Average]);
                cases.extend(domains.map(|scope| Case { labels, replicate, scope }));
            }
        }
        cases.extend(self.settings.labels().into_iter().map(|labels| Case {
            labels,
            replicate: 0,
            scope: Scope::Gain,
        }));
        cases
    }

    /// The first of the parts of a replicate with its `place`-th number of labels.
    fn first_part(&self, replicate: usize, place: usize) -> usize {
        (replicate * self.settings.labels().len() + place) * (self.domains.len() + 1)
    }

    /// Representations, each at every share where it depends on one.
    fn contenders(&self) -> Vec<Contender<'_>> {
        let mut vectors = 0;
        let mut contenders = Vec::new();
        for representation in &self.settings.representations {
            if representation.is_sketched() {
                let shares = self.settings.shares.iter().map(|&share| Some(share));
                contenders.extend(shares.map(|share| Contender { representation, vectors: 0, share }));
            } else {
                contenders.push(Contender { representation, vectors, share: None });
            }
            vectors += usize::from(matches!(representation, Representation::Vectors(_)));
        }
        contenders
    }

    /// Texts come in one order where all of them are used, else in one for each replicate.
    fn shares(
        &self,
        representation: &Representation,
        replicate: u64,
        progress: &Progress,
    ) -> Result<std::sync::Arc<Shares>, StudyError> {
        let (kind, hash, weighted) = match representation {
            Representation::SentPlus => ("plus", &self.hash_plus, false),
            Representation::SentIdf => ("idf", &self.hash, true),
            _ => ("plain", &self.hash, false),
        };
        let order = if self.settings.shares == [100] && self.settings.texts.is_none() { 0 } else { replicate };
        self.unlabeled.shares(&self.settings, kind, hash, weighted, self.run.seed, order, progress)
    }

    /// The rows of a domain as this representation has them.
    fn features(
        &self,
        domain: &Domain,
        contender: &Contender<'_>,
        shares: Option<&Shares>,
        train: &[usize],
    ) -> Result<SparseRows, StudyError> {
        // nothing is known of nothing: with no text the counts are alone
        let projected = |rows: &SparseRows| match shares {
            Some(shares) => shares.project(contender.share.unwrap_or_default(), rows),
            None => Ok(None),
        };
        Ok(match contender.representation {
            Representation::None => hstack(&domain.counts, &[])?,
            Representation::Vectors(_) => hstack(&domain.counts, &[domain.means[contender.vectors].view()])?,
            Representation::Sent | Representation::SentIdf => {
                let dense = projected(&domain.counts)?;
                hstack(&domain.counts, &dense.iter().map(Array2::view).collect::<Vec<_>>())?
            }
            Representation::SentPlus => {
                let plain = hstack(&domain.counts, &[])?;
                let (labels, folds) = (domain.documents.labels(), self.settings.folds);
                let seed = self.run.seed;
                let predicted = predicted_labels(&plain, labels, train, &domain.test, folds, &self.machine, seed)?;
                let mut dense: Vec<_> = projected(&domain.counts_plus)?.into_iter().collect();
                dense.push(predicted);
                hstack(&domain.counts_plus, &dense.iter().map(Array2::view).collect::<Vec<_>>())?
            }
        })
    }

    /// Hits of a representation among the test items, in their order: true where it gets one right.
    fn right(&self, domain: &Domain, rows: &SparseRows, train: &[usize]) -> Result<Vec<bool>, StudyError> {
        let labels = domain.documents.labels();
        let outcome = classify_sparse(rows, labels, train, &domain.test, &self.machine, self.run.seed)?;
        Ok(domain.test.iter().zip(outcome.predictions).map(|(&item, label)| labels[item] == label).collect())
    }

    fn measure_domain(&self, case: Case, domain: &Domain, progress: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let seed = self.run.seed;
        let train = match case.labels {
            Labels::All(_) => domain.train.clone(),
            Labels::Few(count) => subsample_per_label(
                domain.documents.labels(),
                &domain.train,
                count,
                seed,
                domain.name(),
                case.replicate,
            ),
        };
        let mut sketched = Vec::new();
        for representation in self.settings.representations.iter().filter(|r| r.is_sketched()) {
            sketched.push((representation, self.shares(representation, case.replicate, progress)?));
        }
        progress.now(format!("{}, {}, replicate {}", domain.name(), case.labels.title(), case.replicate));
        let contenders = self.contenders();
        let right: Vec<Result<Vec<bool>, StudyError>> = contenders
            .par_iter()
            .map(|contender| {
                let shares =
                    sketched.iter().find(|(of, _)| *of == contender.representation).map(|(_, shares)| &**shares);
                self.right(domain, &self.features(domain, contender, shares, &train)?, &train)
            })
            .collect();
        let right = right.into_iter().collect::<Result<Vec<_>, _>>()?;
        let plain = contenders.iter().position(|contender| *contender.representation == Representation::None);
        let baseline = plain.map(|place| &right[place]);
        let mut rows = Vec::new();
        for (contender, right) in contenders.iter().zip(&right) {
            let hits: Vec<f64> = right.iter().map(|&right| f64::from(u8::from(right))).collect();
            let mut rng = stream(seed, domain.name(), "bootstrap over test items", case.replicate);
            let interval = bootstrap_mean(&hits, 0.95, RESAMPLES, &mut rng)?;
            let of = |metric, value| self.row_of(case, domain.name(), contender, right.len(), metric, value);
            rows.push(of(Metric::Accuracy, interval.estimate).within(interval.low, interval.high));
            if let Some(baseline) = baseline {
                let count = |wanted: (bool, bool)| {
                    right.iter().zip(baseline).filter(|&(a, b)| (*a, *b) == wanted).count() as f64
                };
                rows.push(of(Metric::Wins, count((true, false))));
                rows.push(of(Metric::Losses, count((false, true))));
            }
        }
        Ok(rows)
    }

    /// The rows of the domains in the parts from `first`, which must have finished.
    fn of_domains<'f>(&self, first: usize, finished: &'f Finished<'_>) -> Result<Vec<&'f [ResultRow]>, StudyError> {
        let of_domain = |(number, domain): (usize, &Domain)| {
            let rows = finished.rows(first + number);
            rows.ok_or_else(|| format!("the average needs the domain `{}`, which did not finish", domain.name()).into())
        };
        self.domains.iter().enumerate().map(of_domain).collect()
    }

    /// The mean accuracy over domains, from the rows of the parts before.
    fn average(&self, part: usize, case: Case, finished: &Finished<'_>) -> Result<Vec<ResultRow>, StudyError> {
        let of_domains = self.of_domains(part - self.domains.len(), finished)?;
        let items = self.domains.iter().map(|domain| domain.test.len()).sum();
        let row = |contender: Contender<'_>| {
            let values: Vec<f64> =
                of_domains.iter().filter_map(|rows| contender.find(rows, Metric::Accuracy)).collect();
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            self.row_of(case, AVERAGE, &contender, items, Metric::Accuracy, mean)
        };
        Ok(self.contenders().into_iter().map(row).collect())
    }

    /// Gain of every representation over none, over all replicates, from the rows of the parts before.
    fn gain(&self, part: usize, case: Case, finished: &Finished<'_>) -> Result<Vec<ResultRow>, StudyError> {
        let place = part - self.first_part(self.run.replicates, 0);
        let replicates: Vec<Vec<&[ResultRow]>> = (0..self.run.replicates)
            .map(|replicate| self.of_domains(self.first_part(replicate, place), finished))
            .collect::<Result<_, _>>()?;
        let items = self.domains.iter().map(|domain| domain.test.len()).sum();
        let gain = |contender: Contender<'_>| {
            let outcome = |(domain, rows): (&Domain, &&[ResultRow])| {
                let of = |metric| contender.find(rows, metric).unwrap_or_default();
                Outcome::new(of(Metric::Wins), of(Metric::Losses), domain.test.len())
            };
            let of_replicate = |domain: usize| {
                let outcomes = replicates.iter().map(|rows| outcome((&self.domains[domain], &rows[domain])));
                outcomes.collect::<Vec<_>>()
            };
            let outcomes: Vec<Vec<Outcome>> = (0..self.domains.len()).map(of_replicate).collect();
            let name = format!("gain of {}", contender.representation.id());
            let mut rng = stream(self.run.seed, &case.labels.title(), &name, contender.share.unwrap_or_default());
            let (gain, low, high) = paired_bootstrap(&outcomes, &mut rng);
            self.row_of(case, AVERAGE, &contender, items, Metric::Gain, gain).within(low, high)
        };
        let others = self.contenders().into_par_iter().filter(|c| *c.representation != Representation::None);
        Ok(others.map(gain).collect())
    }

    fn row_of(
        &self,
        case: Case,
        dataset: &str,
        contender: &Contender<'_>,
        items: usize,
        metric: Metric,
        value: f64,
    ) -> ResultRow {
        let subject = Subject::new(dataset, contender.representation.id()).items(items);
        let row = row(&self.run, subject, metric, value).compared_at(case.labels.title()).replicate(case.replicate);
        match contender.share {
            Some(share) => row.at(SHARE, share),
            None => row,
        }
    }
}

impl StudyWork for Classifying {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &self.stamps, notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let mut settings = json!(self.settings);
        if let Json::Object(map) = &mut settings {
            // what others a run has moves no row of a part
            map.retain(|key, _| !matches!(key.as_str(), "corpora" | "domains" | "labels"));
        }
        let part = |case: Case| {
            let all =
                || self.domains.iter().map(|domain| domain.documents.identity().short()).collect::<Vec<_>>().join(" ");
            let (name, of) = match case.scope {
                Scope::Domain(domain) => {
                    let documents = &self.domains[domain].documents;
                    (documents.name(), documents.identity().to_hex())
                }
                Scope::Average => (AVERAGE, all()),
                Scope::Gain => ("gain", format!("{} × {}", self.run.replicates, all())),
            };
            let group = format!("{name}, {}", case.labels.title());
            let key = json!({ "settings": settings, "of": name, "data": of, "labels": case.labels, "replicate": case.replicate });
            Part { title: format!("{group}, replicate {}", case.replicate), group, key }
        };
        self.cases().into_iter().map(part).collect()
    }

    fn measure(&self, part: usize, finished: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let case = self.cases()[part];
        match case.scope {
            Scope::Domain(domain) => self.measure_domain(case, &self.domains[domain], progress),
            Scope::Average => self.average(part, case, finished),
            Scope::Gain => self.gain(part, case, finished),
        }
    }
}
