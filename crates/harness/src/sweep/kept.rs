//! Landmarks that stay when a list grows: those of the factors that a run wrote before.
//!
//! A uniform sample of a list that grew from n to n + m items exchanges about s·m/(n + m) of its s landmarks, each for n + m calls. Landmarks that stay
//! cost the m·s calls of the new items alone. They are no uniform sample of the new list: what needs one (a stated recall of lists from factors)
//! states that.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use crate::problem::Problem;

/// Folder of the factors in the folder of a run.
pub const FACTORS: &str = "factors";
pub const INFO: &str = "factors.json";

#[derive(Deserialize)]
struct Before {
    #[serde(default)]
    landmarks: Vec<usize>,
    #[serde(default)]
    landmark_contents: Vec<String>,
}

/// All items: the landmarks of the factors in `folder` whose items are still there, in their order, then the others in their uniform order.
pub fn kept_landmarks(problem: &Problem, seed: u64, folder: &Path) -> Result<Vec<usize>, String> {
    let Some(contents) = problem.contents.as_deref() else {
        return Err("cannot keep landmarks: the items are rows of a matrix, without contents (expected texts). \
                    Write `landmarks: { policy: given, indices: […] }`"
            .to_owned());
    };
    let drawn = problem.uniform_landmarks(seed, 0);
    let path = folder.join(FACTORS).join(INFO);
    let before = match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<Before>(&bytes).map_err(|error| error.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(drawn.order().to_vec()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|reason| {
        format!("cannot keep the landmarks of `{}`: {reason}. Remove the folder to draw new ones", path.display())
    })?;
    if before.landmark_contents.len() != before.landmarks.len() {
        return Err(format!(
            "cannot keep the landmarks of `{}`: it does not name their contents (it was written by an earlier version). \
             Run once with `landmarks: uniform`, or remove the folder to draw new ones",
            path.display()
        ));
    }
    let items: HashMap<String, usize> = (0..contents.len()).map(|item| (contents.name(item), item)).collect();
    let mut order: Vec<usize> = before.landmark_contents.iter().filter_map(|name| items.get(name).copied()).collect();
    let kept: HashSet<usize> = order.iter().copied().collect();
    order.extend(drawn.order().iter().filter(|item| !kept.contains(item)));
    Ok(order)
}
