//! Items as tables name them: by id, with their text next to it where there is one.

use landmark_harness::items::{LEFT, OwnItems, RIGHT};
use landmark_neighbors::nearest::Neighbor;
use landmark_report::columns::Column;

/// Items beyond which lists of neighbors name them by id alone: a text would stand in the file as often as it is listed.
const MOST_WITH_TEXTS: usize = 20_000;

/// Column of the neighbor in tables of neighbors.
pub(crate) const NEIGHBOR: &str = "neighbor";

/// The items of a table; `None` where they are rows of a matrix.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a>(pub(crate) Option<&'a OwnItems>);

impl Named<'_> {
    /// The id of an item, of two lists as its own file has it; its number where there are none.
    pub(crate) fn id(self, item: usize) -> String {
        let Some(id) = self.0.and_then(|items| items.ids.get(item)) else { return item.to_string() };
        let of_list = self.left().and_then(|left| id.strip_prefix(if item < left { LEFT } else { RIGHT }));
        of_list.unwrap_or(id).to_owned()
    }

    /// Items of the first of two lists.
    pub(crate) fn left(self) -> Option<usize> {
        self.0?.left
    }

    pub(crate) fn ids(self, name: &'static str, items: &[usize]) -> Column {
        Column::text(name, items.iter().map(|&item| Some(self.id(item))))
    }

    pub(crate) fn texts(self, name: &'static str, items: &[usize]) -> Option<Column> {
        let texts = &self.0?.texts;
        Some(Column::text(name, items.iter().map(|&item| Some(texts.get(item).cloned().unwrap_or_default()))))
    }

    /// Lists of neighbors, one an item, a row an entry: `id`, `rank`, `neighbor`, `score`, `exact`; of up to 20,000 items both texts. Of two lists `left`
    /// and `right` stand in the place of `id` and `neighbor`.
    pub(crate) fn neighbors(self, lists: &[Vec<Neighbor>]) -> Vec<Column> {
        let (mut items, mut others) = (Vec::new(), Vec::new());
        for (item, list) in lists.iter().enumerate() {
            items.extend(list.iter().map(|_| item));
            others.extend(list.iter().map(|one| one.item));
        }
        let entries = || lists.iter().flatten();
        let (id, neighbor, text, neighbor_text) = match self.left() {
            Some(_) => ("left", "right", "left_text", "right_text"),
            None => ("id", NEIGHBOR, "text", "neighbor_text"),
        };
        let mut columns = vec![
            self.ids(id, &items),
            Column::count("rank", lists.iter().flat_map(|list| 1..=list.len() as u64).map(Some)),
            self.ids(neighbor, &others),
            Column::number("score", entries().map(|one| Some(one.score))),
            Column::flag("exact", entries().map(|one| Some(one.exact))),
        ];
        if lists.len() <= MOST_WITH_TEXTS {
            columns.extend(self.texts(text, &items));
            columns.extend(self.texts(neighbor_text, &others));
        }
        columns
    }
}
