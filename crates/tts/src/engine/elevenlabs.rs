//! ElevenLabs over its API: `POST /v1/text-to-speech/VOICE/stream`, the key in `xi-api-key`. It costs money and
//! is asked only when a voice of it is named. The sound is `pcm_RATE` (16 bits, one channel) or `mp3_…`.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, TrackType, probe::Hint};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use tenpass_audio::Audio;
use tokio::sync::Notify;

use super::{checked, wav};
use crate::{Cancel, ElevenLabsAccount, Files, SpeakOptions, TtsError, Voice, VoiceInfo, VoiceSpec};

/// Most bytes of one answer.
const MOST_BYTES: usize = 100_000_000;

/// A voice of the service.
pub(crate) struct ElevenLabs {
    account: ElevenLabsAccount,
    voice: String,
    timeout: Duration,
    info: VoiceInfo,
}

fn failed(problem: impl Into<String>) -> TtsError {
    TtsError::Engine { engine: "elevenlabs".to_owned(), problem: problem.into() }
}

impl ElevenLabs {
    /// Checks that there is a key and that the form can be read; nothing is sent.
    pub(crate) fn open(voice: &str, files: &Files) -> Result<Self, TtsError> {
        let account = files.elevenlabs.clone().filter(|account| !account.key.is_empty());
        let account = account.ok_or_else(|| TtsError::Missing {
            what: "the key of ElevenLabs".to_owned(),
            hint: "put it into the variable that `speech.elevenlabs_key_env` names; each text is paid for".to_owned(),
        })?;
        let rate = rate(&account.output_format).ok_or_else(|| {
            TtsError::Spec(format!(
                "output format `{}` is neither pcm_RATE nor mp3_RATE_BITRATE",
                account.output_format
            ))
        })?;
        let info = VoiceInfo {
            spec: VoiceSpec::ElevenLabs { voice: voice.to_owned() }.to_string(),
            engine: "elevenlabs".to_owned(),
            language: "any".to_owned(),
            rate,
            natural: true,
        };
        Ok(Self { account, voice: voice.to_owned(), timeout: files.timeout, info })
    }

    async fn ask(&self, text: &str, speed: f32, stop: &Notify) -> Result<Vec<u8>, TtsError> {
        tokio::select! {
            answer = self.fetch(text, speed) => answer,
            () = stop.notified() => Err(TtsError::Cancelled),
        }
    }

    async fn fetch(&self, text: &str, speed: f32) -> Result<Vec<u8>, TtsError> {
        // Another TLS provider may be in place already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(self.timeout)
            .build()
            .map_err(|error| failed(format!("no connection can be made: {error}")))?;
        let base = self.account.base_url.trim_end_matches('/');
        let mut response = client
            .post(format!(
                "{base}/v1/text-to-speech/{}/stream?output_format={}",
                self.voice, self.account.output_format
            ))
            .header("xi-api-key", &self.account.key)
            .json(&json!({
                "text": text,
                "model_id": self.account.model,
                "voice_settings": { "speed": speed.clamp(0.7, 1.2) },
            }))
            .send()
            .await
            .map_err(|error| unreachable(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if bytes.len() + part.len() > MOST_BYTES {
                return Err(failed("its answer does not end"));
            }
            bytes.extend_from_slice(&part);
        }
        if status.is_success() { Ok(bytes) } else { Err(refused(status, &self.voice, &bytes)) }
    }
}

/// Why nothing came, without the address (it may hold what should not be printed).
fn unreachable(error: &reqwest::Error) -> TtsError {
    if error.is_timeout() {
        return failed("no answer in time");
    }
    if error.is_connect() {
        return failed("it cannot be reached");
    }
    failed("the connection broke off")
}

fn refused(status: StatusCode, voice: &str, body: &[u8]) -> TtsError {
    match status.as_u16() {
        401 | 403 => failed("the key is refused (401): check the variable with the key"),
        402 => failed("the credits are used up (402)"),
        404 => TtsError::Spec(format!("ElevenLabs has no voice `{voice}` (404)")),
        429 => failed("too many requests at once, or too many in a short time (429)"),
        code => {
            let said: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
            let message =
                said.pointer("/detail/message").and_then(serde_json::Value::as_str).unwrap_or("no reason given");
            failed(format!("answered {code}: {}", message.chars().take(200).collect::<String>()))
        }
    }
}

/// The rate in `pcm_24000` or `mp3_44100_128`.
fn rate(form: &str) -> Option<u32> {
    if !form.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return None;
    }
    let rate = form.strip_prefix("pcm_").or_else(|| form.strip_prefix("mp3_")?.split('_').next())?;
    rate.parse().ok().filter(|rate| (8_000..=48_000).contains(rate))
}

