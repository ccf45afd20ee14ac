//! landmark-oracles
