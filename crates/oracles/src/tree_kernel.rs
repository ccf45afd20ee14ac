//! Tree kernels: how many fragments two trees share, each weighed down by its size.
//!
//! | id | fragments | source |
//! |---|---|---|
//! | `st` | complete subtrees | Vishwanathan & Smola 2002 |
//! | `sst` | subset trees: a node has all its children or none | Collins & Duffy 2001 |
//! | `ptk` | partial trees: any children, in order, gaps allowed | Moschitti 2006 |
//! | `sptk` | partial trees whose labels need only be similar | Croce, Moschitti & Basili 2011 |
//!
//! `K(x, y) = Σ_{a ∈ x, b ∈ y} Δ(a, b)`. With `λ` for decay and, in the partial kernels, `µ` for depth:
//!
//! - `st`: Δ = λ Π Δ(child, child') where both complete subtrees are equal, else 0; leaf children count 1.
//! - `sst`: Δ = λ Π (1 + Δ(child, child')) where both productions are equal, else 0; leaf children count 1.
//! - `ptk`: Δ = µ (λ² + Σ_{I, J} λ^{gaps(I) + gaps(J)} Π Δ(c_I, c_J)) where both labels are equal, over all pairs of
//!   equally long child subsequences; Δ = µ λ² t where either is a leaf, `t` the terminal factor.
//! - `sptk`: the same times σ(label, label'), 1 for equal labels.
//!
//! Moschitti's printed formula and his recursion differ in what λ counts; these are the recursion's gaps, as in KeLP.
//! `sst` and `ptk` reproduce KeLP's recorded scores. `st` does not: it follows the definition above, by which a child whose
//! production differs makes the product 0, while KeLP counts 1 for such a child.
//! `leaves` (KeLP's default) adds λ for each pair of equal leaves to `st` and `sst`.
//!
//! A terminal factor t ≠ 1 is KeLP's own. Where a label is a leaf in one tree and has children in another, it makes the
//! partial kernels slightly indefinite; in dependency trees, whose words are the leaves, that can't happen.
//!
//! Only pairs of nodes with equal keys (labels, productions, subtrees) are visited, found by merging sorted lists; nodes
//! are numbered breadth first from the root, so that children come last-first before their parents and nothing recurses.
//! Cost of a pair of trees with m and n nodes: O(m + n) for `st`, O(m + n + matches · children) for `sst`, O(m + n +
//! matches · children²) for the partial kernels: all child subsequences of a match are summed in one pass, whatever
//! their length. Room: 8mn bytes a thread. Nothing is allocated per pair.
//!
//! ```
//! use std::sync::Arc;
//! use landmark_core::oracle::block_of;
//! use landmark_data::Tree;
//! use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
//!
//! let trees: Vec<Tree> = ["(S (N dog) (V runs))", "(S (N dog) (V eats))"].iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
//! let forest = Arc::new(Forest::new(&trees)?);
//! let kernel = TreeKernel::new(forest, TreeKernelParams::Sst { lambda: 1.0, leaves: false }.check()?);
//! // S → N V alone, with N expanded or not; N → dog
//! assert_eq!(block_of(&kernel, &[0], &[1])?[[0, 0]], 3.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, check_pairs};
use rayon::prelude::*;

mod forest;
mod fragments;
mod key_lists;
mod params;
mod partial;
mod similarity;
mod subset;
mod subtree;

pub use forest::{Forest, ForestError};
pub use fragments::fragments;
pub use params::{TreeKernelParams, TreeKernelValidParams};
pub use similarity::{LabelSimilarity, NumberedSimilarity, SimilarityError, WordSimilarity, lexical};

use crate::scratch_pool::ScratchPool;
use partial::Partial;
use similarity::{EqualLabels, SmoothedLabels};
use subset::Subset;
use subtree::Subtree;

/// Pairs that a thread takes at a time: short enough to share the work, long enough that scratch memory is borrowed rarely.
const PAIRS_AT_A_TIME: usize = 64;

/// A kernel over the trees of a forest: symmetric, not normalized.
#[derive(Debug, Clone)]
pub struct TreeKernel {
    forest: Arc<Forest>,
    method: Arc<Method>,
    pool: Arc<ScratchPool<Scratch>>,
    identity: Identity,
}

