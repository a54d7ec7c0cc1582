//! A watchdog over the trace (K48): mechanical rules that the model cannot see and does not know of.
//!
//! It reads trace records as they are written and says when a rule matches; it stops nothing. What
//! an alert leads to is the front end's to decide, and the person's. Times are the journal's, one
//! hour slides over them; everything it keeps is bounded.
//!
//! | rule | default threshold |
//! |---|---|
//! | `calls_per_turn` | 20 calls in one turn |
//! | `calls_per_hour` | 150 calls in one hour |
//! | `refusals_in_a_row` | 3 confirmations refused or expired, none approved between |
//! | `spend_per_hour` | US$ 0.50 in one hour, half a default day (K47) |
//! | `repeated_call` | the same tool and arguments 5 times in one hour |
//! | `rejected_arguments` | 5 of the last 10 calls rejected (K45) |
//! | `acts_after_injection` | any call with an effect after a result that gives orders, same turn |
//! | `silent_truncation` | any prompt of which less than half our count arrived, that shrank while its messages grew, or overflowed (K8) |

mod rules;
mod state;
#[cfg(test)]
mod tests;

pub use rules::{Alert, Rule, Thresholds};
pub use state::Watchdog;
