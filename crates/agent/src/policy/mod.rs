//! Whether a call may run, decided by code (K33, K40 to K42): the tier table, the profiles, and
//! approvals that are bound to what was shown.
//!
//! Nothing in here reads a prompt or trusts one. A tool's [`Inspection`] can ask for more care and
//! never for less; the person's classification counts only for tools that the table does not know.
//!
//! - [`TIERS`]: every built-in tool, those of later parts included.
//! - [`Policy`]: tier, then decision, for a profile.
//! - [`Approvals`]: single use, expiring, bound to the digest of the exact call.
//! - [`Sources`]: an address that nobody showed the model is a way out for data.

mod approval;
mod digest;
mod profile;
mod sources;
#[cfg(test)]
mod tests;
mod tiers;

pub use approval::{Approvals, confirmation};
pub(crate) use digest::signature;
pub use digest::{call_digest, canonical_json, confirmation_digest};
pub use profile::Profile;
pub use sources::Sources;
pub use tiers::{TIERS, leaves_nothing, table_tier};

use tenpass_trace::Tier;

use crate::tool::Inspection;
use tiers::WRITES_MEMORY;

/// What happens to a call that was not rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It runs at once.
    Run,
    /// It runs after a confirmation.
    Ask,
}

/// The policy of a front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Which front end asks.
    pub profile: Profile,
}

const MEMORY_REFUSED: &str = "Refused: this turn has read something from outside, and memory is written only from what \
    the user says. Nothing was written. The user can ask for it again in a new message.";

impl Policy {
    /// The policy of this profile.
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// The tier of a call: the table's, else the one the user gave the tool, else irreversible
    /// (K33); the inspection of its arguments can only raise it (K40).
    pub fn tier(&self, tool: &str, user_tier: Option<Tier>, inspection: &Inspection) -> Tier {
        let base = table_tier(tool).or(user_tier).unwrap_or(Tier::Irreversible);
        inspection.escalate.as_ref().map_or(base, |(raised, _)| base.max(*raised))
    }

    /// Whether a call of this tier is asked first (K41).
    ///
    /// - Irreversible: always.
    /// - Confirm: unless the profile lets the tool run, its arguments asked for no extra care, and
    ///   nothing from outside was read in this turn (then only `control_media` stays free).
    /// - Auto: never, except that in a tainted turn a tool that leaves something behind, pays or
    ///   sends is asked, so that no injected instruction acts by itself.
    pub fn decide(&self, tool: &str, tier: Tier, inspection: &Inspection, tainted: bool) -> Decision {
        let free = match tier {
            Tier::Irreversible => false,
            Tier::Confirm => {
                inspection.escalate.is_none()
                    && table_tier(tool) == Some(Tier::Confirm)
                    && self.profile.overrides(tainted).contains(&tool)
            }
            Tier::Auto => inspection.escalate.is_none() && (!tainted || leaves_nothing(tool)),
        };
        if free { Decision::Run } else { Decision::Ask }
    }

    /// Why a call is refused whatever the person would say: memory is never written in a turn that
    /// read something from outside. The text is the tool result.
    pub fn refusal(&self, tool: &str, tainted: bool) -> Option<&'static str> {
        (tainted && WRITES_MEMORY.contains(&tool)).then_some(MEMORY_REFUSED)
    }
}
