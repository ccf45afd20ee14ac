//! Panics of readers that others wrote: on a damaged file they are an error of that file, and end nothing.
//!
//! Readers of Parquet, archives and tokenizers are known to panic on files that are damaged. The message of the panic is kept for the
//! error, and not printed.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Result of a reader, or its message when it panicked. What it panicked over is not to be used again.
///
/// # Errors
/// The message of the panic, without the place in its source.
pub fn contained<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| match DEPTH.get() {
            0 => usual(panic),
            _ => {
                let payload = panic.payload();
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
                MESSAGE.set(text.to_owned());
            }
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|_| MESSAGE.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_what_it_said_and_the_next_reader_reads() {
        let none: [u8; 0] = [];
        let message = contained(|| none[none.len()]).unwrap_err();
        assert!(message.contains("index out of bounds"), "{message}");
        assert_eq!(contained(|| panic!("{} of {}", 1, 2)), Err::<(), _>("1 of 2".to_owned()));
        assert_eq!(contained(|| contained(|| panic!("inside")).unwrap_or(7)), Ok(7));
        assert_eq!(contained(|| 3), Ok(3));
    }
}
