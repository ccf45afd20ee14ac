//! The index: what past queries teach about items, and the search of a new one.
//!
//! ```text
//! R = C − link,   Z = rows of R, Y = rows of C less the means of columns, both scaled to length 1,   G = P/2 + (ZZᵀ + YYᵀ)/4
//! F_j = link(p_qj, h_j, 0) + Σ_a w_a R_ja,             w = P_qA (P_AA + ρI)⁻¹
//! round: E = F + G[:, O] (G[O, O] + ρI)⁻¹ (y − F)[O];  ask for the best unknown items, a fifth of them by P, the others by E
//! ```
//! O are the items asked so far and y their scores; ρ = .3. Without a proxy G = (ZZᵀ + YYᵀ)/2 and F is hubness alone. The estimates of a query are
//! so those of a Gaussian process over pairs of queries and items, in two steps: over queries in F, over items in E. Its kernel of the rows Y is that of
//! [`nearest`](crate::nearest). All of b goes to candidates, none to uniform
//! items. This project's own method; ANNCUR and AXN solve the same problem. Scores stay as they are, and not their ranks.
//!
//! Cost: n·a calls offline, b a query. Building O(n·a + a³); a query O(rounds · n(d + a) + b³) for vectors of length d. Memory 8n(4a + d) bytes.

use ndarray::{Array1, Array2, ArrayView2, Axis, aview1, concatenate, s};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Asking};
use super::hubness::{Hubness, HubnessLink};
use super::items::mean_diagonal;
use super::{ItemProxy, SearchError, best_unknown, check_line, check_matrix};
use landmark_core::balance;
use landmark_core::linalg::Cholesky;
use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;

/// Parameters of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexParams {
    /// Rounds that the calls of a query are spent in.
    #[schemars(range(min = 1))]
    pub rounds: usize,
    /// Share of a round that goes to the proxy's best, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// ρ > 0, added to the diagonal of kernels whose mean is 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub ridge: f64,
}

impl Default for IndexParams {
    fn default() -> Self {
        Self { rounds: 4, share: 0.2, ridge: 0.3 }
    }
}

impl IndexParams {
    fn check(self) -> Result<Self, BadParameter> {
        let bad = |parameter, value: f64, wanted| Err(BadParameter::new(parameter, value, wanted).of("search"));
        match self {
            Self { rounds: 0, .. } => bad("rounds", 0.0, "at least 1"),
            Self { share, .. } if !(0.0..=1.0).contains(&share) => bad("share", share, "between 0 and 1"),
            Self { ridge, .. } if !(ridge > 0.0 && ridge.is_finite()) => bad("ridge", ridge, "a number above 0"),
            _ => Ok(self),
        }
    }
}

/// Past queries: their scores with all items, and the proxy where there is one.
#[derive(Debug, Clone, Copy)]
pub struct Anchors<'a> {
    /// C: a column an anchor, n × a.
    pub scores: ArrayView2<'a, f64>,
    /// Proxy of items and anchors (n × a), and of the anchors among themselves (a × a).
    pub proxy: Option<(ArrayView2<'a, f64>, ArrayView2<'a, f64>)>,
}

/// Items that can be searched.
///
/// ```
/// use landmark_neighbors::search::{Anchors, Index, IndexParams, ItemProxy};
/// use ndarray::{Array2, s};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // 60 items and 12 queries: the score is a product of vectors, the proxy the cosine of their first half
/// let vectors = Array2::from_shape_fn((72, 6), |(i, k)| ((5 * i + 11 * k) as f64).sin());
/// let rough = vectors.slice(s![.., ..3]).mapv(|x| x / 2.0);
/// let (scores, proxy) = (vectors.dot(&vectors.t()), rough.dot(&rough.t()));
/// let (items, past, query) = (s![..60, 60..71], s![60..71, 60..71], 71);
/// let anchors = Anchors { scores: scores.slice(items), proxy: Some((proxy.slice(items), proxy.slice(past))) };
/// let index = Index::build(anchors, Some(ItemProxy::cosine(rough.slice(s![..60, ..]).to_owned())?), IndexParams::default())?;
///
/// let (to_items, to_anchors) = (proxy.slice(s![query, ..60]).to_vec(), proxy.slice(s![query, 60..71]).to_vec());
/// let answer = index.query(Some((&to_items, &to_anchors)), |items| Ok(items.iter().map(|&j| scores[[query, j]]).collect()), 12)?;
/// let best = (0..60).max_by(|&a, &b| scores[[query, a]].total_cmp(&scores[[query, b]])).unwrap();
/// assert_eq!((answer.calls(), answer.top(1)[0].item), (12, best));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Index {
    parts: IndexParts,
    /// Z and Y next to each other, over √2: n × 2a.
    profiles: Array2<f64>,
    /// Of P_AA + ρI; none without a proxy, or with one that is not positive definite even so.
    anchor_factor: Option<Cholesky>,
}

