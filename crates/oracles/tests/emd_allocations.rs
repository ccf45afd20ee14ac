//! Nothing is allocated per pair: counted by the allocator itself, hence in a test binary of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use landmark_core::oracle::{Oracle, Pair};
use landmark_core::stream::stream;
use landmark_data::BagsOfWords;
use landmark_oracles::wmd::wme::{RandomDocuments, WmeParams};
use landmark_oracles::wmd::{EmdScratch, EmptyDocuments, Rwmd, Wmd, WordClouds, emd};
use ndarray::Array2;
use rand::Rng;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ON_THIS_THREAD: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes on to the system's allocator as it came
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        ON_THIS_THREAD.set(ON_THIS_THREAD.get() + 1);
        // SAFETY: as our caller promised
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as our caller promised
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(mut run: impl FnMut()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    run();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn allocations_on_this_thread(mut run: impl FnMut()) -> usize {
    let before = ON_THIS_THREAD.get();
    run();
    ON_THIS_THREAD.get() - before
}

#[test]
fn a_warm_solver_allocates_nothing() {
    let mut rng = stream(1, "emd", "allocations", 0);
    let (m, n) = (30, 40);
    let problems: Vec<Vec<f64>> = (0..20).map(|_| (0..m * n).map(|_| rng.gen_range(0.0..1.0)).collect()).collect();
    let (a, b) = (vec![1.0 / m as f64; m], vec![1.0 / n as f64; n]);
    let mut scratch = EmdScratch::default();
    let solve_all =
        |scratch: &mut EmdScratch| problems.iter().map(|costs| emd(costs, &a, &b, scratch).unwrap()).sum::<f64>();
    let warm = solve_all(&mut scratch);
    let mut again = 0.0;
    assert_eq!(allocations_on_this_thread(|| again = solve_all(&mut scratch)), 0);
    assert_eq!(again, warm);
}

#[test]
fn documents_oracles_allocate_per_call_and_not_per_pair() {
    let mut rng = stream(1, "documents", "allocations", 0);
    let vectors = Array2::from_shape_fn((200, 16), |_| rng.gen_range(-1.0_f32..1.0));
    let documents: Vec<_> = (0..300).map(|_| (0..8).map(|_| (rng.gen_range(0..200), 1.0)).collect()).collect();
    let bags = BagsOfWords::from_counts(documents);
    let clouds = Arc::new(WordClouds::new(&bags, vectors.view(), EmptyDocuments::Error).unwrap());
    let random = RandomDocuments::draw(&clouds, WmeParams { max_words: 6, documents: 40 }, 1).unwrap();
    let oracles: [(Box<dyn Oracle>, usize); 3] =
        [(Box::new(Wmd::new(clouds.clone())), 0), (Box::new(Rwmd::new(clouds)), 0), (Box::new(random), 300)];
    for (oracle, first) in oracles {
        let pairs: Vec<Pair> = (first..first + 40).flat_map(|j| (40..300).map(move |i| (i, j))).collect();
        let mut out = vec![0.0; pairs.len()];
        oracle.evaluate(&pairs, &mut out).unwrap();
        let counted = allocations(|| oracle.evaluate(&pairs, &mut out).unwrap());
        // the room of a call is allocated anew: a few vectors, and a few more for each thread
        assert!(counted * 20 < pairs.len(), "{counted} allocations for {} pairs", pairs.len());
    }
}
