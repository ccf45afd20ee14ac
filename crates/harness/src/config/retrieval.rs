//! `retrieval:` — the proxies and the calls an item that `experiment: retrieval` tries.

use landmark_yaml::{Section, Value};
use serde::Serialize;

use super::method::ProxyKind;
use super::reading::Reading;

/// `calls:` — a list of numbers of at least 1.
pub(super) fn read_calls(section: &Section<'_>) -> Option<Vec<usize>> {
    let calls: Vec<usize> = section.optional("calls")?;
    if calls.is_empty() || calls.contains(&0) {
        let path = section.path_of("calls");
        section.refuse("calls", format!("`{path}` is {calls:?}, but must be a list of numbers of at least 1"));
    }
    Some(calls)
}

/// Neighbours at a number of calls an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalConfig {
    /// Cheap relatives, each tried on its own.
    pub proxies: Vec<ProxyKind>,
    /// Calls an item.
    pub calls: Vec<usize>,
    /// Rounds of the searches that work in rounds.
    pub rounds: usize,
}

impl RetrievalConfig {
    /// Reads the section of a file.
    pub(super) fn read(file: &Section<'_>, reading: &Reading<'_>) -> Option<Self> {
        let node = file.required_node("retrieval")?;
        let section = Section::new(node, "retrieval", reading.problems)?;
        let proxies = section.required_node("proxies").map(|node| match &node.value {
            Value::List(items) => {
                let read = |(index, item)| ProxyKind::read_alone(item, &format!("retrieval.proxies[{index}]"), reading);
                items.iter().enumerate().filter_map(read).collect()
            }
            _ => ProxyKind::read_alone(node, "retrieval.proxies", reading).into_iter().collect::<Vec<_>>(),
        });
        let calls = read_calls(&section);
        let rounds = section.checked("rounds", |&rounds: &usize| rounds >= 1, "at least 1");
        section.finish(&[]);
        Some(Self {
            proxies: proxies?,
            calls: calls.unwrap_or_else(|| vec![5, 10, 20, 50, 100]),
            rounds: rounds.unwrap_or(4),
        })
    }
}
