//! `methods:` — the approximators of a sweep, each with its parameters, exact entries and proxy.

use std::fmt;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, Proxied};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape};
use landmark_yaml::{Node, Problem, Section, Span, Value};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::entries::EntriesConfig;
use super::method_entry::{MethodEntry, MethodKeys, MethodOrder};
use super::proxy::{ProxyConfig, ProxyLink};
use super::reading::Reading;

#[derive(Clone, Serialize)]
pub struct MethodConfig {
    pub id: &'static str,
    /// Label in the tables; unique in a configuration.
    pub name: String,
    /// Its own parameters, after defaults.
    #[serde(flatten)]
    pub params: Map<String, Json>,
    /// Entries that it returns exactly.
    pub known: Known,
    /// One order a pair instead of the mean of both, at half the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<MethodOrder>,
    /// Approximate the residual of this instead of the matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyConfig>,
    /// Entries that its calls go to, where they are not columns alone.
    #[serde(skip_serializing_if = "EntriesConfig::is_columns")]
    pub entries: EntriesConfig,
    /// The method itself, checked, its calls divided as in `entries`: what is planned.
    #[serde(skip)]
    pub approximator: Arc<dyn Approximate>,
    /// The same without its entries divided: what a proxy is put around.
    #[serde(skip)]
    bare: Arc<dyn Approximate>,
    #[serde(skip)]
    pub entry: &'static MethodEntry,
    #[serde(skip)]
    pub place: Span,
}

impl fmt::Debug for MethodConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} {:?}", self.name, Json::Object(self.params.clone()), self.known, self.proxy)
    }
}

impl MethodConfig {
    /// Reads the list; an entry may be a bare id. Names are made unique here.
    pub fn read_all(node: &Node, reading: &Reading<'_>) -> Vec<Self> {
        let problems = reading.problems;
        let Value::List(items) = &node.value else {
            problems.add(Problem::new(format!("`methods` is {}, but must be a list", node.describe())).at(node.place));
            return Vec::new();
        };
        if items.is_empty() {
            problems.add(
                Problem::new("`methods` is empty").at(node.place).help("name at least one; `landmark list methods`"),
            );
        }
        let read = |(index, item)| Self::read(item, &format!("methods[{index}]"), reading);
        let methods: Vec<Self> = items.iter().enumerate().filter_map(read).collect();
        for (index, method) in methods.iter().enumerate() {
            if let Some(first) = methods[..index].iter().find(|first| first.name == method.name) {
                problems.add(
                    Problem::new(format!("two methods are called `{}`", method.name))
                        .at(method.place)
                        .label("the second")
                        .also(first.place, "the first")
                        .help("give each a `name` of its own"),
                );
            }
        }
        methods
    }

    /// The method with another |S2| / |S1|; itself where it has no second set.
    pub fn with_second_set(&self, ratio: f64) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let other = self.approximator.with_second_set(ratio)?;
        Ok(other.unwrap_or_else(|| Arc::clone(&self.approximator)))
    }

    /// The method around its proxies, the first one first, its calls divided as in `entries`; `ratio` is another |S2| / |S1|.
    pub fn around(
        &self,
        proxies: Vec<Arc<dyn Oracle>>,
        ratio: Option<f64>,
    ) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let other = ratio.map_or(Ok(None), |ratio| self.bare.with_second_set(ratio))?;
        let bare = other.unwrap_or_else(|| Arc::clone(&self.bare));
        let (Some(wanted), Some((first, more))) = (&self.proxy, proxies.split_first()) else {
            return self.entries.around(bare, Vec::new());
        };
        if let Some(own) = bare.with_proxies(&proxies) {
            return self.entries.around(own, Vec::new());
        }
        let proxied = Proxied::new(bare, Arc::clone(first), wanted.family()).with_more(more.iter().cloned());
        let proxied = match wanted.link {
            ProxyLink::Pair => proxied,
            ProxyLink::Hub => proxied.with_hubness(),
        };
        self.entries.around(Arc::new(proxied), proxies)
    }

    /// True where a fit chooses pairs by what it sees, so that another fit chooses others.
    pub fn chooses_pairs(&self) -> bool {
        let (len, rank) = TRIAL;
        let items: Vec<usize> = (0..len).collect();
        let shape = OracleShape::symmetric(len);
        let trial = Landmarks::new(len, items.clone(), items).map_err(ApproximateError::from);
        let plan = trial.and_then(|landmarks| self.approximator.plan(shape, &landmarks, rank));
        !self.entries.is_columns() || plan.is_ok_and(|plan| plan.chosen > 0)
    }

    fn read(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        let problems = reading.problems;
        let (id, id_place, section) = Section::tagged(node, path, "id", problems)?;
        let Some(entry) = reading.known.method(&id) else {
            let known = reading.known.methods.iter().map(|method| method.id);
            problems.add(Problem::unknown("method", &id, known).at(id_place));
            return None;
        };
        let of_all: Option<MethodKeys> = section.part();
        let built = (entry.read)(&section);
        section.finish(&[]);
        let (MethodKeys { name, known, order, proxy, entries }, built) = (of_all?, built?);
        let name = name.unwrap_or_else(|| default_name(entry.id, known, order, proxy.as_ref(), entries));
        let bare = built.approximator;
        if !entries.is_columns() && !evaluates_some_columns(bare.as_ref()) {
            let message = format!("`{id}` evaluates no columns, or all of them: no calls are left for `entries`");
            section.refuse("entries", message);
            return None;
        }
        // parameters out of range were reported where they are read
        let approximator = entries.around(Arc::clone(&bare), Vec::new()).ok()?;
        Some(Self {
            id: entry.id,
            name,
            params: built.params,
            known,
            order,
            proxy,
            entries,
            approximator,
            bare,
            entry,
            place: node.place,
        })
    }
}

/// `shift_ridge + known + rwmd`: what distinguishes it from the bare method.
fn default_name(
    id: &str,
    known: Known,
    order: Option<MethodOrder>,
    proxy: Option<&ProxyConfig>,
    entries: EntriesConfig,
) -> String {
    let mut name = id.to_owned();
    match (known.landmarks, known.diagonal) {
        (false, false) => {}
        (true, _) => name += " + known",
        (false, true) => name += " + diagonal",
    }
    if let Some(proxy) = proxy {
        name = proxy.kinds().fold(name, |name, kind| format!("{name} + {}", kind.id()));
        if proxy.link == ProxyLink::Hub {
            name += " + hub";
        }
    }
    if order.is_some() {
        name += ", one order";
    }
    if !entries.is_columns() {
        name += " + scattered";
    }
    name
}

/// Items and landmarks of a fit that is planned to see what a method does.
const TRIAL: (usize, usize) = (64, 16);

/// True where a fit names some columns and not all of them, seen on eight items.
fn evaluates_some_columns(method: &dyn Approximate) -> bool {
    let items: Vec<usize> = (0..8).collect();
    let Ok(landmarks) = Landmarks::new(items.len(), items.clone(), items) else { return false };
    (1..8).contains(&method.entries(8, &landmarks, 2).full_columns().len())
}
