//! Answer ranking as SemEval-2016 Task 3 scores it: MAP, AvgRec, MRR, and precision, recall, F1 and accuracy of the labels.
//!
//! The comments of a question are sorted by score, highest first; comments of equal score keep their order. With the first
//! 10 ranks:
//!
//! - average precision = mean of hits(k)/k over the ranks k of relevant comments, divided by the relevant comments FOUND
//!   among the first 10 (not by all there are); MAP = its mean over all questions, a question without any counting 0
//! - AvgRec = mean over k = 1..10 of Σ_q relevant among the first k / Σ_q min(k, relevant in the whole list)
//! - MRR = mean of 1/rank of the first relevant comment within 10, else 0
//!
//! Source: the task's official scorer (`ev.py`, `MAP_scripts`), whose printed rows of two submissions these figures
//! reproduce. All figures are fractions; the scorer prints MRR, P, R, F1 and Acc times 100. Cost: sorting.

use serde::{Deserialize, Serialize};

use crate::metrics::MetricError;

use landmark_core::rank::RankCmp;

/// Number of comments, from the top of a list, that are looked at.
pub const DEPTH: usize = 10;

/// One comment: what the system answers and what is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub score: f64,
    /// True where the system calls it good.
    pub predicted: bool,
    pub relevant: bool,
}

/// The figures of the official scorer, as fractions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankingScores {
    /// Mean average precision.
    pub map: f64,
    pub avg_rec: f64,
    /// Mean reciprocal rank.
    pub mrr: f64,
    /// Precision of the label "good"; 0/0 = 0.
    pub precision: f64,
    /// Recall of the label "good"; 0/0 = 0.
    pub recall: f64,
    /// F1 of the label "good"; 0/0 = 0.
    pub f1: f64,
    /// Share of comments with the right label.
    pub accuracy: f64,
    pub questions: usize,
    pub answers: usize,
}

/// Scores the comments of each question, in the order they were posted.
///
/// # Errors
/// No question, a question without comments, a score that is not finite.
pub fn score_ranking(questions: &[Vec<Answer>]) -> Result<RankingScores, MetricError> {
    let metric = "ranking";
    if questions.is_empty() {
        return Err(MetricError::TooFew { metric, len: 0, wanted: 1 });
    }
    let (mut precisions, mut reciprocals) = (0.0, 0.0);
    let (mut found, mut findable) = ([0_usize; DEPTH], [0_usize; DEPTH]);
    for answers in questions {
        if answers.is_empty() {
            return Err(MetricError::TooFew { metric: "answers of a question", len: 0, wanted: 1 });
        }
        if let Some(index) = answers.iter().position(|answer| !answer.score.is_finite()) {
            return Err(MetricError::NotFinite { metric, list: "scores", index, value: answers[index].score });
        }
        let ranked = ranked_relevance(answers);
        precisions += average_precision(&ranked);
        reciprocals += ranked.iter().take(DEPTH).position(|&hit| hit).map_or(0.0, |place| 1.0 / (place + 1) as f64);
        let relevant = ranked.iter().filter(|&&hit| hit).count();
        let mut hits = 0;
        for k in 0..DEPTH {
            hits += usize::from(ranked.get(k).copied().unwrap_or(false));
            found[k] += hits;
            findable[k] += relevant.min(k + 1);
        }
    }
    let share = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let recalls: f64 = found.iter().zip(findable).map(|(&part, whole)| share(part, whole)).sum();
    let count = |is: fn(&Answer) -> bool| questions.iter().flatten().filter(|answer| is(answer)).count();
    let (all, hits) = (count(|_| true), count(|answer| answer.predicted && answer.relevant));
    let (predicted, relevant) = (count(|answer| answer.predicted), count(|answer| answer.relevant));
    let n = questions.len() as f64;
    Ok(RankingScores {
        map: precisions / n,
        avg_rec: recalls / DEPTH as f64,
        mrr: reciprocals / n,
        precision: share(hits, predicted),
        recall: share(hits, relevant),
        f1: share(2 * hits, predicted + relevant),
        accuracy: share(count(|answer| answer.predicted == answer.relevant), all),
        questions: questions.len(),
        answers: all,
    })
}

/// Relevance in the order of falling scores; equal scores keep their order.
fn ranked_relevance(answers: &[Answer]) -> Vec<bool> {
    let mut order: Vec<&Answer> = answers.iter().collect();
    // −0.0 + 0.0 is 0.0: both are one score
    order.sort_by(|a, b| b.score.rank_cmp(&a.score));
    order.into_iter().map(|answer| answer.relevant).collect()
}

fn average_precision(ranked: &[bool]) -> f64 {
    let (mut hits, mut sum) = (0.0, 0.0);
    for (place, _) in ranked.iter().take(DEPTH).enumerate().filter(|(_, hit)| **hit) {
        hits += 1.0;
        sum += hits / (place + 1) as f64;
    }
    if hits == 0.0 { 0.0 } else { sum / hits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(ranked: &[bool]) -> Vec<Answer> {
        let of = |(place, &relevant): (usize, &bool)| Answer { score: -(place as f64), predicted: true, relevant };
        ranked.iter().enumerate().map(of).collect()
    }

    #[test]
    fn average_precision_divides_by_what_was_found_among_the_first_ten() {
        // one hit at rank 2; a second at rank 11 is not looked at
        let mut ranked = [false; 12];
        (ranked[1], ranked[10]) = (true, true);
        let scores = score_ranking(&[question(&ranked)]).unwrap();
        assert_eq!((scores.map, scores.mrr), (0.5, 0.5));
        // recall at 1 is 0 of 1, from 2 on 1 of 2
        assert!((scores.avg_rec - 0.45).abs() < 1e-15);
    }

    #[test]
    fn a_question_without_a_good_comment_counts_zero() {
        let scores = score_ranking(&[question(&[true]), question(&[false, false])]).unwrap();
        assert_eq!((scores.map, scores.mrr, scores.questions, scores.answers), (0.5, 0.5, 2, 3));
    }

    #[test]
    fn comments_of_equal_score_keep_their_order() {
        let answer = |relevant| Answer { score: 1.0, predicted: false, relevant };
        assert_eq!(score_ranking(&[vec![answer(false), answer(true)]]).unwrap().map, 0.5);
        let scores = score_ranking(&[vec![answer(true), answer(false)]]).unwrap();
        assert_eq!(
            (scores.map, scores.precision, scores.recall, scores.f1, scores.accuracy),
            (1.0, 0.0, 0.0, 0.0, 0.5)
        );
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        assert!(score_ranking(&[]).is_err());
        assert!(score_ranking(&[vec![]]).unwrap_err().to_string().contains("`answers of a question`"));
        let nan = Answer { score: f64::NAN, predicted: true, relevant: true };
        let message = score_ranking(&[vec![nan]]).unwrap_err().to_string();
        assert!(message.contains("`scores[0]` is NaN"), "{message}");
    }
}
