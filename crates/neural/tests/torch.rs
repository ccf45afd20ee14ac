//! libtorch works at all: it is found without `LD_LIBRARY_PATH`, multiplies, differentiates, and reads what others wrote.

use std::collections::HashMap;

use landmark_neural::torch::Torch;
use landmark_oracles::neural::DeviceChoice;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tch::{Device, Tensor};

#[test]
fn a_device_is_chosen_and_a_missing_gpu_is_named() {
    let torch = Torch::start().unwrap();
    assert_eq!(torch.device(DeviceChoice::Cpu).unwrap(), Device::Cpu);
    let auto = torch.device(DeviceChoice::Auto).unwrap();
    assert_eq!(auto, if torch.gpus() > 0 { Device::Cuda(0) } else { Device::Cpu });
    let beyond = torch.gpus();
    let error = torch.device(DeviceChoice::Cuda(beyond)).unwrap_err().to_string();
    assert!(error.contains(&format!("cuda:{beyond}")) && error.contains(&format!("sees {beyond} GPUs")), "{error}");
}

#[test]
fn the_report_states_which_libtorch_this_is() {
    let report = Torch::start().unwrap().report();
    let version = report.version.expect("libtorch lies with its `build-version`");
    assert!(version.starts_with("2.11.0"), "{version}");
    assert!(report.threads >= 1);
}

#[test]
fn safetensors_go_from_torch_to_the_crate_and_back() {
    Torch::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let weights = [1.5_f32, -0.25, 3.0e-7, 65504.0, 0.0, -1.0];
    let bytes: Vec<u8> = weights.iter().flat_map(|value| value.to_le_bytes()).collect();

    let theirs = folder.path().join("theirs.safetensors");
    Tensor::write_safetensors(&[("dense.weight", Tensor::from_slice(&weights).view([2, 3]))], &theirs).unwrap();
    let file = std::fs::read(&theirs).unwrap();
    let read = SafeTensors::deserialize(&file).unwrap();
    let tensor = read.tensor("dense.weight").unwrap();
    assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (Dtype::F32, &[2, 3][..], &bytes[..]));

    let ours = folder.path().join("ours.safetensors");
    let views = HashMap::from([("dense.weight", TensorView::new(Dtype::F32, vec![2, 3], &bytes).unwrap())]);
    safetensors::serialize_to_file(views, None, &ours).unwrap();
    let read = Tensor::read_safetensors(&ours).unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].0.as_str(), read[0].1.size()), ("dense.weight", vec![2, 3]));
    assert_eq!(Vec::<f32>::try_from(read[0].1.view(-1)).unwrap(), weights);
}
