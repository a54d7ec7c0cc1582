//! The HTTP backends over real sockets on the loopback interface: what they send, how they read
//! every kind of answer and fault, that they stop when dropped, and the conformance suite.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests")]

mod conformance;
mod fake;
mod faults;
mod pool;
mod requests;
mod splits;
mod stub;
