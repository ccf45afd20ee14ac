//! Kind of a tree kernel, and its decays.

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;
use serde::{Deserialize, Serialize};

/// Parameters as a configuration gives them; the defaults are those of KeLP's question classification.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "snake_case", deny_unknown_fields)]
pub enum TreeKernelParams {
    St {
        /// Decay λ > 0.
        #[serde(default = "default_decay")]
        lambda: f64,
        /// True where equal leaves count λ.
        #[serde(default = "default_leaves")]
        leaves: bool,
    },
    Sst {
        /// Decay λ > 0.
        #[serde(default = "default_decay")]
        lambda: f64,
        /// True where equal leaves count λ.
        #[serde(default = "default_leaves")]
        leaves: bool,
    },
    Ptk {
        /// Decay λ > 0 of gaps.
        #[serde(default = "default_decay")]
        lambda: f64,
        /// Decay µ > 0 of depth.
        #[serde(default = "default_decay")]
        mu: f64,
        /// Factor t ≥ 0 on a match with a leaf.
        #[serde(default = "default_terminal_factor")]
        terminal_factor: f64,
    },
    /// Partial trees with similar labels.
    Sptk {
        /// Decay λ > 0 of gaps.
        #[serde(default = "default_decay")]
        lambda: f64,
        /// Decay µ > 0 of depth.
        #[serde(default = "default_decay")]
        mu: f64,
        /// Factor t ≥ 0 on a match with a leaf.
        #[serde(default = "default_smoothed_terminal_factor")]
        terminal_factor: f64,
    },
}

fn default_decay() -> f64 {
    0.4
}

fn default_leaves() -> bool {
    true
}

fn default_terminal_factor() -> f64 {
    5.0
}

fn default_smoothed_terminal_factor() -> f64 {
    0.2
}

/// Checked [`TreeKernelParams`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeKernelValidParams(TreeKernelParams);

impl TreeKernelValidParams {
    pub fn params(&self) -> &TreeKernelParams {
        &self.0
    }
}

impl TreeKernelParams {
    /// Partial trees as KeLP counts them in question classification: λ = µ = 0.4, terminal factor 5.
    pub fn ptk() -> Self {
        Self::Ptk { lambda: default_decay(), mu: default_decay(), terminal_factor: default_terminal_factor() }
    }

    pub fn id(&self) -> &'static str {
        match self {
            Self::St { .. } => "st",
            Self::Sst { .. } => "sst",
            Self::Ptk { .. } => "ptk",
            Self::Sptk { .. } => "sptk",
        }
    }

    /// The parameters, checked once.
    ///
    /// # Errors
    /// [`OracleError::Parameter`] for a decay that is not above 0 and finite, or a terminal factor that is negative or
    /// not finite.
    pub fn check(self) -> Result<TreeKernelValidParams, OracleError> {
        let positive = |parameter, value: f64| -> Result<(), OracleError> {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(BadParameter::new(parameter, value, "a finite number above 0").into())
        };
        match self {
            Self::St { lambda, .. } | Self::Sst { lambda, .. } => positive("lambda", lambda)?,
            Self::Ptk { lambda, mu, terminal_factor } | Self::Sptk { lambda, mu, terminal_factor } => {
                positive("lambda", lambda)?;
                positive("mu", mu)?;
                if !(terminal_factor >= 0.0 && terminal_factor.is_finite()) {
                    let wanted = "a finite number, 0 or above";
                    return Err(BadParameter::new("terminal_factor", terminal_factor, wanted).into());
                }
            }
        }
        Ok(TreeKernelValidParams(self))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let numbers = match *self {
            Self::St { lambda, leaves } | Self::Sst { lambda, leaves } => vec![lambda, f64::from(u8::from(leaves))],
            Self::Ptk { lambda, mu, terminal_factor } | Self::Sptk { lambda, mu, terminal_factor } => {
                vec![lambda, mu, terminal_factor]
            }
        };
        numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decay_that_is_not_positive_is_refused_by_name() {
        let message = TreeKernelParams::Sst { lambda: 0.0, leaves: true }.check().unwrap_err().to_string();
        assert_eq!(message, "`lambda` is 0, but must be a finite number above 0");
        for (mu, terminal_factor) in [(f64::NAN, 1.0), (-1.0, 1.0), (0.4, -0.1), (0.4, f64::INFINITY)] {
            assert!(TreeKernelParams::Ptk { lambda: 0.4, mu, terminal_factor }.check().is_err());
        }
    }

    #[test]
    fn a_configuration_may_name_the_kernel_alone() {
        let params: TreeKernelParams = serde_json::from_str(r#"{"kernel": "ptk"}"#).unwrap();
        assert_eq!(params, TreeKernelParams::ptk());
        assert!(serde_json::from_str::<TreeKernelParams>(r#"{"kernel": "ptk", "leaves": true}"#).is_err());
    }
}
