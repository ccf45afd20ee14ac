//! libtorch at start-up: loading its CUDA half, choosing a device, and saying what was found.
//!
//! A linker told `--as-needed` drops `libtorch_cuda.so`, for no symbol of it is named; a program that does not open it by hand
//! before its first tensor never sees a GPU. [`Torch::start`] does so, and only a [`Torch`] hands out devices, so it
//! cannot be forgotten. A build of libtorch without CUDA has no such file, and then nothing happens.
//!
//! A `tch::Tensor` is not `Sync`: an oracle that owns a model keeps it on one worker thread and sends batches over a
//! channel.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tch::{Cuda, Device};

/// A libtorch that is ready for use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torch {
    folder: Option<PathBuf>,
}

/// What a result says about the libtorch that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorchReport {
    /// Its own version (`2.11.0`, `2.11.0+cu130`), where the file `build-version` lies beside it.
    pub version: Option<String>,
    /// Number of usable GPUs.
    pub gpus: usize,
    /// Threads of one operation on the CPU.
    pub threads: usize,
    /// Whether it was built with Intel's MKL and oneDNN; sums differ in the last digits between builds.
    pub mkl: bool,
    /// As above.
    pub mkldnn: bool,
}

/// `device:` of a configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The first GPU if there is one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// This GPU.
    Cuda(usize),
}

/// Why torch cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TorchError {
    /// Not the name of a device.
    #[error("`{0}` is not a device; use `auto`, `cpu`, `cuda` or `cuda:1`")]
    UnknownDevice(String),
    /// A GPU was asked for that is not there.
    #[error("`device: cuda:{index}` was asked for, but libtorch{} sees {gpus} GPUs; use `auto` or `cpu`, or point LIBTORCH at a build with CUDA", of(folder.as_deref()))]
    NoSuchGpu {
        /// Index asked for.
        index: usize,
        /// GPUs there are.
        gpus: usize,
        /// Where the libtorch in use lies.
        folder: Option<PathBuf>,
    },
    /// The CUDA half of libtorch does not load.
    #[error("`{}` lies beside libtorch but does not load; mend that installation, or point LIBTORCH at a CPU build", file.display())]
    CudaDoesNotLoad {
        /// The library.
        file: PathBuf,
        /// What the system's loader says.
        #[source]
        source: libloading::Error,
    },
}

impl Torch {
    /// Makes libtorch ready: opens its CUDA half where there is one. To be called before anything else of torch.
    ///
    /// # Errors
    /// [`TorchError::CudaDoesNotLoad`].
    pub fn start() -> Result<Self, TorchError> {
        let folder = loaded_folder();
        if let Some(file) = folder.as_ref().map(|folder| folder.join("libtorch_cuda.so")).filter(|file| file.exists()) {
            open_for_all(&file).map_err(|source| TorchError::CudaDoesNotLoad { file, source })?;
        }
        Ok(Self { folder })
    }

    /// The device that a configuration asks for.
    ///
    /// # Errors
    /// [`TorchError::NoSuchGpu`].
    pub fn device(&self, choice: DeviceChoice) -> Result<Device, TorchError> {
        match choice {
            DeviceChoice::Cpu => Ok(Device::Cpu),
            DeviceChoice::Auto if self.gpus() == 0 => Ok(Device::Cpu),
            DeviceChoice::Auto => Ok(Device::Cuda(0)),
            DeviceChoice::Cuda(index) if index < self.gpus() => Ok(Device::Cuda(index)),
            DeviceChoice::Cuda(index) => {
                Err(TorchError::NoSuchGpu { index, gpus: self.gpus(), folder: self.folder.clone() })
            }
        }
    }

    /// Number of usable GPUs.
    pub fn gpus(&self) -> usize {
        if Cuda::is_available() { usize::try_from(Cuda::device_count()).unwrap_or(0) } else { 0 }
    }

    /// For the provenance of a result.
    pub fn report(&self) -> TorchReport {
        // libtorch/lib/libtorch_cpu.so, libtorch/build-version
        let version = self.folder.as_deref().and_then(Path::parent).map(|root| root.join("build-version"));
        TorchReport {
            version: version.and_then(|file| std::fs::read_to_string(file).ok()).map(|text| text.trim().to_owned()),
            gpus: self.gpus(),
            threads: usize::try_from(tch::get_num_threads()).unwrap_or(1),
            mkl: tch::utils::has_mkl(),
            mkldnn: tch::utils::has_mkldnn(),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = TorchError;

    fn from_str(text: &str) -> Result<Self, TorchError> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", index)) => match index.parse() {
                Ok(index) => Ok(Self::Cuda(index)),
                Err(_) => Err(TorchError::UnknownDevice(text.to_owned())),
            },
            _ => Err(TorchError::UnknownDevice(text.to_owned())),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = TorchError;

    fn try_from(text: String) -> Result<Self, TorchError> {
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

/// The folder that this process loaded `libtorch_cpu.so` from, by the system's own list of what is mapped (Linux only).
fn loaded_folder() -> Option<PathBuf> {
    // any call will do: one that is made keeps the linker from dropping libtorch itself
    let _ = tch::get_num_threads();
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let library = maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| is_torch(path)))?;
    Path::new(library).parent().map(Path::to_path_buf)
}

fn is_torch(path: &str) -> bool {
    path.ends_with("/libtorch_cpu.so")
}

/// Opens a library for the whole process and for good.
#[cfg(unix)]
fn open_for_all(file: &Path) -> Result<(), libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: loading runs the initialisers of libtorch's own CUDA library, which are made to be run by loading it; it is
    // never unloaded, so nothing that refers into it can dangle
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }?;
    std::mem::forget(library);
    Ok(())
}

#[cfg(not(unix))]
fn open_for_all(_: &Path) -> Result<(), libloading::Error> {
    Ok(())
}

fn of(folder: Option<&Path>) -> String {
    folder.map_or_else(String::new, |folder| format!(" of `{}`", folder.display()))
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
