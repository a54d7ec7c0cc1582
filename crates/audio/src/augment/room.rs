//! Rooms: impulse responses of shoebox rooms by image sources (Allen and Berkley 1979), with seeded geometry.
//!
//! The direct sound arrives at sample 0 with height 1, so that times in a clip stay true. Early reflections are
//! exact to a fraction of a sample; behind them stands a tail of noise that decays as Sabine's formula says.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use crate::{Audio, Random};

/// Metres a second.
const SOUND: f64 = 343.0;
/// Reflections of so many walls are computed one by one.
const MOST_REFLECTIONS: i32 = 8;
/// The response is at most so long.
const LONGEST_S: f64 = 0.6;
/// Taps of the fractional delay on either side.
const HALF_TAPS: i64 = 12;

/// A rectangular room with a mouth and a microphone in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    /// Length, width and height in metres.
    pub size_m: [f64; 3],
    /// Share of the power that a wall swallows, of all six.
    pub absorption: f64,
    /// Where the mouth is.
    pub source_m: [f64; 3],
    /// Where the microphone is.
    pub microphone_m: [f64; 3],
}

impl Room {
    /// A room of a flat or an office, with a mouth between so many metres from the microphone (where there is space).
    pub fn seeded(seed: u64, nearest_m: f64, farthest_m: f64) -> Self {
        let mut random = Random::named(seed, "room");
        let size_m = [random.range(2.5, 8.0), random.range(2.2, 6.0), random.range(2.3, 3.4)];
        let absorption = random.range(0.15, 0.6);
        let microphone_m =
            [random.range(0.3, size_m[0] - 0.3), random.range(0.3, size_m[1] - 0.3), random.range(0.5, 1.4)];
        // The first of a few directions that stays inside; the wall cuts the last one short.
        let mut source_m = microphone_m;
        for _ in 0..16 {
            let (angle, distance) = (random.range(0.0, std::f64::consts::TAU), random.range(nearest_m, farthest_m));
            let height = random.range(1.0, 1.8);
            let place = [microphone_m[0] + distance * angle.cos(), microphone_m[1] + distance * angle.sin(), height];
            source_m = std::array::from_fn(|axis| place[axis].clamp(0.2, size_m[axis] - 0.2));
            if source_m == place {
                break;
            }
        }
        Self { size_m, absorption, source_m, microphone_m }
    }

    /// From the mouth to the microphone.
    pub fn distance_m(&self) -> f64 {
        distance(self.source_m, self.microphone_m)
    }

    /// Seconds until an echo is 60 dB down (Sabine).
    pub fn reverberation_s(&self) -> f64 {
        let [x, y, z] = self.size_m;
        0.161 * x * y * z / (self.absorption.max(0.01) * 2.0 * (x * y + y * z + x * z))
    }

    /// The response, the direct sound at sample 0.
    pub fn response(&self, rate: u32, seed: u64) -> Vec<f32> {
        let rate_hz = f64::from(rate);
        let length = (self.reverberation_s().min(LONGEST_S) * rate_hz) as usize + 1;
        let direct = self.distance_m().max(0.05);
        let mut response = vec![0.0f64; length];
        let reflection = (1.0 - self.absorption).clamp(0.0, 1.0).sqrt();
        // Until here the computed reflections are complete.
        let complete_m = f64::from(MOST_REFLECTIONS) * self.size_m.iter().copied().fold(f64::MAX, f64::min) / 3.0 * 2.0;
        let mut early = 0.0;
        for (place, count) in self.images() {
            let way = distance(place, self.microphone_m).max(0.05);
            let height = reflection.powi(count) * direct / way;
            add_delayed(&mut response, (way - direct) / SOUND * rate_hz, height);
            if count > 0 && way <= complete_m {
                early += height * height;
            }
        }
        self.add_tail(&mut response, rate_hz, (complete_m - direct).max(0.0) / SOUND, early, seed);
        // The direct sound is the loudest and the first: height 1.
        response.iter().map(|x| *x as f32).collect()
    }

    /// Images of the mouth behind the walls, with the number of walls between.
    fn images(&self) -> Vec<([f64; 3], i32)> {
        let axis = |axis: usize| {
            let (size, at) = (self.size_m[axis], self.source_m[axis]);
            (-MOST_REFLECTIONS..=MOST_REFLECTIONS).map(move |n| {
                let mirrored = if n % 2 == 0 { at } else { size - at };
                (f64::from(n) * size + mirrored, n.abs())
            })
        };
        let mut images = Vec::new();
        for (x, a) in axis(0) {
            for (y, b) in axis(1) {
                for (z, c) in axis(2).filter(|(_, c)| a + b + c <= MOST_REFLECTIONS) {
                    images.push(([x, y, z], a + b + c));
                }
            }
        }
        images
    }

