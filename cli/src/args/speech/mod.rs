//! What can be typed about sound: one module a command group.

pub(crate) mod bench_barge;
pub(crate) mod bench_stt;
pub(crate) mod bench_turn;
pub(crate) mod bench_wake;
pub(crate) mod blind;
pub(crate) mod commands;
pub(crate) mod corpus;
pub(crate) mod promote;
pub(crate) mod say;
pub(crate) mod shadow;
pub(crate) mod train;
pub(crate) mod transcribe;
pub(crate) mod wake;
