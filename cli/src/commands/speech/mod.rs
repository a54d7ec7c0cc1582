//! The commands about sound.

mod assets;
pub(super) mod bench_barge;
pub(super) mod bench_stt;
pub(super) mod bench_turn;
pub(super) mod bench_wake;
pub(super) mod blind;
pub(super) mod commands;
pub(super) mod corpus;
pub(super) mod engines;
mod head;
pub(super) mod promote;
mod provenance;
mod resume;
pub(super) mod say;
pub(super) mod shadow;
mod source;
pub(super) mod train;
pub(super) mod transcribe;
mod voices;
pub(super) mod wake;