/// All that an index is made of, to be kept: everything else follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexParts {
    pub params: IndexParams,
    pub link: HubnessLink,
    /// h of the items, length n.
    pub hubness: Array1<f64>,
    /// C, n × a.
    pub scores: Array2<f64>,
    /// R = C − link, n × a.
    pub residual: Array2<f64>,
    /// P_AA, a × a; none without a proxy.
    pub anchor_proxy: Option<Array2<f64>>,
    /// Proxy among the items; none without one.
    pub item_proxy: Option<ItemProxy>,
}

impl Index {
    /// Fits the link and keeps what it leaves over. No call: the scores with the anchors are there.
    ///
    /// # Errors
    /// No item or no anchor, shapes that do not fit, a number that is not finite, a parameter outside its range, one proxy without the other.
    pub fn build(anchors: Anchors<'_>, items: Option<ItemProxy>, params: IndexParams) -> Result<Self, SearchError> {
        let params = params.check()?;
        let (n, a) = anchors.scores.dim();
        if n == 0 || a == 0 {
            let (parameter, wanted) =
                if n == 0 { ("items", "at least 1") } else { ("anchors", "at least 1 past query") };
            return Err(BadParameter::new(parameter, 0, wanted).of("search").into());
        }
        check_matrix("the scores with the anchors", anchors.scores, (n, a))?;
        if let Some((to_items, among)) = anchors.proxy {
            check_matrix("the proxy of items and anchors", to_items, (n, a))?;
            check_matrix("the proxy among the anchors", among, (a, a))?;
        }
        let hubness = Hubness::of(anchors.scores);
        let (link, residual) = HubnessLink::fit(anchors.scores, anchors.proxy.map(|(to_items, _)| to_items), &hubness)?;
        Self::from_parts(IndexParts {
            params,
            link,
            hubness: hubness.items,
            scores: anchors.scores.to_owned(),
            residual,
            anchor_proxy: anchors.proxy.map(|(_, among)| among.to_owned()),
            item_proxy: items,
        })
    }

