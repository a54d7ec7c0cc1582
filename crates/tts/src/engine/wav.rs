//! WAV as programs print it to a pipe: 16 bits, one channel, lengths in the header that are only a guess.

use tenpass_audio::Audio;

/// Reads it; what is wrong is told in a fragment.
pub(crate) fn read(bytes: &[u8]) -> Result<Audio, String> {
    if bytes.len() < 12 || &bytes[..4] != b"RIFF" || &bytes[8..12] != b"WAVE" {
        return Err("what it printed is no WAV".to_owned());
    }
    let mut rest = &bytes[12..];
    let mut rate = None;
    while let Some((head, body)) = rest.split_at_checked(8) {
        let said = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let length = said.min(body.len());
        match &head[..4] {
            b"fmt " if length >= 16 => rate = Some(format(body)?),
            b"data" => {
                let rate = rate.ok_or("its WAV has no format")?;
                return Ok(samples(&body[..length], rate));
            }
            _ => {}
        }
        // Chunks are padded to an even length.
        rest = body.get(length + length % 2..).unwrap_or(&[]);
    }
    Err("its WAV has no sound".to_owned())
}

/// The rate, if the rest is what is expected.
fn format(body: &[u8]) -> Result<u32, String> {
    let word = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
    let rate = u32::from_le_bytes([body[4], body[5], body[6], body[7]]);
    if (word(0), word(2), word(14)) != (1, 1, 16) || !(4_000..=192_000).contains(&rate) {
        return Err(format!(
            "its WAV is not 16 bits in one channel (form {}, {} channels, {rate} Hz)",
            word(0),
            word(2)
        ));
    }
    Ok(rate)
}

/// Sound of 16-bit little-endian samples; half a sample at the end is dropped.
pub(crate) fn samples(bytes: &[u8], rate: u32) -> Audio {
    let values: Vec<i16> = bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    Audio::from_i16(&values, rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(length: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
        bytes.extend(22_050_u32.to_le_bytes());
        bytes.extend(44_100_u32.to_le_bytes());
        bytes.extend(b"\x02\0\x10\0LIST\x03\0\0\0abc\0data");
        bytes.extend(length.to_le_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn a_length_that_is_a_guess_does_no_harm() {
        let audio = read(&wav(0x7fff_f000, &[0, 0, 0, 0x40, 0, 0xc0, 9])).unwrap();
        assert_eq!((audio.rate, audio.samples), (22_050, vec![0.0, 0.5, -0.5]));
        assert_eq!(read(&wav(2, &[0, 0, 1, 1])).unwrap().samples.len(), 1);
    }

    #[test]
    fn what_is_no_wav_is_told() {
        assert!(read(b"").is_err());
        assert!(read(b"RIFF\0\0\0\0WAVE").unwrap_err().contains("no sound"));
        let mut stereo = wav(2, &[0, 0]);
        stereo[22] = 2;
        assert!(read(&stereo).unwrap_err().contains("2 channels"));
    }
}