fn decode_mp3(bytes: Vec<u8>) -> Result<Audio, TtsError> {
    let broken = |error: Error| failed(format!("its MP3 cannot be read: {error}"));
    let stream = MediaSourceStream::new(Box::new(Cursor::new(bytes)), MediaSourceStreamOptions::default());
    let mut hint = Hint::new();
    hint.with_extension("mp3");
    let mut format = symphonia::default::get_probe()
        .probe(&hint, stream, FormatOptions::default(), MetadataOptions::default())
        .map_err(broken)?;
    let track = format.default_track(TrackType::Audio).ok_or_else(|| failed("its MP3 has no sound"))?;
    let parameters = track.codec_params.as_ref().and_then(|parameters| parameters.audio());
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(parameters.ok_or_else(|| failed("its MP3 has no sound"))?, &AudioDecoderOptions::default())
        .map_err(broken)?;
    let (mut audio, mut block) = (Audio::default(), Vec::<f32>::new());
    while let Some(packet) = format.next_packet().map_err(broken)? {
        let decoded = match decoder.decode(&packet) {
            Ok(decoded) => decoded,
            // One bad frame is skipped, as players do.
            Err(Error::DecodeError(_)) => continue,
            Err(error) => return Err(broken(error)),
        };
        let channels = decoded.spec().channels().count().max(1);
        audio.rate = decoded.spec().rate();
        block.resize(decoded.samples_interleaved(), 0.0);
        decoded.copy_to_slice_interleaved(&mut block);
        audio.samples.extend(block.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32));
    }
    if audio.samples.is_empty() { Err(failed("its MP3 is empty")) } else { Ok(audio) }
}

impl Voice for ElevenLabs {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
        let (text, speed) = (checked(text)?, options.checked_speed()?);
        let stop = Arc::new(Notify::new());
        let notified = Arc::clone(&stop);
        let _stop = cancel.on_cancel(move || notified.notify_one());
        // A thread of its own: the caller may be inside a runtime, where another one must not be entered.
        let bytes = std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| failed(error.to_string()))?;
                runtime.block_on(self.ask(text, speed, &stop))
            });
            asked.join().unwrap_or_else(|_| Err(failed("the request was given up")))
        })?;
        if self.account.output_format.starts_with("pcm_") {
            if bytes.len() < 2 {
                return Err(failed("its answer is empty"));
            }
            return Ok(wav::samples(&bytes, self.info.rate));
        }
        decode_mp3(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Answers one request with this and gives what it was asked.
    fn server(status: &'static str, body: Vec<u8>) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = Vec::new();
            let mut part = [0; 4096];
            while !text.ends_with(b"}}") {
                let count = stream.read(&mut part).unwrap();
                assert!(count > 0, "the request ended early");
                text.extend_from_slice(&part[..count]);
            }
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
            String::from_utf8(text).unwrap()
        });
        (address, asked)
    }

    fn voice(base_url: String, form: &str) -> ElevenLabs {
        let account = ElevenLabsAccount {
            base_url,
            key: "secret-key".to_owned(),
            model: "eleven_multilingual_v2".to_owned(),
            output_format: form.to_owned(),
        };
        ElevenLabs::open("Voice1", &Files { elevenlabs: Some(account), ..Files::default() }).unwrap()
    }

    #[test]
    fn pcm_is_asked_for_and_read() {
        let (address, asked) = server("200 OK", vec![0, 0, 0, 0x40]);
        let voice = voice(address, "pcm_16000");
        let audio = voice.speak("Bonjour", &SpeakOptions::default()).unwrap();
        assert_eq!((audio.rate, audio.samples), (16_000, vec![0.0, 0.5]));
        let request = asked.join().unwrap();
        assert!(request.starts_with("POST /v1/text-to-speech/Voice1/stream?output_format=pcm_16000 "), "{request}");
        assert!(request.contains("xi-api-key: secret-key") && request.contains(r#""text":"Bonjour""#), "{request}");
    }

    #[test]
    fn refusals_are_one_clear_line_without_the_key() {
        for (status, part) in [
            ("401 Unauthorized", "key is refused"),
            ("402 Payment Required", "credits are used up"),
            ("429 Too Many Requests", "too many requests"),
            ("500 Internal Server Error", "answered 500: broken"),
            ("404 Not Found", "no voice `Voice1`"),
        ] {
            let (address, asked) = server(status, br#"{"detail":{"message":"broken"}}"#.to_vec());
            let error = voice(address, "mp3_44100_128").speak("Hi", &SpeakOptions::default()).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret") && !error.contains('\n'), "{error}");
            asked.join().unwrap();
        }
    }

    #[test]
    fn without_a_key_or_a_server_it_says_so() {
        let error = ElevenLabs::open("x", &Files::default()).err().unwrap();
        assert!(error.to_string().contains("key of ElevenLabs"), "{error}");
        let error = voice("http://127.0.0.1:9".to_owned(), "pcm_16000").speak("Hi", &SpeakOptions::default());
        assert!(error.unwrap_err().to_string().contains("cannot be reached"));
        assert_eq!((rate("mp3_44100_128"), rate("pcm_24000"), rate("ulaw_8000")), (Some(44_100), Some(24_000), None));
    }
}
