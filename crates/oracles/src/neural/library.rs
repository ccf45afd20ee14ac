//! The library that runs models, opened at the first need.
//!
//! libtorch takes 0.4 s to load. A program that links it pays that before `main`, whatever it is asked; so the program links only
//! [`Neural`], and `landmark-neural` is a shared object next to it. What crosses is Rust: traits, and types of the standard library and
//! of this workspace alone, so that two builds of the same sources by the same compiler agree on them, whatever features other crates have
//! in either. The [`STAMP`] identifies any other build, which is refused before anything of it is called.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::{Library, Symbol};

use super::{DeviceChoice, LIBRARY_VARIABLE, NEXT_STEP_VARIABLE, Neural, NeuralError};

/// `landmark_neural_stamp`: a C function, for it is called before the compilers are known to agree.
pub type StampFunction = extern "C" fn() -> *const c_char;
/// `landmark_neural_open`: the device, the threads of an operation (libtorch's own choice where none), and who hears of warnings.
pub type OpenFunction = fn(DeviceChoice, Option<usize>, Warn) -> Result<Arc<dyn Neural>, NeuralError>;
pub type Warn = fn(&str);

/// The build that [`Neural`] belongs to: version, compiler, a digest of the sources of all crates whose types cross.
pub const STAMP: &CStr = match CStr::from_bytes_with_nul(concat!(env!("LANDMARK_INTERFACE"), "\0").as_bytes()) {
    Ok(stamp) => stamp,
    Err(_) => panic!("a version with a zero byte"),
};

/// Loads libtorch, if it is not there yet, for work on a device.
///
/// # Errors
/// [`NeuralError::NotFound`], [`NeuralError::DoesNotLoad`], [`NeuralError::OtherBuild`]; a device that is not there.
pub fn open(device: DeviceChoice, threads: Option<usize>) -> Result<Arc<dyn Neural>, NeuralError> {
    let places = places();
    let Some(file) = places.iter().find(|place| place.is_file()) else {
        return Err(NeuralError::NotFound { places });
    };
    // the library has a log of its own, which nobody reads
    opened(file)?(device, threads, |text| tracing::warn!("{text}"))
}

/// The file that the variable names; else `deps/` below the program (a build, always fresh), the program's folder, and `lib/` next to that folder.
fn places() -> Vec<PathBuf> {
    if let Some(file) = std::env::var_os(LIBRARY_VARIABLE) {
        return vec![PathBuf::from(file)];
    }
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new(""));
    let name = libloading::library_filename("landmark_neural");
    [folder.join("deps"), folder.to_owned(), folder.join("../lib")].map(|folder| folder.join(&name)).into()
}

fn opened(file: &Path) -> Result<OpenFunction, NeuralError> {
    let failed = |error: libloading::Error| NeuralError::DoesNotLoad {
        file: file.to_owned(),
        next_step: std::env::var(NEXT_STEP_VARIABLE).unwrap_or_else(|_| {
            "`scripts/setup` fetches libtorch, and `ldd` lists the libraries that are missing".to_owned()
        }),
        source: error.into(),
    };
    // SAFETY: loading runs the initialisers of libtorch, which are made for it
    let library = unsafe { Library::new(file) }.map_err(failed)?;
    // it stays for good: what it hands out refers into it, and libtorch does not unload
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: a function of this name is of this type in every version of the library
    let stamp_of: Symbol<'_, StampFunction> = unsafe { library.get(c"landmark_neural_stamp") }.map_err(failed)?;
    // SAFETY: it returns a string that is never freed
    let seen = unsafe { CStr::from_ptr(stamp_of()) };
    if seen != STAMP {
        let [seen, wanted] = [seen, STAMP].map(|stamp| stamp.to_string_lossy().into_owned());
        return Err(NeuralError::OtherBuild { file: file.to_owned(), seen, wanted });
    }
    // SAFETY: the stamps agree, so the same compiler made this function out of the same sources of what it names
    let open: Symbol<'_, OpenFunction> = unsafe { library.get(c"landmark_neural_open") }.map_err(failed)?;
    Ok(*open)
}
