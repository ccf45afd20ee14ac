//! The tensors of a classifier as leaves that ask for gradients, word embeddings cut down to the words that occur.

use std::collections::BTreeMap;

use tch::{Kind, Tensor};

use crate::adamw::copy_values;
use crate::encoder::{Classifier, ModelError, Sequence};

const WORDS: &str = "embeddings.word_embeddings.weight";

pub(super) struct Trainable {
    classifier: Classifier,
    /// In the order of `visit`.
    names: Vec<String>,
    parameters: Vec<Tensor>,
    all_words: Tensor,
    used: Tensor,
}

impl Trainable {
    /// Makes leaves of a classifier's tensors, and renumbers the ids of all sequences it will ever see.
    pub(super) fn new<'s>(
        mut classifier: Classifier,
        sequences: impl Iterator<Item = &'s mut Sequence>,
    ) -> Result<Self, ModelError> {
        let mut sequences: Vec<&mut Sequence> = sequences.collect();
        let mut used: Vec<i64> = sequences.iter().flat_map(|sequence| sequence.ids.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        // every id is among them
        let renumbered = |id: i64| i64::try_from(used.partition_point(|&other| other < id)).unwrap_or(0);
        for sequence in &mut sequences {
            sequence.ids.iter_mut().for_each(|id| *id = renumbered(*id));
        }
        let used = Tensor::f_from_slice(&used)?.f_to_device(classifier.encoder().device())?;
        let (mut names, mut parameters, mut all_words) = (Vec::new(), Vec::new(), None);
        let mut failed = None;
        classifier.visit(&mut |name, tensor| {
            let leaf = (|| {
                let tensor = tensor.f_detach()?;
                if name != WORDS {
                    return Ok(tensor.copy().f_set_requires_grad(true)?);
                }
                let cut = tensor.f_index_select(0, &used)?.f_set_requires_grad(true)?;
                all_words = Some(tensor);
                Ok::<_, ModelError>(cut)
            })();
            match leaf {
                Ok(leaf) => {
                    *tensor = leaf.shallow_clone();
                    names.push(name);
                    parameters.push(leaf);
                }
                Err(error) => failed = Some(error),
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        // every encoder has word embeddings
        let all_words = all_words.unwrap_or_else(|| Tensor::zeros([0, 0], (Kind::Float, used.device())));
        Ok(Self { classifier, names, parameters, all_words, used })
    }

    pub(super) fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    pub(super) fn parameters(&self) -> Vec<Tensor> {
        self.parameters.iter().map(Tensor::shallow_clone).collect()
    }

    /// Takes over values, in the order of the leaves.
    pub(super) fn load(&mut self, values: &[Tensor]) -> Result<(), ModelError> {
        Ok(copy_values(&mut self.parameters, values)?)
    }

    pub(super) fn exchange(&mut self, values: &mut [Tensor]) -> Result<(), ModelError> {
        let _no_gradients = tch::no_grad_guard();
        for (leaf, value) in self.parameters.iter_mut().zip(values) {
            let mine = leaf.f_detach()?.copy();
            leaf.f_copy_(value)?;
            value.f_copy_(&mine)?;
        }
        Ok(())
    }

    pub(super) fn whole(&self) -> Result<BTreeMap<String, Tensor>, ModelError> {
        let _no_gradients = tch::no_grad_guard();
        let whole = |(name, leaf): (&String, &Tensor)| {
            let tensor =
                if name == WORDS { self.all_words.f_index_copy(0, &self.used, leaf)? } else { leaf.f_detach()? };
            Ok((name.clone(), tensor))
        };
        self.names.iter().zip(&self.parameters).map(whole).collect()
    }
}
