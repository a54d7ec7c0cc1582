//! Training of wake heads and speaker verifiers, shadow scoring, promotion records.
//!
//! [`wake`] goes from recordings and synthetic voices to a scored head, [`verifier`] to a speaker verifier.
//! [`features`] makes embeddings once and keeps them; [`network`] is the small networks and their
//! optimiser; [`negatives`] what is nearly the word. [`shadow`] lets a candidate listen beside the head in
//! service, [`promote`] holds it against the conditions and swaps it in.

pub mod features;
pub mod negatives;
pub mod network;
pub mod promote;
pub mod records;
pub mod shadow;
pub mod verifier;
pub mod wake;
