//! The road from news stories to pair scores, with the tiny encoder inside.

use std::path::Path;

use landmark_core::oracle::{Oracle, Symmetrization, Symmetrized, block_of};
use landmark_data::{CorefPart, MentionCorpus, MentionKinds};
use landmark_oracles::neural::{
    EncoderChoice, Goal, Group, ModelFiles, PairScorer, Precision, ScorerParams, candidate_spans,
};
use tch::Device;

use super::*;

fn choice(window: usize) -> EncoderChoice {
    EncoderChoice { files: ModelFiles::tiny(), window, precision: Precision::F32 }
}

fn states(corpus: &MentionCorpus, window: usize, folder: &Path) -> TokenStates {
    TokenStates::find_or_compute(corpus, &choice(window), Device::Cpu, folder, &mut |_, _| {}).unwrap()
}

fn groups(corpus: &MentionCorpus, states: &TokenStates, part: CorefPart) -> Vec<Group> {
    let of = |topic: &str| {
        let mentions = corpus.mentions_of(topic, MentionKinds::Both);
        let mut names: Vec<&str> = mentions.iter().map(|mention| mention.cluster.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let span = |document, start, end| states.span(document, start, end).unwrap();
        Group {
            spans: mentions.iter().map(|m| span(m.document, m.start(), m.end())).collect(),
            clusters: mentions.iter().map(|m| names.binary_search(&m.cluster.as_str()).ok()).collect(),
        }
    };
    corpus.topics(part).into_iter().map(of).collect()
}

const PARAMS: ScorerParams =
    ScorerParams { hidden: 12, dropout: 0.1, width: 3, epochs: 4, batch: 16, learning_rate: 1e-2, negatives: 2.0 };

fn weights(network: &Network) -> Vec<f32> {
    network.leaves().iter().flat_map(|leaf| Vec::<f32>::try_from(leaf.detach().view(-1)).unwrap()).collect()
}

#[test]
fn states_are_computed_once_and_read_back_whatever_the_window_cuts() {
    let corpus = landmark_data::embedded::news().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    let compute = |seen: &mut Vec<usize>| {
        TokenStates::find_or_compute(&corpus, &choice(512), Device::Cpu, folder.path(), &mut |done, _| seen.push(done))
            .unwrap()
    };
    let first = compute(&mut seen);
    assert_eq!(seen.last(), Some(&corpus.documents().len()));
    let reports = seen.len();
    let second = compute(&mut seen);
    assert_eq!((seen.len(), first.identity()), (reports, second.identity()));
    let difference = (first.tensor() - second.tensor()).abs().max().double_value(&[]);
    assert_eq!(difference, 0.0);
    // a narrow window cuts documents, between sentences or inside of long ones; every word keeps its rows
    let narrow = states(&corpus, 16, folder.path());
    assert_ne!(narrow.identity(), first.identity());
    assert_eq!(narrow.tensor().size(), first.tensor().size());
    for (k, document) in corpus.documents().iter().enumerate() {
        for word in 0..document.tokens.len() {
            let span = first.span(k, word, word).unwrap();
            assert!(span.rows() >= 1 && narrow.span(k, word, word) == Some(span), "{} {word}", document.id);
        }
        assert_eq!(first.span(k, 0, document.tokens.len()), None);
    }
}

#[test]
fn the_scorer_without_torch_gives_what_the_network_gives_and_is_an_oracle() {
    let corpus = landmark_data::embedded::news().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let states = states(&corpus, 512, folder.path());
    let train = groups(&corpus, &states, CorefPart::Train);
    let training =
        Training { goal: Goal::Pairs, params: PARAMS, states: &states, groups: &train, dataset: "news", seed: 7 };
    let trained = training.run(folder.path(), Device::Cpu, &mut |_| Ok(0.0), &mut |_| {}).unwrap();
    let spans = &groups(&corpus, &states, CorefPart::Test)[0].spans;
    let mentions = trained.network.represent(states.tensor(), spans).unwrap();
    let scorer = PairScorer::new(trained.network.pair_layers().unwrap(), spans.len(), mentions).unwrap();
    let matrix = scorer.matrix();
    let wanted = trained.network.scores_by_torch(scorer.mentions()).unwrap();
    // f32 sums of 153 products in another order
    assert!((&matrix - &wanted).iter().all(|difference| difference.abs() < 1e-5));
    let n = spans.len();
    let all: Vec<usize> = (0..n).collect();
    let block = block_of(&scorer, &all, &all).unwrap();
    assert!((&block - &matrix).iter().all(|difference| difference.abs() < 1e-6));
    let symmetric = Symmetrized::new(scorer.clone(), Symmetrization::Mean);
    let mean = block_of(&symmetric, &all[..5], &all[..5]).unwrap();
    assert!((mean[[1, 4]] - 0.5 * (matrix[[1, 4]] + matrix[[4, 1]])).abs() < 1e-6);
    assert!(scorer.evaluate(&[(0, n)], &mut [0.0]).is_err());
    let error = PairScorer::new(trained.network.pair_layers().unwrap(), 2, vec![0.0; 10]).unwrap_err().to_string();
    assert!(error.contains("mentions of 5 numbers"), "{error}");
}

#[test]
fn a_training_that_was_stopped_goes_on_to_the_same_weights() {
    let corpus = landmark_data::embedded::news().unwrap();
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let states = states(&corpus, 512, whole.path());
    let train = groups(&corpus, &states, CorefPart::Train);
    let training =
        Training { goal: Goal::Pairs, params: PARAMS, states: &states, groups: &train, dataset: "news", seed: 7 };
    let mut epochs = Vec::new();
    let rising = |calls: &mut usize| {
        *calls += 1;
        *calls as f64
    };
    let mut calls = 0;
    let once = training
        .run(whole.path(), Device::Cpu, &mut |_| Ok(rising(&mut calls)), &mut |epoch| epochs.push(epoch.loss))
        .unwrap();
    assert!(epochs[3] < epochs[0], "the loss falls: {epochs:?}");
    let mut calls = 0;
    let error = training
        .run(
            stopped.path(),
            Device::Cpu,
            &mut |_| if calls < 2 { Ok(rising(&mut calls)) } else { Err("stopped".into()) },
            &mut |_| {},
        )
        .unwrap_err();
    assert_eq!(error.to_string(), "epoch 3 cannot be judged: stopped");
    let mut again = Vec::new();
    let resumed = training
        .run(stopped.path(), Device::Cpu, &mut |_| Ok(rising(&mut calls)), &mut |epoch| again.push(epoch.number))
        .unwrap();
    assert_eq!(again, [3, 4]);
    assert!(weights(&once.network) == weights(&resumed.network), "another way, other weights");
    // a training that is there is not done again
    let found = training.run(whole.path(), Device::Cpu, &mut |_| Err("judged again".into()), &mut |_| {}).unwrap();
    assert!(weights(&found.network) == weights(&once.network));
    let other = Training { seed: 8, ..training };
    let other = other.run(whole.path(), Device::Cpu, &mut |_| Ok(0.0), &mut |_| {}).unwrap();
    assert!(weights(&other.network) != weights(&once.network));
}

#[test]
fn the_best_epoch_is_kept() {
    let corpus = landmark_data::embedded::news().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let states = states(&corpus, 512, folder.path());
    let train = groups(&corpus, &states, CorefPart::Train);
    let training =
        Training { goal: Goal::Pairs, params: PARAMS, states: &states, groups: &train, dataset: "news", seed: 7 };
    let mut seen = Vec::new();
    let scores = [0.1, 0.9, 0.9, 0.2];
    let mut judge = |network: &Network| {
        seen.push(weights(network));
        Ok(scores[seen.len() - 1])
    };
    let trained = training.run(folder.path(), Device::Cpu, &mut judge, &mut |_| {}).unwrap();
    assert!(weights(&trained.network) == seen[1]);
    assert_eq!(trained.curve.iter().map(|epoch| epoch.score).collect::<Vec<_>>(), scores);
}

#[test]
fn spans_are_learned_to_be_mentions() {
    let corpus = landmark_data::embedded::news().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let states = states(&corpus, 512, folder.path());
    let topics = corpus.topics(CorefPart::Train);
    let of = |topic: &&str| {
        let gold: Vec<_> = corpus
            .mentions_of(topic, MentionKinds::Both)
            .iter()
            .map(|mention| (mention.document, mention.start(), mention.end()))
            .collect();
        let mut group = Group::default();
        for document in corpus.documents_of(topic) {
            for (start, end) in candidate_spans(&corpus, document, 4) {
                group.spans.push(states.span(document, start, end).unwrap());
                group.clusters.push(gold.iter().position(|&name| name == (document, start, end)));
            }
        }
        group
    };
    let train: Vec<Group> = topics.iter().map(of).collect();
    let params = ScorerParams { epochs: 10, dropout: 0.0, ..PARAMS };
    let training = Training { goal: Goal::Mentions, params, states: &states, groups: &train, dataset: "news", seed: 7 };
    let mut epochs = 0.0;
    let mut last_is_best = |_: &Network| {
        epochs += 1.0;
        Ok(epochs)
    };
    let trained = training.run(folder.path(), Device::Cpu, &mut last_is_best, &mut |_| {}).unwrap();
    let first = &train[0];
    let scores = trained.network.mention_scores(states.tensor(), &first.spans).unwrap();
    let mean = |is_mention: bool| {
        let chosen: Vec<f32> =
            scores.iter().zip(&first.clusters).filter(|(_, c)| c.is_some() == is_mention).map(|(s, _)| *s).collect();
        chosen.iter().sum::<f32>() / chosen.len() as f32
    };
    assert!(mean(true) > mean(false) + 0.2, "{} {}", mean(true), mean(false));
}

#[test]
fn topics_without_a_pair_to_learn_from_are_refused() {
    let corpus = landmark_data::embedded::news().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let states = states(&corpus, 512, folder.path());
    let spans = groups(&corpus, &states, CorefPart::Train)[0].spans[..3].to_vec();
    let alone = [Group { spans, clusters: vec![Some(0), Some(1), None] }];
    let training =
        Training { goal: Goal::Pairs, params: PARAMS, states: &states, groups: &alone, dataset: "news", seed: 7 };
    let error = training.run(folder.path(), Device::Cpu, &mut |_| Ok(0.0), &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("there is no pair of mentions of one cluster to learn from"), "{error}");
    for (params, wanted) in [
        (ScorerParams { epochs: 0, ..PARAMS }, "epochs"),
        (ScorerParams { dropout: 1.0, ..PARAMS }, "dropout"),
        (ScorerParams { negatives: f64::NAN, ..PARAMS }, "negatives"),
    ] {
        assert_eq!(params.wrong().unwrap().0, wanted);
    }
}
