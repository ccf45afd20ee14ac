//! The allocator of the programs: memory is what was asked for, and large where it is large.

use landmark_core::huge_pages::HugePages;

#[global_allocator]
static MEMORY: HugePages = HugePages;

#[test]
fn a_vector_keeps_its_numbers_as_it_grows_past_large_pages_and_shrinks_again() {
    let mut numbers: Vec<u64> = Vec::new();
    for number in 0..3_000_000 {
        numbers.push(number);
    }
    assert!(numbers.iter().zip(0..).all(|(&number, wanted)| number == wanted));
    numbers.truncate(10);
    numbers.shrink_to_fit();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}

#[test]
fn fresh_zeros_are_zeros_of_any_size_and_alignment() {
    #[repr(align(8192))]
    #[derive(Clone, PartialEq, Debug)]
    struct Wide([u8; 8192]);
    for size in [1, (1 << 22) - 1, 1 << 22, (1 << 22) + 4097, 9 << 20] {
        for _ in 0..3 {
            let mut bytes = vec![0_u8; size];
            assert!(bytes.iter().all(|&byte| byte == 0), "{size}");
            bytes.fill(7);
        }
    }
    let wide = vec![Wide([3; 8192]); 700];
    assert_eq!(wide.as_ptr().align_offset(8192), 0);
    assert!(wide.iter().all(|one| *one == Wide([3; 8192])));
}

/// Bytes in large pages, by the kernel's own account; `None` where it gives none.
fn in_large_pages() -> Option<u64> {
    let modes = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    if modes.contains("[never]") {
        return None;
    }
    let told = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = told.lines().find(|line| line.starts_with("AnonHugePages:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
fn large_arrays_lie_in_large_pages_where_the_kernel_gives_them() {
    let Some(before) = in_large_pages() else {
        println!("skipped: this kernel gives no large pages");
        return;
    };
    let numbers = vec![1.0; 8 << 20];
    let after = in_large_pages().unwrap_or(0);
    assert_eq!(numbers[12345], 1.0);
    // how many of the 32 pages depends on what memory is free in one piece
    assert!(after > before, "{before} before 64 MiB, {after} after");
}
