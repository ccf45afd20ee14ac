//! Rooms to work in, lent to pieces of parallel work and given back: as many as threads ever work at a time, however
//! finely the work is cut.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Rooms that nobody works in.
#[derive(Debug)]
pub(crate) struct Rooms<S> {
    free: Mutex<Vec<S>>,
}

/// A room until it is dropped.
#[derive(Debug)]
pub(crate) struct Lent<'a, S: Default> {
    rooms: &'a Rooms<S>,
    room: S,
}

impl<S: Default> Rooms<S> {
    pub(crate) fn new() -> Self {
        Self { free: Mutex::new(Vec::new()) }
    }

    /// A room that was used before, if there is one.
    pub(crate) fn lend(&self) -> Lent<'_, S> {
        let used = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { rooms: self, room: used.unwrap_or_default() }
    }
}

impl<S: Default> Drop for Lent<'_, S> {
    fn drop(&mut self) {
        let room = std::mem::take(&mut self.room);
        self.rooms.free.lock().unwrap_or_else(PoisonError::into_inner).push(room);
    }
}

impl<S: Default> Deref for Lent<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.room
    }
}

impl<S: Default> DerefMut for Lent<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_lent_again_as_it_was_left() {
        let rooms = Rooms::<Vec<u8>>::new();
        rooms.lend().push(7);
        let (mut first, second) = (rooms.lend(), rooms.lend());
        assert_eq!((first.len(), second.len()), (1, 0));
        first.push(8);
        drop(first);
        assert_eq!(*rooms.lend(), [7, 8]);
    }
}
