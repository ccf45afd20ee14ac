//! How near to the processor's peak each operation of an encoder's layer comes, on one thread.
//!
//! ```text
//! time_layers MODEL [TOKENS [LENGTH]]
//! ```
//!
//! TOKENS of a batch (512), in sequences of LENGTH (64). The peak of each precision is what a product of 1,024 × 1,024 matrices
//! reaches here. Numbers are random; MODEL gives the shapes.

use std::path::PathBuf;
use std::time::Instant;

use landmark_neural::encoder::EncoderConfig;
use landmark_neural::torch::Torch;
use tch::{Device, Kind, Tensor};

/// Seconds of one call: the best of some rounds, so that a neighbor's work does not count.
fn seconds(mut work: impl FnMut() -> Tensor) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        let _ = work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(model) = arguments.first() else { return Err("usage: time_layers MODEL [TOKENS [LENGTH]]".into()) };
    let number = |k: usize, default: i64| arguments.get(k).map_or(Ok(default), |text| text.parse());
    let (tokens, length) = (number(1, 512)?, number(2, 64)?);
    let path = PathBuf::from(model).join("config.json");
    let EncoderConfig { hidden, intermediate, heads, .. } = EncoderConfig::parse(&std::fs::read(&path)?, &path)?;
    Torch::start()?;
    tch::set_num_threads(1);
    let _no_gradients = tch::no_grad_guard();
    let (batch, head) = (tokens / length, hidden / heads);
    for kind in [Kind::Float, Kind::BFloat16] {
        let random = |shape: &[i64]| Tensor::randn(shape, (Kind::Float, Device::Cpu)).to_kind(kind);
        let product = |rows: i64, inputs: i64, outputs: i64| {
            let (x, weight, bias) = (random(&[rows, inputs]), random(&[outputs, inputs]), random(&[outputs]));
            (seconds(|| x.linear(&weight, Some(&bias))), 2.0 * (rows * inputs * outputs) as f64)
        };
        let (square, flops) = product(1024, 1024, 1024);
        let peak = flops / square;
        println!("{kind:?}: peak {:.0} GFlop/s; {batch} sequences of {length} tokens", peak / 1e9);
        let qkv = random(&[batch, length, 3, heads, head]).permute([2, 0, 3, 1, 4]);
        let attended = seconds(|| {
            let [q, k, v] = [0, 1, 2].map(|part| qkv.get(part));
            Tensor::scaled_dot_product_attention(&q, &k, &v, None::<&Tensor>, 0.0, false, None, false)
        });
        let (wide, narrow) = (random(&[tokens, intermediate]), random(&[tokens, hidden]));
        let scale = random(&[hidden]);
        let rows = [
            ("query, key, value", product(tokens, hidden, 3 * hidden)),
            ("attention", (attended, 4.0 * (tokens * length * hidden) as f64)),
            ("output", product(tokens, hidden, hidden)),
            ("up", product(tokens, hidden, intermediate)),
            ("gelu", (seconds(|| wide.gelu("none")), 0.0)),
            ("down", product(tokens, intermediate, hidden)),
            (
                "two norms",
                (2.0 * seconds(|| narrow.layer_norm([hidden], Some(&scale), Some(&scale), 1e-12, true)), 0.0),
            ),
            ("two sums", (2.0 * seconds(|| &narrow + &narrow), 0.0)),
        ];
        let (mut all, mut work) = (0.0, 0.0);
        for (name, (seconds, flops)) in rows {
            println!(
                "{name:>18}: {:6.2} µs a token, {:5.1} % of the peak",
                seconds / tokens as f64 * 1e6,
                100.0 * flops / seconds / peak
            );
            (all, work) = (all + seconds, work + flops);
        }
        println!(
            "{:>18}: {:6.2} µs a token, {:5.1} % of the peak",
            "a layer",
            all / tokens as f64 * 1e6,
            100.0 * work / all / peak
        );
    }
    Ok(())
}
