//! `config.json`: the shape of an encoder.

use std::path::Path;

use serde::Deserialize;

use super::ModelError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Devlin et al. 2019: `[CLS] a [SEP] b [SEP]`, token types, a pooler.
    Bert,
    /// Liu et al. 2019: `<s> a </s></s> b </s>`, positions counted from the padding index.
    Roberta,
}

/// The function between the two matrices of a feed-forward layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x·Φ(x).
    Gelu,
    GeluTanh,
    /// max(x, 0).
    Relu,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EncoderConfig {
    pub architecture: Architecture,
    pub hidden: i64,
    pub layers: usize,
    /// Attention heads; they divide `hidden`.
    pub heads: i64,
    pub intermediate: i64,
    pub vocabulary: i64,
    pub positions: i64,
    pub token_types: i64,
    pub layer_norm_eps: f64,
    /// Dropout of embeddings and layer outputs while training.
    pub hidden_dropout: f64,
    pub attention_dropout: f64,
    pub activation: Activation,
    pub padding: i64,
}

#[derive(Deserialize)]
struct File {
    model_type: Option<String>,
    hidden_size: i64,
    num_hidden_layers: usize,
    num_attention_heads: i64,
    intermediate_size: i64,
    vocab_size: i64,
    max_position_embeddings: i64,
    #[serde(default = "one")]
    type_vocab_size: i64,
    #[serde(default = "epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "tenth")]
    hidden_dropout_prob: f64,
    #[serde(default = "tenth")]
    attention_probs_dropout_prob: f64,
    #[serde(default = "gelu")]
    hidden_act: String,
    pad_token_id: Option<i64>,
    position_embedding_type: Option<String>,
}

fn one() -> i64 {
    1
}

fn epsilon() -> f64 {
    1e-12
}

fn tenth() -> f64 {
    0.1
}

fn gelu() -> String {
    "gelu".to_owned()
}

impl EncoderConfig {
    /// Reads the bytes of a `config.json`; `path` is for error messages.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Config { path: path.to_owned(), why };
        let file: File = serde_json::from_slice(bytes).map_err(|error| {
            let is_pooling = String::from_utf8_lossy(bytes).contains("pooling_mode");
            let hint = if is_pooling { "; it describes a pooling layer: take the one of the folder above" } else { "" };
            wrong(format!("{error}{hint}"))
        })?;
        let architecture = match file.model_type.as_deref() {
            Some("bert") => Architecture::Bert,
            Some("roberta" | "xlm-roberta" | "camembert") => Architecture::Roberta,
            other => {
                let seen = other.unwrap_or("none").to_owned();
                return Err(ModelError::Architecture { path: path.to_owned(), seen });
            }
        };
        let activation = match file.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => return Err(wrong(format!("`hidden_act` is `{other}` (expected `gelu`, `gelu_new` or `relu`)"))),
        };
        if let Some(other) = file.position_embedding_type.filter(|kind| kind != "absolute") {
            return Err(wrong(format!("`position_embedding_type` is `{other}` (expected `absolute`)")));
        }
        let sizes = [
            ("hidden_size", file.hidden_size),
            ("num_attention_heads", file.num_attention_heads),
            ("intermediate_size", file.intermediate_size),
            ("vocab_size", file.vocab_size),
            ("max_position_embeddings", file.max_position_embeddings),
            ("type_vocab_size", file.type_vocab_size),
        ];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| *size < 1) {
            return Err(wrong(format!("`{name}` is {size} (expected at least 1)")));
        }
        if file.hidden_size % file.num_attention_heads != 0 {
            let (hidden, heads) = (file.hidden_size, file.num_attention_heads);
            return Err(wrong(format!("`hidden_size` {hidden} can't be divided among {heads} attention heads")));
        }
        let default_padding = i64::from(architecture == Architecture::Roberta);
        Ok(Self {
            architecture,
            hidden: file.hidden_size,
            layers: file.num_hidden_layers,
            heads: file.num_attention_heads,
            intermediate: file.intermediate_size,
            vocabulary: file.vocab_size,
            positions: file.max_position_embeddings,
            token_types: file.type_vocab_size,
            layer_norm_eps: file.layer_norm_eps,
            hidden_dropout: file.hidden_dropout_prob,
            attention_dropout: file.attention_probs_dropout_prob,
            activation,
            padding: file.pad_token_id.unwrap_or(default_padding),
        })
    }

    /// The position of a sequence's first token: RoBERTa counts from behind its padding index.
    pub fn first_position(&self) -> i64 {
        match self.architecture {
            Architecture::Bert => 0,
            Architecture::Roberta => self.padding + 1,
        }
    }

    /// The longest sequence it takes, [CLS] and [SEP] included.
    pub fn longest(&self) -> usize {
        usize::try_from(self.positions - self.first_position()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EncoderConfig, String> {
        EncoderConfig::parse(text.as_bytes(), Path::new("m/config.json")).map_err(|error| error.to_string())
    }

    const SIZES: &str = r#""hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
        "vocab_size": 30, "max_position_embeddings": 20"#;

    #[test]
    fn roberta_loses_the_positions_up_to_its_padding_index() {
        let config = parse(&format!(r#"{{"model_type": "roberta", {SIZES}}}"#)).unwrap();
        assert_eq!((config.first_position(), config.longest()), (2, 18));
        let config = parse(&format!(r#"{{"model_type": "bert", {SIZES}}}"#)).unwrap();
        assert_eq!((config.first_position(), config.longest()), (0, 20));
    }

    #[test]
    fn another_architecture_and_the_pooling_layers_file_are_named() {
        let error = parse(&format!(r#"{{"model_type": "t5", {SIZES}}}"#)).unwrap_err();
        assert!(error.contains("`t5` (expected `bert` or `roberta`)"), "{error}");
        let error = parse(r#"{"word_embedding_dimension": 384, "pooling_mode_mean_tokens": true}"#).unwrap_err();
        assert!(error.contains("pooling layer"), "{error}");
    }

    #[test]
    fn heads_that_do_not_divide_the_hidden_size_are_refused() {
        let text = format!(r#"{{"model_type": "bert", {SIZES}}}"#)
            .replace(r#""num_attention_heads": 2"#, r#""num_attention_heads": 3"#);
        assert!(parse(&text).unwrap_err().contains("8 can't be divided among 3"));
    }
}
