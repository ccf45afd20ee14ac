//! The device that computes, and what a result states of the libtorch that made it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `device:` of a configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The first GPU if there is one, else the CPU.
    #[default]
    Auto,
    Cpu,
    Cuda(usize),
}

/// The libtorch that made a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorchReport {
    /// Its own version (`2.11.0`, `2.11.0+cu130`), where the file `build-version` lies next to it.
    pub version: Option<String>,
    /// Number of usable GPUs.
    pub gpus: usize,
    /// Threads of one operation on the CPU.
    pub threads: usize,
    /// True where it was built with Intel's MKL (the next field: oneDNN); sums differ in the last digits between builds.
    pub mkl: bool,
    pub mkldnn: bool,
}

/// A word that is not the name of a device.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a device; use `auto`, `cpu`, `cuda` or `cuda:1`")]
pub struct UnknownDevice(String);

impl FromStr for DeviceChoice {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", index)) => match index.parse() {
                Ok(index) => Ok(Self::Cuda(index)),
                Err(_) => Err(UnknownDevice(text.to_owned())),
            },
            _ => Err(UnknownDevice(text.to_owned())),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = UnknownDevice;

    fn try_from(text: String) -> Result<Self, UnknownDevice> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda:0", DeviceChoice::Cuda(0)),
            ("cuda:3", DeviceChoice::Cuda(3)),
        ] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap(), choice);
            assert_eq!(choice.to_string(), text);
        }
        assert_eq!("cuda".parse::<DeviceChoice>().unwrap(), DeviceChoice::Cuda(0));
        for text in ["gpu", "cuda:", "cuda:-1", "CPU", "cpu:0", ""] {
            assert_eq!(
                text.parse::<DeviceChoice>().unwrap_err().to_string(),
                format!("`{text}` is not a device; use `auto`, `cpu`, `cuda` or `cuda:1`")
            );
        }
    }
}
