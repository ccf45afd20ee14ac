//! An allocator for programs with large matrices: that of the system, with large pages where the kernel gives them on request.
//!
//! The first touch of a page of 4 KiB costs a quarter of a microsecond to one, on virtual machines, so 100 MB of factors take 20 to 40 ms before any
//! number is computed; with pages of 2 MiB a tenth of that. Most distributions of Linux give those on request only (`madvise` in
//! `/sys/kernel/mm/transparent_hugepage/enabled`), and NumPy asks for its arrays from 4 MB on. So do we, which costs one system call
//! a large allocation. Elsewhere this is the system's allocator and nothing else.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with large pages for allocations of 4 MiB and more.
///
/// ```
/// use landmark_core::huge_pages::HugePages;
/// #[global_allocator]
/// static MEMORY: HugePages = HugePages;
/// assert_eq!(vec![0.0; 1 << 20].iter().sum::<f64>(), 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

// SAFETY: memory comes from `System` and goes back to it, with the layouts of the caller; advice on pages changes no content.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for, here and below.
        let memory = unsafe { System.alloc(layout) };
        advise(memory, layout.size());
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let memory = unsafe { System.alloc_zeroed(layout) };
        advise(memory, layout.size());
        memory
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let memory = unsafe { System.realloc(memory, layout, size) };
        advise(memory, size);
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Asks for large pages in an allocation, without its first and last page, which it shares with others.
#[cfg(target_os = "linux")]
fn advise(memory: *mut u8, size: usize) {
    /// Bytes from which on large pages are asked for, as in NumPy.
    const LARGE: usize = 1 << 22;
    const PAGE: usize = 4096;
    if memory.is_null() || size < LARGE {
        return;
    }
    let before = memory.align_offset(PAGE);
    let inside = (size - before) / PAGE * PAGE;
    // SAFETY: whole pages of a live allocation; where they are larger than 4 KiB or there are no large ones the call is refused and nothing happens.
    unsafe {
        libc::madvise(memory.add(before).cast(), inside, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}