#[derive(Debug)]
enum Method {
    Subtree(Subtree),
    Subset(Subset),
    Partial(Partial<EqualLabels>),
    Smoothed(Partial<SmoothedLabels>),
}

/// Working memory of one thread, kept between pairs.
#[derive(Debug, Default)]
struct Scratch {
    /// Δ(a, b) at a·n + b, valid where the keys of a and b agree.
    delta: Vec<f64>,
    /// For each node of the first tree, the matching stretch of the second's list.
    matches: Vec<(u32, u32)>,
    row: Vec<f64>,
}

/// Makes room for `len` numbers; what stands there is overwritten before it is read.
fn enlarge(numbers: &mut Vec<f64>, len: usize) {
    if numbers.len() < len {
        numbers.resize(len, 0.0);
    }
}

impl TreeKernel {
    /// `st`, `sst` or `ptk`; `sptk` without any similarity is `ptk`.
    pub fn new(forest: Arc<Forest>, params: TreeKernelValidParams) -> Self {
        let method = match params.params() {
            TreeKernelParams::St { lambda, leaves } => Method::Subtree(Subtree::new(&forest, *lambda, *leaves)),
            TreeKernelParams::Sst { lambda, leaves } => Method::Subset(Subset::new(&forest, *lambda, *leaves)),
            TreeKernelParams::Ptk { lambda, mu, terminal_factor }
            | TreeKernelParams::Sptk { lambda, mu, terminal_factor } => {
                Method::Partial(Partial::new(&forest, [*lambda, *mu, *terminal_factor], EqualLabels::new(&forest)))
            }
        };
        Self::of(forest, method, params, &[])
    }

    /// `sptk`: partial trees whose labels need only be similar. Another kernel takes no notice of the similarity.
    ///
    /// # Errors
    /// [`SimilarityError`] for a similarity of two labels of the forest that is not between 0 and 1.
    pub fn smoothed(
        forest: Arc<Forest>,
        params: TreeKernelValidParams,
        similarity: &dyn LabelSimilarity,
    ) -> Result<Self, SimilarityError> {
        let TreeKernelParams::Sptk { lambda, mu, terminal_factor } = *params.params() else {
            return Ok(Self::new(forest, params));
        };
        let identity = similarity.identity();
        let labels = SmoothedLabels::new(&forest, similarity)?;
        let method = Method::Smoothed(Partial::new(&forest, [lambda, mu, terminal_factor], labels));
        Ok(Self::of(forest, method, params, identity.as_bytes()))
    }

    fn of(forest: Arc<Forest>, method: Method, params: TreeKernelValidParams, similarity: &[u8]) -> Self {
        let identity = Identity::of(&[
            ("kind", b"tree_kernel"),
            ("version", b"1"),
            ("kernel", params.params().id().as_bytes()),
            ("params", &params.params().bytes()),
            ("similarity", similarity),
            ("forest", forest.identity().as_bytes()),
        ]);
        Self { forest, method: Arc::new(method), pool: Arc::new(ScratchPool::new()), identity }
    }

    pub fn forest(&self) -> &Arc<Forest> {
        &self.forest
    }

    fn score(&self, scratch: &mut Scratch, (i, j): Pair) -> f64 {
        // one order for both, so that f(i, j) = f(j, i) to the last bit
        let (i, j) = (i.min(j), i.max(j));
        match &*self.method {
            Method::Subtree(kernel) => kernel.score(i, j),
            Method::Subset(kernel) => kernel.score(&self.forest, scratch, i, j),
            Method::Partial(kernel) => kernel.score(&self.forest, scratch, i, j),
            Method::Smoothed(kernel) => kernel.score(&self.forest, scratch, i, j),
        }
    }
}

impl Oracle for TreeKernel {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.forest.len())
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        pairs.par_chunks(PAIRS_AT_A_TIME).zip(out.par_chunks_mut(PAIRS_AT_A_TIME)).for_each(|(pairs, out)| {
            let mut scratch = self.pool.lend();
            for (&pair, out) in pairs.iter().zip(out) {
                *out = self.score(&mut scratch, pair);
            }
        });
        Ok(())
    }
}
