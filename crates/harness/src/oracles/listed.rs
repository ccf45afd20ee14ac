//! The items of a score apart from it, so that lists of them share what a store keeps.

use std::sync::Arc;

use landmark_core::oracle::{Itemless, Oracle};
use landmark_store::ItemList;

use super::{Orders, symmetrized};

/// A score apart from its items, and these by what it sees of them. A score that is another one in another list has none.
#[derive(Debug, Clone)]
pub struct Listed {
    apart: Itemless,
    items: ItemList,
}

impl Listed {
    /// `apart` is the score without items; `seen` what it scores each by, its text for one, in their order.
    pub fn new(apart: Itemless, seen: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self { apart, items: ItemList::new(apart.identity, seen) }
    }

    /// The list under what is made of the two orders of the score; `None` for one order a pair, which is drawn by the numbers of its items.
    pub fn under(&self, orders: Option<Orders>) -> Option<ItemList> {
        if orders == Some(Orders::Random) {
            return None;
        }
        let apart: Arc<dyn Oracle> = Arc::new(self.apart);
        Some(self.items.under(symmetrized(&apart, orders, 0).identity()))
    }
}
