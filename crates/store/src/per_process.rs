//! State that each process makes for itself: a forked child has the memory of its parent and none of its threads.

use std::mem::ManuallyDrop;
use std::sync::OnceLock;

/// A value of this process. A forked child makes one of its own and leaves that of its parent alone, undropped: threads that the parent's value
/// counts on are not there, and a lock in it may be held by one of them for ever.
///
/// ```
/// use landmark_store::PerProcess;
/// let number = PerProcess::new(7);
/// assert_eq!(*number.get_or(|| 8), 7); // 8 in a child
/// ```
#[derive(Debug)]
pub struct PerProcess<T> {
    process: u32,
    value: ManuallyDrop<T>,
    of_child: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    pub fn new(value: T) -> Self {
        Self { process: std::process::id(), value: ManuallyDrop::new(value), of_child: OnceLock::new() }
    }

    /// The value of this process, made by `make` where there is only a parent's.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        let (ours, mut there) = (std::process::id(), self);
        while there.process != ours {
            match there.of_child.get() {
                Some(child) => there = child,
                None => return &there.of_child.get_or_init(|| Box::new(Self::new(make()))).value,
            }
        }
        &there.value
    }
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // SAFETY: dropped here and nowhere else, and nothing reads it after this
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
