//! Files of every form, and files that lie.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::{Audio, AudioError, Random, open, read, read_noted, write_flac, write_wav};

struct Header {
    tag: u16,
    channels: u16,
    rate: u32,
    bits: u16,
    extensible: bool,
}

/// A WAV file with a chunk in front of the samples, and a promise of its own.
fn wav(header: &Header, data: &[u8], promised: u32) -> Vec<u8> {
    let align = header.channels * header.bits / 8;
    let mut format = Vec::new();
    format.extend((if header.extensible { 0xfffe } else { header.tag }).to_le_bytes());
    format.extend(header.channels.to_le_bytes());
    format.extend(header.rate.to_le_bytes());
    format.extend(header.rate.wrapping_mul(u32::from(align)).to_le_bytes());
    format.extend(align.to_le_bytes());
    format.extend(header.bits.to_le_bytes());
    if header.extensible {
        format.extend(22u16.to_le_bytes());
        format.extend(header.bits.to_le_bytes());
        format.extend(0u32.to_le_bytes());
        format.extend(header.tag.to_le_bytes());
        format.extend(b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
    }
    let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt ".to_vec();
    bytes.extend((format.len() as u32).to_le_bytes());
    bytes.extend(format);
    bytes.extend(b"data");
    bytes.extend(promised.to_le_bytes());
    bytes.extend(data);
    let size = bytes.len() as u32 - 8;
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    bytes
}

const PLAIN: Header = Header { tag: 1, channels: 1, rate: 16_000, bits: 16, extensible: false };

fn put(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("x.wav");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read_bytes(bytes: &[u8]) -> Result<(Audio, Option<String>), AudioError> {
    let folder = tempfile::tempdir().unwrap();
    read_noted(&put(folder.path(), bytes))
}

fn refused(bytes: &[u8]) -> String {
    let error = read_bytes(bytes).unwrap_err();
    assert!(!error.hint().is_empty());
    let text = error.to_string();
    assert!(text.contains("x.wav: "), "{text}");
    text
}

#[test]
fn every_form_gives_the_same_sound() {
    let wanted = [0.0f32, 0.5, -0.5, 0.25, -1.0];
    let forms: [(u16, u16, fn(f32) -> Vec<u8>); 6] = [
        (1, 8, |x| vec![(x * 128.0 + 128.0) as u8]),
        (1, 16, |x| ((x * 32_768.0) as i16).to_le_bytes().to_vec()),
        (1, 24, |x| ((x * 8_388_608.0) as i32).to_le_bytes()[..3].to_vec()),
        (1, 32, |x| ((f64::from(x) * 2_147_483_648.0) as i32).to_le_bytes().to_vec()),
        (3, 32, |x| x.to_le_bytes().to_vec()),
        (3, 64, |x| f64::from(x).to_le_bytes().to_vec()),
    ];
    for (tag, bits, coded) in forms {
        for channels in [1u16, 2, 6] {
            for extensible in [false, true] {
                // The first channel has it all, the others nothing: the mean is a part of it.
                let silent = coded(0.0);
                let frame = |x: f32| {
                    let mut frame = coded(x);
                    (1..channels).for_each(|_| frame.extend(&silent));
                    frame
                };
                let data: Vec<u8> = wanted.iter().flat_map(|x| frame(*x)).collect();
                let header = Header { tag, channels, rate: 11_025, bits, extensible };
                let (audio, note) = read_bytes(&wav(&header, &data, data.len() as u32)).unwrap();
                assert_eq!((audio.rate, note), (11_025, None));
                let expected: Vec<f32> = wanted.iter().map(|x| x / f32::from(channels)).collect();
                let close = audio.samples.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6);
                assert!(close && audio.samples.len() == 5, "{tag} {bits} {channels}: {:?}", audio.samples);
            }
        }
    }
}

#[test]
fn another_library_writes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wav");
    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: 44_100,
        bits_per_sample: 24,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::create(&path, spec).unwrap();
    (0..20_000).for_each(|n| writer.write_sample(n * 300 - 3_000_000).unwrap());
    writer.finalize().unwrap();
    let audio = read(&path).unwrap();
    assert_eq!((audio.rate, audio.samples.len()), (44_100, 10_000));
    let expected = (1_000.0 * 600.0 + 150.0 - 3_000_000.0) / 8_388_608.0;
    assert!((audio.samples[1_000] - expected).abs() < 1e-6);
    write_wav(&path, &audio).unwrap();
    let read_back: Vec<i16> = hound::WavReader::open(&path).unwrap().samples::<i16>().map(Result::unwrap).collect();
    assert_eq!(read_back, audio.to_i16());
}

#[test]
fn a_sudden_end_gives_what_is_there_and_says_so() {
    let data = vec![0x10; 3_201];
    let (audio, note) = read_bytes(&wav(&PLAIN, &data, 32_000)).unwrap();
    assert_eq!(audio.samples.len(), 1_600);
    let note = note.unwrap();
    assert!(note.ends_with("x.wav: ends after 0.100 s; its header promises 1.000 s"), "{note}");
    // Nobody allocates what a header promises.
    let (audio, note) = read_bytes(&wav(&PLAIN, &data, 0x7ffe_ffff)).unwrap();
    assert!(audio.samples.len() == 1_600 && note.is_some());
    // A pipe's writer does not know better.
    for promised in [0xffff_ffff, 0x7fff_f000] {
        let (audio, note) = read_bytes(&wav(&PLAIN, &data, promised)).unwrap();
        assert_eq!((audio.samples.len(), note), (1_600, None));
    }
}

