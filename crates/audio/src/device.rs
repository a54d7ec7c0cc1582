//! The microphone of this machine, through cpal.
//!
//! The driver's thread puts blocks into a queue that holds a few seconds. What comes while it is full is lost: the
//! driver never waits.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{FromSample, Sample, SampleFormat, SizedSample, Stream, SupportedStreamConfig};

use crate::AudioError;
use crate::input::Input;

/// Blocks that wait.
const QUEUE: usize = 512;
/// A microphone that gives nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(5);

type Message = Result<Vec<f32>, String>;

struct Microphone {
    rate: u32,
    queue: Receiver<Message>,
    // Dropping it ends recording.
    _stream: Stream,
}

impl Input for Microphone {
    fn rate(&self) -> u32 {
        self.rate
    }

    fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<bool, AudioError> {
        samples.clear();
        match self.queue.recv_timeout(PATIENCE) {
            Ok(Ok(block)) => samples.extend(block),
            Ok(Err(problem)) => return Err(failed(&problem)),
            Err(RecvTimeoutError::Timeout) => return Err(failed(&"it gave no sound for 5 s")),
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
        // What waits is taken along, so that the level shown is that of now.
        for message in self.queue.try_iter() {
            samples.extend(message.map_err(|problem| failed(&problem))?);
        }
        Ok(true)
    }
}

fn failed(problem: &dyn std::fmt::Display) -> AudioError {
    AudioError::NoDevice {
        what: format!("the microphone failed: {problem}"),
        hint: "check that it is plugged in and that no other program holds it".to_owned(),
    }
}

fn missing(what: String) -> AudioError {
    let hint = "plug one in, or give a WAV or FLAC file instead".to_owned();
    AudioError::NoDevice { what, hint }
}

/// Opens the microphone: the system's, or the one whose name contains a text.
pub fn microphone(name: Option<&str>) -> Result<Box<dyn Input>, AudioError> {
    let host = cpal::default_host();
    let device = match name {
        None => host.default_input_device().ok_or_else(|| missing("this machine has no microphone".to_owned()))?,
        Some(name) => {
            let mut there = host.input_devices().map_err(|error| missing(format!("no microphone: {error}")))?;
            let named = |device: &cpal::Device| device.to_string().to_lowercase().contains(&name.to_lowercase());
            there.find(named).ok_or_else(|| missing(format!("this machine has no microphone called {name}")))?
        }
    };
    let config = device.default_input_config().map_err(|error| missing(format!("no microphone: {error}")))?;
    let (sender, queue) = sync_channel(QUEUE);
    let rate = config.sample_rate();
    let stream = match config.sample_format() {
        SampleFormat::I8 => listen::<i8>(&device, &config, sender),
        SampleFormat::I16 => listen::<i16>(&device, &config, sender),
        SampleFormat::I32 => listen::<i32>(&device, &config, sender),
        SampleFormat::U8 => listen::<u8>(&device, &config, sender),
        SampleFormat::U16 => listen::<u16>(&device, &config, sender),
        SampleFormat::F32 => listen::<f32>(&device, &config, sender),
        SampleFormat::F64 => listen::<f64>(&device, &config, sender),
        other => return Err(failed(&format!("it gives samples as {other}, which are not read"))),
    }?;
    stream.play().map_err(|error| failed(&error))?;
    Ok(Box::new(Microphone { rate, queue, _stream: stream }))
}

fn listen<T>(
    device: &cpal::Device,
    config: &SupportedStreamConfig,
    sender: SyncSender<Message>,
) -> Result<Stream, AudioError>
where
    T: SizedSample,
    f32: FromSample<T>,
{
    let channels = usize::from(config.channels()).max(1);
    let errors = sender.clone();
    let heard = move |data: &[T], _: &cpal::InputCallbackInfo| {
        let mean = |frame: &[T]| frame.iter().map(|x| f32::from_sample(*x)).sum::<f32>() / frame.len() as f32;
        let block = data.chunks_exact(channels).map(mean).collect();
        // Full: nobody listens at the moment.
        let (Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) = sender.try_send(Ok(block));
    };
    let broken = move |error: cpal::Error| {
        let harmless = matches!(
            error.kind(),
            cpal::ErrorKind::Xrun | cpal::ErrorKind::DeviceChanged | cpal::ErrorKind::RealtimeDenied
        );
        if !harmless {
            let _ = errors.try_send(Err(error.to_string()));
        }
    };
    device.build_input_stream(config.clone().into(), heard, broken, None).map_err(|error| failed(&error))
}
