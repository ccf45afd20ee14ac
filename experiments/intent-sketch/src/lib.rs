//! The studies that only the matrix-sketching paper needs: intents (tables 1 and 2), the speed of sketches (table 3), and a sketch of a text file (section 3).

pub mod intent;
pub mod sketching;
pub mod text_sketch;
