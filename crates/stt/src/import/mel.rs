//! Slaney's mel filters, as librosa computes them for Whisper: 16 kHz, 400 points, 0 to 8000 Hz.

/// Bins of a spectrum of 400 points.
pub const BINS: usize = 201;

const RATE: f64 = 16_000.0;
const POINTS: f64 = 400.0;
/// Below 1000 Hz the scale is linear, above it is logarithmic.
const HERTZ_PER_MEL: f64 = 200.0 / 3.0;
const BREAK_HERTZ: f64 = 1000.0;
const BREAK_MEL: f64 = BREAK_HERTZ / HERTZ_PER_MEL;

fn log_step() -> f64 {
    6.4f64.ln() / 27.0
}

fn to_mel(hertz: f64) -> f64 {
    if hertz < BREAK_HERTZ { hertz / HERTZ_PER_MEL } else { BREAK_MEL + (hertz / BREAK_HERTZ).ln() / log_step() }
}

fn to_hertz(mel: f64) -> f64 {
    if mel < BREAK_MEL { mel * HERTZ_PER_MEL } else { BREAK_HERTZ * ((mel - BREAK_MEL) * log_step()).exp() }
}

/// `bands` × 201 weights, band after band. Each band is a triangle of unit area ("Slaney" normalisation).
pub fn mel_filters(bands: usize) -> Vec<f32> {
    let top = to_mel(RATE / 2.0);
    let edge = |index: usize| to_hertz(top * index as f64 / (bands + 1) as f64);
    let mut filters = Vec::with_capacity(bands * BINS);
    for band in 0..bands {
        let (low, middle, high) = (edge(band), edge(band + 1), edge(band + 2));
        let area = 2.0 / (high - low);
        for bin in 0..BINS {
            let hertz = bin as f64 * RATE / POINTS;
            let rising = (hertz - low) / (middle - low);
            let falling = (high - hertz) / (high - middle);
            filters.push((area * rising.min(falling).max(0.0)) as f32);
        }
    }
    filters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_band_is_a_triangle_with_its_peak_between_its_neighbours() {
        for bands in [80, 128] {
            let filters = mel_filters(bands);
            assert_eq!(filters.len(), bands * BINS);
            let peaks: Vec<usize> = filters
                .chunks(BINS)
                .map(|band| (0..BINS).max_by(|a, b| band[*a].total_cmp(&band[*b])).unwrap())
                .collect();
            assert!(peaks.windows(2).all(|pair| pair[0] <= pair[1]), "{peaks:?}");
            assert!(filters.iter().all(|weight| (0.0..0.1).contains(weight)));
        }
    }

    #[test]
    fn weights_are_those_of_openais_file() {
        // `mel_filters.npz` of openai-whisper 20250625: bands, band, bin, weight; and the sums of all.
        for (bands, band, bin, weight) in [
            (80, 0, 1, 0.024_862_595),
            (80, 0, 2, 0.0),
            (80, 3, 4, 0.018_890_13),
            (80, 79, 195, 0.002_243_795_2),
            (80, 79, 199, 0.000_448_759),
            (128, 0, 1, 0.012_373_987),
            (128, 127, 199, 0.001_114_280_2),
        ] {
            let ours = f64::from(mel_filters(bands)[band * BINS + bin]);
            assert!((ours - weight).abs() < 1e-8, "{bands}, {band}, {bin}: {ours} and not {weight}");
        }
        for (bands, sum) in [(80, 1.999_024_092_387_117), (128, 3.190_985_540_946_338_3)] {
            let ours: f64 = mel_filters(bands).iter().map(|weight| f64::from(*weight)).sum();
            assert!((ours - sum).abs() < 1e-6, "{ours}");
        }
    }

    #[test]
    fn the_scale_turns_over_at_1000_hertz() {
        assert!((to_mel(1000.0) - 15.0).abs() < 1e-12);
        assert!((to_mel(6400.0) - 42.0).abs() < 1e-9);
        for hertz in [0.0, 440.0, 1000.0, 5000.0, 8000.0] {
            assert!((to_hertz(to_mel(hertz)) - hertz).abs() < 1e-9);
        }
    }
}
