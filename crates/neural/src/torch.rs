//! libtorch at start-up: its CUDA half loaded, a device chosen, what was found reported.
//!
//! A linker called with `--as-needed` drops `libtorch_cuda.so`, for no symbol of it is named; a program that does not open it by hand
//! before its first tensor never sees a GPU. [`Torch::start`] does so, and only a [`Torch`] hands out devices, so it
//! cannot be forgotten. A build of libtorch without CUDA has no such file, and then nothing happens.
//!
//! A `tch::Tensor` is not `Sync`: an oracle that owns a model keeps it on one worker thread and sends batches over a
//! channel.

use std::path::{Path, PathBuf};

use landmark_oracles::neural::{DeviceChoice, TorchReport};
use tch::{Cuda, Device};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torch {
    folder: Option<PathBuf>,
}

/// A device that libtorch can't give.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TorchError {
    #[error("`device: cuda:{index}` was asked for, but libtorch{} sees {gpus} GPUs; use `auto` or `cpu`, or point LIBTORCH at a build with CUDA", of(folder.as_deref()))]
    NoSuchGpu { index: usize, gpus: usize, folder: Option<PathBuf> },
    #[error("cannot load `{}`, which lies next to libtorch; repair that installation, or point LIBTORCH at a CPU build", file.display())]
    CudaDoesNotLoad {
        file: PathBuf,
        #[source]
        source: libloading::Error,
    },
}

impl Torch {
    /// Makes libtorch ready: opens its CUDA half where there is one. To be called before anything else of torch.
    pub fn start() -> Result<Self, TorchError> {
        let folder = loaded_folder();
        if let Some(file) = folder.as_ref().map(|folder| folder.join("libtorch_cuda.so")).filter(|file| file.exists()) {
            open_for_all(&file).map_err(|source| TorchError::CudaDoesNotLoad { file, source })?;
        }
        Ok(Self { folder })
    }

    /// The device that a configuration asks for.
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

    pub fn gpus(&self) -> usize {
        if Cuda::is_available() { usize::try_from(Cuda::device_count()).unwrap_or(0) } else { 0 }
    }

    pub fn report(&self) -> TorchReport {
        TorchReport {
            version: self.folder.as_deref().and_then(Path::parent).and_then(version),
            gpus: self.gpus(),
            threads: usize::try_from(tch::get_num_threads()).unwrap_or(1),
            mkl: tch::utils::has_mkl(),
            mkldnn: tch::utils::has_mkldnn(),
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

/// The version of a libtorch, by the file that an archive of it has at its root, or by that of a Python package.
fn version(root: &Path) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
    let of_archive = read("build-version").map(|text| text.trim().to_owned());
    of_archive.or_else(|| {
        let package = read("version.py")?;
        let quoted = package.lines().find_map(|line| line.strip_prefix("__version__ = "))?;
        Some(quoted.trim().trim_matches(['\'', '"']).to_owned())
    })
}

fn is_torch(path: &str) -> bool {
    path.ends_with("/libtorch_cpu.so")
}

/// Opens a library for the whole process and for good.
#[cfg(unix)]
fn open_for_all(file: &Path) -> Result<(), libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: loading runs the initializers of libtorch's own CUDA library, which are made to be run by loading it; it is
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
    fn an_archive_and_a_python_package_tell_their_version() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(version(root.path()), None);
        std::fs::write(root.path().join("version.py"), "from typing import Optional\n__version__ = '2.11.0+cu130'\n")
            .unwrap();
        assert_eq!(version(root.path()).as_deref(), Some("2.11.0+cu130"));
        std::fs::write(root.path().join("build-version"), "2.11.0\n").unwrap();
        assert_eq!(version(root.path()).as_deref(), Some("2.11.0"));
    }
}
