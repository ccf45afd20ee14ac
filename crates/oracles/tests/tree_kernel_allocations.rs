//! Nothing is allocated per pair of trees: counted by the allocator itself, hence in a test binary of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use landmark_core::oracle::{Oracle, Pair};
use landmark_data::Tree;
use landmark_oracles::combined::Normalised;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the system's allocator as it came
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
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

#[test]
fn tree_kernels_allocate_per_call_and_not_per_pair() {
    let tree = |i: usize| format!("(S (A a{} b) (B (A a{} c) (C d)) (A a b c))", i % 7, i % 3);
    let trees: Vec<Tree> = (0..300).map(|i| tree(i).parse().unwrap()).collect();
    let forest = Arc::new(Forest::new(&trees).unwrap());
    let pairs: Vec<Pair> = (0..40).flat_map(|j| (40..300).map(move |i| (i, j))).collect();
    let mut out = vec![0.0; pairs.len()];
    for params in [
        TreeKernelParams::St { lambda: 0.4, leaves: true },
        TreeKernelParams::Sst { lambda: 0.4, leaves: true },
        TreeKernelParams::ptk(),
    ] {
        let kernel = TreeKernel::new(forest.clone(), params.check().unwrap());
        let kernel = Normalised::new(Box::new(kernel)).unwrap();
        kernel.evaluate(&pairs, &mut out).unwrap();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        kernel.evaluate(&pairs, &mut out).unwrap();
        let counted = ALLOCATIONS.load(Ordering::Relaxed) - before;
        // the shared work of a call takes a few, as the threads' queues grow
        assert!(counted * 50 < pairs.len(), "{}: {counted} allocations for {} pairs", params.id(), pairs.len());
    }
}
