//! Approximators and landmark policies by their ids, with the parameters and defaults that the code itself has.
//!
//! The ids are those of the program's catalog (a test of the workspace compares them). `wme` is none of these: it needs documents, and is a
//! map of its own.

use std::sync::Arc;

use landmark_core::approximate::{
    Approximate, ApproximateError, Exact, Link, Nystrom, Optimal, Proxied, ScatteredParams, ShiftRidgeParams,
    SiCurParams, Skeleton, SmsNystromParams, StaCur, StackParams,
};
use landmark_core::landmarks::LandmarkPolicy;
use landmark_core::oracle::Oracle;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::errors::value;

/// Parameters after defaults, and the approximator that they make.
type Ready = (Json, Arc<dyn Approximate>);

/// A method: its id, and how its parameters become an approximator; answers the parameters after defaults, too.
struct Method {
    id: &'static str,
    read: fn(Json) -> Result<Ready, String>,
}

const METHODS: &[Method] = &[
    Method { id: "nystrom", read: |json| read(json, |NoParams {}| Ok(Nystrom)) },
    Method { id: "sms_nystrom", read: |json| read(json, SmsNystromParams::check) },
    Method { id: "skeleton", read: |json| read(json, |NoParams {}| Ok(Skeleton)) },
    Method { id: "sicur", read: |json| read(json, SiCurParams::check) },
    Method { id: "stacur", read: |json| read(json, Ok::<StaCur, _>) },
    Method { id: "optimal", read: |json| read(json, |NoParams {}| Ok(Optimal)) },
    Method { id: "exact", read: |json| read(json, |NoParams {}| Ok(Exact)) },
    Method { id: "shift_ridge", read: |json| read(json, ShiftRidgeParams::check) },
    Method { id: "stack", read: |json| read(json, StackParams::check) },
];

const POLICIES: &[&str] = &["uniform", "given", "leverage", "rpcholesky", "kmeans++", "farthest"];

/// Parameters of a method that takes none.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

fn read<P, M>(json: Json, check: fn(P) -> Result<M, ApproximateError>) -> Result<(Json, Arc<dyn Approximate>), String>
where
    P: DeserializeOwned + Serialize,
    M: Approximate + 'static,
{
    let params: P = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let written = serde_json::to_value(&params).map_err(|error| error.to_string())?;
    let method = check(params).map_err(|error| error.to_string())?;
    Ok((written, Arc::new(method)))
}

/// Settings of a method, its proxies apart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodSettings {
    id: String,
    #[serde(default)]
    params: Map<String, Json>,
    /// Calls divided between columns and single pairs.
    #[serde(default)]
    scattered: Option<ScatteredParams>,
    /// Degree of the link to the proxies, 1 to 3.
    degree: usize,
    /// The link may use how popular items are.
    #[serde(default)]
    popularity: bool,
}

impl MethodSettings {
    /// The method around its proxies, the main one first.
    pub(crate) fn around(&self, proxies: Vec<Arc<dyn Oracle>>) -> PyResult<Arc<dyn Approximate>> {
        let known = || METHODS.iter().map(|method| method.id).collect::<Vec<_>>().join(", ");
        let refused = |why: String| PyValueError::new_err(format!("method `{}`: {why}", self.id));
        let method = METHODS.iter().find(|method| method.id == self.id);
        let method = method.ok_or_else(|| refused(format!("unknown; there are {}", known())))?;
        let (_, bare) = (method.read)(Json::Object(self.params.clone())).map_err(refused)?;
        let scatter = |method: Arc<dyn Approximate>, proxies| -> PyResult<Arc<dyn Approximate>> {
            Ok(match self.scattered {
                Some(params) => Arc::new(params.around(method, proxies).map_err(|error| value(&error))?),
                None => method,
            })
        };
        let Some((first, more)) = proxies.split_first() else { return scatter(bare, Vec::new()) };
        if let Some(own) = bare.with_proxies(&proxies) {
            return scatter(own, Vec::new());
        }
        let link = Link { degree: self.degree };
        let proxied = Proxied::new(bare, Arc::clone(first), link).with_more(more.iter().cloned());
        scatter(Arc::new(if self.popularity { proxied.with_hubness() } else { proxied }), proxies)
    }
}

/// Settings of a landmark policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicySettings {
    id: String,
    #[serde(default)]
    indices: Option<Vec<usize>>,
    #[serde(default)]
    first_round: Option<f64>,
}

impl PolicySettings {
    pub(crate) fn policy(&self) -> PyResult<LandmarkPolicy> {
        let refused = |why: &str| PyValueError::new_err(format!("landmarks `{}`: {why}", self.id));
        if self.first_round.is_some() && self.id != "leverage" || self.indices.is_some() != (self.id == "given") {
            return Err(refused(
                "`indices` are those of `given`, which needs them; `first_round` is that of `leverage`",
            ));
        }
        Ok(match self.id.as_str() {
            "uniform" => LandmarkPolicy::Uniform,
            "given" => LandmarkPolicy::Given { indices: self.indices.clone().unwrap_or_default() },
            "leverage" => LandmarkPolicy::Leverage { first_round: self.first_round.unwrap_or(0.5) },
            "rpcholesky" => LandmarkPolicy::RpCholesky,
            "kmeans++" => LandmarkPolicy::KMeansPlusPlus,
            "farthest" => LandmarkPolicy::Farthest,
            _ => return Err(refused(&format!("unknown; there are {}", POLICIES.join(", ")))),
        })
    }
}

/// JSON of every method: {id: {parameter: default}}.
#[pyfunction]
pub(crate) fn methods() -> PyResult<String> {
    let mut all = Map::new();
    for method in METHODS {
        let (params, _) = (method.read)(json!({}))
            .map_err(|why| PyValueError::new_err(format!("the defaults of `{}`: {why}", method.id)))?;
        all.insert(method.id.to_owned(), params);
    }
    Ok(Json::Object(all).to_string())
}

/// Ids of the landmark policies.
#[pyfunction]
pub(crate) fn landmark_policies() -> Vec<&'static str> {
    POLICIES.to_vec()
}