#[test]
fn what_is_no_sound_is_refused_by_name() {
    assert!(refused(b"").contains("is empty"));
    assert!(refused(b"RIFF").contains("shorter than a WAV header"));
    assert!(refused(b"hello, this is text").contains("neither WAV nor FLAC"));
    assert!(refused(b"RIFF\0\0\0\0AVI LIST").contains("no WAV"));
    assert!(refused(b"RIFF\0\0\0\0WAVE").contains("no fmt chunk"));
    assert!(refused(&wav(&PLAIN, &[], 0)).contains("holds no sound"));
    assert!(refused(&wav(&PLAIN, &[1], 1)).contains("holds no sound"));
    let whole = wav(&PLAIN, &[0; 64], 64);
    assert!(refused(&whole[..40]).contains("ends inside its header"));
    assert!(refused(&whole[..48]).contains("no data chunk"));
    for (header, words) in [
        (Header { channels: 0, ..PLAIN }, "0 channels"),
        (Header { channels: 500, ..PLAIN }, "500 channels"),
        (Header { rate: 0, ..PLAIN }, "0 samples a second"),
        (Header { rate: 4_000_000_000, ..PLAIN }, "4000000000 samples a second"),
        (Header { bits: 12, ..PLAIN }, "12 bits"),
        (Header { tag: 7, bits: 8, ..PLAIN }, "µ-law"),
        (Header { tag: 0x55, ..PLAIN }, "form 85"),
    ] {
        let text = refused(&wav(&header, &[0; 64], 64));
        assert!(text.contains(words), "{text}");
    }
    assert!(refused(b"fLaC\0\0\0\x22").contains("ends inside its header"));
    let folder = tempfile::tempdir().unwrap();
    assert!(read(folder.path()).unwrap_err().to_string().contains("is no file"));
    assert!(matches!(read(&folder.path().join("none")), Err(AudioError::File { .. })));
}

#[test]
fn samples_that_are_no_numbers_are_silence() {
    let data: Vec<u8> = [0.5, f32::NAN, f32::INFINITY, -0.5].iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
    let (audio, note) = read_bytes(&wav(&Header { tag: 3, bits: 32, ..PLAIN }, &data, 16)).unwrap();
    assert_eq!(audio.samples, [0.5, 0.0, 0.0, -0.5]);
    assert!(note.unwrap().contains("2 of its samples are no numbers"));
}

#[test]
fn an_hour_is_read_by_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hour.wav");
    let rate = 8_000u32;
    let header = Header { rate, bits: 8, ..PLAIN };
    // An hour of 8 bits: a file with a hole in it takes no space.
    let head = wav(&header, &[], rate * 3_600);
    std::fs::write(&path, &head).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + u64::from(rate) * 3_600).unwrap();
    let mut reader = open(&path).unwrap();
    assert_eq!(reader.frames(), Some(28_800_000));
    let (mut block, mut count, mut largest) = (Vec::new(), 0, 0);
    let mut resampler = crate::Resampler::new(rate, crate::SPEECH_RATE);
    let (mut out, mut resampled) = (Vec::new(), 0);
    while reader.next_block(&mut block).unwrap() {
        count += block.len();
        largest = largest.max(block.capacity());
        resampler.push(&block, &mut out);
        largest = largest.max(out.capacity());
        resampled += out.len();
        out.clear();
    }
    resampler.finish(&mut out);
    assert_eq!((count, resampled + out.len(), reader.note()), (28_800_000, 57_600_000, None));
    assert!(largest <= 4 * 16_384, "{largest}");
}

#[test]
fn a_damaged_flac_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.flac");
    let mut random = Random::new(1);
    let audio = Audio::new((0..20_000).map(|_| random.range(-0.5, 0.5) as f32).collect(), 16_000);
    write_flac(&path, &audio).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (short, note) = read_noted(&path).unwrap();
    assert!(short.samples.len() < 20_000 && !short.samples.is_empty());
    assert!(note.unwrap().contains("its header promises 1.250 s"));
    for at in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 40] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let result = read_noted(&path);
        assert!(!matches!(&result, Ok((_, None))), "{at}: {result:?}");
    }
}

#[test]
fn writing_replaces_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wav");
    let audio = Audio::new(vec![0.25; 100], 8_000);
    write_wav(&path, &Audio::new(vec![0.5; 9_000], 16_000)).unwrap();
    write_wav(&path, &audio).unwrap();
    assert_eq!(read(&path).unwrap(), audio);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(write_wav(&folder.path().join("none/x.wav"), &audio).unwrap_err().to_string().contains("none/x.wav"));
    assert!(write_flac(&path, &Audio::new(vec![0.0], 192_000)).unwrap_err().to_string().contains("192000"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sixteen_bits_survive_wav_and_flac(samples in prop::collection::vec(any::<i16>(), 1..9_000), rate in 8_000u32..48_000) {
        let folder = tempfile::tempdir().unwrap();
        let audio = Audio::from_i16(&samples, rate);
        for (name, write) in [("x.wav", write_wav as fn(&Path, &Audio) -> _), ("x.flac", write_flac)] {
            let path = folder.path().join(name);
            write(&path, &audio).unwrap();
            let (back, note) = read_noted(&path).unwrap();
            prop_assert_eq!(&back.to_i16(), &samples);
            prop_assert_eq!((back.rate, note), (rate, None));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0u8..3) {
        let front: &[u8] = match kind {
            0 => b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0",
            1 => b"fLaC\0\0\0\x22\x10\0\x10\0",
            _ => b"",
        };
        let mut whole = front.to_vec();
        whole.append(&mut bytes);
        let _ = read_bytes(&whole);
    }
}
