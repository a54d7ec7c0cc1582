//! A device that plays one reply: what was played when, and what the microphone's reference is.

/// A clause in the device.
#[derive(Debug, Clone)]
struct Item {
    samples: Vec<f32>,
    start_us: u64,
    /// Where it begins in the reply, in samples.
    offset: u64,
}

/// Plays sound of one rate after a fixed latency, without gaps where the sound is there in time.
#[derive(Debug, Clone)]
pub struct Player {
    rate: u32,
    latency_us: u64,
    reply: Option<u32>,
    items: Vec<Item>,
    /// All samples of the reply, played or not.
    given: u64,
    gain: f32,
}

impl Player {
    /// For sound of this rate.
    pub fn new(rate: u32, latency_us: u64) -> Self {
        Self { rate: rate.max(1), latency_us, reply: None, items: Vec::new(), given: 0, gain: 1.0 }
    }

    /// The reply that is played.
    pub fn reply(&self) -> Option<u32> {
        self.reply
    }

    fn length_us(&self, samples: u64) -> u64 {
        (u128::from(samples) * 1_000_000 / u128::from(self.rate)) as u64
    }

    fn end_of(&self, item: &Item) -> u64 {
        item.start_us + self.length_us(item.samples.len() as u64)
    }

    /// When everything given so far will have been played.
    pub fn end_us(&self) -> Option<u64> {
        self.items.last().map(|item| self.end_of(item))
    }

    /// Appends a clause of a reply; when it begins to be played. Another reply's sound is dropped.
    pub fn give(&mut self, now_us: u64, reply: u32, samples: Vec<f32>) -> u64 {
        if self.reply != Some(reply) {
            self.reply = Some(reply);
            self.items.clear();
            self.given = 0;
            self.gain = 1.0;
        }
        let start_us = (now_us + self.latency_us).max(self.end_us().unwrap_or(0));
        let offset = self.given;
        self.given += samples.len() as u64;
        self.items.push(Item { samples, start_us, offset });
        start_us
    }

    /// Whether something sounds at this time.
    pub fn playing(&self, at_us: u64) -> bool {
        self.items.iter().any(|item| item.start_us <= at_us && at_us < self.end_of(item))
    }

    /// Softer or as before.
    pub fn set_gain(&mut self, gain: f32) {
        self.gain = gain;
    }

    /// Samples of the reply that were played by this time.
    pub fn played(&self, at_us: u64) -> u64 {
        let begun = self.items.iter().rev().find(|item| item.start_us <= at_us);
        begun.map_or_else(
            || self.items.first().map_or(self.given, |item| item.offset),
            |item| {
                let since = u128::from(at_us - item.start_us) * u128::from(self.rate) / 1_000_000;
                item.offset + (since as u64).min(item.samples.len() as u64)
            },
        )
    }

    /// Silence at once; what was not played is kept for [`Player::resume`]. The samples that were played.
    pub fn stop(&mut self, now_us: u64) -> u64 {
        let played = self.played(now_us);
        for item in &mut self.items {
            let done = played.saturating_sub(item.offset).min(item.samples.len() as u64);
            item.samples.drain(..done as usize);
            item.offset += done;
            item.start_us = u64::MAX / 4;
        }
        self.items.retain(|item| !item.samples.is_empty());
        self.gain = 1.0;
        played
    }

    /// Goes on with what was not played.
    pub fn resume(&mut self, now_us: u64) {
        let mut at_us = now_us + self.latency_us;
        for item in &mut self.items {
            item.start_us = at_us;
            at_us += (item.samples.len() as u128 * 1_000_000 / u128::from(self.rate)) as u64;
        }
    }

    /// What sounds from `from_us` on, as `length` samples of another rate: the reference of the barge-in detector.
    /// Samples are taken, not filtered: a rate above 8 kHz keeps the band that the detector looks at.
    pub fn render(&self, from_us: u64, length: usize, rate: u32) -> Vec<f32> {
        let mut out = vec![0.0; length];
        let end_us = from_us + length as u64 * 1_000_000 / u64::from(rate.max(1));
        for item in self.items.iter().filter(|item| item.start_us < end_us && self.end_of(item) > from_us) {
            for (i, sample) in out.iter_mut().enumerate() {
                let at_us = from_us + i as u64 * 1_000_000 / u64::from(rate.max(1));
                let Some(since_us) = at_us.checked_sub(item.start_us) else { continue };
                let position = since_us as f64 * f64::from(self.rate) / 1e6;
                let index = position as usize;
                if let Some(a) = item.samples.get(index) {
                    let b = item.samples.get(index + 1).unwrap_or(a);
                    *sample = (a + (b - a) * position.fract() as f32) * self.gain;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_follow_without_a_gap_and_are_counted() {
        let mut player = Player::new(1000, 20_000);
        assert_eq!(player.give(0, 1, vec![0.5; 100]), 20_000);
        assert_eq!(player.give(50_000, 1, vec![0.5; 50]), 120_000);
        assert_eq!(
            [0, 20_000, 70_000, 119_999, 145_000, 900_000].map(|at| player.played(at)),
            [0, 0, 50, 99, 125, 150]
        );
        assert_eq!(player.end_us(), Some(170_000));
        assert!(player.playing(169_999) && !player.playing(170_000) && !player.playing(10_000));
    }

    #[test]
    fn stopped_and_resumed_at_the_sample() {
        let mut player = Player::new(1000, 0);
        player.give(0, 1, (0..100_u8).map(f32::from).collect());
        player.give(0, 1, vec![7.0; 50]);
        assert_eq!(player.stop(60_000), 60);
        assert_eq!(player.played(500_000), 60);
        assert!(!player.playing(70_000));
        player.resume(1_000_000);
        assert_eq!(player.render(1_000_000, 3, 1000), [60.0, 61.0, 62.0]);
        assert_eq!((player.played(1_040_000), player.end_us()), (100, Some(1_090_000)));
        player.set_gain(0.5);
        assert_eq!(player.render(1_050_000, 2, 2000), [3.5, 3.5]);
        // After the last sample everything counts as played.
        assert_eq!((player.stop(2_000_000), player.played(3_000_000)), (150, 150));
    }

    #[test]
    fn another_reply_begins_anew() {
        let mut player = Player::new(1000, 0);
        player.give(0, 1, vec![1.0; 100]);
        assert_eq!(player.give(10_000, 2, vec![2.0; 10]), 10_000);
        assert_eq!(player.played(15_000), 5);
    }
}
