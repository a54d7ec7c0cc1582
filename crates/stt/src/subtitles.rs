//! Transcripts as subtitles: SubRip (`.srt`) and WebVTT (`.vtt`).

use crate::transcriber::Segment;

/// SubRip: numbered, with a comma before the milliseconds.
pub fn srt(segments: &[Segment]) -> String {
    let cues = segments.iter().enumerate().map(|(at, segment)| {
        let (start, end) = (clock(segment.start_s, ','), clock(segment.end_s, ','));
        format!("{}\n{start} --> {end}\n{}\n\n", at + 1, line(&segment.text))
    });
    cues.collect()
}

/// WebVTT: a header, a point before the milliseconds, and `&`, `<`, `>` escaped.
pub fn vtt(segments: &[Segment]) -> String {
    let cues = segments.iter().map(|segment| {
        let (start, end) = (clock(segment.start_s, '.'), clock(segment.end_s, '.'));
        let text = line(&segment.text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("{start} --> {end}\n{text}\n\n")
    });
    format!("WEBVTT\n\n{}", cues.collect::<String>())
}

/// A cue ends at an empty line, and an arrow would begin another.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("-->", "->")
}

/// `hours:minutes:seconds` with milliseconds.
fn clock(seconds: f64, point: char) -> String {
    let ms = (seconds.max(0.0) * 1e3).round() as u64;
    let (hours, minutes, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    format!("{hours:02}:{minutes:02}:{:02}{point}{:03}", rest / 1000, rest % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start_s: f64, end_s: f64, text: &str) -> Segment {
        Segment { start_s, end_s, text: text.to_owned(), log_probability: -0.1, no_speech: 0.0, temperature: 0.0 }
    }

    #[test]
    fn both_forms_have_their_shape() {
        let segments = [segment(0.0, 1.25, "Turn it on."), segment(3599.9996, 3661.5, "a < b\n\n--> & c")];
        assert_eq!(
            srt(&segments),
            "1\n00:00:00,000 --> 00:00:01,250\nTurn it on.\n\n2\n01:00:00,000 --> 01:01:01,500\na < b -> & c\n\n"
        );
        assert_eq!(
            vtt(&segments),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nTurn it on.\n\n01:00:00.000 --> 01:01:01.500\na &lt; b -&gt; &amp; c\n\n"
        );
        assert_eq!((srt(&[]), vtt(&[])), (String::new(), "WEBVTT\n\n".to_owned()));
    }
}
