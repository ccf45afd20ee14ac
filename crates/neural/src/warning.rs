//! Warnings, for whoever opened this crate as a library: it shares no log with the program.

use std::sync::OnceLock;

use landmark_oracles::neural::Warn;

static LISTENER: OnceLock<Warn> = OnceLock::new();

/// Hands warnings to a listener; the first one stays.
pub(crate) fn listen(listener: Warn) {
    LISTENER.get_or_init(|| listener);
}

pub(crate) fn warn(text: &str) {
    if let Some(listener) = LISTENER.get() {
        listener(text);
    }
}
