//! Where the time of an answer goes.
//!
//! A turn passes milestones; the time between two of them is a part. Parts are differences of whole
//! microseconds, so that they sum to the total exactly.

use serde::{Deserialize, Serialize};

/// When a turn passed its milestones, in microseconds of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Milestones {
    /// The last voiced sample.
    pub speech_end_us: u64,
    /// The end was found.
    pub endpoint_us: u64,
    /// The transcript that counts was there; earlier than the endpoint where it was speculated rightly.
    pub transcript_us: u64,
    /// It was known whether it is a command.
    pub routed_us: u64,
    /// The first clause was there.
    pub clause_us: u64,
    /// Its sound was there.
    pub synthesised_us: u64,
    /// The first sample that is not silent was played.
    pub heard_us: u64,
}

/// The parts of a latency, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Parts {
    /// From the last voiced sample until the end was found.
    pub endpoint_us: u64,
    /// Waiting for the transcript after that.
    pub stt_us: u64,
    /// Deciding between command and loop.
    pub route_us: u64,
    /// Waiting for the first clause of the answer.
    pub clause_us: u64,
    /// Waiting for its sound.
    pub tts_us: u64,
    /// Until it is heard: the device, and silence at the head of the sound.
    pub device_us: u64,
}

/// Names of the parts, in order.
pub const PART_NAMES: [&str; 6] = ["endpoint wait", "STT", "route", "first clause", "TTS first chunk", "device"];

impl Milestones {
    /// The parts: each milestone counts from the latest before it, and one that was passed early costs nothing.
    pub fn parts(&self) -> Parts {
        let mut before = self.speech_end_us;
        let mut part = |milestone: u64| {
            let length = milestone.saturating_sub(before);
            before = before.max(milestone);
            length
        };
        Parts {
            endpoint_us: part(self.endpoint_us),
            stt_us: part(self.transcript_us),
            route_us: part(self.routed_us),
            clause_us: part(self.clause_us),
            tts_us: part(self.synthesised_us),
            device_us: part(self.heard_us),
        }
    }

    /// From the last voiced sample to the first one heard; where the order of milestones holds this is
    /// the sum of the parts.
    pub fn total_us(&self) -> u64 {
        self.heard_us.saturating_sub(self.speech_end_us)
    }
}

impl Parts {
    /// The parts in the order of [`PART_NAMES`].
    pub fn each(&self) -> [u64; 6] {
        [self.endpoint_us, self.stt_us, self.route_us, self.clause_us, self.tts_us, self.device_us]
    }

    /// Their sum.
    pub fn total_us(&self) -> u64 {
        self.each().iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_transcript_before_the_endpoint_costs_nothing() {
        let milestones = Milestones {
            speech_end_us: 1_000_000,
            endpoint_us: 1_352_000,
            transcript_us: 1_300_000,
            routed_us: 1_352_040,
            clause_us: 1_352_040,
            synthesised_us: 1_400_000,
            heard_us: 1_420_000,
        };
        let parts = milestones.parts();
        assert_eq!(parts.each(), [352_000, 0, 40, 0, 47_960, 20_000]);
        assert_eq!(parts.total_us(), milestones.total_us());
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_total_exactly(times in prop::collection::vec(0_u64..10_000_000, 6), more in 0_u64..1_000_000) {
            let heard_us = times.iter().copied().max().unwrap_or(0) + more;
            let milestones = Milestones {
                speech_end_us: times[0],
                endpoint_us: times[1],
                transcript_us: times[2],
                routed_us: times[3],
                clause_us: times[4],
                synthesised_us: times[5],
                heard_us,
            };
            prop_assert_eq!(milestones.parts().total_us(), milestones.total_us());
        }
    }
}
