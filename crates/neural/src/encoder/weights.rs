//! `model.safetensors`: named tensors, checked against the configuration.
//!
//! Names are those of HuggingFace; the prefix `bert.` or `roberta.`, which files with a head have and others lack, is taken
//! off when read.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use landmark_data::contained;
use landmark_oracles::neural::ModelFiles;
use safetensors::{Dtype, SafeTensors};
use tch::{Device, Kind, TchError, Tensor};

use super::ModelError;

/// The tensors of a file, in f32, on one device.
#[derive(Debug)]
pub struct Weights {
    tensors: BTreeMap<String, Tensor>,
    path: PathBuf,
}

impl Weights {
    pub fn of(files: &ModelFiles, device: Device) -> Result<Self, ModelError> {
        Self::parse(&files.weights_bytes()?, &files.weights(), device)
    }

    /// Reads the bytes of a safetensors file; `path` is for error messages. What holds no floating-point numbers is left out.
    pub fn parse(bytes: &[u8], path: &Path, device: Device) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Weights { path: path.to_owned(), why };
        let file = contained(|| SafeTensors::deserialize(bytes)).map_err(wrong)?;
        let file = file.map_err(|error| wrong(error.to_string()))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.tensors() {
            let kind = match view.dtype() {
                Dtype::F32 => Kind::Float,
                Dtype::F16 => Kind::Half,
                Dtype::BF16 => Kind::BFloat16,
                Dtype::F64 => Kind::Double,
                // position ids and the like
                _ => continue,
            };
            let shape: Vec<i64> = view.shape().iter().map(|&side| i64::try_from(side).unwrap_or(i64::MAX)).collect();
            let tensor = Tensor::f_from_data_size(view.data(), &shape, kind)?;
            let tensor = tensor.f_to_kind(Kind::Float)?.f_to_device(device)?;
            let name = name.strip_prefix("bert.").or_else(|| name.strip_prefix("roberta.")).unwrap_or(&name);
            tensors.insert(name.to_owned(), tensor);
        }
        Ok(Self { tensors, path: path.to_owned() })
    }

    /// Writes tensors to a safetensors file, atomically; the bytes depend on names and values alone.
    pub fn write(tensors: &BTreeMap<String, Tensor>, path: &Path) -> Result<(), ModelError> {
        Self::write_with(tensors, None, path)
    }

    pub(crate) fn write_with(
        tensors: &BTreeMap<String, Tensor>,
        facts: Option<HashMap<String, String>>,
        path: &Path,
    ) -> Result<(), ModelError> {
        let mut held = Vec::with_capacity(tensors.len());
        for (name, tensor) in tensors {
            let values = to_vec(tensor)?;
            let shape: Vec<usize> = tensor.size().iter().map(|&side| usize::try_from(side).unwrap_or(0)).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            held.push((name.as_str(), shape, bytes));
        }
        let wrong =
            |why: safetensors::SafeTensorError| ModelError::Weights { path: path.to_owned(), why: why.to_string() };
        let views = held
            .iter()
            .map(|(name, shape, bytes)| {
                Ok((*name, safetensors::tensor::TensorView::new(Dtype::F32, shape.clone(), bytes)?))
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        let bytes = safetensors::serialize(views, facts).map_err(wrong)?;
        let unfinished = path.with_extension("unfinished");
        std::fs::write(&unfinished, bytes).map_err(ModelError::io(&unfinished))?;
        std::fs::rename(&unfinished, path).map_err(ModelError::io(path))
    }

    /// A tensor of this shape.
    pub fn get(&self, name: &str, shape: &[i64]) -> Result<Tensor, ModelError> {
        // files of the first years call these gamma and beta
        let old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        let tensor = self.tensors.get(name).or_else(|| self.tensors.get(&old));
        let missing = || ModelError::MissingTensor { path: self.path.clone(), name: name.to_owned() };
        let tensor = tensor.ok_or_else(missing)?;
        if tensor.size() != shape {
            return Err(ModelError::WrongShape {
                path: self.path.clone(),
                name: name.to_owned(),
                seen: tensor.size(),
                wanted: shape.to_vec(),
            });
        }
        Ok(tensor.shallow_clone())
    }

    /// All tensors called `part/…`, in the order of their names.
    pub(crate) fn under(&self, part: &str) -> Vec<Tensor> {
        let within = |name: &str| name.strip_prefix(part).is_some_and(|rest| rest.starts_with('/'));
        self.tensors.iter().filter(|(name, _)| within(name)).map(|(_, tensor)| tensor.shallow_clone()).collect()
    }

    pub fn rows(&self, name: &str) -> Option<i64> {
        self.tensors.get(name).and_then(|tensor| tensor.size().first().copied())
    }
}

/// The values of a tensor in f32, row by row.
pub(crate) fn to_vec(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    let tensor = tensor.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
    let mut values = vec![0.0_f32; tensor.numel()];
    tensor.f_copy_data(&mut values, tensor.numel())?;
    Ok(values)
}