    /// Noise that decays by 60 dB in the room's time, joined where the computed reflections thin out.
    fn add_tail(&self, response: &mut [f64], rate: f64, from_s: f64, early: f64, seed: u64) {
        let decay = 3.0 * std::f64::consts::LN_10 / self.reverberation_s().max(0.05);
        let begin = (from_s * rate) as usize;
        if begin >= response.len() || early <= 0.0 {
            return;
        }
        // Power of the early part, were it spread by the same decay: what the tail has to go on with.
        let density = early * 2.0 * decay / rate / (1.0 - (-2.0 * decay * from_s).exp()).max(1e-3);
        let mut random = Random::named(seed, "tail");
        let fade = (0.01 * rate).max(1.0);
        for (n, sample) in response.iter_mut().enumerate().skip(begin) {
            let time = n as f64 / rate;
            let rise = ((n - begin) as f64 / fade).min(1.0);
            *sample += rise * density.sqrt() * (-decay * time).exp() * random.normal();
        }
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Adds an impulse at a place between samples: a windowed sinc.
fn add_delayed(response: &mut [f64], delay: f64, height: f64) {
    let nearest = delay.round() as i64;
    if (delay - nearest as f64).abs() < 1e-9 {
        if let Some(sample) = usize::try_from(nearest).ok().and_then(|at| response.get_mut(at)) {
            *sample += height;
        }
        return;
    }
    for at in nearest - HALF_TAPS..=nearest + HALF_TAPS {
        let Some(sample) = usize::try_from(at).ok().and_then(|at| response.get_mut(at)) else { continue };
        let x = at as f64 - delay;
        let window = 0.5 + 0.5 * (std::f64::consts::PI * x / (HALF_TAPS + 1) as f64).cos();
        let angle = std::f64::consts::PI * x;
        *sample += height * window * angle.sin() / angle;
    }
}

/// The sound as it is heard through a response; as long as before.
pub fn convolve(audio: &Audio, response: &[f32]) -> Audio {
    if audio.samples.is_empty() || response.is_empty() {
        return audio.clone();
    }
    let length = (audio.samples.len() + response.len()).next_power_of_two();
    let mut planner = FftPlanner::<f32>::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let spectrum = |samples: &[f32]| {
        let mut values: Vec<Complex<f32>> = samples.iter().map(|x| Complex::new(*x, 0.0)).collect();
        values.resize(length, Complex::default());
        forward.process(&mut values);
        values
    };
    let mut product = spectrum(&audio.samples);
    product.iter_mut().zip(spectrum(response)).for_each(|(a, b)| *a *= b);
    inverse.process(&mut product);
    let scale = 1.0 / length as f32;
    Audio::new(product[..audio.samples.len()].iter().map(|x| x.re * scale).collect(), audio.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room =
        Room { size_m: [5.0, 4.0, 2.6], absorption: 0.3, source_m: [1.0, 1.5, 1.4], microphone_m: [3.5, 2.0, 1.0] };

    #[test]
    fn first_reflections_come_when_geometry_says() {
        let response = ROOM.response(16_000, 1);
        assert!((response[0] - 1.0).abs() < 0.05, "{}", response[0]);
        // The floor: the mouth mirrored at z = 0.
        let direct = ROOM.distance_m();
        let floor = distance([1.0, 1.5, -1.4], ROOM.microphone_m);
        let at = (floor - direct) / SOUND * 16_000.0;
        let around = &response[at as usize - 2..at as usize + 4];
        let expected = 0.7f64.sqrt() * direct / floor;
        let highest = around.iter().fold(0.0f32, |a, b| a.max(b.abs()));
        assert!((f64::from(highest) - expected).abs() < 0.35 * expected, "{highest} for {expected}");
        let before = response[3..at as usize - 13].iter().fold(0.0f32, |a, b| a.max(b.abs()));
        assert!(before < 0.1, "{before}");
    }

    #[test]
    fn the_echo_decays_in_the_rooms_time() {
        for seed in 0..12 {
            let room = Room::seeded(seed, 0.5, 4.0);
            let response = room.response(16_000, seed);
            let time = room.reverberation_s();
            // Schroeder's integral from −5 to −20 dB.
            let mut rest: Vec<f64> = response
                .iter()
                .rev()
                .scan(0.0, |sum, x| {
                    *sum += f64::from(*x).powi(2);
                    Some(*sum)
                })
                .collect();
            rest.reverse();
            let echo = rest[32];
            let reach = |db: f64| rest.iter().position(|x| 10.0 * (x / echo).log10() < db).unwrap() as f64 / 16_000.0;
            let measured = 4.0 * (reach(-20.0) - reach(-5.0));
            assert!((0.4..1.6).contains(&(measured / time)), "{seed}: {measured:.2} s for {time:.2} s");
            assert!((0..3).all(|axis| room.source_m[axis] > 0.0 && room.source_m[axis] < room.size_m[axis]));
            assert_eq!(response, room.response(16_000, seed));
        }
    }

    #[test]
    fn convolution_is_the_sum_it_stands_for() {
        let audio = Audio::new(vec![1.0, 2.0, 0.0, -1.0], 8_000);
        let heard = convolve(&audio, &[1.0, 0.5, 0.25]);
        for (a, b) in heard.samples.iter().zip([1.0, 2.5, 1.25, -0.5]) {
            assert!((a - b).abs() < 1e-5);
        }
    }
}