    /// The index that these parts were taken from.
    ///
    /// # Errors
    /// Parts that do not fit together.
    pub fn from_parts(parts: IndexParts) -> Result<Self, SearchError> {
        let params = parts.params.check()?;
        let (n, a) = parts.residual.dim();
        check_matrix("the residual", parts.residual.view(), (n, a))?;
        check_matrix("the scores with the anchors", parts.scores.view(), (n, a))?;
        check_line("the hubness", &parts.hubness.to_vec(), n)?;
        if let Some(among) = &parts.anchor_proxy {
            check_matrix("the proxy among the anchors", among.view(), (a, a))?;
        }
        match (&parts.item_proxy, &parts.anchor_proxy) {
            (Some(items), Some(_)) if items.len() != n => {
                let (seen, wanted) = ((items.len(), items.len()), (n, n));
                return Err(SearchError::Shape { what: "the proxy among the items", seen, wanted });
            }
            (Some(_), None) | (None, Some(_)) => {
                return Err(SearchError::Proxy { index: parts.anchor_proxy.is_some() });
            }
            _ => {}
        }
        let means = parts.scores.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(a));
        let mut profiles = concatenate![Axis(1), parts.residual, &parts.scores - &means];
        for half in [s![.., ..a], s![.., a..]] {
            for mut row in profiles.slice_mut(half).rows_mut() {
                let length = balance::length(row.view()) * std::f64::consts::SQRT_2;
                if length > 0.0 {
                    row /= length;
                }
            }
        }
        let factor = |among: &Array2<f64>| {
            let scaled = among / mean_diagonal(among) + Array2::<f64>::eye(a) * params.ridge;
            Cholesky::of(scaled.view()).ok()
        };
        let anchor_factor = parts.anchor_proxy.as_ref().and_then(factor);
        Ok(Self { parts, profiles, anchor_factor })
    }

    /// All that the index is made of.
    pub fn parts(&self) -> &IndexParts {
        &self.parts
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.parts.residual.nrows()
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of anchors a.
    pub fn anchors(&self) -> usize {
        self.parts.residual.ncols()
    }

    /// True where a query must bring its proxy scores.
    pub fn has_proxy(&self) -> bool {
        self.parts.item_proxy.is_some()
    }

    /// Calls that a query of this budget makes: the budget, or one an item.
    pub fn plan(&self, calls: usize) -> usize {
        calls.min(self.len())
    }

    /// Searches with exactly [`plan`](Self::plan) calls, each item asked for once. `proxy` holds the query's proxy scores with the items and with the
    /// anchors; `score` answers a batch of items.
    ///
    /// # Errors
    /// Proxy scores of another number or not finite, a proxy too many or missing, whatever `score` answers.
    pub fn query(
        &self,
        proxy: Option<(&[f64], &[f64])>,
        score: impl FnMut(&[usize]) -> Result<Vec<f64>, OracleError>,
        calls: usize,
    ) -> Result<Answer, SearchError> {
        self.query_knowing(proxy, &[], score, calls)
    }

    /// The same from scores that are known already, of distinct items: they teach from the start, and count as calls that were made. So an answer
    /// that was stored comes back without a call, and a larger budget asks for the rest alone.
    ///
    /// # Errors
    /// As [`query`](Self::query), and a known score that is not finite.
    pub fn query_knowing(
        &self,
        proxy: Option<(&[f64], &[f64])>,
        known: &[(usize, f64)],
        score: impl FnMut(&[usize]) -> Result<Vec<f64>, OracleError>,
        calls: usize,
    ) -> Result<Answer, SearchError> {
        if proxy.is_some() != self.has_proxy() {
            return Err(SearchError::Proxy { index: self.has_proxy() });
        }
        if let Some((to_items, to_anchors)) = proxy {
            check_line("the query's proxy scores with the items", to_items, self.len())?;
            check_line("the query's proxy scores with the anchors", to_anchors, self.anchors())?;
        }
        let IndexParams { rounds, share, .. } = self.parts.params;
        let (calls, prior) = (self.plan(calls), self.prior(proxy));
        let (mut asking, mut estimate, mut unkriged) = (Asking::new(self.len(), score), prior.clone(), 0);
        let mut learn = |asking: &Asking<_>, estimate: &mut Array1<f64>| match self.krige(&prior, asking) {
            Some(kriged) => *estimate = kriged,
            None => unkriged += 1,
        };
        if !known.is_empty() {
            asking.know(known)?;
            learn(&asking, &mut estimate);
        }
        for round in 0..rounds {
            let budget = calls.saturating_sub(asking.items.len()) / (rounds - round);
            // a share of a count that fits in an f64
            let by_proxy = proxy.map_or(0, |_| (share * budget as f64).round() as usize);
            let mut batch = proxy.map_or_else(Vec::new, |(p, _)| best_unknown(p, &asking.is_known, by_proxy));
            let mut is_taken = asking.is_known.clone();
            batch.iter().for_each(|&item| is_taken[item] = true);
            batch.extend(best_unknown(estimate.as_slice().unwrap_or_default(), &is_taken, budget - batch.len()));
            if batch.is_empty() {
                continue;
            }
            asking.ask(batch)?;
            learn(&asking, &mut estimate);
        }
        Ok(asking.finish(estimate.to_vec(), true, unkriged))
    }

    /// F: the link at the query's proxy scores, and what the anchors left over, weighed by how near they are.
    fn prior(&self, proxy: Option<(&[f64], &[f64])>) -> Array1<f64> {
        let Self { parts, anchor_factor, .. } = self;
        let mut prior = parts.link.prior(proxy.map(|(to_items, _)| to_items), parts.hubness.view());
        if let (Some((_, to_anchors)), Some(factor), Some(among)) = (proxy, anchor_factor, &parts.anchor_proxy) {
            let scale = mean_diagonal(among);
            let mut weights: Vec<f64> = to_anchors.iter().map(|p| p / scale).collect();
            factor.solve(&mut weights);
            prior += &parts.residual.dot(&aview1(&weights));
        }
        prior
    }

    /// E from the scores known so far, whatever their order; `None` where the kernel is not positive definite.
    fn krige<S>(&self, prior: &Array1<f64>, asking: &Asking<S>) -> Option<Array1<f64>> {
        let mut known: Vec<(usize, f64)> = asking.items.iter().copied().zip(asking.values.iter().copied()).collect();
        known.sort_unstable_by_key(|&(item, _)| item);
        let (items, values): (Vec<usize>, Vec<f64>) = known.into_iter().unzip();
        let items = items.as_slice();
        let profiles = self.profiles.select(Axis(0), items);
        let mut kernel = profiles.dot(&profiles.t());
        let half = if self.has_proxy() { 0.5 } else { 1.0 };
        if let Some(proxy) = &self.parts.item_proxy {
            kernel = (kernel + proxy.among(items)) * half;
        }
        kernel.diag_mut().iter_mut().for_each(|entry| *entry += self.parts.params.ridge);
        let weights: Vec<f64> = items.iter().zip(&values).map(|(&item, value)| value - prior[item]).collect();
        // a proxy that is no kernel teaches nothing in this round, which the answer counts
        let weights = Cholesky::of(kernel.view()).and_then(|factor| factor.solution(weights)).ok()?;
        let weights = Array1::from(weights) * half;
        let mut estimate = prior + &self.profiles.dot(&weights.dot(&profiles));
        if let Some(proxy) = &self.parts.item_proxy {
            estimate += &proxy.combine(items, weights.view());
        }
        Some(estimate)
    }
}
